"""The grid: which minimizers propose, with which parameters, from which seeds.

Each has its way: as a path where it has one, otherwise once per setting.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import product, starmap
from pathlib import Path
from typing import Any, NamedTuple

from leastwise.documents import LARGEST_DOCUMENT, Fields, Problems, check_format, is_number, read_text
from leastwise.documents.yaml import LocatedDocument
from leastwise.errors import MissingExtraError, ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.minimizers import (
    Constraints,
    iterative_path,
    known_minimizers,
    optimal_path,
    pat_grid,
    recommended_paths,
    restarted_paths,
)
from leastwise.minimizers.base import check_label, checked_generalization
from leastwise.minimizers.feature_selection import METHODS
from leastwise.minimizers.optimal.surrogate import SURROGATES
from leastwise.minimizers.pat import LEAVES, fitting_min_leaf
from leastwise.minimizers.recommended import Mapped
from leastwise.records.table import Table
from leastwise.validation import did_you_mean, is_whole

FORMAT = "leastwise-grid"
VERSION = 1
MOST_SOURCES = 10_000


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One minimizer of a grid; every parameter has a list of values, and all combinations are tried.

    ``brought`` is a minimizer that is no name but an object (see ``Grid.of``); it has its own parameters.
    """

    minimizer: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    brought: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        listed = {name: _listed(values) for name, values in self.parameters.items()}
        object.__setattr__(self, "parameters", listed)

    @classmethod
    def of(cls, minimizer: Any) -> Entry:
        """Return the entry of a name or of an object with ``minimize(table)``."""
        if isinstance(minimizer, str):
            return cls(minimizer=minimizer)
        if isinstance(minimizer, type) or not callable(getattr(minimizer, "minimize", None)):
            raise ParameterError(
                f"a minimizer must be a name or an object with minimize(table); got {shorten(minimizer)}"
            )
        # What a file can hold tells of it.
        given = minimizer.get_params(deep=False) if hasattr(minimizer, "get_params") else {}
        plain = {name: value for name, value in given.items() if isinstance(value, str | bool | int | float)}
        name = getattr(minimizer, "name", "") or type(minimizer).__name__
        return cls(minimizer=name, parameters=plain, brought=minimizer)


