"""Records that stay where they are, on the command line: addresses, and how much is taken of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from leastwise.cli.output import visible
from leastwise.cli.task import AT_SOURCE, Records, Task
from leastwise.documents.wording import counted
from leastwise.errors import DataError, ParameterError, shorten

if TYPE_CHECKING:
    import polars as pl

    from leastwise.generalization import Generalization
    from leastwise.policy import Policy
    from leastwise.records.sources import Source
    from leastwise.records.sources.engine import Engine
    from leastwise.records.sources.generalized import Distinct
    from leastwise.schema import Schema


PANEL = "Records that stay where they are"


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """What is taken of records that stay where they are."""

    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME",
            help="The table, of a database: duckdb:, sqlite:, ...",
            rich_help_panel=PANEL,
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="NAME",
            help="The column that tells records apart; they are split by it.",
            rich_help_panel=PANEL,
        ),
    ] = None
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            min=300,
            metavar="N",
            help="Fit on so many, judge on all. Default: 200,000.",
            rich_help_panel=PANEL,
        ),
    ] = None
    min_count: Annotated[
        int | None,
        typer.Option(
            "--min-count",
            min=1,
            metavar="N",
            help="Smaller counts never leave the engine. Default: 1.",
            rich_help_panel=PANEL,
        ),
    ] = None
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Print the queries and what each reads; run none of them.", rich_help_panel=PANEL
        ),
    ] = False

    @property
    def given(self) -> bool:
        """Whether any of them was typed: then the records stay where they are, however few."""
        return self != SourceOptions()

    def or_of(self, policy: Policy | None, data: str | None) -> SourceOptions:
        """Return them with what the policy says, where the records are the policy's."""
        if policy is None or data is not None:
            return self
        known = {name: getattr(policy.task, name) for name in AT_SOURCE if getattr(self, name) is None}
        return replace(self, **known)

    @property
    def words(self) -> list[str]:
        """What was typed of where the records are, for another command."""
        typed = {"--table": self.table, "--key": self.key, "--sample": self.sample, "--min-count": self.min_count}
        return [word for name, value in typed.items() if value is not None for word in (name, str(value))]


class Opened(NamedTuple):
    """A source, the sample to fit on, and what was inferred about it."""

    source: Source
    records: Records


def stays(data: str, options: SourceOptions) -> bool:
    """Return whether the records are left where they are."""
    from leastwise.records.sources.opening import is_source

    return options.given or is_source(data)


@contextmanager
def engine_of(data: str, options: SourceOptions) -> Iterator[Engine]:
    """Open the engine of an address, and let it go at the end."""
    from leastwise.records.sources.opening import open_engine

    _check_folder(data)
    engine = open_engine(data, options.table, options.key)
    try:
        yield engine
    finally:
        engine.close()


def _check_folder(data: str) -> None:
    """Refuse a folder that holds anything but records: who names one by mistake names the one they are in."""
    from leastwise.records.files import file_format
    from leastwise.records.sources.opening import files_of

    for path in files_of(data) if Path(data).is_dir() else ():
        try:
            file_format(path)
        except DataError:
            other = shorten(str(path.relative_to(data)))
            raise DataError(
                f"{shorten(data)} is a folder, which is read as a whole, and {other} in it holds no records; name "
                f"the file, or a pattern such as '{Path(data) / '*.csv'}'"
            ) from None


def name_of(data: str, options: SourceOptions) -> str:
    """Return a name of the data for people: the table, or the last part of the address; no password is in it."""
    return options.table or Path(data.partition("?")[0]).name or "records"


def opened(
    task: Task, options: SourceOptions, engine: Engine, seed: int, progress: Any, learned: bool = False
) -> Opened:
    """Draw the sample, infer a schema where none is given, and look at every column."""
    from leastwise.records.sources import SAMPLE

    most = options.sample or SAMPLE
    schema, left_out = declared_or_inferred(task, engine, seed, most, progress)
    source = source_of(task, options, engine, seed, progress, schema.with_names(task.called), learned=learned)
    source.check_key()
    inferred = schema.names if task.schema is None else ()
    return Opened(source, Records(source.sample(most), inferred, left_out))


def sampled(task: Task, options: SourceOptions, seed: int, progress: Any) -> Records:
    """Return the records of a command that needs no more than a sample: of a file all, elsewhere some."""
    from leastwise.records.sources import SAMPLE

    if not stays(task.data, options):
        return task.records()
    refuse_person(task)
    if options.min_count:
        raise ParameterError("--min-count has no use here: only a sample is drawn, and nothing is judged on all")
    with engine_of(task.data, options) as engine:
        if options.explain:
            print_queries(described_source(task, options, engine, seed, progress), None, options.sample or SAMPLE)
            raise typer.Exit
        return opened(task, options, engine, seed, progress).records


