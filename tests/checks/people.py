"""A small town whose people can be drawn again and again, and can be made to drift."""

from __future__ import annotations

import numpy as np
import polars as pl

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table
from leastwise.checks import Promise
from leastwise.evaluation import evaluate

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)
TOWN = Attribute("town", values=("a", "b", "c", "d"), personal=True)
LABEL = Attribute("works", values=("no", "yes"))
SCHEMA = Schema((AGE, SEX, TOWN), LABEL)
G = Generalization((Intervals(AGE, (30, 45, 65)), Groups(SEX, (0, 0)), Groups(TOWN, (0, 1, 1, 2))), LABEL)


def frame(people: int, seed: int, *, older: float = 0, noise: float = 0.15, tied: float = 0.4) -> pl.DataFrame:
    """Draw people: ``older`` shifts ages, ``noise`` blurs the label, ``tied`` ties the town to sex."""
    random = np.random.default_rng(seed)
    age = np.clip(random.normal(45 + older, 15, people), 18, 90).astype(int)
    sex = np.where(random.random(people) < 0.5, "f", "m")
    home = random.choice(list("abcd"), people, p=[0.4, 0.3, 0.2, 0.1])
    town = np.where(random.random(people) < tied, np.where(sex == "f", "a", "c"), home)
    works = np.where((age < 65) ^ (random.random(people) < noise), "yes", "no")
    return pl.DataFrame({"age": age, "sex": sex, "town": town, "works": works})


def table(people: int, seed: int, **how: float) -> Table:
    return Table.from_frame(frame(people, seed, **how), SCHEMA)


def promise(people: int = 4000, seed: int = 0, g: Generalization = G) -> Promise:
    split = table(people, seed).split(0)
    return Promise.of(g, split.test, evaluate(g, split, ["A1", "A8"], quick=True))
