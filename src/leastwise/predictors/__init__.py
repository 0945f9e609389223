"""Predictors of discrete targets from generalized records; both the classifier and the adversary use them."""
