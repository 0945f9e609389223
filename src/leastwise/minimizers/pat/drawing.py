"""The tree for people: in words, as text and as a picture (SVG)."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.documents.wording import counted, percent
from leastwise.minimizers.pat.tree import PATTree, generalization, refined
from leastwise.partition import Intervals
from leastwise.partition.labels import alternatives, group_label
from leastwise.schema.values import number_text

Array = npt.NDArray[Any]
ROW, COLUMN, SHOWN, MARGIN = 26, 190, 30, 12
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#eeca3b", "#9d755d")


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
        for story in stories:
            if story.attribute == name:
                pairs = zip(story.splits, story.answers, strict=True)
                behind = "; ".join(f"split {number}: {said}" for number, said in pairs)
                lines.append(f"    {story.bucket}  <-  {behind}")
        lines.append("")
    rest = [name for name in tree.schema.names if name not in {story.attribute for story in stories}]
    lines += [f"Not asked: {', '.join(rest)}"] if rest else []
    return "\n".join(lines).rstrip()


def draw_text(tree: PATTree, counts: bool = False) -> str:
    """Return the tree as indented text, one line per answer.

    Parameters
    ----------
    tree
        The tree.
    counts
        Whether leaves say how many training people they hold. Counts come from the records: they are for those
        who may see the records.
    """
    return "\n".join(_lines(tree, 0, "", counts)) if tree.splits else f"everybody: {leaf_text(tree, 0, counts)}"


def _lines(tree: PATTree, node: int, indent: str, counts: bool) -> list[str]:
    split = tree.split_at[node]
    lines = []
    for child, branch, below in ((2 * split + 1, "├─ ", "│  "), (2 * split + 2, "└─ ", "   ")):
        said = answer(tree, split, child % 2 == 1)
        if child in tree.split_at:
            lines += [f"{indent}{branch}{said}", *_lines(tree, child, indent + below, counts)]
        else:
            lines.append(f"{indent}{branch}{said}: {leaf_text(tree, child, counts)}")
    return lines


def leaf_text(tree: PATTree, leaf: int, counts: bool = False) -> str:
    """Return what a leaf predicts, and with ``counts`` how many people are in it."""
    label = tree.schema.label
    assert label is not None
    if label.continuous:
        predicted = f"about {tree.label_levels[tree.median(leaf)]:.4g}"
        return f"{predicted} ({counted(tree.people(leaf).sum(), 'person', 'people')})" if counts else predicted
    likeliest = tree.majority(leaf)
    predicted = tree.class_names[likeliest] if tree.class_names else label.label_of(label.values[likeliest])
    people = tree.people(leaf)
    if not counts:
        return predicted
    share = percent(people.max() / max(people.sum(), 1e-300))
    return f"{predicted} ({share} of {counted(people.sum(), 'person', 'people')})"


def draw_svg(tree: PATTree, counts: bool = False) -> str:
    """Return the tree as an SVG picture that grows from left to right; all texts are escaped.

    Long answers are cut short in the picture and shown in full when pointed at.
    """
    places = _places(tree)
    width = MARGIN * 2 + COLUMN * (max(x for x, _ in places.values()) + 1)
    height = MARGIN * 2 + ROW * len(tree.leaves)
    parts = [_link(tree, child, places) for child in places if child]
    parts += [_node(tree, node, place, counts) for node, place in places.items()]
    name = "The privacy-aware tree: each path from left to right is a series of answers"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="11">'
        f"<title>{name}</title>{''.join(parts)}</svg>"
    )


def _places(tree: PATTree) -> dict[int, tuple[int, float]]:
    """Return the column and row of each node: leaves take a row each, a split stands between its children."""
    places: dict[int, tuple[int, float]] = {}
    rows = iter(range(len(tree.leaves)))

    def visit(node: int, depth: int) -> float:
        if node not in tree.split_at:
            places[node] = (depth, float(next(rows)))
        else:
            split = tree.split_at[node]
            middle = float(np.mean([visit(2 * split + 1, depth + 1), visit(2 * split + 2, depth + 1)]))
            places[node] = (depth, middle)
        return places[node][1]

    visit(0, 0)
    return places


def _position(place: tuple[int, float]) -> tuple[float, float]:
    return MARGIN + COLUMN * place[0], MARGIN + ROW * (place[1] + 0.5)


def _link(tree: PATTree, child: int, places: dict[int, tuple[int, float]]) -> str:
    split = (child - 1) // 2
    x0, y0 = _position(places[tree.splits[split].node])
    x1, y1 = _position(places[child])
    said = answer(tree, split, child % 2 == 1)
    line = f'<path d="M{x0:g} {y0:g} V{y1:g} H{x1:g}" fill="none" stroke="#999"/>'
    return line + _text(x0 + 8, y1 - 4, said)


def _text(x: float, y: float, said: str) -> str:
    shown = said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"
    inner = f"{escape(shown)}<title>{escape(said)}</title>"
    return f'<text x="{x:g}" y="{y:g}" fill="currentColor">{inner}</text>'


def _node(tree: PATTree, node: int, place: tuple[int, float], counts: bool) -> str:
    x, y = _position(place)
    if node in tree.split_at:
        return f'<circle cx="{x:g}" cy="{y:g}" r="3" fill="#666"/>'
    colour = COLOURS[tree.majority(node) % len(COLOURS)]
    square = f'<rect x="{x:g}" y="{y - 5:g}" width="10" height="10" fill="{colour}"/>'
    return square + _text(x + 14, y + 4, leaf_text(tree, node, counts))