def _listed(values: Any) -> tuple[Any, ...]:
    one = isinstance(values, str) or not isinstance(values, Sequence)
    return (values,) if one else tuple(values)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Which minimizers propose candidates.

    Examples
    --------
    >>> grid = Grid(entries=(Entry(minimizer="uniform", parameters={"k": [2, 3]}),), seeds=(0, 1))
    >>> [(source.minimizer, source.parameters["k"], source.seed) for source in grid.sources()]
    [('uniform', 2, 0), ('uniform', 2, 1), ('uniform', 3, 0), ('uniform', 3, 1)]
    """

    entries: tuple[Entry, ...]
    seeds: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(self.entries))
        object.__setattr__(self, "seeds", tuple(self.seeds))

    @classmethod
    def of(cls, *minimizers: Any, seeds: Sequence[int] = (0,)) -> Grid:
        """Return the grid of these minimizers: entries, names, or any objects with ``minimize(table)``.

        An object that also has ``path(table)`` proposes everything on its path.

        >>> [entry.minimizer for entry in Grid.of("recommended", Entry(minimizer="uniform")).entries]
        ['recommended', 'uniform']
        """
        entries = tuple(each if isinstance(each, Entry) else Entry.of(each) for each in minimizers)
        return cls(entries=entries, seeds=tuple(seeds))

    def sources(self) -> list[Source]:
        """Return what has to be asked for proposals, in the declared order."""
        return [source for entry in self.entries for source in _sources(entry, self.seeds)]

    def check(self) -> None:
        """Refuse what cannot be: unknown names, values out of range, a package that is not installed."""
        problems = [text for entry in self.entries for _, text in entry_problems(entry)]
        problems += [] if self.entries else ["name at least one minimizer"]
        problems += [] if self.seeds else ["name at least one seed"]
        problems += [
            f"a seed must be a whole number from 0; got {seed!r}" for seed in self.seeds if not _seed(seed)
        ]
        if problems:
            raise ParameterError("the grid does not fit: " + "; ".join(problems))
        if len(self.sources()) > MOST_SOURCES:
            raise ParameterError(
                f"the grid has {len(self.sources()):,} settings; at most {MOST_SOURCES:,} are run"
            )
        for entry in self.entries:
            if entry.brought is None:
                _check_extra(entry.minimizer)


def _seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _sources(entry: Entry, seeds: Sequence[int]) -> list[Source]:
    if entry.brought is not None:
        own = {name: values[0] for name, values in entry.parameters.items()}
        return [Source(entry.minimizer, own, seeds[0], entry.brought)]
    family = family_of(entry.minimizer)
    given = {**family.defaults, **entry.parameters}
    along = {name: _listed(values) for name, values in given.items() if name in family.along}
    across = {name: _listed(values) for name, values in given.items() if name not in family.along}
    return [
        Source(entry.minimizer, {**dict(zip(across, values, strict=True)), **along}, seed)
        for values in product(*across.values())
        for seed in (seeds if family.seeded else seeds[:1])
    ]


def _check_extra(minimizer: str) -> None:
    needed = family_of(minimizer).needs
    if needed is not None and find_spec(needed[0]) is None:
        raise MissingExtraError(*needed)


def entry_problems(entry: Entry) -> list[tuple[str, str]]:
    """Say everything that is wrong with an entry: (parameter, or "name", and what is wrong)."""
    if entry.brought is not None:
        return []
    if entry.minimizer not in family_names():
        hint = did_you_mean(entry.minimizer, family_names())
        return [("name", f"there is no minimizer {shorten(entry.minimizer)}; {hint}")]
    rules = family_of(entry.minimizer).rules
    problems = []
    for name, values in entry.parameters.items():
        if name not in rules:
            hint = did_you_mean(name, rules)
            problems.append((name, f"{entry.minimizer} has no parameter {shorten(name)}; {hint}"))
        elif not values:
            problems.append((name, f"{name} of {entry.minimizer} needs at least one value"))
        else:
            must, wrong = rules[name].must, [value for value in values if not rules[name].holds(value)]
            problems += [(name, f"{name} of {entry.minimizer} must be {must}; got {shorten(v)}") for v in wrong]
    return problems


PAT_ALPHAS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)


def default_grid(quick: bool = False) -> Grid:
    """Return what proposes when nobody says otherwise: what is recommended, trees, two baselines."""
    entries = (
        Entry(minimizer="pat", parameters={"alpha": PAT_ALPHAS[1::2] if quick else PAT_ALPHAS}),
        Entry(minimizer="recommended", parameters={"steps": 16 if quick else 24}),
        Entry(minimizer="uniform", parameters={"k": (2, 3, 4, 5)}),
        Entry(minimizer="feature-selection", parameters={"k": (2, 4, 8), "method": "iterative"}),
    )
    return Grid(entries=entries)


def load_grid(path: str | Path) -> Grid:
    """Read a grid that a person wrote; every problem is told with its line."""
    problems, grid = read_grid(read_text(path, ParameterError))
    if problems or grid is None:
        more = f"{len(problems)} problems: " if len(problems) > 1 else ""
        raise ParameterError(f"{path}: not a grid that can be used: {more}{'; '.join(problems)}")
    return grid


def read_grid(text: str) -> tuple[list[str], Grid | None]:
    """Return everything that is wrong with the text of a grid, and the grid if nothing is."""
    if len(text) > LARGEST_DOCUMENT:
        return [f"too large: {len(text):,} characters, at most {LARGEST_DOCUMENT:,}"], None
    source = LocatedDocument.read(text)
    problems = Problems(source.where)
    problems.texts += source.problems
    grid = _from_document(source.content, problems) if source.whole else None
    return problems.texts, grid


def _from_document(document: Any, problems: Problems) -> Grid | None:
    fields = Fields(document, (), problems)
    if not check_format(fields, FORMAT, VERSION):
        return None
    seeds = [plain_value(item) for item in _as_list(fields.take("seeds", ["0"]))]
    for i, seed in enumerate(seeds):
        if not _seed(seed):
            problems.add(("seeds", i), f"a seed must be a whole number from 0; got {shorten(seed)}")
    entries = [_entry(item, i, problems) for i, item in enumerate(fields.items("minimizers"))]
    if not entries:
        problems.add(("minimizers",), "name at least one minimizer")
    fields.done()
    return None if problems.texts else Grid(entries=tuple(e for e in entries if e is not None), seeds=tuple(seeds))


def _entry(data: Any, place: int, problems: Problems) -> Entry | None:
    fields = Fields(data, ("minimizers", place), problems)
    name = fields.text("name")
    if not isinstance(data, dict):
        return None
    written = {full_name(key): key for key in data if key != "name"}
    parameters = {long: [plain_value(item) for item in _as_list(data[key])] for long, key in written.items()}
    entry = Entry(minimizer=name, parameters=parameters)
    for parameter, text in entry_problems(entry):
        problems.add(("minimizers", place, written.get(parameter, parameter)), text)
    return entry


def full_name(name: str) -> str:
    """Return the parameter that a shorter word stands for."""
    plain = name.replace("-", "_")
    return {"leaves": "max_leaves", "starts": "start"}.get(plain, plain)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def plain_value(text: Any) -> Any:
    """Read a number, true, false or nothing where one is written."""
    if not isinstance(text, str):
        return text
    words = {"true": True, "false": False, "null": None, "none": None, "~": None, "": None}
    if text.lower() in words:
        return words[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


# How each minimizer proposes -------------------------------------------------------------------------------------


class Proposal(NamedTuple):
    """A generalization and the parameters it was found with."""

    parameters: Mapping[str, Any]
    generalization: Generalization


@dataclass(frozen=True)
class Source:
    """One thing to ask for proposals: a minimizer with parameters and a seed, or one that somebody brought."""

    minimizer: str
    parameters: Mapping[str, Any]
    seed: int
    brought: Any = None

    @property
    def in_parts(self) -> bool:
        """Whether it looks for several things that do not wait for each other."""
        return self.brought is None and family_of(self.minimizer).in_parts

    def propose(
        self, train: Table, constraints: Constraints | None = None, mapped: Mapped = starmap
    ) -> list[Proposal]:
        """Return what it finds on the training part; it sees no other record, and no other's numbers.

        What comes ``in_parts`` is looked for by ``mapped``.
        """
        table = train.with_own_levels()
        if self.minimizer in known_minimizers():
            check_label(known_minimizers()[self.minimizer], table)
        if self.brought is not None:
            return [*path_of(self.brought, self.parameters, table)]
        family = family_of(self.minimizer)
        return [*family.propose(table, self, constraints, *([mapped] if family.in_parts else []))]

    def signed(self, proposal: Proposal, train: Table) -> Generalization:
        """Return the artefact with its origin: who proposed it, and that validation had a say in choosing it."""
        from leastwise import __version__

        plain = {k: v for k, v in proposal.parameters.items() if isinstance(v, str | bool | int | float)}
        origin = {"minimizer": self.minimizer, "leastwise": __version__, **plain, "seed": self.seed}
        origin |= {"chosen_on": "validation"}
        if train.split_seed is not None:
            origin["split_seed"] = train.split_seed
        return replace(proposal.generalization, origin=origin)


class Rule(NamedTuple):
    """What a parameter must be, in words and as a test."""

    must: str
    holds: Callable[[Any], bool]


Propose = Callable[..., Iterator[Proposal]]


@dataclass(frozen=True)
class Family:
    """How one minimizer is used in a grid.

    Attributes
    ----------
    along
        The parameters whose values all come from one call.
    seeded
        Whether another seed finds anything else.
    needs
        The package it cannot do without, and the extra that brings it.
    in_parts
        Whether it takes, as its last argument, who looks for several things at once.
    """

    rules: Mapping[str, Rule]
    propose: Propose
    along: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = True
    needs: tuple[str, str] | None = None
    in_parts: bool = False


def _whole(least: int) -> Rule:
    return Rule(
        f"a whole number from {least}",
        lambda v: is_whole(v) and v >= least,
    )


SHARE = Rule("a number between 0 and 1", lambda v: is_number(v) and 0 <= v <= 1)
FROM_ZERO = Rule("a number from 0", lambda v: is_number(v) and v >= 0)
FROM_ZERO_OR_NOTHING = Rule("a number from 0, or null", lambda v: v is None or (is_number(v) and v >= 0))
WHOLE_OR_FITTING = Rule(
    "a whole number from 1, or null for one that fits the records", lambda v: v is None or _whole(1).holds(v)
)
SURROGATE = Rule(f"one of {', '.join(SURROGATES)}", lambda v: isinstance(v, str) and v in SURROGATES)
ATTRIBUTES = Rule('a whole number from 1, or "all"', lambda v: v == "all" or _whole(1).holds(v))
METHOD = Rule(f"one of {', '.join(METHODS)}", lambda v: v in METHODS)
ANYTHING = Rule(
    "a number, a text, true, false or null", lambda v: v is None or isinstance(v, str | bool) or is_number(v)
)


def _pat(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    given = source.parameters
    fewest = fitting_min_leaf(train) if given["min_leaf"] is None else given["min_leaf"]
    grid = pat_grid(train, given["alpha"], given["max_leaves"], min_leaf=fewest)
    for alpha, row in zip(given["alpha"], grid, strict=True):
        for leaves, generalization in zip(given["max_leaves"], row, strict=True):
            yield Proposal({"alpha": alpha, "max_leaves": leaves, "min_leaf": fewest}, generalization)


def _optimal(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    given = source.parameters
    path = optimal_path(
        train, given["steps"], surrogate=given["surrogate"], constraints=constraints, seed=source.seed
    )
    for generalization in path:
        yield Proposal(
            {"lam": generalization.origin.get("lam", 0.0), "surrogate": given["surrogate"]}, generalization
        )


def _coarsening(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    given = source.parameters
    mu, steps, start, surrogate = (given[name] for name in ("mu", "steps", "start", "surrogate"))
    paths = restarted_paths(
        train, mu, steps=steps, starts=(start,), surrogate=surrogate, constraints=constraints, seed=source.seed
    )
    for number, path in enumerate(paths):
        for step, generalization in enumerate(path):
            yield Proposal({**given, "path": number, "step": step}, generalization)


def _recommended(
    train: Table, source: Source, constraints: Constraints | None, mapped: Mapped
) -> Iterator[Proposal]:
    given = source.parameters
    options: Any = {"constraints": constraints, "mapped": mapped}
    generalizations = recommended_paths(
        train, source.seed, steps=given["steps"], surrogate=given["surrogate"], **options
    )
    for number, each in enumerate(generalizations):
        by = {"by": each.origin["minimizer"]} if "minimizer" in each.origin else {}
        yield Proposal({**given, **by, "number": number}, each)


def _iterative(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    path = iterative_path(train, 1.0, source.parameters["k"], random_state=source.seed)
    for step, candidate in enumerate(path):
        yield Proposal({**source.parameters, "step": step}, candidate.generalization)


def _once(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    kind = known_minimizers()[source.minimizer]
    takes_seed = "random_state" in inspect.signature(kind).parameters
    minimizer = kind(**source.parameters, **({"random_state": source.seed} if takes_seed else {}))
    yield from path_of(minimizer, source.parameters, train)


def path_of(minimizer: Any, parameters: Mapping[str, Any], train: Table) -> Iterator[Proposal]:
    """Yield what a minimizer proposes: its path, if it has one, else its only answer."""
    if not hasattr(minimizer, "path"):
        yield Proposal(parameters, checked_generalization(minimizer.minimize(train), "minimize(table)"))
        return
    for step, generalization in enumerate(minimizer.path(train)):
        yield Proposal(
            {**parameters, "step": step}, checked_generalization(generalization, "path(table), step by step,")
        )


def _constructor_rules(name: str, **rules: Rule) -> dict[str, Rule]:
    """Return the rules of a minimizer's constructor: those that are given, for all others that it is plain."""
    left_out = {"schema", "personal", "random_state", "model", "weights", "constraints"}
    names = [name for name in inspect.signature(known_minimizers()[name]).parameters if name not in left_out]
    return {name: rules.get(name, ANYTHING) for name in names}


