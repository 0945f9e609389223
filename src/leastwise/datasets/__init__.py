"""Data sets as declarations: attributes, label, official file format, and a datasheet."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from leastwise.datasets.acs import ACS_EMPLOYMENT, ACS_INCOME, ACS_PUBLIC_COVERAGE
from leastwise.datasets.adult import ADULT, load_adult
from leastwise.datasets.base import Dataset, Declaration
from leastwise.datasets.crime import CRIME
from leastwise.datasets.download import fetch
from leastwise.datasets.health import HEALTH, HEALTH_PRUNED
from leastwise.datasets.loan import LOAN
from leastwise.errors import ParameterError
from leastwise.progress import Progress
from leastwise.validation import check_choice, did_you_mean

__all__ = ["Dataset", "Declaration", "declaration", "describe", "download", "load", "load_adult", "names"]

_ALL = (ADULT, ACS_INCOME, ACS_EMPLOYMENT, ACS_PUBLIC_COVERAGE, HEALTH, HEALTH_PRUNED, LOAN, CRIME)
DECLARATIONS = {declared.name: declared for declared in _ALL}


def names() -> tuple[str, ...]:
    """Return the names of all data sets.

    >>> names()[:2]
    ('adult', 'acs-income')
    """
    return tuple(DECLARATIONS)


def declaration(name: str) -> Declaration:
    """Return the declaration of a data set."""
    return DECLARATIONS[check_choice("name", name, DECLARATIONS)]


def describe(name: str) -> str:
    """Return the datasheet of a data set (Markdown)."""
    return declaration(name).datasheet


def load(name: str, path: str | Path | None = None, **options: Any) -> Dataset:
    """Read a data set from its official file.

    Parameters
    ----------
    name
        One of `names`.
    path
        The downloaded file or the folder that holds it; not needed for ``adult``.
    **options
        ``state`` and ``year`` choose among ACS files in a folder, ``year`` among loans; ``race`` ("majority" or
        "percentages") is about crime.

    Examples
    --------
    >>> load("adult").schema.personal[:2]
    ('workclass', 'education')
    """
    declared = declaration(name)
    _check_options(name, declared.read, options)
    return declared.load(path, **options)


def download(name: str, to: str | Path, progress: Progress | None = None, **options: Any) -> list[Path]:
    """Download the official files of a data set into a folder and return their paths; only when asked to.

    Raises
    ------
    ParameterError
        When the files have no public address; the message says where a person gets them.
    DataError
        When there is no network, or the address does not answer.
    """
    declared = declaration(name)
    if declared.addresses is None:
        raise ParameterError(f"{name} has no public address; get it so: {declared.source}")
    _check_options(name, declared.addresses, options)
    files = declared.addresses(**options)
    return [fetch(address, Path(to) / inner, progress=progress) for inner, address in files.items()]


def _check_options(name: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
    known = [option for option in signature(function).parameters if option != "place"]
    for option in options:
        if option not in known:
            raise ParameterError(f"{name} has no option {option!r}; {did_you_mean(option, known)}")
