from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from leastwise import Attribute, Schema
from leastwise.minimizers.pat import PATTree, bucket_stories, draw_svg, draw_text, explain, grow_tree
from leastwise.minimizers.pat.drawing import answer, reaching
from tests.minimizers.pat.samples import random_table
from tests.samples import coded


def small_tree() -> PATTree:
    """Age parts at 27; of the older, two degrees part from the others."""
    attributes = (
        Attribute("age", "continuous", lower=0, integer=True, missing=True),
        Attribute("education", values=("School", "Bachelor", "Masters", "Doctorate"), personal=True),
        Attribute("sex", values=("F", "M"), personal=True),
    )
    rows = []
    for age, education, label in [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (1, 2, 1), (1, 3, 1), (2, 0, 0)]:
        rows += [(age, education, k % 2, label) for k in range(10)]
    *columns, labels = np.array(rows).T
    schema = Schema(attributes, Attribute("y", values=("0", "1"), labels=("<low>", "high & dry")))
    return grow_tree(coded(schema, *columns, labels=labels, numbers={"age": [27, 28]}), 0.1, 4, min_leaf=5)


def test_each_split_is_said_in_words() -> None:
    tree = small_tree()
    assert answer(tree, 0, True) == "education School or Bachelor"
    assert answer(tree, 0, False) == "education Masters or Doctorate"


def test_the_text_shows_every_leaf_and_counts_only_on_request() -> None:
    tree = small_tree()
    assert (
        draw_text(tree) == "├─ education School or Bachelor: <low>\n└─ education Masters or Doctorate: high & dry"
    )
    assert draw_text(tree, counts=True).splitlines()[0].endswith("<low> (100\xa0% of 50 people)")
    assert draw_text(tree.prefix(1)) == "everybody: <low>"


def test_every_bucket_names_the_splits_it_came_from() -> None:
    tree = small_tree()
    assert [(story.bucket, story.splits, story.answers) for story in bucket_stories(tree)] == [
        ("School or Bachelor", (1,), ("education School or Bachelor",)),
        ("Masters or Doctorate", (1,), ("education Masters or Doctorate",)),
    ]
    assert explain(tree).splitlines() == [
        "education",
        "    School or Bachelor  <-  split 1: education School or Bachelor",
        "    Masters or Doctorate  <-  split 1: education Masters or Doctorate",
        "",
        "Not asked: age, sex",
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_picture_is_well_formed_escaped_and_complete(seed: int) -> None:
    trees = [small_tree(), grow_tree(random_table(seed, rows=200, extras=seed % 2 == 0), 0.1, 12, min_leaf=5)]
    for tree in [*trees, trees[0].prefix(1)]:
        root = ElementTree.fromstring(draw_svg(tree))
        shapes = [element.tag.split("}")[1] for element in root.iter()]
        assert shapes.count("rect") == len(tree.leaves)
        assert shapes.count("path") == 2 * len(tree.splits)
    assert "<low>" not in draw_svg(trees[0])
    assert "&lt;low&gt;" in draw_svg(trees[0])


@pytest.mark.parametrize("seed", range(4))
def test_stories_and_reach_agree_with_the_splits(seed: int) -> None:
    table = random_table(seed, rows=200)
    tree = grow_tree(table, 0.1, 12, min_leaf=5)
    leaves = tree.leaf_of_codes(table.codes)
    for leaf in tree.leaves:
        for j in range(len(table.schema)):
            assert reaching(tree, leaf, j)[table.codes[leaves == leaf, j]].all()
    assert all(story.splits for story in bucket_stories(tree))
    assert "nothing" not in draw_text(tree)
    assert draw_text(tree).count("\n") + 1 == 2 * len(tree.splits)