def family_of(name: str) -> Family:
    """Return how the minimizer of that name is used; one of another package is asked once per setting."""
    return FAMILIES[name] if name in FAMILIES else Family(_constructor_rules(name), _once)


def family_names() -> list[str]:
    """Return every name that a grid can use."""
    return list(dict.fromkeys([*FAMILIES, *known_minimizers()]))


NEURAL = ("torch", "neural")
DEFAULT_SURROGATE = "additive_boosting"
FAMILIES: Mapping[str, Family] = {
    "pat": Family(
        {"alpha": SHARE, "max_leaves": _whole(1), "min_leaf": WHOLE_OR_FITTING},
        _pat,
        along=("alpha", "max_leaves"),
        defaults={"alpha": (0.7,), "max_leaves": LEAVES, "min_leaf": None},
        seeded=False,
    ),
    "optimal": Family(
        {"steps": _whole(2), "surrogate": SURROGATE},
        _optimal,
        defaults={"steps": 40, "surrogate": DEFAULT_SURROGATE},
    ),
    "coarsening": Family(
        {"start": SHARE, "mu": FROM_ZERO_OR_NOTHING, "steps": _whole(2), "surrogate": SURROGATE},
        _coarsening,
        defaults={"start": (0.3, 0.5), "mu": None, "steps": 25, "surrogate": DEFAULT_SURROGATE},
    ),
    "recommended": Family(
        {"steps": _whole(2), "surrogate": SURROGATE},
        _recommended,
        defaults={"steps": 40, "surrogate": DEFAULT_SURROGATE},
        in_parts=True,
    ),
    "iterative": Family({"k": _whole(1)}, _iterative, defaults={"k": 4}),
    "uniform": Family({"k": _whole(1)}, _once, defaults={"k": 3}),
    "feature-selection": Family(
        {"k": ATTRIBUTES, "method": METHOD}, _once, defaults={"k": 4, "method": "iterative"}, seeded=False
    ),
    "apt": Family(_constructor_rules("apt", target_accuracy=SHARE), _once),
    "advtrain": Family(_constructor_rules("advtrain", lam=SHARE), _once, needs=NEURAL),
    "mutualinf": Family(_constructor_rules("mutualinf", lam=FROM_ZERO), _once, needs=NEURAL),
}
