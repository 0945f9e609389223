"""``leastwise evaluate``: what a generalization costs, and what it protects."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import Artefact, AsJson, Force, HeldOut, Quick, Seed, app, grouped, load
from leastwise.cli.domains import declared_for, known_schema, person_of, tell_unweighted
from leastwise.cli.necessity import show_necessity
from leastwise.cli.output import check_output, print_lines, print_table, visible
from leastwise.cli.settings import numbers_by_name, set_option, settings, settings_of
from leastwise.cli.sources import (
    SourceOptions,
    engine_of,
    first_look,
    not_collected,
    print_queries,
    refuse_person,
    source_of,
    stays,
)
from leastwise.cli.task import Data, Label, Missing, Person, Personal, Records, SurveyWeights, Task, names
from leastwise.documents.wording import counted
from leastwise.errors import DataError, ParameterError, PrivacyLeakWarning, shorten
from leastwise.progress import Lines
from leastwise.validation import did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from leastwise.adversaries.result import AttackResult
    from leastwise.evaluation.evaluation import Evaluation
    from leastwise.generalization import Generalization
    from leastwise.schema import Attribute

RIGHT = ("error", "95 % interval", "guessing")
MORE = ("without breach", "without label", "minimum")
MOST_PREDICATES_SHOWN = 5


@dataclass(frozen=True)
class Seldom:
    """What few need."""

    candidates: Annotated[int, typer.Option(min=1, help="Among how many it was chosen on these test records.")] = 1
    without_breach: Annotated[
        bool, typer.Option(help="Say what A3 to A5 find without the stolen records; slower.")
    ] = False
    learn_all: Annotated[
        bool, typer.Option(help="Where records stay: A1, A2, A6 also learn from everybody else there.")
    ] = False


@dataclass(frozen=True)
class Judgement:
    """Who attacks, and what counts."""

    adversaries: Annotated[
        list[str] | None,
        typer.Option(
            "--adversaries", "-a", metavar="A1,A8", help="Which attacks: A1,A8. Default: all that apply."
        ),
    ] = None
    other: Annotated[
        list[Path] | None,
        typer.Option(
            "--other", metavar="FILE", help="Another generalization of the same people, for A6. Can be repeated."
        ),
    ] = None
    tolerance: Annotated[
        list[str] | None,
        typer.Option("--tolerance", metavar="NAME=X", help="Within which a number counts as told: age=2."),
    ] = None
    predicates: Annotated[
        int, typer.Option("--predicates", min=0, help="Tell so many descriptions of singled-out people (A8).")
    ] = 0
    more: Annotated[
        list[str] | None,
        set_option(
            "candidates=N: among how many it was chosen on these test records; "
            "without_breach=true: what A3 to A5 find without the stolen records; "
            "learn_all=true: where records stay, A1, A2 and A6 also learn from everybody else there."
        ),
    ] = None
    held_out: HeldOut = False
    necessity: Annotated[
        bool, typer.Option("--necessity", help="Say what each question is worth; see leastwise necessity.")
    ] = False

    @property
    def seldom(self) -> Seldom:
        """What was set."""
        return Seldom(**settings(self.more, settings_of(Seldom), "evaluate"))

    def words(self) -> dict[str, Any]:
        """Return what is asked of the judge, in its own words."""
        return {
            "tolerances": numbers_by_name("--tolerance", self.tolerance or ()),
            "candidates": self.seldom.candidates,
            "predicates": self.predicates,
            "without_breach": self.seldom.without_breach,
            "held_out": self.held_out,
            "necessity": self.necessity,
        }


@app.command()
@grouped
def evaluate(
    generalization: Artefact,
    data: Data,
    how: Judgement,
    at: SourceOptions,
    label: Label = None,
    personal: Personal = None,
    missing: Missing = None,
    person: Person = None,
    survey_weights: SurveyWeights = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema", "-s", help="Says the domains of what is not asked. Default: that of the run it lies in."
        ),
    ] = None,
    quick: Quick = False,
    seed: Seed = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the evaluation here.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Judge a generalization: utility, attacks A1 to A8 beside guessing, and a certificate.

    The records are split 60/10/30 by the seed: the adversary knows the first parts in full and attacks the last.
    The certificate holds if the last part had no say in choosing the generalization: minimize with the same seed.
    In the folder of its run an artefact has the domains that the run declared; elsewhere the records say which
    values there are of what is not asked, and figures can differ a little.

    Example: `leastwise evaluate run/ adult.csv --adversaries A1,A8 -o evaluation.json`
    """
    from leastwise.adversaries import PAPER

    check_output(output, force)
    wanted = None
    if how.adversaries is not None:  # those of the paper may be written in small letters
        wanted = [name.upper() if name.upper() in PAPER else name for name in names(how.adversaries, ())]
    task = Task(
        data=data,
        missing=missing,
        person=person,
        survey_weights=survey_weights,
        label=label,
        personal=personal,
        schema=schema,
    )
    artefacts = [generalization, *(how.other or ())]
    if stays(data, at):
        evaluation = _at_source(task, at, artefacts, how, wanted, seed, quick)
    else:
        evaluation = _here(task, artefacts, how, wanted, seed, quick)
    if evaluation is not None:
        _hand_over(evaluation, output, as_json)


