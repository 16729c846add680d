"""Logistic regression with Weka's ridge: minimise Σ log(1 + e^(−y s)) + 1e-8 ‖w‖², w of standardised columns.

Where a hyperplane separates the classes, or a value occurs in one class alone, so small a ridge leaves the minimiser
far out, and the weights are those at which the optimiser stops. So this is Weka's kind of optimiser: the quasi-Newton
method with the update of Broyden, Fletcher, Goldfarb and Shanno from the identity, the line search A6.3.1mod of Dennis
& Schnabel 1983, and an end where step, scaled gradient, or their product is below the root of the rounding unit.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from experiments.learners.table import Floats, Integers, Mask, Table

RIDGE = 1e-8
#: Root of the rounding unit.
ZERO = math.sqrt(np.finfo(float).eps)
#: Sufficient decrease, and the share of the slope that may remain.
DECREASE, REMAINING = 1e-4, 0.9
#: Steps until the update begins again from the identity, and how often it does.
STEPS, ROUNDS = 200, 50


def logistic_scores(table: Table, columns: Floats, train: Integers, rows: Integers, kept: Mask) -> Floats:
    """Probabilities of the positive class, constant columns left out."""
    part = columns[:, kept[table.owner]]
    centre, spread = part[train].mean(axis=0), part[train].std(axis=0, ddof=1)
    useful = spread > 1e-12 * (1 + np.abs(centre))
    part = (part[:, useful] - centre[useful]) / spread[useful]
    weights = fit(part[train], table.labels[train])
    return 1.0 / (1.0 + np.exp(-np.clip(part[rows] @ weights[1:] + weights[0], -700.0, 700.0)))


def fit(X: Floats, labels: Mask, ridge: float = RIDGE) -> Floats:
    """Intercept and weights, from the log odds of the classes, each counted once more, and weights 0.

    Examples
    --------
    One of four positives at 0, three of four at 1: the intercept is −log 3, the slope 2 log 3.

    >>> X = np.repeat([[0.0], [1.0]], 4, axis=0)
    >>> (fit(X, np.array([1, 0, 0, 0, 1, 1, 1, 0], dtype=bool)) / np.log(3)).round(3).tolist()
    [-1.0, 2.0]
    """
    design = np.ascontiguousarray(np.column_stack([np.ones(len(X)), X]))
    start = math.log((labels.sum() + 1) / ((~labels).sum() + 1))
    return _minimise(design, np.where(labels, 1.0, -1.0), ridge, start)


@njit(cache=True)
def _loss(design, y, ridge, w):  # type: ignore[no-untyped-def]
    """Value and gradient."""
    margins = y * (design @ w)
    value, wrong = ridge * (w[1:] @ w[1:]), np.empty(len(y))
    for k in range(len(y)):
        margin = margins[k]
        value += math.log1p(math.exp(-margin)) if margin > 0 else math.log1p(math.exp(margin)) - margin
        wrong[k] = 1.0 / (1.0 + math.exp(margin)) if margin < 700.0 else 0.0
    slope = -(design.T @ (y * wrong))
    slope[1:] += 2.0 * ridge * w[1:]
    return value, slope


@njit(cache=True)
def _minimise(design, y, ridge, start):  # type: ignore[no-untyped-def]
    count = design.shape[1]
    w = np.zeros(count)
    w[0] = start
    value, slope = _loss(design, y, ridge, w)
    for _ in range(ROUNDS):
        inverse, direction = np.eye(count), -slope
        longest = 100.0 * max(math.sqrt(slope @ slope), count)
        for _ in range(STEPS):
            reached, value, following = _search(design, y, ridge, w, value, slope, direction, longest)
            step, change = reached - w, following - slope
            w, slope = reached, following
            moved, steep = 0.0, 0.0
            for k in range(count):
                moved = max(moved, abs(step[k]) / max(abs(w[k]), 1.0))
                steep = max(steep, abs(slope[k]) * max(abs(direction[k]), 1.0) / max(abs(value), 1.0))
            curvature = step @ change
            if moved < ZERO or steep < ZERO or abs(curvature) < ZERO:
                return w
            if curvature > max(ZERO * math.sqrt(step @ step) * math.sqrt(change @ change), ZERO):
                scaled = inverse @ change
                whole = (1.0 + (change @ scaled) / curvature) / curvature
                for i in range(count):
                    for j in range(count):
                        cross = scaled[i] * step[j] + step[i] * scaled[j]
                        inverse[i, j] += whole * step[i] * step[j] - cross / curvature
            direction = -(inverse @ slope)
            if direction @ slope >= 0.0:
                inverse, direction = np.eye(count), -slope
    return w


@njit(cache=True)
def _search(design, y, ridge, w, value, slope, direction, longest):  # type: ignore[no-untyped-def]
    """A point with enough decrease and a slope that is small enough; `direction` is cut to `longest`."""
    length = math.sqrt(direction @ direction)
    if length > longest:
        direction *= longest / length
        length = longest
    down = slope @ direction
    if abs(down) <= ZERO:
        return w, value, slope
    largest = 0.0
    for k in range(len(w)):
        largest = max(largest, abs(direction[k]) / max(abs(w[k]), 1.0))
    least = ZERO / largest if largest > ZERO else ZERO
    t, before, value_before = 1.0, 1.0, value
    while True:
        reached, following = _loss(design, y, ridge, w + t * direction)
        if reached <= value + DECREASE * t * down:
            break
        if t < least:
            return w, value, slope
        # back: the minimum of a parabola, later of a cubic, between a tenth and a half
        gap = reached - value - t * down
        if t == 1.0:
            trial = -down / (2.0 * gap)
        else:
            other = value_before - value - before * down
            cubic = (gap / (t * t) - other / (before * before)) / (t - before)
            square = (-before * gap / (t * t) + t * other / (before * before)) / (t - before)
            if cubic == 0.0:
                trial = -down / (2.0 * square)
            else:
                trial = (-square + math.sqrt(max(square * square - 3.0 * cubic * down, 0.0))) / (3.0 * cubic)
            trial = min(trial, 0.5 * t)
        before, value_before = t, reached
        t = max(0.1 * t, trial)
    remaining = following @ direction
    if remaining >= REMAINING * down:
        return w + t * direction, reached, following
    if t == 1.0:
        while True:  # forward, doubling
            before, value_before = t, reached
            t = min(2.0 * t, longest / length)
            reached, following = _loss(design, y, ridge, w + t * direction)
            enough = reached <= value + DECREASE * t * down
            if enough:
                remaining = following @ direction
            if not enough or remaining >= REMAINING * down or t >= longest / length:
                break
    if t < 1.0 or (t > 1.0 and reached > value + DECREASE * t * down):
        low, width = min(t, before), abs(before - t)
        value_low, value_high = (reached, value_before) if t < before else (value_before, reached)
        while True:  # between a point with too steep a slope and one with too little decrease
            part = -remaining * width * width / (2.0 * (value_high - (value_low + remaining * width)))
            part = max(part, 0.2 * width)
            t = low + part
            reached, following = _loss(design, y, ridge, w + t * direction)
            if reached > value + DECREASE * t * down:
                width, value_high = part, reached
            else:
                remaining = following @ direction
                if remaining < REMAINING * down:
                    low, width, value_low = t, width - part, reached
            if remaining >= REMAINING * down or width < least:
                break
        if remaining < REMAINING * down:
            t = low
            reached, following = _loss(design, y, ridge, w + t * direction)
    return w + t * direction, reached, following
