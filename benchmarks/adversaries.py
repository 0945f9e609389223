"""The strongest A1 beside the paper's MLP-2, and how long it takes to judge.

For each data set, five generalizations of PAT and two of the uniform minimizer are attacked twice: by the default
A1 of leastwise, and by the paper's MLP-2, trained one network at a time for each of the 11 values of L2, 20
epochs each. A weak attack is a false promise of privacy, so A1 must not be weaker than MLP-2 anywhere; and it
must be far faster, or nobody would run it for every candidate.

    python benchmarks/adversaries.py [--json] [--quick] [--data NAME ...] [--records N]

Figures
-------
worst_above_mlp2
    The largest difference of A1's error (mean over the personal attributes, test part) to MLP-2's.
share_not_above_mlp2
    The share of candidates on which A1's error is not above MLP-2's.
speedup_vs_mlp2
    Seconds of MLP-2 with its search over L2, one network after the other as the paper trains it, by seconds of
    the whole attack A1, over all candidates.
speedup_vs_batched_mlp2
    The same against the package's own MLP-2, which trains all values of L2 side by side.
all_adversaries_seconds
    All of A1 to A8 and the certificate for one generalization of Adult (A6 with a second one), 48,842 records.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from common import parser, report
from data import load

from leastwise import Generalization, Split, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.evaluation import evaluate
from leastwise.minimizers.pat import pat_path
from leastwise.minimizers.uniform import UniformMinimizer
from leastwise.predictors import Samples, errors, guesses, mlp2, samples
from leastwise.predictors.mlp import L2

DATA = ("adult", "acs_income_co_2018", "acs_employment_ny_2024")
# (alpha, leaves): from a handful of buckets to almost everything.
PAT = ((0.7, 4), (0.7, 10), (0.7, 50), (0.3, 20), (0.1, 100))
UNIFORM = (3, 5)


def candidates(train: Table, quick: bool) -> Iterator[tuple[str, Generalization]]:
    for alpha, leaves in PAT[2:4] if quick else PAT:
        (found,) = pat_path(train, alpha, [leaves])
        yield f"PAT α={alpha} k*={leaves}", found
    for k in UNIFORM[:1] if quick else UNIFORM:
        yield f"uniform k={k}", UniformMinimizer(k=k, random_state=0).minimize(train)


def split_of(name: str, records: int) -> Split:
    dataset = load(name)
    table = Table.from_frame(dataset.frame, dataset.schema)
    if 0 < records < len(table):
        table = table.take(np.sort(np.random.default_rng(0).choice(len(table), records, replace=False)))
    return table.split(seed=0)


class PlainMLP2(torch.nn.Module):
    """The paper's MLP-2 as one writes it down: no batching over L2, nothing shared with the package."""

    def __init__(self, like: Samples) -> None:
        super().__init__()
        self.trunk = torch.nn.Sequential(torch.nn.Linear(sum(like.input_sizes), 50), torch.nn.ReLU())
        self.heads = torch.nn.ModuleList(torch.nn.Linear(50, size) for size in like.target_sizes)

    def forward(self, x: torch.Tensor, allowed: list[torch.Tensor]) -> list[torch.Tensor]:
        h = self.trunk(x)
        return [
            head(h).masked_fill(~possible, -torch.inf) for head, possible in zip(self.heads, allowed, strict=True)
        ]

    def learn(self, data: PlainData, l2: float) -> PlainMLP2:
        adam = torch.optim.Adam(self.parameters(), lr=0.01, weight_decay=l2)
        schedule = torch.optim.lr_scheduler.StepLR(adam, step_size=10, gamma=0.1)
        for _ in range(20):
            for rows in torch.randperm(len(data.x)).split(256):
                logits = self(data.x[rows], [possible[rows] for possible in data.allowed])
                loss = sum(
                    torch.nn.functional.cross_entropy(head, data.truth[rows, t]) for t, head in enumerate(logits)
                )
                adam.zero_grad()
                loss.backward()
                adam.step()
            schedule.step()
        return self

    @torch.no_grad()
    def error(self, data: PlainData) -> float:
        guessed = [head.argmax(dim=1) for head in self(data.x, data.allowed)]
        wrong = [(values != data.truth[:, t]).double().mean().item() for t, values in enumerate(guessed)]
        return float(np.mean(wrong))


