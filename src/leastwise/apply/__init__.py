"""Applying a generalization: to frames, to one record."""

from typing import Any, Literal

Output = Literal["labels", "codes", "representative"]


def transform(*arguments: Any, **options: Any) -> Any:
    """x"""
