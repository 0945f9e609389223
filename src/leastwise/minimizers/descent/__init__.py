"""Descents on joint counts: one attribute is partitioned anew at a time, beside all others as they are."""

from leastwise.minimizers.descent.descent import joint_path

__all__ = ["joint_path"]