def counted_answers(
    asked: Generalization,
    data: str,
    options: SourceOptions,
    missing: Sequence[str],
    full: bool,
    labels: Sequence[str],
) -> Distinct:
    """Count generalized records where they lie; ``full``: they are full ones, and generalized there."""
    from leastwise.records.sources import generalized

    if options.sample:
        raise ParameterError("--sample has no use here: all generalized records are counted")
    at_least = options.min_count or 1
    with engine_of(data, options) as engine:
        if options.explain:
            _explain_answers(asked, engine, missing, full, labels, at_least)
            raise typer.Exit
        if full:
            distinct = generalized.distinct_generalized(asked, engine, missing, at_least)
        else:
            distinct = generalized.distinct_records(asked, engine, labels, at_least)
    if distinct.withheld:
        typer.echo(
            f"left out: {counted(distinct.withheld, 'person', 'people')} whose record fewer than {at_least} have",
            err=True,
        )
    return distinct


def _explain_answers(
    asked: Generalization, engine: Engine, missing: Sequence[str], full: bool, labels: Sequence[str], at_least: int
) -> None:
    from leastwise.records.sources import generalized
    from leastwise.records.sources.explaining import explained_counts

    if full:
        plain, source = generalized.asked_of(asked, engine, missing, at_least)
        texts = [*explained_counts(source, [plain], None)]
    else:
        texts = engine.explain(generalized.plan_of(asked, engine, labels, at_least), 0)
    for text in texts:
        typer.echo(text + "\n")


def described_source(task: Task, options: SourceOptions, engine: Engine, seed: int, progress: Any) -> Source:
    """Return a source of which nothing is asked: that takes a schema from a file."""
    if task.schema is None:
        raise ParameterError("--explain needs --schema: to infer one, records would have to be read")
    return source_of(task, options, engine, seed, progress, task.declared())


def source_of(
    task: Task,
    options: SourceOptions,
    engine: Engine,
    seed: int,
    progress: Any,
    schema: Schema,
    unsaid: Collection[str] = (),
    learned: bool = False,
) -> Source:
    """Return the source of a schema that is known, but for the domains of some attributes.

    ``learned``: attackers learn from everybody else in it, not only from the sample.
    """
    from leastwise.records.sources import Source
    from leastwise.records.sources.inferring import completed

    if unsaid:
        schema = completed(engine, schema, unsaid, tuple(task.missing or ()))
    return Source(engine, schema, seed, tuple(task.missing or ()), options.min_count or 1, learned, progress)


def first_look(
    task: Task, options: SourceOptions, engine: Engine, seed: int, progress: Any, blind: Sequence[Any] = ()
) -> pl.DataFrame:
    """Return the sample as it is, by which domains are completed that no artefact publishes; nothing if blind."""
    from leastwise.records.sources import SAMPLE
    from leastwise.records.sources.inferring import records_in
    from leastwise.records.sources.opening import columns_of
    from leastwise.records.sources.source import draw_frame

    if blind:
        import polars

        return polars.DataFrame()
    names, markers = columns_of(engine, ()), tuple(task.missing or ())
    most = options.sample or SAMPLE
    return draw_frame(engine, names, most, records_in(engine), seed, markers, progress)[:, :-1]


def declared_or_inferred(
    task: Task, engine: Engine, seed: int, most: int, progress: Any
) -> tuple[Schema, tuple[str, ...]]:
    """Return the schema, and the columns that were left out of an inferred one."""
    from leastwise.records.sources.inferring import infer_at_source, records_in
    from leastwise.records.sources.opening import columns_of
    from leastwise.records.sources.source import draw_frame

    if task.schema is not None:
        return task.declared(), ()
    columns = columns_of(engine, [*task.beside])
    markers = tuple(task.missing or ())
    frame = draw_frame(engine, columns, most, records_in(engine), seed, markers, progress)[:, :-1]
    inspection = task.inspect(frame)
    left_out = [f"{visible(f.name, 30)} ({f.kind}: {f.reason})" for f in inspection.left_out]
    return infer_at_source(engine, inspection.schema, markers, task.at_least), tuple(left_out)


def not_collected(generalizations: Sequence[Generalization]) -> set[str]:
    """Return the attributes that none of them asks: no artefact publishes their domains."""
    first, *others = generalizations
    return {*first.not_collected}.intersection(*({*other.not_collected} for other in others))


def print_queries(source: Source, generalizations: Sequence[Any] | None, sampled: int) -> None:
    """Print what would be asked: nothing is. None: no generalization will be counted."""
    from leastwise.records.sources.explaining import explained

    for text in explained(source, generalizations, sampled):
        typer.echo(text + "\n")


UNWEIGHTED = (
    "survey weights are not counted in an engine: counts there are of records; read them into memory, or leave "
    "the weights out"
)


def refuse_person(task: Task) -> None:
    """Say that one record a person, each once, is what counts stand for."""
    if task.person is not None:
        raise ParameterError(
            "--person is not counted in an engine: records there must be one for each person; put them together "
            "before, or read them into memory"
        )
    if task.survey_weights is not None:
        raise ParameterError(UNWEIGHTED)
