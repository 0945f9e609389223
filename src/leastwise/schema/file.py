"""A schema as YAML that a person edits.

Every value is taken as it is written: ``yes``, ``01``, ``1.0`` and ``null`` in a list of values are those texts,
quoted or not. All problems of a file are reported at once, each with its line. Anchors, tags, repeated keys and
deep nesting have no use here and are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from leastwise.documents import LARGEST_DOCUMENT, Fields, Problems, check_format, read_text, write_whole
from leastwise.documents.yaml import LocatedDocument
from leastwise.errors import SchemaError, shorten
from leastwise.schema.attribute import Attribute, attribute_from_document, attribute_to_document
from leastwise.schema.labels import label_to_document, take_label
from leastwise.schema.schema import Schema

FORMAT = "leastwise-schema"
VERSION = 1
WHAT = "not a schema that can be used"
SHORT_LIST = 60  # characters; a longer list of values gets a line for each

HEADER = """\
# What is asked: the label to predict and the attributes of a record. Edit it; leastwise checks it.
#
#   kind        continuous (numbers), ordinal (values in their order) or discrete (values without an order)
#   values      all that may be answered, of an ordinal one from first to last; labels: what people read instead
#   lower,      the ends of the numbers, both inside; leave one out to keep it open. Do not copy the least and
#   upper         the greatest number of the data: they are somebody's
#   integer     true: whole numbers only
#   missing     true: the answer may be left out
#   other       true: any value that is not listed is accepted, as "other"
#   personal    true: what a thief must not find out
#   unit,       for forms and reports
#   question
#   derive      how it is made of what a column holds: prefix 3, year of YYYY-MM-DD, number of 1.234,5 €
#   source        and that column, where it has another name
#   hierarchy   groups of values that people recognise: {married: [civil, church], not married: [single]}
#   names       what people call a bucket, where it comes about: {married: [civil, church]}, {adult: {above: 17}}
"""


def to_yaml(schema: Schema, notes: Iterable[str] = ()) -> str:
    """Return the schema as YAML; ``notes`` become comments below the header."""
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    told = label_to_document(schema.label)
    for each in [*told.get("labels", []), *([told["label"]] if "label" in told else [])]:
        _in_lines(each)
        if each["kind"] == "discrete":
            del each["kind"]
    document |= told
    document["attributes"] = [_in_lines(attribute_to_document(attribute)) for attribute in schema.attributes]
    comments = "".join(f"# {_one_line(note)}\n" for note in notes)
    text = yaml.dump(document, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=SHORT_LIST + 40)
    return HEADER + (f"#\n{comments}" if comments else "") + text


def _one_line(text: str) -> str:
    # Anything that is not plainly visible could end the comment, or hide what follows it.
    return "".join(char if char.isprintable() else "�" for char in text)


class _Writer(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


class _Line(list[Any]):
    """A list written in one line."""


_Writer.add_representer(
    _Line, lambda writer, data: writer.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
)


def _quoted_where_hidden(writer: _Writer, text: str) -> yaml.ScalarNode:
    # Only double quotes have escapes; all other styles fold the rarer line breaks of Unicode.
    style = None if text.isprintable() else '"'
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Writer.add_representer(str, _quoted_where_hidden)


def _in_lines(document: dict[str, Any]) -> dict[str, Any]:
    """Put short lists of an attribute's document into one line each."""
    for key in ("values", "labels"):
        texts = document.get(key, [])
        if texts and sum(len(text) + 2 for text in texts) <= SHORT_LIST:
            document[key] = _Line(texts)
    return document


def from_yaml(text: str) -> Schema:
    """Read a schema; a ``SchemaError`` lists everything that is wrong with it, with the lines.

    >>> from_yaml("format: leastwise-schema\\nversion: 1\\nattributes: [{name: a, kind: continous}]")
    Traceback (most recent call last):
    leastwise.errors.SchemaError: not a schema that can be used: line 3, attributes[0]: kind must be one of
    continuous, ordinal, discrete; got 'continous': did you mean 'continuous'?
    """
    if len(text) > LARGEST_DOCUMENT:
        raise SchemaError(WHAT, [f"too large: {len(text):,} characters, at most {LARGEST_DOCUMENT:,}"])
    source = LocatedDocument.read(text)
    problems = Problems(source.where)
    problems.texts += source.problems
    schema = _from_document(source.content, problems) if source.whole else None
    if schema is None or problems.texts:
        raise SchemaError(WHAT, problems.texts)
    return schema


def _from_document(document: Any, problems: Problems) -> Schema | None:
    fields = Fields(document, (), problems)
    if not check_format(fields, FORMAT, VERSION):
        return None
    label = take_label(fields, problems)
    attributes = [
        attribute_from_document(item, ("attributes", i), problems, named=True)
        for i, item in enumerate(fields.items("attributes"))
    ]
    fields.done()
    _check_names(attributes, label, problems)
    return None if problems.texts else Schema(tuple(a for a in attributes if a is not None), label)


def _check_names(attributes: list[Attribute | None], label: Attribute | None, problems: Problems) -> None:
    if not attributes:
        problems.add(("attributes",), "name at least one attribute")
    names = [None if attribute is None else attribute.name for attribute in attributes]
    for i, name in enumerate(names):
        if name is not None and name in names[:i]:
            problems.add(("attributes", i, "name"), f"attribute {shorten(name)} is declared twice")
    several = label is not None and len(label.parts) > 1
    for i, each in enumerate(() if label is None else label.parts):
        if each.name in names:
            path = ("labels", i, "name") if several else ("label", "name")
            problems.add(path, f"{shorten(each.name)} is the label and an attribute; it can be only one")
    if label is not None and label.continuous and label.extra_values:
        must = "a label that is a number must be known of everybody; take missing and other away"
        problems.add(("label", "kind"), must)


def load_schema(path: str | Path) -> Schema:
    """Read a schema from a file."""
    text = read_text(path, SchemaError)
    try:
        return from_yaml(text)
    except SchemaError as error:
        raise SchemaError(f"{path}: {WHAT}", error.problems) from None


def save_schema(schema: Schema, path: str | Path, notes: Iterable[str] = ()) -> None:
    """Write a schema to a file."""
    write_whole(path, to_yaml(schema, notes))