class PlainData:
    """Records as one-hot tensors with the possible values of each target."""

    def __init__(self, records: Samples) -> None:
        columns = [
            torch.nn.functional.one_hot(torch.as_tensor(records.inputs[:, j]), size)
            for j, size in enumerate(records.input_sizes)
        ]
        self.x = torch.cat(columns, dim=1).float()
        self.truth = torch.as_tensor(records.targets)
        self.allowed = [torch.as_tensor(records.allowed(t)) for t in range(len(records.target_sizes))]


def plain_mlp2(train: Samples, validation: Samples, test: Samples) -> tuple[float, float]:
    """Return the test error of the network that validation prefers, and the seconds of it all."""
    start = time.perf_counter()
    known, chosen_on, stolen = PlainData(train), PlainData(validation), PlainData(test)
    found = []
    for number, l2 in enumerate(L2):
        torch.manual_seed(number)
        network = PlainMLP2(train).learn(known, l2)
        found.append((network.error(chosen_on), number, network))
    best = min(found, key=lambda item: item[:2])[2]
    return best.error(stolen), time.perf_counter() - start


def batched_mlp2(train: Samples, validation: Samples, test: Samples) -> tuple[float, float]:
    """Return the same of the package's own MLP-2, all values of L2 side by side."""
    start = time.perf_counter()
    fitted = mlp2().fit(train, validation)
    return float(errors(guesses(fitted, test), test).mean()), time.perf_counter() - start


def default_a1(g: Generalization, split: Split) -> tuple[float, float]:
    """Return the error of the default A1, and the seconds of the whole attack."""
    start = time.perf_counter()
    found = Reconstruction().attack(Breach.of(g, split, seed=0, label=False))
    return found.adversary_error, time.perf_counter() - start


def compare(g: Generalization, split: Split) -> dict[str, float]:
    ours, our_seconds = default_a1(g, split)
    parts = [samples(part, g) for part in split]
    theirs, their_seconds = plain_mlp2(*parts)
    batched, batched_seconds = batched_mlp2(*parts)
    return {
        "A1": ours,
        "MLP-2": theirs,
        "above": ours - theirs,
        "batched": batched,
        "A1 s": our_seconds,
        "MLP-2 s": their_seconds,
        "batched s": batched_seconds,
        "times": their_seconds / our_seconds,
    }


def figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    above = [row["above"] for row in rows]
    return {
        "worst_above_mlp2": max(above),
        "share_not_above_mlp2": float(np.mean([difference <= 0 for difference in above])),
        "speedup_vs_mlp2": sum(row["MLP-2 s"] for row in rows) / sum(row["A1 s"] for row in rows),
        "speedup_vs_batched_mlp2": sum(row["batched s"] for row in rows) / sum(row["A1 s"] for row in rows),
    }


def all_adversaries_seconds() -> float:
    """Return the seconds of every attack and the certificate on one PAT generalization of Adult."""
    split = split_of("adult", 0)
    (g,) = pat_path(split.train, 0.7, [20])
    other = UniformMinimizer(k=3, random_state=0).minimize(split.train)
    found = evaluate(g, split, others=[other])
    seconds = {name: passed for name, passed in found.seconds.items() if name != "utility"}
    print({name: round(passed, 2) for name, passed in seconds.items()}, file=sys.stderr, flush=True)
    return sum(seconds.values())


def compile_kernels() -> None:
    """Attack a few records first, so that compiling is not counted as attacking."""
    split = split_of("adult", 2000)
    (_, g), *_ = candidates(split.train, quick=True)
    default_a1(g, split)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--quick", action="store_true", help="Adult only, three candidates")
    arguments.add_argument("--data", nargs="+", default=DATA, choices=DATA, help="which data sets")
    arguments.add_argument("--records", type=int, default=50_000, help="at most so many of each (50,000; 0: all)")
    given = arguments.parse_args()
    torch.set_num_threads(1)  # as A1 does: such small products gain nothing by a second one
    compile_kernels()
    rows: list[dict[str, Any]] = []
    for name in given.data[:1] if given.quick else given.data:
        split = split_of(name, given.records)
        for label, g in candidates(split.train, given.quick):
            rows.append({"data": name, "candidate": label} | compare(g, split))
            print(rows[-1], file=sys.stderr, flush=True)
    report(rows, figures(rows) | {"all_adversaries_seconds": all_adversaries_seconds()}, given.json)


if __name__ == "__main__":
    main()
