"""The tree in words: what each split asks, which answers lead to a leaf, and which splits made each bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.minimizers.pat.tree import PATTree, generalization, refined
from leastwise.partition import Intervals
from leastwise.partition.labels import alternatives, group_label
from leastwise.schema.values import number_text

Array = npt.NDArray[Any]


def answer(tree: PATTree, split: int, left: bool) -> str:
    """Say which records go to one side of a split: "age up to 27", "education Doctorate or Masters".

    Of named values only those are listed that can still reach the split.
    """
    found, attribute = tree.splits[split], tree.attribute(split)
    goes = (found.goes_left == left) & reaching(tree, found.node, found.attribute)
    inner = len(tree.levels[found.attribute])
    sides = tree.partition(split)
    if isinstance(sides, Intervals):
        chosen = ["any number"] * bool(goes[:inner].any())
        if sides.edges:
            chosen = [f"{'up to' if left else 'above'} {number_text(sides.edges[0])}"]
    else:
        names = [value for value, here in zip(attribute.values, goes, strict=False) if here]
        chosen = [group_label(attribute, names)] if names else []
    known = ["missing"] * attribute.missing + ["other"] * attribute.other
    chosen += [name for name, here in zip(known, goes[inner:], strict=True) if here]
    return f"{attribute.name} {alternatives(chosen) if chosen else 'nothing'}"


def reaching(tree: PATTree, node: int, attribute: int) -> npt.NDArray[np.bool_]:
    """Return which codes of an attribute can reach a node."""
    size = len(tree.levels[attribute]) + tree.schema.attributes[attribute].extra_values
    possible = np.ones(size, dtype=bool)
    while node:
        split, left = (node - 1) // 2, node % 2 == 1
        if tree.splits[split].attribute == attribute:
            possible &= tree.splits[split].goes_left == left
        node = tree.splits[split].node
    return possible


def path(tree: PATTree, node: int) -> list[str]:
    """Return the answers that lead from the root to a node."""
    answers: list[str] = []
    while node:
        split = (node - 1) // 2
        answers.insert(0, answer(tree, split, node % 2 == 1))
        node = tree.splits[split].node
    return answers


@dataclass(frozen=True)
class BucketStory:
    """One bucket, and how it came about: the splits that divided what it was part of, with its answers.

    Splits are numbered from 1, in the order of growth. Splits that did not divide anything are left out.
    """

    attribute: str
    bucket: str
    splits: tuple[int, ...]
    answers: tuple[str, ...]


def bucket_stories(tree: PATTree) -> list[BucketStory]:
    """Return every bucket that the tree asks, with the splits that it came from."""
    stories = []
    for j, partition in enumerate(generalization(tree).partitions):
        if partition.suppressed:
            continue
        mapping, dividing = partition.bucket_map(tree.levels[j]), _dividing(tree, j)
        for bucket, label in enumerate(partition.labels):
            code = int(np.flatnonzero(mapping == bucket)[0])
            behind = [number for number, divided in dividing if divided[code]]
            said = [answer(tree, number, bool(tree.splits[number].goes_left[code])) for number in behind]
            numbered = tuple(number + 1 for number in behind)
            stories.append(BucketStory(partition.attribute.name, label, numbered, tuple(said)))
    return stories


def _dividing(tree: PATTree, attribute: int) -> list[tuple[int, Array]]:
    """Return the splits on an attribute, each with the codes whose bucket it divided."""
    buckets = np.zeros(len(tree.levels[attribute]) + tree.schema.attributes[attribute].extra_values, dtype=int)
    result = []
    for number, split in enumerate(tree.splits):
        if split.attribute == attribute:
            left = np.bincount(buckets, weights=split.goes_left) > 0
            right = np.bincount(buckets, weights=~split.goes_left) > 0
            result.append((number, (left & right)[buckets]))
            buckets = refined(buckets, split.goes_left)
    return result


def explain(tree: PATTree) -> str:
    """Say for each attribute which buckets it has and which splits of the tree they came from."""
    stories = bucket_stories(tree)
    lines: list[str] = []
    for name in dict.fromkeys(story.attribute for story in stories):
        lines.append(name)
        lines += [f"    {story.bucket}  <-  {_behind(story)}" for story in stories if story.attribute == name]
        lines.append("")
    rest = [name for name in tree.schema.names if name not in {story.attribute for story in stories}]
    lines += [f"Not asked: {', '.join(rest)}"] if rest else []
    return "\n".join(lines).rstrip()


def _behind(story: BucketStory) -> str:
    return "; ".join(f"split {number}: {said}" for number, said in zip(story.splits, story.answers, strict=True))
