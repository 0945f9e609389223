"""How each minimizer of a grid proposes: as a path where it has one, otherwise once per setting."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from leastwise.documents import is_number
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
from leastwise.minimizers.pat import LEAVES, fitting_min_leaf
from leastwise.minimizers.surrogate import SURROGATES
from leastwise.records.table import Table
from leastwise.validation import is_whole


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

    def propose(self, train: Table, constraints: Constraints | None = None) -> list[Proposal]:
        """Return what it finds on the training part; it sees no other record, and no other's numbers."""
        table = train.with_own_levels()
        if self.minimizer in known_minimizers():
            check_label(known_minimizers()[self.minimizer], table)
        if self.brought is not None:
            return [*path_of(self.brought, self.parameters, table)]
        return [*family_of(self.minimizer).propose(table, self, constraints)]

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


Propose = Callable[[Table, Source, Constraints | None], Iterator[Proposal]]


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
    """

    rules: Mapping[str, Rule]
    propose: Propose
    along: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = True
    needs: tuple[str, str] | None = None


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
        for leaves, found in zip(given["max_leaves"], row, strict=True):
            yield Proposal({"alpha": alpha, "max_leaves": leaves, "min_leaf": fewest}, found)


def _optimal(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    given = source.parameters
    path = optimal_path(
        train, given["steps"], surrogate=given["surrogate"], constraints=constraints, seed=source.seed
    )
    for found in path:
        yield Proposal({"lam": found.origin.get("lam", 0.0), "surrogate": given["surrogate"]}, found)


def _coarsening(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    given = source.parameters
    mu, steps, start, surrogate = (given[name] for name in ("mu", "steps", "start", "surrogate"))
    paths = restarted_paths(
        train, mu, steps=steps, starts=(start,), surrogate=surrogate, constraints=constraints, seed=source.seed
    )
    for number, path in enumerate(paths):
        for step, found in enumerate(path):
            yield Proposal({**given, "path": number, "step": step}, found)


def _recommended(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    given = source.parameters
    found = recommended_paths(
        train, source.seed, steps=given["steps"], surrogate=given["surrogate"], constraints=constraints
    )
    for number, each in enumerate(found):
        by = {"by": each.origin["minimizer"]} if "minimizer" in each.origin else {}
        yield Proposal({**given, **by, "number": number}, each)


def _iterative(train: Table, source: Source, constraints: Constraints | None) -> Iterator[Proposal]:
    path = iterative_path(train, 1.0, source.parameters["k"], random_state=source.seed)
    for step, found in enumerate(path):
        yield Proposal({**source.parameters, "step": step}, found.generalization)


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
    for step, found in enumerate(minimizer.path(train)):
        yield Proposal({**parameters, "step": step}, checked_generalization(found, "path(table), step by step,"))


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
