"""The whole default job, and where its time goes; one judged candidate beside the paper's MLP-2.

A run proposes, screens, judges and attacks. What the paper does for each of its candidates is an evaluation by
MLP-2: for the classifier and for the adversary one network for each of the 11 values of L2, 20 epochs each. Three
candidates are evaluated so, and the time of the whole run is shared out among the candidates it judged. Both are
processor seconds, so that a busy machine changes neither.

    python benchmarks/run.py [--json] [--quick] [--data NAME ...] [--records N] [--jobs N] [--before CHECKOUT]
        [--no-peers] [--no-gaps]

With ``--before``, a folder with the ``src`` of an earlier commit, that one does the same job on the same records,
and attacks the frontier that was found here (``--no-gaps``: it does not, which on large files takes it as long as
the job).

Figures (of the last data set; ``by_data`` has all)
-------
seconds
    Of the whole run: proposing, screening, judging, attacking, writing; not reading the records.
candidates
    Distinct generalizations that were judged.
seconds_per_candidate
    Processor seconds of the run by candidates: proposing and the full attacks on the frontier included.
speedup_per_candidate_vs_mlp2
    Processor seconds of the MLP-2 evaluation of one candidate (median of three) by ``seconds_per_candidate``.
first_answer_cpu_seconds
    Processor seconds of this process until the first complete answer (of all, with one job); None for a quick run,
    which has none.
profile
    By stage, processor seconds, seconds of the clock and the share of the workers' time that was used.
cpu_vs_before
    Processor seconds of the run by those of the earlier commit: 0.2 is five times less.
peak_memory_gb
    The most memory of this process and its workers together; what they share counts once.
boosting_cpu_seconds
    Processor seconds of one scikit-learn HistGradientBoosting fit per personal attribute, from all others, on the
    training records of the run: what one good model of each costs.
attack_vs_boosting
    Processor seconds of the whole attack stage by ``boosting_cpu_seconds``.
attack_gap_mean, attack_gap_worst
    By adversary, its error now minus before: the mean over the frontier, and the largest of any attribute of any
    candidate.
attack_gap_by_attribute
    By adversary, the largest of any attribute, the mean over the frontier: what is weaker for all candidates.
    (The largest of a hundred differences is mostly chance: two seeds of one network differ by as much.)
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # each worker has one core

import numpy as np  # noqa: E402
import torch  # noqa: E402
from adversaries import plain_mlp2  # noqa: E402
from common import PeakMemory, parser, report  # noqa: E402
from data import load  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: E402

from leastwise import Generalization, Split, Table  # noqa: E402
from leastwise.evaluation import Evaluation, evaluate  # noqa: E402
from leastwise.partition import suppress  # noqa: E402
from leastwise.predictors import samples  # noqa: E402
from leastwise.runs import Options, Run, Workers, run  # noqa: E402

if TYPE_CHECKING:
    from leastwise.runs import Stage

DATA = ("adult", "acs_employment_ny_2024")
ATTACKING = ("learning for all candidates", "learning what tells the last attribute", "attacking the frontier")


class Saying:
    """Says on the standard error stream which stage has begun."""

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        print(f"{time.strftime('%X')} {words}: {total}", file=sys.stderr, flush=True)

    def advance(self, steps: int = 1) -> None:
        pass


def processor_seconds() -> float:
    """Return the processor seconds of this process and of the workers that have ended."""
    return sum(
        u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def opened(name: str, records: int) -> Table:
    dataset = load(name)
    table = Table.from_frame(dataset.frame, dataset.schema)
    if 0 < records < len(table):
        table = table.take(np.sort(np.random.default_rng(0).choice(len(table), records, replace=False)))
    return table


def mlp2_seconds(generalization: Generalization, split: Split) -> float:
    """Return the seconds of the paper's evaluation of one candidate: its classifier and its adversary."""
    targets: tuple[Literal["label", "personal"], ...] = ("label", "personal")
    parts = [[samples(part, generalization, target) for part in split] for target in targets]
    start = time.process_time()
    for each in parts:
        plain_mlp2(*each)
    return time.process_time() - start


class Job(NamedTuple):
    """A finished job: the run, what its stages took, all seconds, and those until the first answer."""

    run: Run
    stages: Sequence[Stage]
    seconds: float
    first_answer: float | None

    @property
    def processor(self) -> float:
        return sum(each.processor for each in self.stages)


