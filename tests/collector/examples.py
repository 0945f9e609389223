"""A generalization with every kind of partition, records of it, and a client that needs no socket."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from leastwise import Attribute, Generalization, Groups, Intervals
from leastwise.collector.app import make_app
from leastwise.collector.security import Settings
from leastwise.collector.store import Store
from leastwise.models import Model, train
from tests.collector.asgi import Client

AGE = Attribute(
    "age", "continuous", lower=0, integer=True, missing=True, unit="years", question="How old are you?"
)
COLOUR = Attribute("colour", values=("red", "green", "blue"), other=True)
SCHOOL = Attribute("school", "ordinal", values=("none", "primary", "secondary", "high"), personal=True)
CITIZENSHIP = Attribute("citizenship", values=("1", "2"), personal=True)
INCOME = Attribute("income", values=("<=50K", ">50K"))
ATTRIBUTES = (AGE, COLOUR, SCHOOL, CITIZENSHIP)
FINE = Generalization.of(
    [
        Intervals(AGE, (19, 41, 63)),
        Groups.of(COLOUR, [["red", "blue"], ["green"]]),
        Groups.of(SCHOOL, [["none", "primary"], ["secondary", "high"]]),
    ],
    ATTRIBUTES,
    label=INCOME,
)
# What is asked now: coarser, and colour is no longer asked.
G = Generalization.of(
    [Intervals(AGE, (19, 63)), Groups.of(SCHOOL, [["none", "primary"], ["secondary", "high"]])],
    ATTRIBUTES,
    label=INCOME,
)
RECORD = {"age": "20 to 63", "school": "secondary or high"}
RECORDS = [
    {"age": age, "school": school} for age, school in itertools.product(G["age"].labels, G["school"].labels)
]
TOKEN = "a-token-that-nobody-guesses"


def people(count: int = 400, seed: int = 0) -> pl.DataFrame:
    """Full records whose income depends on age and school."""
    random = np.random.default_rng(seed)
    age = random.integers(0, 90, count)
    school = random.integers(0, 4, count)
    rich = (age > 19) & (school + random.normal(0, 0.7, count) > 1.5)
    return pl.DataFrame(
        {
            "age": age,
            "colour": random.choice(["red", "green", "blue"], count),
            "school": np.array(SCHOOL.values)[school],
            "citizenship": random.choice(["1", "2"], count),
            "income": np.where(rich, ">50K", "<=50K"),
        }
    )


@cache
def trained() -> Model:
    """A small model of G, made once."""
    return train(G, people(), full=True, estimator="sklearn.linear_model.LogisticRegression")


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'records.db'}"


@contextmanager
def client(
    url: str, *generalizations: Generalization, model: Model | None = None, public: bytes = b"", **settings: Any
) -> Iterator[Client]:
    """Give a client of a collector in this process; one that fails shows its exception."""
    store = Store.open(url, public=public)
    app = make_app(generalizations or (G,), store, Settings(**{"rate": 0, "token": TOKEN, **settings}), model)
    try:
        with Client(app) as made:
            yield made
    finally:
        store.close()


def exported(made: Client, **query: str) -> list[dict[str, Any]]:
    """Return the stored records in a fixed order."""
    answer = made.get("/records", params=query, headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200, answer.text
    return sorted((json.loads(line) for line in answer.text.splitlines()), key=str)
