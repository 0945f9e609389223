"""Which domain an attribute has that an artefact does not ask: nothing of it is published there.

What the run declared is taken where the artefact lies in the folder of one (or a schema is named), so that codes
stand for the same values; elsewhere it is what the records show.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from leastwise.cli.output import visible
from leastwise.errors import UnknownValueError

if TYPE_CHECKING:
    import polars as pl

    from leastwise.generalization import Generalization
    from leastwise.runs.task import RunTask
    from leastwise.schema import Attribute, Schema


def declared_for(artefact: Path, named: Path | None = None) -> Schema | None:
    """Return the schema that is named, else that of the run in whose folder the artefact lies, if it does."""
    from leastwise.runs.folder import SCHEMA, TASK
    from leastwise.schema.file import load_schema

    if named is not None:
        return load_schema(named)
    # The artefact is the run's recommended one, the decided one, one of its candidates, or a draft of its studio.
    for folder in (artefact, artefact.parent, artefact.parent.parent):
        if (folder / TASK).is_file() and (folder / SCHEMA).is_file():
            return load_schema(folder / SCHEMA)
    return None


def tell_unweighted(artefact: Path, weights: str | None = None) -> None:
    """Say, of what a run with survey weights chose, that records count once each where no weights are given."""
    task = _task_beside(artefact) if weights is None else None
    if task is not None and task.weighted is not None:
        named = "" if task.survey_weights is None else f" ({visible(task.survey_weights, 40)})"
        typer.echo(f"the run was judged by survey weights{named}; here each record counts once", err=True)


def person_of(artefact: Path, given: str | None, columns: Collection[str]) -> str | None:
    """Return the column that tells whose record each one is: the one that is given, or else that of its run.

    Without it one person's records would lie in several parts of a split, and each would count as a person.
    """
    task = _task_beside(artefact) if given is None else None
    if task is None or task.person is None:
        return given
    name = visible(task.person, 40)
    if task.person not in columns:
        typer.echo(f"the run knew whose record each one is ({name}); here each is taken for a person", err=True)
        return None
    typer.echo(f"whose record each one is: {name}, as in the run", err=True)
    return task.person


def _task_beside(artefact: Path) -> RunTask | None:
    """Return what was asked of the run that an artefact lies with; None where it lies with none."""
    from leastwise.documents import read_text
    from leastwise.documents.plain import format_of
    from leastwise.runs.folder import TASK, read_task
    from leastwise.runs.task import FORMAT

    folders = (artefact, artefact.parent, artefact.parent.parent)
    folder = next((folder for folder in folders if (folder / TASK).is_file()), None)
    if folder is None or format_of(read_text(folder / TASK)) != FORMAT:
        return None
    return read_task(folder)


def known_schema(
    generalizations: Sequence[Generalization], frame: pl.DataFrame, declared: Schema | None = None
) -> Schema:
    """Return the attributes of the first one; a domain that it does not publish is another's, or the declared one.

    What nobody says of a domain, the records do.
    """
    from leastwise.schema import Schema

    first, *others = generalizations
    said = {each.name: each for each in first.schema.attributes}
    for partition in (p for g in (*others, first) for p in g.partitions if not p.suppressed):
        said[partition.attribute.name] = partition.attribute
    unsaid = {name: said[name] for name in first.not_collected if said[name] == said[name].without_domain()}
    for attribute in () if declared is None else declared.attributes:
        if attribute.name in unsaid and attribute.kind == unsaid[attribute.name].kind:
            said[attribute.name] = _accepting(attribute, frame)
            del unsaid[attribute.name]
    said |= _shown([*unsaid.values()], frame)
    marked = (replace(said[each.name], personal=each.personal) for each in first.schema.attributes)
    return Schema(tuple(marked), first.label)


def _accepting(attribute: Attribute, frame: pl.DataFrame) -> Attribute:
    """Return a declared attribute that is not asked; what newer records have beyond its domain is "other"."""
    from leastwise.records.table import Table
    from leastwise.schema import Schema

    try:
        if attribute.column in frame.columns:
            Table.from_frame(frame.select(attribute.column), Schema((attribute,)))
    except UnknownValueError:
        name = visible(attribute.name, 30)
        typer.echo(f"{name}: values outside the declared domain count as one more value, “other”", err=True)
        return replace(attribute, missing=True, other=True)
    return attribute


def _shown(unsaid: Sequence[Attribute], frame: pl.DataFrame) -> dict[str, Attribute]:
    """Return attributes that nobody declared with the domains that the records show."""
    from leastwise.schema.inference import infer_schema

    attributes = {each.name: replace(each, missing=True) for each in unsaid if each.continuous}
    kinds = {each.name: each.kind for each in unsaid if not each.continuous and each.name in frame.columns}
    if kinds:
        attributes |= {
            each.name: each for each in infer_schema(frame.select(*kinds), kinds=kinds).schema.attributes
        }
    return attributes
