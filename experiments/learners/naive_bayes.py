"""Weka's naive Bayes with kernel estimators (John & Langley 1995, and the source of Weka 3.6)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy.special import expit

from experiments.learners.table import Floats, Integers, Mask, Table

#: Least probability of a value, so that one value cannot decide alone.
FLOOR = 1e-75
#: The sum over kernels ends where the rest can add no more than this share.
MOST_ERROR = 0.01


class NaiveBayes:
    """Naive Bayes with a Gaussian kernel at every value of a numeric feature, Laplace's counts for nominal ones.

    `evidence`, shape (rows, features), is log P(value | positive) − log P(value | negative): a classifier without
    some of the features is a sum without some of the columns. A missing value is not evidence.
    """

    def __init__(self, table: Table, train: Integers, rows: Integers) -> None:
        labels = table.labels[train]
        self.prior = float(np.log((labels.sum() + 1) / ((~labels).sum() + 1)))
        self.evidence = np.zeros((len(rows), table.n_features))
        for feature, arity in enumerate(table.arity):
            learnt, asked = table.cells[train, feature], table.cells[rows, feature]
            observed = ~np.isnan(asked)
            if arity:
                tallies = np.array([_tally(learnt[labels], int(arity)), _tally(learnt[~labels], int(arity))])
                found = frequencies(tallies)[:, asked[observed].astype(int)]
            else:
                found = kernel_masses(learnt, labels, asked[observed])
            logs = np.log(np.maximum(found, FLOOR))
            self.evidence[observed, feature] = logs[0] - logs[1]

    def scores(self, kept: Mask) -> Floats:
        """Probability of the positive class by the features that are `kept`."""
        return expit(self.prior + self.evidence @ kept)


def _tally(cells: Floats, arity: int) -> Floats:
    return np.bincount(cells[~np.isnan(cells)].astype(int), minlength=arity).astype(float)


def frequencies(tallies: Floats) -> Floats:
    """Shares of the values, a row per class, each counted once more than it occurs.

    Examples
    --------
    >>> frequencies(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])).round(2).tolist()
    [[0.33, 0.17, 0.5], [0.33, 0.33, 0.33]]
    """
    return (tallies + 1) / (tallies.sum(axis=1, keepdims=True) + tallies.shape[1])


def kernel_masses(learnt: Floats, labels: Mask, asked: Floats) -> Floats:
    """Mass that the kernels of the positives, and of the negatives, put on the interval of each requested value.

    The interval is as long as the mean gap p between distinct training values, of both classes. Training values are
    rounded to multiples of p. A kernel's standard deviation is the range of its class over √n of its class, at least
    p/6. Weka adds kernels from the nearest outwards and stops where the rest cannot add more than a hundredth.

    Examples
    --------
    Values 0, 1 and 2 of the positives: p = 1, deviation 2/√3, and the three kernels have .335, .236, .236 in 1 ± ½. The
    one value of the negatives has a kernel of deviation 1/6.

    >>> found = kernel_masses(np.array([0.0, 1, 2, 1]), np.array([True, True, True, False]), np.array([1.0]))
    >>> found.round(4).ravel().tolist()
    [0.2687, 0.9973]
    """
    known = ~np.isnan(learnt)
    values, labels = learnt[known], labels[known]
    return _kernel_masses(np.sort(values), values[labels], values[~labels], asked)


@njit(cache=True)
def _kernel_masses(values, positives, negatives, asked):  # type: ignore[no-untyped-def]
    length, distinct = 0.0, 0
    for k in range(1, len(values)):
        if values[k] != values[k - 1]:
            length += values[k] - values[k - 1]
            distinct += 1
    gap = max(length / distinct if distinct else 0.01, 1e-6)
    masses = np.empty((2, len(asked)))
    for row in range(2):
        own = np.sort(np.rint((positives if row == 0 else negatives) / gap) * gap)
        size = len(own)
        width = gap / 6.0
        if size and own[-1] - own[0] > 0.0:
            width = max((own[-1] - own[0]) / math.sqrt(size), width)
        centres, weights = np.empty(size), np.zeros(size)
        count = 0
        for value in own:
            if count == 0 or centres[count - 1] != value:
                centres[count] = value
                count += 1
            weights[count - 1] += 1.0
        for k in range(len(asked)):
            masses[row, k] = _mass(centres[:count], weights[:count], size, asked[k], gap, width)
    return masses


@njit(cache=True)
def _mass(centres, weights, size, value, gap, width):  # type: ignore[no-untyped-def]
    if size == 0:
        return normal((value + gap / 2) / width) - normal((value - gap / 2) / width)
    start = np.searchsorted(centres, value)
    total, passed = 0.0, 0.0
    for k in range(start, len(centres)):
        here = _interval(centres[k] - value, gap, width)
        total += here * weights[k]
        passed += weights[k]
        if here * (size - passed) < total * MOST_ERROR:
            break
    for k in range(start - 1, -1, -1):
        here = _interval(centres[k] - value, gap, width)
        total += here * weights[k]
        passed += weights[k]
        if here * (size - passed) < total * MOST_ERROR:
            break
    return total / size


@njit(cache=True)
def _interval(delta, gap, width):  # type: ignore[no-untyped-def]
    return normal((delta + gap / 2) / width) - normal((delta - gap / 2) / width)


@njit(cache=True)
def normal(x):  # type: ignore[no-untyped-def]
    """Distribution function of the normal law, as Weka's: above 0 one minus the tail, so tails below 1e-16 are lost."""
    scaled = x * 0.70710678118654752440
    size = abs(scaled)
    if size < 0.70710678118654752440:
        return 0.5 + 0.5 * math.erf(scaled)
    tail = 0.5 * math.erfc(size)
    return 1.0 - tail if scaled > 0 else tail
