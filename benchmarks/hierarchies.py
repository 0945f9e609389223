"""What recognisable groups cost, and what they are ahead of: the frontier with and without hierarchies.

On Adult (country of birth in the regions of the United Nations, education in its order) and on the ACS file of
Colorado (occupation by major group, place of birth by part of the world) three frontiers are made from the same
training records by the same exact program: groups as they please, groups of the hierarchy, and the best *single
level* of each attribute, which is all that full-domain recoding chooses from (numbers: each one, or 16, 8, 4 or
2 intervals). Utility risk and adversary error (A1, by counting) are those of the test part, which had no say.

`cost_of_hierarchy` is the share of the rectangle between the limit points that the hierarchy gives up;
`ahead_of_lattice` the share that it covers beyond the single levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from common import parser, report
from data import load

from leastwise import Generalization, Groups, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.evaluation.pareto import Limits, Point, adversary_error_at
from leastwise.minimizers.optimal import optimal_path
from leastwise.minimizers.optimal.surrogate import effects_of
from leastwise.partition import Partition, from_map, keep, suppress
from leastwise.predictors.held_out import held_out
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.random import generator
from leastwise.records.grouping import quantile_of
from leastwise.records.table import Split
from leastwise.schema import Attribute, Schema
from leastwise.schema.hierarchies import SHIPPED
from leastwise.schema.hierarchy import Hierarchy

FILES = ("adult", "acs_income_co_2018")
# How Adult writes some countries, and where they are.
ADULT = {
    "Hong": "HK", "South": "KR", "Columbia": "CO", "Trinadad&Tobago": "TT", "Holand-Netherlands": "NL",
    "Outlying-US(Guam-USVI-etc)": "GU", "Yugoslavia": "RS",
}  # fmt: skip
INTERVALS = (16, 8, 4, 2)
SURROGATE = "additive_boosting"


def trees(name: str, schema: Schema) -> Schema:
    """Return the schema of a file with its hierarchies."""
    if name == "adult":
        country = schema["native-country"]
        spelled = {value: ADULT.get(value, value) for value in country.values}
        known = SHIPPED["un-regions"]([*spelled.values()]).path_of
        rows = [(value, *reversed(known[spelled[value]])) for value in country.values]
        return schema.with_attribute(replace(country, hierarchy=Hierarchy(tuple(rows))))
    for column, tree in (("OCCP", "census-occupations"), ("POBP", "census-birthplaces")):
        schema = schema.with_attribute(_grouped(schema[column], tree))
    return schema


def _grouped(attribute: Attribute, tree: str) -> Attribute:
    """Return an attribute in its groups; a code that nobody published has one of its own."""
    known = SHIPPED[tree](attribute.values)
    rows = [(value, *reversed(known.path_of.get(value, ("not listed",)))) for value in attribute.values]
    return replace(attribute, hierarchy=Hierarchy(tuple(rows)))


def levels_of(table: Table, j: int) -> Iterator[Partition]:
    """Yield the levels of an attribute, as a lattice of full-domain recodings has them."""
    attribute = table.schema.attributes[j]
    yield keep(attribute)
    yield suppress(attribute)
    if attribute.hierarchy is not None:
        deepest = max(len(path) for path in attribute.hierarchy.path_of.values())
        for depth in range(1, deepest + 1):
            marks = [attribute.hierarchy.path_of[value][:depth] for value in attribute.values]
            names = {mark: i for i, mark in enumerate(dict.fromkeys(marks))}
            extras = range(len(names), len(names) + attribute.extra_values)
            yield Groups(attribute, (*(names[mark] for mark in marks), *extras))
    elif attribute.kind != "discrete":
        inner = len(table.levels[j])
        for count in INTERVALS:
            quantile = quantile_of(table.use(j)[:inner] + 1e-9, count)
            extras = int(quantile.max()) + 1 + np.arange(attribute.extra_values)
            yield from_map(attribute, table.levels[j], np.concatenate([quantile, extras]))


def best_levels(table: Table, steps: int) -> list[Generalization]:
    """Return the best single levels for many Lagrange multipliers, by the very objective of the exact program.

    As many of them, evenly along the path, as the other frontiers have.
    """
    effects, options = effects_of(table, SURROGATE), []
    for j in range(len(table.schema)):
        costs = [(level, *_cost(table, j, level, np.asarray(effects[j]))) for level in levels_of(table, j)]
        options.append(costs)
    found = {}
    for lam in np.geomspace(1e-3, 100, 20 * steps):
        chosen = tuple(min(each, key=lambda option: option[1] + lam * option[2])[0] for each in options)
        generalization = Generalization(chosen, table.schema.label)
        found.setdefault(generalization.fingerprint, generalization)
    path = [*found.values()]
    return [path[i] for i in np.unique(np.linspace(0, len(path) - 1, steps).astype(int))]


def _cost(table: Table, j: int, level: Partition, effects: np.ndarray[Any, Any]) -> tuple[float, float]:
    bucket, use = level.bucket_map(table.levels[j]), table.use(j)
    size, effects = int(bucket.max()) + 1, effects.reshape(len(use), -1)
    people = np.bincount(bucket, weights=use, minlength=size)
    lost = 0.0
    for column in effects.T:
        mean = np.bincount(bucket, weights=use * column, minlength=size) / np.maximum(people, 1e-300)
        lost += float(use @ (column - mean[bucket]) ** 2)
    told = 0.0
    for p in table.personal:
        held = np.zeros((size, table.sizes[p]))
        np.add.at(held, (bucket[table.codes[:, j]], table.codes[:, p]), table.counts)
        told += float(held.max(axis=1).sum()) / len(table.personal)
    return lost, told


def judged(generalization: Generalization, parts: Split) -> Point:
    """Return utility risk by the best of two classifiers, and A1 error by counting: cheap, the same for all."""
    risk = held_out(generalization, parts.train, parts.test)[0].error
    breach = Breach.of(generalization, parts, label=False)
    return Point(risk, Reconstruction(JointBuckets).attack(breach).adversary_error)


def measure(name: str, records: int, steps: int, seed: int) -> dict[str, Any]:
    """Return what the three frontiers of a file cover."""
    declared = load(name)
    with_trees = trees(name, declared.schema)
    frame = declared.frame.sample(
        min(records, len(declared.frame)), seed=int(generator(seed, "sample").integers(2**31))
    )
    free, bound = (Table.from_frame(frame, schema).split(seed) for schema in (declared.schema, with_trees))
    ends = [end(declared.schema) for end in (Generalization.untouched, Generalization.suppressed)]
    limits = Limits(*(judged(end, free) for end in ends))
    candidates = {
        "free": [*optimal_path(free.train.with_own_levels(), steps=steps, surrogate=SURROGATE)],
        "tree": [*optimal_path(bound.train.with_own_levels(), steps=steps, surrogate=SURROGATE)],
        "levels": best_levels(bound.train.with_own_levels(), steps),
    }
    row: dict[str, Any] = {"file": name, "seed": seed}
    for kind, found in candidates.items():
        parts = free if kind == "free" else bound
        points = [judged(g, parts) for g in found]
        row[kind] = limits.hypervolume(points) / limits.area
        row |= {f"A1 of {kind} at +{share}": _at(points, limits, share) for share in (0.01, 0.03)}
    return row


def _at(points: Sequence[Point], limits: Limits, increase: float) -> float:
    found = adversary_error_at(points, limits.untouched.utility_risk + increase)
    return limits.untouched.adversary_error if found is None else found


def main() -> None:
    """Measure, and print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--files", default=",".join(FILES))
    arguments.add_argument("--seeds", default="0,1,2")
    arguments.add_argument("--records", type=int, default=15_000)
    arguments.add_argument("--steps", type=int, default=25)
    given = arguments.parse_args()
    rows = []
    for name in given.files.split(","):
        for seed in map(int, given.seeds.split(",")):
            rows.append(measure(name, given.records, given.steps, seed))
            print(rows[-1], flush=True)
    figures = {
        "cost_of_hierarchy": float(np.mean([row["free"] - row["tree"] for row in rows])),
        "ahead_of_lattice": float(np.mean([row["tree"] - row["levels"] for row in rows])),
    }
    report(rows, figures, given.json)


if __name__ == "__main__":
    main()
