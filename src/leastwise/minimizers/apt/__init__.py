"""Apt: what a decision tree asks that imitates a classifier, coarsened while its accuracy lasts."""

from leastwise.minimizers.apt.minimizer import AptMinimizer

__all__ = ["AptMinimizer"]
