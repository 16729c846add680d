"""Bins as short lists of scores with weights, from which the functions of the metrics compute bounds.

A metric that grows with the ROC curve is bounded by two curves. Outside the bins both have the true points; inside a
bin the lower one has all negatives above all positives (first right, then up) and the upper one the reverse, unless the
extremes of the two classes decide the order, or say that all scores are tied.

A metric of the errors ``ξ = n − p`` that grows in the convex order is bounded by two distributions. By Jensen's
inequality ``E(ξ − γ)₊`` does not grow, for any γ, when the scores of a bin move to their mean, and it does not fall
when they move to the ends of their range with the mean kept:

    low   = atoms at the doubles on either side of the mean m, with mean m (scores are doubles);
    high  = atoms at the least score a and the largest b, with weights ``w (b − m)/(b − a)`` and ``w (m − a)/(b − a)``.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from auclab.metrics.class_scores import ClassScores
from auclab.metrics.summary.class_bins import ClassBins
from auclab.types import Array

Atoms = tuple[Array, Array]


class Order(IntEnum):
    """What the extremes of the two classes say of the pairs of a bin."""

    UNKNOWN = 0
    ABOVE = 1  # every positive above every negative
    BELOW = 2
    TIED = 3
    NOT_BELOW = 4  # p ≥ n, some pairs are tied
    NOT_ABOVE = 5


def orders(pos: ClassBins, neg: ClassBins) -> NDArray[np.int8]:
    """The `Order` of the pairs of every bin; ABOVE where a class is missing."""
    found = np.full(pos.count.size, Order.UNKNOWN, np.int8)
    found[pos.low == neg.high] = Order.NOT_BELOW
    found[pos.high == neg.low] = Order.NOT_ABOVE
    found[(pos.low == neg.high) & (pos.high == neg.low)] = Order.TIED
    found[pos.high < neg.low] = Order.BELOW
    found[(pos.low > neg.high) | (pos.count == 0) | (neg.count == 0)] = Order.ABOVE
    return found


def curve_lists(pos: ClassBins, neg: ClassBins, *, upper: bool) -> ClassScores:
    """Scores with the lower or the upper ROC curve; only their order means anything."""
    found = orders(pos, neg)
    above = (found == Order.ABOVE) | (upper & ((found == Order.UNKNOWN) | (found == Order.NOT_BELOW)))
    tied = (found == Order.TIED) | (found == (Order.NOT_ABOVE if upper else Order.NOT_BELOW))
    place = 4.0 * np.arange(found.size)
    return joined((place + above, pos.weights), (place + ~(above | tied), neg.weights))


def mean_atoms(bins: ClassBins) -> Atoms:
    """The scores of every bin moved to the two doubles next to their mean."""
    mean, rest = bins.mean
    other = np.clip(np.nextafter(mean, np.where(rest > 0, np.inf, -np.inf)), bins.low, bins.high)
    step = np.abs(np.ldexp(other, -bins.unit) - np.ldexp(mean, -bins.unit))
    share = np.clip(np.divide(np.abs(rest), step, out=np.zeros_like(rest), where=step > 0), 0.0, 1.0)
    return np.concatenate((mean, other)), np.concatenate((bins.weights * (1.0 - share), bins.weights * share))


def spread_atoms(bins: ClassBins) -> Atoms:
    """The scores of every bin moved to the ends of their range, with the same mean."""
    mean, rest = bins.mean
    present = bins.count > 0
    low, high = np.where(present, bins.low, 0.0), np.where(present, bins.high, 0.0)
    # halves: a width may exceed the largest double
    half_low, half_mean, half_high = (np.ldexp(values, -1 - bins.unit) for values in (low, mean, high))
    width = half_high - half_low
    below = np.maximum((half_mean - half_low) + 0.5 * rest, 0.0)
    above = np.maximum((half_high - half_mean) - 0.5 * rest, 0.0)
    safe = np.where(width > 0, width, 1.0)
    up = np.where(width > 0, below / safe, 0.0)
    down = np.where(width > 0, above / safe, 1.0)
    return np.concatenate((low, high)), np.concatenate((bins.weights * down, bins.weights * up))


def joined(pos: Atoms, neg: Atoms) -> ClassScores:
    """Sorted scores of two lists of atoms, those without weight left out."""

    def ascending(scores: Array, weight: Array) -> Atoms:
        present = weight > 0
        scores, weight = scores[present], weight[present]
        order = np.argsort(scores, kind="stable")
        return scores[order], np.ldexp(weight[order], -np.frexp(weight.max())[1])

    return ClassScores.of(ascending(*pos), ascending(*neg))