def _here(
    task: Task, artefacts: Sequence[Path], how: Judgement, wanted: Sequence[str] | None, seed: int, quick: bool
) -> Evaluation:
    """Judge on records that are read into memory."""
    from leastwise.evaluation.protocol import evaluate as judge
    from leastwise.records.files import read_frame
    from leastwise.records.table import Table

    if how.seldom.learn_all:
        raise ParameterError("learn_all is for records that stay where they are; leave it out, or name a --key")
    tell_unweighted(artefacts[0], task.survey_weights)
    frame = read_frame(task.data, tuple(task.missing or ()))
    chosen, *others = (prepared(path, task.label, task.personal, frame) for path in artefacts)
    schema = known_schema([chosen, *others], frame, declared_for(artefacts[0], task.schema))
    person = person_of(artefacts[0], task.person, frame.columns)
    records = Records(Table.from_frame(frame, schema, person, task.survey_weights))
    records.tell_left_out()
    progress = Lines("judging: ")
    return judge(chosen, records.table, wanted, seed, quick, others=others, **how.words(), progress=progress)


def _at_source(
    task: Task,
    at: SourceOptions,
    artefacts: Sequence[Path],
    how: Judgement,
    wanted: Sequence[str] | None,
    seed: int,
    quick: bool,
) -> Evaluation | None:
    """Judge on everything, where it lies; None where that is only explained."""
    from leastwise.evaluation.at_source import evaluate_at_source
    from leastwise.records.sources import SAMPLE

    refuse_person(task)
    tell_unweighted(artefacts[0])
    if task.schema is not None:
        raise ParameterError("--schema has no use where records stay: their engine says which values there are")
    with engine_of(task.data, at) as engine:
        progress = Lines("judging: ")
        frame = first_look(task, at, engine, seed, progress, artefacts if at.explain else ())
        chosen, *others = (prepared(path, task.label, task.personal, frame) for path in artefacts)
        unsaid = set() if at.explain else not_collected([chosen, *others])
        schema = known_schema([chosen, *others], frame)
        source = source_of(task, at, engine, seed, progress, schema, unsaid, how.seldom.learn_all)
        if at.explain:
            print_queries(source, [chosen, *others], at.sample or SAMPLE)
            return None
        source.check_key()
        return evaluate_at_source(
            chosen,
            source.sample(at.sample or SAMPLE),
            source,
            wanted,
            seed,
            quick,
            others=others,
            **how.words(),
            progress=progress,
        )


def prepared(
    path: Path, label: Sequence[str] | None, personal: Sequence[str] | None, frame: pl.DataFrame
) -> Generalization:
    """Return an artefact with the label and the personal attributes that the command line names."""
    from leastwise.schema.labels import check_agreed, joint_label

    artefact = load(path)
    if artefact.label is not None:
        check_agreed("--label", label, path, artefact.label)
    elif label:
        artefact = replace(artefact, label=joint_label([_label_of(frame, name) for name in label]))
    return artefact if personal is None else artefact.with_personal(names(personal, artefact.schema.names))


def _label_of(frame: pl.DataFrame, name: str) -> Attribute:
    """Return a label that no artefact declares, with the classes that the records have."""
    from leastwise.schema import Attribute, values_as_text

    if name not in frame.columns:
        raise DataError(f"the records have no column {shorten(name)}; {did_you_mean(name, frame.columns)}")
    return Attribute(name, values=tuple(sorted(set(values_as_text(frame[name].unique().to_list())))))


def _hand_over(evaluation: Evaluation, output: Path | None, as_json: bool) -> None:
    from leastwise.adversaries import SinglingOutResult

    for attack in evaluation.attacks:
        alone = isinstance(attack, SinglingOutResult) and attack.rarest == 1 and bool(attack.predicates)
        if output is not None and alone:
            warnings.warn(
                "the evaluation describes people who are alone with their generalized record; keep it as safe as "
                "records, or write it without --predicates",
                PrivacyLeakWarning,
                stacklevel=2,
            )
    if output is not None:
        evaluation.save(output)
    if as_json:
        typer.echo(evaluation.to_json(), nl=False)
    else:
        _show(evaluation)
    if output is not None:
        typer.echo(f"wrote {output}", err=True)


