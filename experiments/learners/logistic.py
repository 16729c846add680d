"""Logistic regression with Weka's ridge: minimise Σ log(1 + e^(−y s)) + 1e-8 ‖w‖², w of standardised columns."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from experiments.learners.table import Floats, Integers, Mask, Table

RIDGE = 1e-8
#: Newton steps; separable classes need some thirty, the others ten.
MOST_STEPS = 100


def logistic_scores(table: Table, columns: Floats, train: Integers, rows: Integers, kept: Mask) -> Floats:
    """Probabilities of the positive class, constant columns left out."""
    part = columns[:, kept[table.owner]]
    centre, spread = part[train].mean(axis=0), part[train].std(axis=0, ddof=1)
    useful = spread > 1e-12 * (1 + np.abs(centre))
    part = (part[:, useful] - centre[useful]) / spread[useful]
    weights = fit(part[train], table.labels[train])
    return 1.0 / (1.0 + np.exp(-np.clip(part[rows] @ weights[1:] + weights[0], -700.0, 700.0)))


def fit(X: Floats, labels: Mask, ridge: float = RIDGE) -> Floats:
    """Intercept and weights, by Newton's method with halved steps.

    Examples
    --------
    One of four positives at 0, three of four at 1: the intercept is −log 3, the slope 2 log 3.

    >>> X = np.repeat([[0.0], [1.0]], 4, axis=0)
    >>> (fit(X, np.array([1, 0, 0, 0, 1, 1, 1, 0], dtype=bool)) / np.log(3)).round(6).tolist()
    [-1.0, 2.0]
    """
    design = np.column_stack([np.ones(len(X)), X])
    return _fit(np.ascontiguousarray(design), np.where(labels, 1.0, -1.0), ridge)


@njit(cache=True)
def _loss(design, y, ridge, weights):  # type: ignore[no-untyped-def]
    margins = y * (design @ weights)
    total = ridge * (weights[1:] @ weights[1:])
    for margin in margins:
        total += math.log1p(math.exp(-margin)) if margin > 0 else math.log1p(math.exp(margin)) - margin
    return total


@njit(cache=True)
def _fit(design, y, ridge):  # type: ignore[no-untyped-def]
    count = design.shape[1]
    weights = np.zeros(count)
    value = _loss(design, y, ridge, weights)
    for _ in range(MOST_STEPS):
        margins = y * (design @ weights)
        wrong = np.empty(len(y))
        for k in range(len(y)):
            wrong[k] = 1.0 / (1.0 + math.exp(margins[k])) if margins[k] < 700.0 else 0.0
        slope = -(design.T @ (y * wrong))
        curvature = (design.T * (wrong * (1.0 - wrong))) @ design
        slope[1:] += 2.0 * ridge * weights[1:]
        for k in range(1, count):
            curvature[k, k] += 2.0 * ridge
        # columns that add up to a constant leave directions of no curvature but the ridge's
        top = 0.0
        for k in range(count):
            top = max(top, curvature[k, k])
        for k in range(count):
            curvature[k, k] += 1e-13 * top
        direction = -np.linalg.solve(curvature, slope)
        decrease = -(slope @ direction)
        step = 1.0
        while step > 1e-10:
            trial = weights + step * direction
            reached = _loss(design, y, ridge, trial)
            if reached <= value - 1e-4 * step * decrease:
                break
            step /= 2.0
        if step <= 1e-10:
            break
        weights, value = trial, reached
        if decrease <= 1e-10 * (1.0 + value):  # the next step would be of the order of its square
            break
    return weights
