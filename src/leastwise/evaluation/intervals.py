"""Intervals of measured errors; made one layer further down, where the adversaries can reach them."""

from leastwise.confidence import Interval, binomial_interval, mean_interval

__all__ = ["Interval", "binomial_interval", "mean_interval"]