def _show(evaluation: Evaluation) -> None:
    _show_utility(evaluation)
    _show_attacks(evaluation.attacks)
    for attack in evaluation.attacks:
        _show_details(attack)
    if evaluation.certificate is not None:
        print_lines(str(evaluation.certificate))
    if evaluation.deployment is not None:
        print_lines(f"In deployment, where no label is stored: {evaluation.deployment.sentences()[-1]}")
    if evaluation.necessity is not None:
        show_necessity(evaluation.necessity)
    if evaluation.quick:
        typer.echo("Quick: the attacks were trained less than they can be; a full run may find more.")


def _show_utility(evaluation: Evaluation) -> None:
    named = {
        "this generalization": evaluation.utility,
        "everything asked": evaluation.everything,
        "nothing asked": evaluation.nothing,
    }
    known = {name: risk for name, risk in named.items() if risk is not None}
    rows = []
    for name, risk in known.items():
        rows.append((name, _number(risk.error), _interval(risk.interval)))
        each = [(f"  about {e.label}", _number(e.error), _interval(e.interval)) for e in risk.labels]
        rows += each
    if rows:
        print_table("Utility (error of the classifier: lower is better)", ("", *RIGHT[:2]), rows, RIGHT)
        people = next(iter(known.values())).people
        if people < evaluation.people.test:
            typer.echo(
                f"Of {people:,.0f} people of the sample; with everything asked that is told of no others.\n"
            )


def _show_attacks(attacks: Sequence[AttackResult]) -> None:
    columns = ["", "adversary", *RIGHT, *MORE, "people", "most told beyond guessing"]
    # Where records stay at a source, some are judged on all people and some on the sample: figures of two parts.
    alike = len({round(attack.people) for attack in attacks}) == 1
    rows = [
        (*own, "" if alike else f"{attack.people:,.0f}", told)
        for attack in attacks
        for *own, told in [_row(attack)]
    ]
    # A column that nobody fills is not shown.
    shown = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    if rows:
        title = "Attacks (error of the adversary: higher is safer; near guessing is best)"
        cells = [[row[i] for i in shown] for row in rows]
        print_table(title, [columns[i] for i in shown], cells, (*RIGHT, *MORE, "people"))


def _row(attack: AttackResult) -> tuple[str, ...]:
    from leastwise.adversaries import PAPER, GuestResult, LinkabilityResult
    from leastwise.adversaries.result import ReconstructionResult

    words = attack.title if isinstance(attack, GuestResult) else PAPER[attack.adversary].words
    without, deployed, minimum, told = "", "", "", ""
    if isinstance(attack, LinkabilityResult):
        without = _number(attack.without_breach)
    if isinstance(attack, ReconstructionResult):
        minimum = _number(attack.minimum)
        without = "" if attack.without_breach is None else _number(attack.without_breach)
        deployed = "" if attack.without_label is None else _number(attack.without_label)
        most = min(attack.attributes, key=lambda result: result.adversary_error - result.baseline)
        error, guess = _number(most.adversary_error), _number(most.baseline)
        told = "nothing" if error == guess else f"{most.attribute} ({error}, guessing {guess})"
    figures = (_number(attack.adversary_error), _interval(attack.interval), _number(attack.baseline))
    return (attack.adversary, words, *figures, without, deployed, minimum, told)


def _show_details(attack: AttackResult) -> None:
    from leastwise.adversaries import HighCertaintyResult, ReconstructionResult, SinglingOutResult

    if isinstance(attack, HighCertaintyResult):
        rows = [(f"{point.share:g} %", _number(point.mean), _number(point.minimum)) for point in attack.points]
        print_table("A2: error on the surest guesses", ("share", "mean", "minimum"), rows, ("mean", "minimum"))
    elif isinstance(attack, ReconstructionResult) and attack.adversary == "A1":
        by_attribute = [
            (r.attribute, _number(r.adversary_error), _interval(r.interval), _number(r.baseline), _note(r))
            for r in attack.attributes
        ]
        print_table("A1 by attribute", ("attribute", *RIGHT, "predicted by"), by_attribute, RIGHT)
    elif isinstance(attack, SinglingOutResult):
        records = f"{attack.distinct:,} different records; the rarest is held by {attack.rarest:,} "
        records += f"({attack.rarest_records:,} such)"
        typer.echo(
            f"A8: {records if attack.distinct > 1 else 'all have the same record'}; {attack.unique_people:,} of "
            f"{counted(attack.people, 'person', 'people')} {'is' if attack.unique_people == 1 else 'are'} alone."
        )
        for predicate in attack.predicates[:MOST_PREDICATES_SHOWN]:
            typer.echo(f"    {visible(str(predicate), 400)}")
        typer.echo("")


def _note(result: Any) -> str:
    if result.tolerance is None or result.mean_absolute_error is None:
        return str(result.predictor)
    return f"{result.predictor}; within {result.tolerance:g}, on average {result.mean_absolute_error:.3g} off"


def _number(value: float) -> str:
    return f"{value:.3f}"


def _interval(interval: Any) -> str:
    return "" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
