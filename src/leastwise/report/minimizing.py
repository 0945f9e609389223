"""One call that does the job: from a frame to a finished run with its report."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from leastwise.adversaries.base import Adversary
from leastwise.documents import private_folder
from leastwise.errors import ParameterError, SchemaError, shorten
from leastwise.generalization.leaks import warn_of_leaks
from leastwise.progress import Progress, Silent, watching
from leastwise.records.duplicates import copies_in_words
from leastwise.records.files import read_frame
from leastwise.records.sources import SAMPLE, Source
from leastwise.records.sources.inferring import infer_at_source, records_in
from leastwise.records.sources.opening import columns_of, is_source, open_engine
from leastwise.records.sources.source import draw_frame
from leastwise.records.table import Table
from leastwise.report.writing import write_report
from leastwise.runs import Budget, Grid, Options, Run, Workers, run
from leastwise.schema import Schema
from leastwise.schema.file import load_schema
from leastwise.schema.inference import infer_schema
from leastwise.schema.labels import check_agreed


def minimize(
    frame: Any,
    label: str | Sequence[str] | None = None,
    personal: Sequence[str] | None = None,
    *,
    label_weights: Mapping[str, float] | None = None,
    schema: Schema | str | Path | None = None,
    person: str | None = None,
    survey_weights: str | None = None,
    max_error_increase: float | None = None,
    budget: Budget | None = None,
    grid: Grid | Iterable[Any] | None = None,
    adversaries: Sequence[str | Adversary] = (),
    estimator: Any = None,
    quick: bool = False,
    seed: int = 0,
    jobs: int = -1,
    folder: str | Path | None = None,
    table: str | None = None,
    key: str | None = None,
    sample: int | None = None,
    min_count: int = 1,
    learn_all: bool = False,
    progress: Progress | Literal["auto"] | None = "auto",
) -> Run:
    """Find the least that has to be asked: propose, judge, choose, attack, and write the report.

    Parameters
    ----------
    frame
        A pandas, Polars or PyArrow frame, or the path of a CSV, Parquet or NDJSON file. A DuckDB relation, a
        PySpark frame, a Polars lazy frame and an address (``big/*.parquet``, ``duckdb:people.db``,
        ``postgresql://...``) stay where they are: a sample is fitted on, all is judged on.
    label
        The column to predict, or several that the same answers serve; may be left out where the schema names it.
        Limits of the error hold for every label, unless ``budget`` says ``labels_by="weighted"``.
    personal
        Exactly the attributes that must not be found out; by default those of the schema, or, where that is
        inferred, all discrete ones.
    label_weights
        Of several labels, how much an error about each counts; 1 where nothing is said.
    schema
        The attributes and their domains, or a file of them. By default it is inferred; what was left out is in
        ``notes`` of the result, and printed with it.
    person
        The column that tells whose record each one is, where one person (or household) can have several.
    survey_weights
        The column of them: estimates are then of the population, and intervals know the design effect.
    max_error_increase, budget
        How much more the model may err than with everything asked (0.01: one point, which is the default; of a
        number to predict 0.03, of the error of guessing); or all limits that you have.
    grid
        Who proposes: a grid, or minimizers by name or as objects.
    adversaries, estimator
        Who attacks beside A1 to A8, and your own classifier to judge by; see ``leastwise.runs.Options``.
    quick
        Propose, train and attack less, for a first look.
    seed, jobs
        Same seed, same bytes; how many tasks at once, -1 for one per core.
    folder
        Of the run, which is resumed if it is there already. By default a private temporary folder (0700) that
        goes when the program or the kernel ends: copy what you want to keep.
    table, key, sample, min_count, learn_all
        Of records that stay where they are: the table of a database; the column that tells records apart; how many
        are drawn to fit on (200,000); which counts are too small to leave; whether A1 and A2 also guess each
        person from the counts of everybody else.
    progress
        "auto" shows bars in a terminal and in a notebook, and nothing elsewhere; None shows nothing; or whoever is
        to be told.

    Returns
    -------
    Run
        Print it for the answer; ``run.recommended`` is the generalization to ask by.

    Examples
    --------
    >>> import leastwise
    >>> from leastwise.datasets import load_adult
    >>> adult = load_adult()
    >>> run = leastwise.minimize(adult.frame, schema=adult.schema, quick=True)  # doctest: +SKIP
    >>> run  # doctest: +SKIP
    <Run records: ask 6 of 12 questions, 26 answers; frontier of 11>
    """
    if budget is not None and max_error_increase is not None:
        raise ParameterError("max_error_increase is a limit of the budget; state it there, or without a budget")
    if isinstance(progress, str) and progress != "auto":
        raise ParameterError(f"progress must be 'auto', None or an object with begin(...); got {progress!r}")
    options = Options(
        grid=grid if grid is None or isinstance(grid, Grid) else Grid.of(*_several(grid)),
        budget=Budget(max_error_increase=max_error_increase) if budget is None else budget,
        adversaries=adversaries,
        estimator=estimator,
        quick=quick,
        seed=seed,
        person=person,
        survey_weights=survey_weights,
    )
    asked = _Asked(label, personal, schema, person, survey_weights, label_weights)
    with ExitStack() as stack:
        watcher = stack.enter_context(watching(Silent()) if progress == "auto" else nullcontext(progress))
        if key is not None or table is not None or sample is not None or is_source(frame):
            engine = open_engine(frame, table, key)
            stack.callback(engine.close)
            counting: Any = {"at_least": min_count, "learned": learn_all, "progress": watcher or Silent()}
            records = _at_source(partial(Source, engine, seed=seed, **counting), asked, sample or SAMPLE)
        else:
            records = _records(frame, asked)
        place = Path(folder) if folder is not None else _private_folder()
        more: Any = {"workers": Workers(jobs), "progress": watcher, "source": records.source}
        finished = run(records.table, place, options, name=records.name, **more)
    return _reported(finished, records)


def _several(grid: Any) -> Iterable[Any]:
    """Return minimizers one by one; a name is one of them, not many letters."""
    return (grid,) if isinstance(grid, str) or not isinstance(grid, Iterable) else grid


def _reported(finished: Run, records: _Records) -> Run:
    """Write the report, warn of what only one person can have told, and note what was seen of the records."""
    split = records.table.split(finished.task.seed)
    write_report(finished, table=split.test)
    if finished.recommended is not None:
        warn_of_leaks(finished.recommended, split.train, records.inferred, records.table)
    copied = copies_in_words(records.table)
    return replace(finished, notes=(*finished.notes, *records.notes, *([copied] if copied else [])))


class _Asked(NamedTuple):
    """What the caller says of the records: see ``minimize``."""

    label: str | Sequence[str] | None
    personal: Sequence[str] | None
    schema: Schema | str | Path | None
    person: str | None = None
    survey_weights: str | None = None
    label_weights: Mapping[str, float] | None = None

    def declared(self, schema: Schema | str | Path) -> Schema:
        """Return the schema, which must have that label, with these personal attributes."""
        loaded = schema if isinstance(schema, Schema) else load_schema(schema)
        check_agreed("label", self.label, "the schema", loaded.label)
        return loaded if self.personal is None else loaded.with_personal(self.personal)


class _Records(NamedTuple):
    """What a run begins with: the name of the data, the records, and what was inferred about them."""

    name: str
    table: Table
    inferred: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    source: Source | None = None


def _at_source(make: partial[Source], asked: _Asked, most: int) -> _Records:
    """Draw a sample of records that stay where they are; ``make`` makes their source out of a schema."""
    (engine,), notes = make.args, tuple[str, ...]()
    if asked.person is not None or asked.survey_weights is not None or asked.label_weights:
        raise ParameterError(
            "records that stay where they are must be one for each person, and count once each: no "
            "person=..., no survey_weights=..., no label_weights=..."
        )
    if asked.schema is None:
        seed, progress = make.keywords["seed"], make.keywords["progress"]
        drawn = draw_frame(engine, columns_of(engine, ()), most, records_in(engine), seed, (), progress)[:, :-1]
        proposed = _records(drawn, asked)
        notes, declared = proposed.notes, infer_at_source(engine, proposed.table.schema)
    else:
        declared = asked.declared(asked.schema)
    source = make(declared)
    source.check_key()
    inferred = declared.names if asked.schema is None else ()
    return _Records(engine.name, source.sample(most), inferred, notes, source)


def _records(frame: Any, asked: _Asked) -> _Records:
    label, personal, schema, person, survey_weights, label_weights = asked
    name = "records"
    if isinstance(frame, str | Path):
        name, frame = Path(frame).name, read_frame(frame)
    if isinstance(personal, str):
        raise ParameterError(f"personal must be a list of names; write [{shorten(personal)}]")
    if schema is not None:
        if label_weights:
            raise ParameterError("label_weights has no use beside schema; give each label its weight there")
        return _Records(name, Table.from_frame(frame, asked.declared(schema), person, survey_weights))
    if label is None:
        raise SchemaError("a run needs a label to predict; name its column: label=...")
    beside = [name for name in (person, survey_weights) if name is not None]
    inspection = infer_schema(frame, label, personal, drop=beside, label_weights=label_weights)
    left_out = [fact for fact in inspection.left_out if fact.name not in beside]
    notes = tuple(f"Left out: {shorten(f.name)[1:-1]} ({f.kind}: {f.reason})." for f in left_out)
    return _Records(
        name, Table.from_frame(frame, inspection.schema, person, survey_weights), inspection.schema.names, notes
    )


def _private_folder() -> Path:
    """Make a folder that only its owner can read, removed when the interpreter ends."""
    made, remove = private_folder("run")
    atexit.register(remove)  # not bound to the run: another choice, or a copy, looks into the same folder
    place = made / "run"  # the outer one is held as long as the interpreter lives, this one while a run is made
    place.mkdir(0o700)
    return place
