"""What was asked, and how it can be done again: the task, the budget, parameters, seeds, versions, fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leastwise.documents.plain import to_plain
from leastwise.documents.wording import counted, listed, number, percent
from leastwise.evaluation.evaluation import Evaluation
from leastwise.runs import Budget, Candidate, Frontier, Grid, Run
from leastwise.runs.budget import MEAN, WORST
from leastwise.runs.job import with_side_information
from leastwise.schema import Attribute

Facts = dict[str, Any]


def task_facts(run: Run, evaluation: Evaluation) -> Facts:
    """Return what was asked: the data, the label, the personal attributes, the budget."""
    label = run.schema.label
    return {
        "data": run.task.data,
        "label": None if label is None else label.name,
        "classes": [] if label is None else _classes(label),
        "number": None if evaluation.utility is None else to_plain(evaluation.utility.number),
        "attributes": len(run.schema),
        "personal": list(run.schema.personal),
        "people": to_plain(evaluation.people),
        "records": None if run.task.persons is None else to_plain(run.task.records),
        "source": None if run.task.source is None else to_plain(run.task.source.elsewhere),
        "budget": [*budget_lines(run.choice.budget), *_labels_line(run)],
        "stated": run.choice.stated,
    }


def _classes(label: Attribute) -> list[str]:
    """Return the classes of a label; of several, which classes each has."""
    if len(label.parts) == 1:
        return [label.label_of(value) for value in label.values]
    each = [f"{each.name}: {listed([*map(each.label_of, each.values)], 'or')}" for each in label.parts]
    return ["; ".join(each)]


def _labels_line(run: Run) -> list[str]:
    """Say which of several labels the limits of the error are for."""
    if len(run.schema.labels) < 2 or not run.choice.budget.bounds_utility:
        return []
    worst = run.choice.budget.labels_by == WORST
    return [
        "that holds for every label, so that the worst decides" if worst else "that holds for the weighted mean"
    ]


def budget_lines(budget: Budget) -> list[str]:
    """Say every limit of a budget in words.

    >>> budget_lines(Budget(max_error_increase=0.01, max_asked=5))
    ['the model may err at most 1 point more than with full records', 'at most 5 questions']
    >>> budget_lines(Budget(max_unique_share=0.02))
    ['at most 2.0\xa0% of the people may be alone with a generalized record']
    """
    lines = []
    if budget.max_error_increase is not None:
        more = 100 * budget.max_error_increase
        lines.append(
            f"the model may err at most {more:.3g} point{'' if more == 1 else 's'} more than with full records"
        )
    if budget.max_error is not None:
        lines.append(f"the model may err at most {percent(budget.max_error, 1)} of the time")
    lines += budget.group_words()
    lines += [_safety_line(name, least) for name, least in budget.min_adversary_error.items()]
    if budget.max_unique is not None:
        alone = "nobody" if budget.max_unique == 0 else f"at most {counted(budget.max_unique, 'person', 'people')}"
        lines.append(f"{alone} may be alone with a generalized record")
    if budget.max_unique_share is not None:
        share = percent(budget.max_unique_share, 1)
        lines.append(f"at most {share} of the people may be alone with a generalized record")
    if budget.max_buckets is not None:
        lines.append(f"at most {counted(budget.max_buckets, 'answer')} in all")
    return lines if budget.max_asked is None else [*lines, f"at most {counted(budget.max_asked, 'question')}"]


def _safety_line(name: str, least: float) -> str:
    what = "the personal attributes on average" if name == MEAN else name
    return f"an attacker must be wrong about {what} at least {percent(least, 1)} of the time"


def search_sentence(frontier: Frontier, quick: bool) -> str:
    """Say how the candidates came about; in a ``quick`` run not every attack is on all of them."""
    some = f", though by {listed(with_side_information())} at most what is chosen" if quick else " in full"
    parts = [
        (frontier.repeated, "proposal was", "proposals were", "the same as an earlier one"),
        (frontier.dropped, "proposal", "proposals", "broke a constraint"),
        (frontier.failed, "minimizer", "minimizers", "failed"),
        (frontier.thinned, "candidate of the frontier was", "candidates of the frontier were",
         f"left out: the rest were attacked{some}"),
    ]  # fmt: skip
    more = [f"{counted(count, one, many)} {what}" for count, one, many, what in parts if count]
    start = f"{counted(frontier.screened, 'distinct candidate was', 'distinct candidates were')} screened"
    return "; ".join([start, *more]) + "."


def provenance_facts(run: Run, evaluation: Evaluation, candidate: Candidate) -> list[list[str]]:
    """Return rows of (what, value): all that is needed to do it again."""
    task = run.task
    rows = [
        ["data", task.data],
        *([["records at their source", run.at_source]] if task.source else []),
        *([["survey weights", task.weights_sentence]] if task.weighted else []),
        ["fingerprint of the records", task.fingerprint],
        *([["recommended", "nothing; the nearest follows"]] if run.choice.candidate is None else []),
        ["fingerprint of the generalization", evaluation.fingerprint],
        ["made by", f"{candidate.words}, seed {candidate.seed}"],
        *([["also found by", listed(candidate.also_found_by)]] if candidate.also_found_by else []),
        ["seed of the split and the attacks", number(task.seed)],
        ["quick", number(task.quick)],
        ["candidates of the screened frontier that went on, at most", number(task.most)],
        *_grid_rows(task.grid),
        *(["constraint", text] for text in _lines(task.constraints or {})),
        *([name, text] for name, text in task.versions.items()),
    ]
    return rows + [["failed", f"{failure.words}: {failure.reason}"] for failure in run.failures]


def _grid_rows(grid: Grid) -> list[list[str]]:
    entries = [
        "; ".join([entry.minimizer, *(f"{name} {number(values)}" for name, values in entry.parameters.items())])
        for entry in grid.entries
    ]
    return [*(["grid", text] for text in entries), ["seeds of the minimizers", number(grid.seeds)]]


def _lines(value: Mapping[str, Any], before: str = "") -> list[str]:
    """Return a mapping of mappings as lines.

    >>> _lines({"keep": ["age"], "most": {"sex": 2}})
    ['keep: age', 'most sex: 2']
    """
    lines = []
    for key, item in value.items():
        name = f"{before}{key}"
        lines += _lines(item, f"{name} ") if isinstance(item, Mapping) else [f"{name}: {number(item)}"]
    return lines
