"""``--set name=value``: what few people need, and the parameters of minimizers; by the same rules as in a grid."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple, get_args, get_type_hints

import typer

from leastwise.errors import ParameterError, shorten
from leastwise.validation import check_choice, did_you_mean

# These come from the data and from options of their own, or are objects that only a program has.
GIVEN = frozenset({"schema", "personal", "random_state", "model", "constraints"})


def set_option(help: str) -> Any:
    """Declare ``--set`` of a command."""
    return typer.Option("--set", metavar="NAME=VALUE", help=f"{help} Can be repeated.")


class Setting(NamedTuple):
    """What can be set: how its text is read, what it must be, its default and its meaning."""

    read: Callable[[str], Any]
    must: str
    holds: Callable[[Any], bool]
    default: Any = None
    meaning: str = ""


def settings(texts: Iterable[str] | None, known: Mapping[str, Setting], whose: str) -> dict[str, Any]:
    """Return what was set, by its full name.

    Parameters
    ----------
    texts
        As they were typed: name=value.
    known
        What can be set.
    whose
        What has these settings: a command, or a minimizer.
    """
    from leastwise.runs.grid import full_name

    values: dict[str, Any] = {}
    for text in texts or ():
        written, _, value = text.partition("=")
        name = full_name(written.strip())
        if not name or not value:
            raise ParameterError(f"--set must be name=value; got {shorten(text)}")
        if name not in known:
            hint, listed = did_you_mean(name, known), f"can be set: {', '.join(known)}"
            there = f"{hint} {listed}" if hint.startswith("did you mean") else listed
            raise ParameterError(f"{whose} has no setting {shorten(written)}; {there}")
        given = known[name].read(value)
        if not known[name].holds(given):
            raise ParameterError(f"{name} of {whose} must be {known[name].must}; got {shorten(given)}")
        if name in values and not isinstance(given, list):
            raise ParameterError(f"{name} must be set once; it was set twice")
        values[name] = [*values.get(name, ()), *given] if isinstance(given, list) else given
    return values


def settings_of(group: type[Any]) -> dict[str, Setting]:
    """Return a group of options as settings: what has a flag at one command can be set at another."""
    hints = get_type_hints(group, include_extras=True)
    return {each.name: _setting(hints[each.name], each.default) for each in fields(group)}


def _setting(annotation: Any, default: Any) -> Setting:
    from leastwise.documents import is_number
    from leastwise.runs.grid import plain_value

    option = annotation.__metadata__[0]
    kinds = get_args(annotation.__origin__) or (annotation.__origin__,)
    if int in kinds:
        least = option.min or 0
        holds = lambda v: type(v) is int and v >= least  # noqa: E731
        return Setting(plain_value, f"a whole number from {least}", holds, default, option.help)
    if float in kinds:
        return Setting(plain_value, "a number", is_number, default, option.help)
    if bool in kinds:
        return Setting(plain_value, "true or false", lambda v: isinstance(v, bool), default, option.help)
    # Texts stay as they are typed; those that can be repeated are lists of one.
    return Setting(str if str in kinds else lambda text: [text], "a text", bool, default, option.help)


def minimizer_settings(name: str) -> dict[str, Setting]:
    """Return what can be set of a minimizer: its constructor's parameters, in the words of its docstring."""
    from leastwise.minimizers import known_minimizers
    from leastwise.runs.grid import ANYTHING, family_of, plain_value

    kind = known_minimizers()[check_choice("--minimizer", name, known_minimizers())]
    rules, meanings = family_of(name).rules, _meanings(kind)
    settable = {}
    for parameter in inspect.signature(kind).parameters.values():
        if parameter.name == "weights":
            rest = ("numbers by attribute, as in sex=2,race=1", bool)
            settable["weights"] = Setting(lambda text: numbers_by_name("weights", [text]), *rest)
        elif parameter.name not in GIVEN:
            settable[parameter.name] = Setting(plain_value, *rules.get(parameter.name, ANYTHING))
    return {
        name: setting._replace(
            default=inspect.signature(kind).parameters[name].default, meaning=meanings.get(name, "")
        )
        for name, setting in settable.items()
    }


def _meanings(kind: type[Any]) -> dict[str, str]:
    """Read the section "Parameters" of a docstring: by parameter, its description in one line."""
    _, _, rest = (inspect.getdoc(kind) or "").partition("\nParameters\n----------\n")
    section = rest.partition("\n\n")[0]
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line[0] != " ":
            names = line.partition(":")[0].split(", ")
        else:
            meanings |= {name: f"{meanings.get(name, '')} {line.strip()}".strip() for name in names}
    return meanings


def built(name: str, given: Mapping[str, Any], seed: int) -> Any:
    """Return a minimizer with what was set."""
    from leastwise.minimizers import known_minimizers

    kind = known_minimizers()[name]
    seeded = {"random_state": seed} if "random_state" in inspect.signature(kind).parameters else {}
    return kind(**given, **seeded)


def numbers_by_name(option: str, texts: Iterable[str]) -> dict[str, float]:
    """Read name=number texts; several may stand in one, as in sex=0.3,race=0.2.

    >>> numbers_by_name("--tolerance", ["age=2,pay=100"])
    {'age': 2.0, 'pay': 100.0}
    """
    numbers: dict[str, float] = {}
    for part in (part for text in texts for part in text.split(",")):
        name, _, number = part.rpartition("=")
        name = name.strip()
        try:
            value = float(number)
        except ValueError:
            name = ""
        if not name:
            raise ParameterError(f"{option} must be name=number, as in sex=0.3; got {shorten(part)}")
        if name in numbers:
            raise ParameterError(f"{option} must name each attribute once; got {shorten(name)} twice")
        numbers[name] = value
    return numbers
