"""A run and its frontier in words: the answer in a few lines, the frontier as a table, both for a notebook too."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from leastwise.documents import html
from leastwise.documents.wording import NO_BREAK, counted, listed, percent, percent_range
from leastwise.errors import shorten
from leastwise.generalization import Generalization
from leastwise.generalization.describe import answers_in_words, questions_in_words
from leastwise.runs.budget import Budget
from leastwise.runs.estimate import ESTIMATED, TESTED, estimate_in_points, on_test_in_points
from leastwise.runs.nearest import NEAREST, NOTHING, only_nearest, options_of, ways_on, would_ask

if TYPE_CHECKING:
    from leastwise.runs.candidates import Candidate, Figures
    from leastwise.runs.choice import Choice
    from leastwise.runs.folder import Run
    from leastwise.runs.frontier import Frontier

REPORT = "report.html"
INTERVAL, MADE_BY = "95 % interval", "made by"
POINT_NAMES = {"cheapest": "most accurate on validation", "knee 2": "second knee", "knee 3": "third knee"}
CHOSEN, CHOSEN_AS_NEAREST = "chosen", "chosen as the nearest, does not fit"
RARE = 0.1
"""Where fewer people have any other class than the most frequent one, an error rate hardly rewards telling who."""
_MANY = 0.5  # of the people
LIMIT_NAMES = {"untouched": "everything asked in full", "suppressed": "nothing asked"}


# The answer ------------------------------------------------------------------------------------------------------


def conclusion(run: Run) -> list[str]:
    """Say the answer in five lines: what to ask, what it costs, what it protects, and where the report is."""
    return [*answer(run), *run.unfinished, *run.notes, where(run)]


def answer(run: Run) -> list[str]:
    """Say what to ask, what it costs and what it protects; or why nothing fits."""
    choice, frontier = run.choice, run.frontier
    if choice.candidate is None:
        return nothing_fits(run, shlex.quote(str(run.folder)))
    chosen = frontier[choice.candidate]
    return [
        *only_nearest(choice, frontier),
        what_to_ask(chosen, frontier, choice.budget),
        _cost_and_promise(chosen.test, frontier.untouched, choice),
        _stolen(chosen, run),
        _certified(chosen, run.task.tested, run.frontier.suppressed.adversary_error),
        *how_to_be_sure(run, shlex.quote(str(run.folder))),
        *(nothing_needed(run, shlex.quote(str(run.folder))) or _without_what_is_not_needed(chosen, run)),
        *([run.at_source] if run.at_source else []),
        *([run.task.weights_sentence] if run.task.weighted else []),
        *(
            "Chosen by the validation part; on the test part "
            f"{'it is beyond a limit' if miss.only_noise else 'a limit is missed'}: {miss.words}."
            for miss in choice.missed
            if miss is not choice.promise
        ),
    ]


def nothing_fits(run: Run, folder: str) -> list[str]:
    """Say that nothing was chosen and why, what the nearest candidate would ask, and what can be done.

    ``folder`` is the run as it is to stand in a command.
    """
    choice, frontier = run.choice, run.frontier
    would = [] if choice.nearest is None else [would_ask(frontier[choice.nearest])]
    return [f"{NOTHING} {choice.sentence}", *would, *ways_on(choice, frontier, folder)]


def what_to_ask(chosen: Candidate, frontier: Frontier, budget: Budget) -> str:
    """Name the questions; where there is none, say why."""
    many, nothing = len(chosen.generalization.schema), frontier.suppressed_validation
    if chosen.asked:
        words = questions_in_words(chosen.generalization.partitions)
        of = f"{chosen.asked} of {counted(many, 'question')}"
        return f"Ask {of}, with {counted(chosen.answers, 'answer')} in all: {words}."
    every = {1: "the one question", 2: "both questions"}.get(many, f"all {many} questions")
    of_all = f"of the {many} questions" if many > 1 else "of one question"
    without = f"any {of_all}" if many > 1 else every
    if not budget.bounds_utility:
        return f"Ask nothing: {of_all}, the limits that were stated leave none."
    if not budget.tells_nothing(nothing):
        if budget.problems(nothing, frontier.untouched_validation.utility_risk):
            return f"Ask nothing: none {of_all}."  # a person's own choice; its verdict follows
        return f"Ask nothing: without {without} no more is lost than is allowed.{_rare(nothing)}"
    return (
        f"Ask nothing: these records do not show that a model errs less with the answers to {every}."
        f"{_rare(nothing)}"
    )


def _rare(nothing: Figures) -> str:
    """Say, where a label is rare, that errors tell little of it."""
    if nothing.number is not None or nothing.labels or nothing.utility_risk >= RARE:
        return ""
    return (
        f" Only {percent(nothing.utility_risk, 1)} of the people of the validation part are not of the most "
        "frequent class: errors do not show who is at risk, even where answers tell it."
    )


def _cost_and_promise(figures: Figures, everything: Figures, choice: Choice) -> str:
    """Say what is lost and whether that is allowed; where it is not, both are one sentence."""
    promise = choice.promise
    if promise is None:
        return _cost(figures, everything)
    if figures.number is None and promise.missed:
        return f"{promise.sentence} Its error is {_errors(figures, everything)}."
    return f"{_cost(figures, everything)} {promise.sentence}"


def _errors(figures: Figures, everything: Figures) -> str:
    if figures.labels:
        pairs = zip(figures.labels, everything.labels, strict=True)
        return listed([f"{own.error:.3f} against {its.error:.3f} about {own.label}" for own, its in pairs])
    return f"{figures.utility_risk:.3f} against {everything.utility_risk:.3f}"


def _cost(figures: Figures, everything: Figures) -> str:
    """Say what is lost; that less is asked than everything can gain nothing but by chance."""
    more = (figures.utility_risk - everything.utility_risk) * 100
    lost = f"{more:.1f} points more than" if more >= 0.05 else "no more than"
    if figures.number is not None:
        further = f"{figures.number.in_its_unit(more / 100)} more than" if more >= 0.05 else "no more than"
        return f"The model is {figures.number.words()}, {further} with everything asked."
    if figures.labels:
        # Of one label it may err more, of another one less: the mean is not said of each.
        errors = _errors(figures, everything)
        return f"On average over the labels the model errs {lost} with everything asked: {errors}."
    return f"The model errs {lost} with everything asked ({_errors(figures, everything)})."


def nothing_needed(run: Run, folder: str) -> list[str]:
    """Say so, where those tested do not show that what is asked is worth more than asking nothing.

    The validation part may seem to show it by chance. What can be done is a line of its own, which ends with the
    command. ``folder`` is the run as it is to stand in it.
    """
    frontier, budget = run.frontier, run.choice.budget
    asked = run.choice.candidate is not None and frontier[run.choice.candidate].asked
    if not asked or not budget.bounds_utility or not budget.tells_nothing(frontier.suppressed):
        return []
    nothing = next((point for point in frontier.points if not point.asked), None)
    how = [] if nothing is None else [f"To ask nothing: leastwise choose {folder} --candidate {nothing.id}"]
    full, none = (f"{figures.utility_risk:.3f}" for figures in (frontier.untouched, frontier.suppressed))
    errs = f"the model errs {full} with everything asked and {none} with nothing"
    if float(none) > float(full):
        errs += f", and among {counted(run.task.tested, 'person', 'people')} chance can explain that difference"
    return [f"Those tested do not show that any question is needed: {errs}.", *how]


def how_to_be_sure(run: Run, folder: str) -> list[str]:
    """Say what else keeps the limit on the error surely, where that is not told of what was chosen.

    The line ends with the command; ``folder`` is the run as it is to stand in it.
    """
    sure = run.surer
    if sure is None or not run.frontier[run.choice.candidate or ""].asked:
        return []  # whoever was told that nothing need be asked is not advised to ask
    asks = f"{counted(sure.asked, 'question')}, {counted(sure.answers, 'answer')}"
    budget = run.choice.budget
    limit = Budget(max_error_increase=budget.max_error_increase).words()
    limits = " ".join([*options_of(budget), "--surely"])
    return [
        f"To be {percent(budget.confidence)} sure that {limit} ({asks}; a thief gets "
        f"{percent(sure.test.adversary_error)} of the personal answers wrong): leastwise choose {folder} {limits}"
    ]


def _without_what_is_not_needed(chosen: Candidate, run: Run) -> list[str]:
    """Name a candidate that asks less, where those tested do not show that all of it is needed.

    Validation chose with a margin for chance, which takes questions where people are few. Whether that is worth
    it is for a person to say.
    """
    necessity = run.necessity
    if necessity is None or necessity.fingerprint != chosen.fingerprint or not necessity.unneeded:
        return []
    needed = {*chosen.generalization.collected} - {*necessity.unneeded}
    less = [p for p in run.frontier.points if {*p.generalization.collected} <= needed and p.asked]
    less = [p for p in less if p.test.utility_risk <= chosen.test.utility_risk]
    if not less:
        return []
    other = min(less, key=lambda p: (p.test.utility_risk, p.answers))
    even, number = ", even together" if len(necessity.unneeded) > 1 else "", other.test.number
    errs = f"errs {other.test.utility_risk:.3f}" if number is None else f"is {number.words()}"
    asks = f"{counted(other.asked, 'question')}, {counted(other.answers, 'answer')}"
    return [
        f"Those tested do not show that {listed(necessity.unneeded)} {'are' if even else 'is'} needed{even}. "
        f"Without ({asks}; of those tested the model {errs}, and the attacker is wrong "
        f"{percent(other.test.adversary_error)} of the time; {_hindsight(other, run.choice.budget)}): "
        f"leastwise choose {shlex.quote(str(run.folder))} --candidate {other.id}"
    ]


def _hindsight(other: Candidate, budget: Budget) -> str:
    """Say that who is named for the people tested is named by hindsight, and what those say who choose."""
    estimate = budget.increase_of(other.validation)
    said = "that is hindsight: it was not chosen by the validation part"
    if estimate is None:
        return said
    most = budget.max_error_increase
    allowed = "" if most is None else f", allowed are {100 * most:g}"
    return (
        f"{said}, which estimates {100 * estimate.mean:z.1f} points more error than with everything asked{allowed}"
    )


def _stolen(chosen: Candidate, run: Run) -> str:
    """Say what a thief is wrong about; where nothing is asked there is nothing to steal."""
    wrong, guess, full = (
        percent(figures.adversary_error)
        for figures in (chosen.test, run.frontier.suppressed, run.frontier.untouched)
    )
    tested = counted(run.task.tested, "person", "people")
    if not chosen.asked:
        return (
            f"There are no records to steal: whoever guesses gets {guess} of the personal answers of {tested} "
            f"tested wrong (asking everything, a thief: {full})."
        )
    # Somebody may build a stronger one; what nobody can do, the certificate says.
    attack = f"the strongest attack on them alone that {'a quick run tries' if run.task.quick else 'we tried'}"
    return (
        f"Whoever steals the records with their labels gets {wrong} of the personal answers wrong by {attack} "
        f"(guessing: {guess}; asking everything: {full}); {_alone(chosen, run)}."
    )


def _certified(chosen: Candidate, people: float, guessing: float) -> str:
    """Say what nobody can do who sees the records of a candidate; where nothing can be promised, why.

    ``people`` is how many were tested, and ``guessing`` how often whoever guesses is wrong about what is personal.
    """
    error, personal = chosen.test.certified, [p for p in chosen.generalization.partitions if p.attribute.personal]
    if not error or error < 0.01:  # fewer than 0 % wrong is no promise
        why = "with so much asked of so few, counting does not tell that anything stays hidden"
        if chosen.test.unique_people >= _MANY * max(people, 1):
            why = "too many people are alone with their record"
        if personal and all(partition.untouched for partition in personal):
            why = "what is personal is asked in full"
        if guessing < 0.01:
            why = "what is personal is nearly the same of everybody, so that whoever guesses is right"
        return f"Nothing can be promised about every adversary: {why}."
    seen = "the generalized records and their labels" if chosen.asked else "generalized records that hold nothing"
    return (
        f"However clever, nobody who sees only {seen} gets fewer than "
        f"{int(error * 100)}{NO_BREAK}% of the personal answers wrong, on average over people like these "
        f"(95{NO_BREAK}% confidence)."
    )


def _alone(chosen: Candidate, run: Run) -> str:
    people, why = chosen.test.unique_people, ""
    if people and chosen.test.number is not None:
        why = run.evaluation(chosen.id).alone_by_a_number
    alone = counted(people, "person is", "people are") if people else "nobody is"
    return f"{alone} alone with theirs, of {run.task.tested:,} tested{why}"


def where(run: Run) -> str:
    """Say where the report is, or the run where no report was written."""
    report = run.folder / REPORT
    return f"Report: {report}" if report.is_file() else f"Run: {run.folder}"


def run_line(run: Run) -> str:
    """Say in one line what came out."""
    of = f"frontier of {len(run.frontier.points)}"
    name = shorten(run.task.data)[1:-1]
    if run.choice.candidate is None:
        return f"<Run {name}: nothing fits; {of}>"
    chosen = run.frontier[run.choice.candidate]
    asked = f"ask {chosen.asked} of {counted(len(run.schema), 'question')}"
    return f"<Run {name}: {asked}, {counted(chosen.answers, 'answer')}; {of}>"


def run_html(run: Run) -> str:
    """Show the answer and the frontier."""
    first, *rest = answer(run)
    text = html.heading(first) + html.paragraphs(rest)
    return html.box(text, _table_html(run.frontier, run.choice), _soft(*run.notes, where(run)))


def _soft(*texts: str) -> str:
    return html.paragraphs(texts, soft=True)


# The frontier ----------------------------------------------------------------------------------------------------


class Listing(NamedTuple):
    """A table of texts."""

    columns: list[str]
    rows: list[list[str]]


def on_test(frontier: Frontier) -> list[Candidate]:
    """Return the points in the order of their figures on test.

    The frontier was found on validation; people see the test part and walk along that.
    """
    return sorted(frontier.points, key=lambda point: shown(point).point)


def shown(point: Candidate) -> Figures:
    """Return the figures that people see: those on test, unless it has not been attacked yet."""
    return point.tested or point.validation


def standing(choice: Choice | None) -> dict[str, str]:
    """Return what the candidate is called that was chosen, or comes nearest where none was; by its id."""
    if choice is None:
        return {}
    if choice.candidate is not None:
        return {choice.candidate: CHOSEN_AS_NEAREST if choice.only_nearest else CHOSEN}
    return {} if choice.nearest is None else {choice.nearest: NEAREST}


def frontier_table(frontier: Frontier, choice: Choice | None = None) -> Listing:
    """Return a row for each point, between everything asked and nothing asked."""
    schema = frontier.points[0].generalization.schema
    off = "model off, of guessing" if frontier.untouched.number else "model wrong"
    about = [f"about {label.label}" for label in frontier.untouched.labels]
    errors = [off, INTERVAL, *about, ESTIMATED, TESTED, "attacker wrong", INTERVAL]
    called, budget = standing(choice), Budget() if choice is None else choice.budget
    rows = [
        [
            name_in_words(place, p.name, called.get(p.id, "")),
            *_figures(p.generalization, shown(p), p.validation, budget),
            *(p.words, p.id),
        ]
        for place, p in enumerate(on_test(frontier), 1)
    ]
    first, last = (
        [LIMIT_NAMES[name], *_figures(limit, seen, chosen_by, budget), "", ""]
        for name, limit, seen, chosen_by in (
            ("untouched", Generalization.untouched(schema), frontier.untouched, frontier.untouched_validation),
            ("suppressed", Generalization.suppressed(schema), frontier.suppressed, frontier.suppressed_validation),
        )
    )
    columns = ["candidate", "questions", "answers", *errors, "people alone", MADE_BY, "id"]
    first = _of_how_many(first, frontier.untouched, frontier.suppressed)
    return Listing(columns, [first, *rows, last])


def _figures(generalization: Generalization, figures: Figures, chosen_by: Figures, budget: Budget) -> list[str]:
    return [
        str(len(generalization.collected)),
        answers_in_words(generalization.partitions),
        percent(figures.utility_risk, 1),
        percent_range(figures.utility_interval),
        *(percent(label.error, 1) for label in figures.labels),
        estimate_in_points(chosen_by, budget),
        "" if figures is chosen_by else on_test_in_points(figures, budget),  # not attacked yet
        percent(figures.adversary_error, 1),
        percent_range(figures.adversary_interval),
        f"{figures.unique_people:,}",
    ]


def _of_how_many(first: list[str], everything: Figures, nothing: Figures) -> list[str]:
    """Say of how many people are alone with everything asked, where others were counted among more."""
    few = everything.attacked < nothing.attacked
    return [*first[:-3], f"{first[-3]} of {everything.attacked:,}", *first[-2:]] if few else first


def name_in_words(place: int, name: str, called: str = "") -> str:
    """Name a point for people: its place from the most accurate to the safest, what it is, whether it was chosen.

    >>> name_in_words(3, "knee, cheapest", "chosen")
    'candidate 3 · knee, most accurate on validation · chosen'
    """
    return " · ".join(part for part in (f"candidate {place}", point_name(name), called) if part)


def point_name(name: str) -> str:
    """Return what a point is, for people: it may be several things at once.

    >>> point_name("knee 2, cheapest"), point_name("")
    ('second knee, most accurate on validation', '')
    """
    return ", ".join(POINT_NAMES.get(part, part) for part in name.split(", "))


def frontier_line(frontier: Frontier) -> str:
    """Say in one line what the frontier is."""
    area = f"{frontier.hypervolume.test:.4f}"
    return f"<Frontier of {len(frontier.points)} from {counted(frontier.screened, 'candidate')}, area {area}>"


def frontier_html(frontier: Frontier) -> str:
    """Show the frontier as a table."""
    title = f"Frontier: {len(frontier.points)} of {counted(frontier.screened, 'candidate')}"
    return html.box(html.heading(title), _table_html(frontier), _soft("From the most accurate to the safest."))


def _table_html(frontier: Frontier, choice: Choice | None = None) -> str:
    columns, rows = frontier_table(frontier, choice)
    kept = [
        j for j, name in enumerate(columns) if name not in (INTERVAL, TESTED, MADE_BY)
    ]  # a narrow cell has no room
    columns, rows = [columns[j] for j in kept], [[row[j] for j in kept] for row in rows]
    chosen = None if choice is None else choice.candidate
    place = next((i for i, p in enumerate(on_test(frontier), 1) if p.id == chosen), None)
    return html.table(columns, rows, numbers=columns[1:-1], chosen=place)