def do_job(table: Table, name: str, folder: Path, workers: Workers, arguments: argparse.Namespace) -> Job:
    """Do the job."""
    from leastwise.runs import Stages  # an earlier commit that is asked has none

    start, stages, first = time.perf_counter(), Stages(Saying(), workers), [processor_seconds()]
    found = run(
        table,
        folder / "run",
        Options(quick=arguments.quick, seed=arguments.seed),
        name=name,
        workers=workers,
        progress=stages,
        told=lambda _: first.append(processor_seconds()),  # that of workers is not known yet
    )
    early = first[-1] - first[0] if len(first) > 1 else None
    return Job(found, stages.ended(), time.perf_counter() - start, early)


def measured(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    table, workers = opened(name, arguments.records), Workers(arguments.jobs)
    with tempfile.TemporaryDirectory() as folder:
        with PeakMemory() as memory:
            job = do_job(table, name, Path(folder), workers, arguments)
        found = figures(name, table, job, workers.at_once) | {"peak_memory_gb": memory.gigabytes}
        if not arguments.no_peers:
            found |= beside_peers(table, job)
        return found if arguments.before is None else found | beside(name, job.run, job.processor, arguments)


Errors = dict[str, dict[str, dict[str, float]]]


def errors(evaluations: dict[str, Evaluation]) -> Errors:
    """Return, by candidate and adversary, the error of every personal attribute."""
    return {
        candidate: {
            attack.adversary: {each.attribute: each.adversary_error for each in getattr(attack, "attributes", ())}
            for attack in found.attacks
        }
        for candidate, found in evaluations.items()
    }


def beside(name: str, done: Run, processor: float, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the earlier commit took for the same job, and how its attacks compare."""
    asked = [sys.executable, __file__, "--data", name, "--records", str(arguments.records)]
    asked += ["--seed", str(arguments.seed), "--attacked", str(done.folder), *["--quick"] * arguments.quick]
    asked += ["--shares", *map(str, shares()), *["--no-gaps"] * arguments.no_gaps]
    environment = {**os.environ, "PYTHONPATH": str(arguments.before.resolve() / "src")}
    told = subprocess.run(asked, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    earlier = json.loads(told.splitlines()[-1])
    now, before = errors({p.id: done.evaluation(p.id) for p in done.frontier.points}), earlier["errors"]
    gaps: dict[str, list[list[float]]] = defaultdict(list)
    for candidate, attacks in before.items():
        for adversary, by_attribute in attacks.items():
            if by_attribute:
                own = now[candidate][adversary]
                gaps[adversary].append([own[attribute] - error for attribute, error in by_attribute.items()])
    return {
        "cpu_vs_before": processor / earlier["processor"],
        "attack_gap_mean": {adversary: float(np.mean([*map(np.mean, each)])) for adversary, each in gaps.items()},
        "attack_gap_worst": {adversary: max(map(max, each)) for adversary, each in gaps.items()},
        "attack_gap_by_attribute": {a: float(np.mean(each, axis=0).max()) for a, each in gaps.items()},
    }


def earlier(name: str, arguments: argparse.Namespace) -> None:
    """Do the job of one file, then attack a frontier that another commit found; print both as JSON."""
    table, options = opened(name, arguments.records), Options(quick=arguments.quick, seed=arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        before = processor_seconds()
        run(table, Path(folder) / "run", options, name=name, progress=Saying())
        processor = processor_seconds() - before
    split, found = table.split(arguments.seed, tuple(arguments.shares)), {}
    # It cannot read what a run of today leaves behind, but its artefacts (which say nothing of what is not asked)
    # and plain JSON.
    for path in () if arguments.no_gaps else sorted((arguments.attacked / "generalizations").iterdir()):
        told = json.loads((arguments.attacked / "evaluations" / path.name).read_text())
        adversaries = [each["adversary"] for each in told["attacks"]]
        pairs = zip(Generalization.load(path).partitions, table.schema.attributes, strict=True)
        partitions = tuple(suppress(declared) if own.suppressed else own for own, declared in pairs)
        found[path.stem] = evaluate(
            Generalization(partitions, table.schema.label),
            split,
            adversaries,
            arguments.seed,
            arguments.quick,
            predicates=0,
            held_out=True,
        )
    print(json.dumps({"processor": processor, "errors": errors(found)}))


def shares() -> tuple[float, float, float]:
    """Return how a run divides the records."""
    from leastwise.runs.task import SHARES  # an earlier commit that is asked has none

    return SHARES


def beside_peers(table: Table, job: Job) -> dict[str, float]:
    """Return what the paper's evaluation of a candidate takes, and one boosting per personal attribute."""
    done, points = job.run, job.run.frontier.points
    chosen = [points[i].id for i in sorted({0, len(points) // 2, len(points) - 1})]
    split = table.split(done.task.seed)
    theirs = float(np.median([mlp2_seconds(done.generalization(c), split) for c in chosen]))
    boosting = boosting_seconds(table.split(done.task.seed, shares()).train)
    attacking = sum(stage.processor for stage in job.stages if stage.words in ATTACKING)
    return {
        "mlp2_seconds_per_candidate": theirs,
        "speedup_per_candidate_vs_mlp2": theirs * len(done.candidates) / job.processor,
        "boosting_cpu_seconds": boosting,
        "attack_cpu_seconds": attacking,
        "attack_vs_boosting": attacking / boosting,
    }


def boosting_seconds(train: Table) -> float:
    """Return the seconds of one fit per personal attribute, from the codes of all others."""
    start = time.process_time()
    for p in train.personal:
        others, values = np.delete(train.codes, p, axis=1).astype(float), train.codes[:, p]
        # It does not stratify what has one person, and is not made for more classes than these.
        common = np.isin(values, np.flatnonzero(np.bincount(values) >= 2))
        if len(np.unique(values[common])) > 1:
            HistGradientBoostingClassifier(random_state=0).fit(others[common], values[common])
    return time.process_time() - start


def figures(name: str, table: Table, job: Job, jobs: int) -> dict[str, Any]:
    done = job.run
    return {
        "data": name,
        "records": len(table),
        "seconds": job.seconds,
        "cpu_seconds": job.processor,
        "first_answer_cpu_seconds": job.first_answer,
        "candidates": len(done.candidates),
        "seconds_per_candidate": job.processor / len(done.candidates),
        "frontier": len(done.frontier.points),
        "hypervolume_test": done.frontier.hypervolume.test,
        "profile": {
            stage.words: {
                "cpu_seconds": stage.processor,
                "seconds": stage.clock,
                "utilisation": stage.utilisation(jobs),
            }
            for stage in job.stages
        },
    }


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--quick", action="store_true", help="the smaller grid of a quick run, shorter training")
    made.add_argument("--data", nargs="+", default=DATA, help="which data sets")
    made.add_argument("--records", type=int, default=0, help="at most so many of each; 0: all")
    made.add_argument("--jobs", type=int, default=1, help="workers (1: seconds are processor seconds)")
    made.add_argument("--seed", type=int, default=0, help="of the split and of everything drawn")
    made.add_argument("--before", type=Path, help="a checkout of an earlier commit, to compare with")
    made.add_argument("--no-peers", action="store_true", help="do without MLP-2 and scikit-learn's boosting")
    made.add_argument("--no-gaps", action="store_true", help="let it do the job only, and attack nothing of ours")
    made.add_argument("--attacked", type=Path, help="what a process of its own is asked to do")
    made.add_argument("--shares", type=float, nargs=3, help="how that process divides the records")
    arguments = made.parse_args()
    torch.set_num_threads(1)
    compile_kernels()
    if arguments.attacked is not None:
        earlier(arguments.data[0], arguments)
        return
    rows = []
    for name in arguments.data:
        rows.append(measured(name, arguments))
        print(rows[-1], file=sys.stderr, flush=True)
    shown = [{k: v for k, v in row.items() if k != "profile"} for row in rows]
    stages = [
        {"data": row["data"], "stage": stage, **took, "share": took["cpu_seconds"] / row["cpu_seconds"]}
        for row in rows
        for stage, took in row["profile"].items()
    ]
    report(stages, {}, False)
    keys: tuple[str, ...] = ("seconds", "candidates", "seconds_per_candidate")
    keys += ("cpu_seconds", "first_answer_cpu_seconds", "peak_memory_gb")
    peers = ("speedup_per_candidate_vs_mlp2", "boosting_cpu_seconds", "attack_vs_boosting")
    keys += () if arguments.no_peers else peers
    keys += ("cpu_vs_before",) if arguments.before else ()
    gaps = ("attack_gap_mean", "attack_gap_worst", "attack_gap_by_attribute")
    keys += gaps if arguments.before and not arguments.no_gaps else ()
    report(
        shown, {**{key: rows[-1][key] for key in keys}, "by_data": {r["data"]: r for r in rows}}, arguments.json
    )


def compile_kernels() -> None:
    """Run on a few records first, so that compiling is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        run(opened("adult", 2000), folder, Options(quick=True, most=2))


if __name__ == "__main__":
    main()
