"""
What PAT asks
=============

The paper's qualitative study: what does PAT with 20 leaves and alpha 0.7 ask, and what does that cost? ::

    python examples/03_pat_qualitative_study.py                # the bundled Adult records
    python examples/03_pat_qualitative_study.py psam_p36.csv   # an official ACS person file: ACSEmployment
    LEASTWISE_DATA=<folder> python examples/03_pat_qualitative_study.py   # acs_employment_ny_2024.parquet there

It prints how many attribute values become how many buckets, which attributes are not asked at all, the tree, where
each bucket comes from, and what a classifier and a thief of the answers make of them. ``draw_svg`` beside
``draw_text`` draws the tree as a picture.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import polars as pl

from leastwise import Attribute, Generalization, PrivacyLeakWarning, Table
from leastwise.datasets import Dataset, declaration, load, load_adult
from leastwise.evaluation import evaluate
from leastwise.minimizers import PATMinimizer, draw_text, explain

ALPHA, LEAVES, SEED = 0.7, 20, 0


def records() -> Dataset:
    """Return the records named on the command line, or else in the folder of real data, or else Adult."""
    if len(sys.argv) > 1:
        return load("acs-employment", sys.argv[1])
    prepared = Path(os.environ.get("LEASTWISE_DATA", "")) / "acs_employment_ny_2024.parquet"
    if not prepared.is_file():
        return load_adult()
    task = declaration("acs-employment")
    moved = Attribute("MIG_PROXY", values=("0", "1"), personal=True)
    task = replace(task, attributes=(*task.attributes, moved))
    # This file writes -1 for "not applicable", has MIG_PROXY for MIG, and names the label "label".
    frame = pl.read_parquet(prepared).rename({"label": task.label.name})
    columns = pl.exclude(task.label.name)
    return task.dataset(frame.with_columns(columns.replace(-1, None)), prepared.stem)


def print_buckets(table: Table, generalization: Generalization) -> None:
    # The declared values of an attribute, or the numbers that somebody gave.
    values = table.sizes
    print(f"{sum(values)} attribute values become {generalization.total_buckets} buckets.")
    print(f"Not asked at all: {len(generalization.not_collected)} of {len(values)} attributes:")
    print(f"    {', '.join(generalization.not_collected)}\n")
    for partition, size in zip(generalization.partitions, values, strict=True):
        kept = partition.size
        bar = "#" * kept if not partition.suppressed else ""
        print(f"    {partition.attribute.name:16} {size:4} -> {kept:3}  ({kept / size - 1:+.0%})  {bar}")


def main() -> None:
    dataset = records()
    table = Table.from_frame(dataset.frame, dataset.schema)
    split = table.split(SEED)
    pat = PATMinimizer(alpha=ALPHA, max_leaves=LEAVES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # nothing is published here
        generalization = pat.propose(split.train)
    print(f"{dataset}: PAT with {LEAVES} leaves, alpha {ALPHA}\n")
    print_buckets(table, generalization)
    print(f"\n{generalization.describe()}\n\nThe tree\n\n{draw_text(pat.tree_)}\n")
    print(f"Where the buckets come from\n\n{explain(pat.tree_)}\n")
    judged = evaluate(generalization, split, ["A1"], seed=SEED, quick=True)
    assert judged.utility is not None
    assert judged.everything is not None
    print(f"classifier error  {judged.everything.error:.3f} -> {judged.utility.error:.3f}")
    attack = judged["A1"]
    print(f"adversary error   0 -> {attack.adversary_error:.3f}  (guessing the majority: {attack.baseline:.3f})")
    for found in attack.attributes:
        print(f"    {found.attribute:16} {found.adversary_error:.3f}  ({found.baseline:.3f})")


if __name__ == "__main__":
    main()
