"""A generalization as a JavaScript module: one file, no dependencies, for Node and browsers."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from leastwise.documents.pages import script_json
from leastwise.generalization import Generalization
from leastwise.partition import Intervals, Partition, Untouched
from leastwise.schema import Attribute
from leastwise.schema.attribute import plain_number
from leastwise.schema.derive import MOST_DEGREES, NEEDS, Above, Amount, Grid, Prefix, Region, Rule, rule_of
from leastwise.schema.values import ANY_NUMBER, CODE_NUMBER

HEADER = """\
// Generalizes one record, made by leastwise. In a module:
//
//     import { generalize } from "./this-file.js";
//     generalize({ age: 30 });                           // what people read for each bucket
//     generalize({ age: 30 }, { output: "codes" });      // the numbers of the buckets
//     generalize({ age: 30 }, { unknown: "error" });     // refuse what is undeclared, even where "other" is
//
// A value outside the declared domain goes to "other" where that is declared; elsewhere it throws
// UnknownValueError, whose .attribute names the attribute.
// Whatever is not asked is left out.

"""
EXPORTS = """
export const generalize = generalizer(plan);
export { UnknownValueError, generalizer, plan };
export default generalize;
"""


def to_javascript(generalization: Generalization) -> str:
    """Return an ES module that exports ``generalize(record, {output, unknown})``.

    Examples
    --------
    >>> from leastwise import Attribute, Generalization, Intervals
    >>> age = Attribute("age", "continuous", lower=0, integer=True)
    >>> text = to_javascript(Generalization((Intervals(age, (19, 63)),)))
    >>> [line for line in text.splitlines() if line.startswith("export default")]
    ['export default generalize;']
    """
    return f"{HEADER}{asset('apply.js')}\nconst plan = {script_json(plan(generalization), indent=1)};\n{EXPORTS}"


def asset(name: str) -> str:
    """Return the text of a file that this package brings, with the grammar of numbers filled in."""
    text = (files("leastwise.exports") / "assets" / name).read_text(encoding="utf-8")
    return text.replace("{CODE_NUMBER}", CODE_NUMBER).replace("{ANY_NUMBER}", ANY_NUMBER)


def plan(generalization: Generalization) -> dict[str, Any]:
    """Return what a browser needs in order to generalize: the buckets and their labels, nothing suppressed."""
    return {
        "labels": [_label_plan(label) for label in generalization.schema.labels],
        "attributes": [_attribute_plan(p) for p in generalization.partitions if not p.suppressed],
    }


def _label_plan(label: Attribute) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": label.name, "values": list(label.values)}
    if label.continuous:
        plain = {"name": label.name, "lower": label.lower, "upper": label.upper, "integer": label.integer}
    return (
        {**plain, "column": label.column, "derive": _rule_plan(rule_of(label.derive))} if label.derive else plain
    )


def _attribute_plan(partition: Partition) -> dict[str, Any]:
    attribute = partition.attribute
    common: dict[str, Any] = {"name": attribute.name, "missing": attribute.missing, "other": attribute.other}
    if attribute.derive:
        common |= {"column": attribute.column, "derive": _rule_plan(rule_of(attribute.derive))}
    if attribute.continuous:
        ends = {"lower": plain_number(attribute.lower), "upper": plain_number(attribute.upper)}
        common |= {**ends, "integer": attribute.integer}
    else:
        common |= {"values": list(attribute.values)}
    if isinstance(partition, Untouched):
        return {**common, "untouched": True}
    edges = {"edges": list(map(plain_number, partition.edges))} if isinstance(partition, Intervals) else {}
    return {**common, **edges, "assignment": list(partition.assignment), "labels": list(partition.labels)}


def _rule_plan(rule: Rule) -> dict[str, Any]:
    if isinstance(rule, Prefix):
        return {"length": rule.length}
    common = {"pattern": f"^(?:{rule.pattern})$", "refused": rule.refused}
    if isinstance(rule, Region):
        boxes = [[box.name, *map(float, box[1:])] for box in rule.boxes]
        return {**common, "beside": rule.beside, "boxes": boxes}
    if isinstance(rule, Grid):
        return {**common, "most": MOST_DEGREES, "degrees": rule.degrees, "perDegree": rule.per_degree}
    if isinstance(rule, Above):
        return {**common, "threshold": float(rule.threshold), "classes": list(rule.classes)}
    if isinstance(rule, Amount):
        return {**common, "removed": list(rule.removed), "decimal": rule.decimal}
    places = {field: list(rule.place(field)) for field in NEEDS[rule.part]}
    return {**common, "part": rule.part, "places": places, "reference": rule.reference}
