"""The frontier: every candidate as a point, those that nothing beats in full, and the two limit points."""

from __future__ import annotations

from typing import Any

from leastwise.documents.plain import to_plain
from leastwise.documents.wording import MOST_SHOWN
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.pareto import Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.generalization import Generalization
from leastwise.generalization.describe import answers_in_words
from leastwise.report.answer import ITS_FOLDER
from leastwise.report.buckets import BucketTexts
from leastwise.report.task import search_sentence
from leastwise.runs import Candidate, Run
from leastwise.runs.estimate import what_it_is
from leastwise.runs.shares import ByAttribute, Shares
from leastwise.runs.showing import LIMIT_NAMES, frontier_table, name_in_words, on_test, point_name, standing

Facts = dict[str, Any]


def frontier_facts(run: Run, shares: Shares) -> Facts:
    """Return the points in ascending utility risk on test, the screened candidates, and the buckets of each.

    Frontier and limit points carry test figures; the other candidates were judged on the validation part only.
    Where nothing fits none is chosen, and one is the nearest.
    """
    texts = BucketTexts()
    known = {point.id for point in run.frontier.points}
    # The frontier was found on validation; people see the test part and walk along that.
    shown = on_test(run.frontier)
    points = [
        {
            **_point(run, point, texts),
            "place": place,
            "title": name_in_words(place, point.name),
            "command": f"leastwise choose {ITS_FOLDER} --candidate {point.id}",
            "shares": _shares(run, shares.of(point.id)),
        }
        for place, point in enumerate(shown, 1)
    ]
    limits = [_limit(run, kind, texts) for kind in LIMIT_NAMES]
    screened = [_screened(candidate, texts) for candidate in run.candidates if candidate.id not in known]
    ordered = [limits[0], *points, limits[1]]
    # Found on validation, some may be beaten on the part that is shown: no line leads through those.
    line = unbeaten([Point(p["test"]["utility_risk"], p["test"]["adversary_error"]) for p in ordered])
    return {
        "attributes": [{"name": a.name, "personal": a.personal} for a in run.schema.attributes],
        "texts": texts.texts,
        "points": ordered,
        "line": line,
        "screened": screened,
        "table": frontier_table(run.frontier, run.choice)._asdict(),
        "knees": list(run.frontier.knees),
        "increases": what_it_is(run.frontier.untouched.number is not None),
        "search": search_sentence(run.frontier, run.task.quick),
    }


def _point(run: Run, point: Candidate, texts: BucketTexts) -> Facts:
    judged = run.evaluation(point.id)
    return {
        "id": point.id,
        "kind": "frontier",
        "name": point_name(point.name),
        "chosen": point.id == run.choice.candidate,
        "nearest": run.choice.candidate is None and point.id == run.choice.nearest,
        "called": standing(run.choice).get(point.id, ""),
        **_made_by(run.candidate(point.id)),
        **_asks(run.generalization(point.id), texts),
        "test": to_plain(point.test),
        "validation": to_plain(point.validation),
        "attacker": _attacker(judged),
        "certificate": [] if judged.certificate is None else list(judged.certificate.sentences()),
    }


def _shares(run: Run, shares: ByAttribute) -> list[list[float] | None]:
    """Return the shares attribute by attribute, of as many buckets as are told."""
    return [list(shares[name][:MOST_SHOWN]) if name in shares else None for name in run.schema.names]


def _made_by(candidate: Candidate) -> Facts:
    return {"made_by": candidate.words, "also": list(candidate.also_found_by), "seed": candidate.seed}


def _asks(generalization: Generalization, texts: BucketTexts) -> Facts:
    return {
        "asked": len(generalization.collected),
        "answers": generalization.total_buckets - len(generalization.not_collected),
        "answers_in_words": answers_in_words(generalization.partitions, " answer"),
        "buckets": texts.places(generalization),
    }


def _attacker(judged: Evaluation) -> list[Facts]:
    """Return what A1 tells of each attribute: the full attack of the evaluation, with intervals."""
    attack = next((attack for attack in judged.attacks if attack.adversary == "A1"), None)
    bounds = () if judged.certificate is None else judged.certificate.bounds
    certified = {bound.attribute: bound.adversary_error_at_least for bound in bounds}
    return [
        {"label": r.attribute, "value": r.adversary_error, "low": r.interval[0], "high": r.interval[1],
         "baseline": r.baseline, "certified": certified.get(r.attribute)}
        for r in (() if attack is None else attack.attributes)  # type: ignore[attr-defined]
    ]  # fmt: skip


def _limit(run: Run, kind: str, texts: BucketTexts) -> Facts:
    make = getattr(Generalization, kind)
    return {
        "id": kind,
        "kind": "limit",
        "name": LIMIT_NAMES[kind],
        "title": LIMIT_NAMES[kind],
        "command": "",
        "chosen": False,
        "nearest": False,
        "called": "",
        "made_by": "",
        "also": [],
        "seed": None,
        **_asks(make(run.schema), texts),
        "test": to_plain(getattr(run.frontier, kind)),
        "validation": to_plain(getattr(run.frontier, f"{kind}_validation")),
        "attacker": [],
        "certificate": [],
    }


def _screened(candidate: Candidate, texts: BucketTexts) -> Facts:
    return {
        "id": candidate.id,
        "kind": "screened",
        "name": "",
        "title": "screened candidate",
        "command": "",
        "chosen": False,
        "nearest": False,
        "called": "",
        **_made_by(candidate),
        **_asks(candidate.generalization, texts),
        "validation": to_plain(candidate.validation),
    }
