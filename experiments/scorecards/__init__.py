"""Scorecards proved optimal, or with a proven gap, against the practice of rounding a logistic regression."""
