"""Limits of a metric of merged blocks.

A metric that grows with the ROC curve is bounded by two curves. Outside the bins both have the true points; inside a
bin the lower one has all negatives above all positives (first right, then up) and the upper one the reverse, unless the
extremes of the two classes decide the order, or say that all scores are tied.

A metric of the errors ``ξ = n − p`` that grows in the convex order is bounded by two distributions. By Jensen's
inequality ``E(ξ − γ)₊`` does not grow, for any γ, when the scores of a bin move to their mean, and it does not fall
when they move to the ends of their range with the mean kept:

    low   = atoms at the doubles on either side of the mean m, with mean m (scores are doubles);
    high  = atoms at the least score a and the largest b, with weights ``w (b − m)/(b − a)`` and ``w (m − a)/(b − a)``.

With ``H(γ) = E(ξ − γ)₊`` the excess ``D(γ) = E(ξ − z) 1{ξ > γ}`` is ``H(γ) − (z − γ) P(ξ > γ)``. H lies between its
values for `mean_atoms` and `spread_atoms`; P(ξ > γ) between those of the least and of the largest errors of the pairs
of bins. γ* is the smallest level with ``D ≥ 0``: it lies at or below a level where the lower bound of D is ≥ 0, and
above one where the upper bound is negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.validation import finite_vector
from auclab.metrics.bpoe import solve_bpoe
from auclab.metrics.pair_errors import PairErrors, double_at, double_rank
from auclab.metrics.registry import METRICS, metric_of
from auclab.metrics.roc import TIED_SHARE, ClassScores, finite_number
from auclab.metrics.summary.blocks import ScoredBlock
from auclab.metrics.summary.class_bins import BinnedScores, ClassBins

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


#: Sampled scores of a class for each bin.
PER_BIN = 32


def score_edges(pos: ArrayLike, neg: ArrayLike, n_bins: int = 4096) -> Array:
    """Edges of about `n_bins` bins from scores of either class, or from samples of them.

    Half of the bins have equal shares of the positives, half of the negatives, so that a share of about ``2/n_bins`` of
    the pairs lies within a bin. A value v that several quantiles share gets the bin ``[v, next double)``, in which all
    scores are tied.

    Parameters
    ----------
    pos, neg : arrays of shape (n_pos,) and (n_neg,)
        Scores of either class; ±∞ is left out.
    n_bins : int ≥ 2
        Largest number of bins, apart from those of repeated values.

    Returns
    -------
    array of shape (n_edges,), ascending, without repetitions

    Raises
    ------
    AuclabError
        NaN scores, no scores at all, less than two bins.

    See Also
    --------
    summarise : Takes the edges from a sample that a first pass draws.
    ScoreSummary : Counts and sums between the edges.

    Examples
    --------
    >>> score_edges([1.0, 3.0], [0.0, 2.0], n_bins=4).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    if n_bins < 2:
        raise AuclabError(f"n_bins must be at least 2, got {n_bins}")
    picked = []
    for name, scores in (("pos", pos), ("neg", neg)):
        if np.size(np.asarray(scores)):
            values = np.sort(finite_vector(name, scores, infinite=True))
            values = values[np.isfinite(values)]
            at = np.linspace(0, max(values.size - 1, 0), max(n_bins // 2, 1)).astype(np.int64)
            picked.append(values[at] if values.size else values)
    if not sum(values.size for values in picked):
        raise AuclabError("edges need at least one finite score; give a sample of the scores")
    edges = [np.unique(values) for values in picked]
    for values, distinct in zip(picked, list(edges), strict=True):
        counts = np.diff(np.searchsorted(values, distinct), append=values.size)
        repeated = distinct[counts > 1] if values.size > distinct.size else distinct[:0]
        edges.append(np.nextafter(repeated, np.inf))
    joined = np.unique(np.concatenate(edges))
    return joined[np.isfinite(joined)] + 0.0  # no negative zero


@dataclass(frozen=True)
class RowSample:
    """Rows of either class with the smallest pseudo-random keys: the same rows in whatever order samples are joined."""

    pos: Array
    neg: Array
    keys_pos: NDArray[np.uint64]
    keys_neg: NDArray[np.uint64]
    size: int

    @classmethod
    def of(cls, block: ScoredBlock, size: int) -> RowSample:
        """The scores of a block, at most `size` of either class."""
        pos, neg = (_smallest(scores, _keys(scores), size) for scores in (block.pos, block.neg))
        return cls(pos[0], neg[0], pos[1], neg[1], size)

    def __add__(self, other: RowSample) -> RowSample:
        pos, neg = (
            _smallest(np.concatenate(scores), np.concatenate(keys), self.size)
            for scores, keys in (
                ((self.pos, other.pos), (self.keys_pos, other.keys_pos)),
                ((self.neg, other.neg), (self.keys_neg, other.keys_neg)),
            )
        )
        return RowSample(pos[0], neg[0], pos[1], neg[1], self.size)


def _smallest(scores: Array, keys: NDArray[np.uint64], size: int) -> tuple[Array, NDArray[np.uint64]]:
    """The scores with the smallest keys, of equal keys the smallest scores, in any order."""
    if scores.size <= size:
        return scores, keys
    last = np.partition(keys, size - 1)[size - 1]
    chosen, tied = keys < last, np.flatnonzero(keys == last)
    chosen[tied[np.argsort(scores[tied])][: size - np.count_nonzero(chosen)]] = True
    return scores[chosen], keys[chosen]


def _keys(scores: Array) -> NDArray[np.uint64]:
    """A hash of every score and its place in the block (the finaliser of splitmix64)."""
    keys = scores.view(np.uint64) ^ (np.arange(scores.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    keys ^= keys >> np.uint64(30)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(27)
    keys *= np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


@dataclass(frozen=True)
class Bracket:
    """A level is above `low` and at most `high`."""

    low: float
    high: float


class ErrorBounds:
    """Bounds of ``P(ξ > γ)`` and of ``E(ξ − γ)₊`` from the bins of two classes."""

    def __init__(self, pos: ClassBins, neg: ClassBins) -> None:
        in_pos, in_neg = pos.count > 0, neg.count > 0
        weights = pos.weights[in_pos], neg.weights[in_neg]
        self.least = PairErrors.of(pos.high[in_pos], neg.low[in_neg], *weights)
        self.largest = PairErrors.of(pos.low[in_pos], neg.high[in_neg], *weights)
        self.mean = joined(mean_atoms(pos), mean_atoms(neg)).pair_errors
        self.spread = joined(spread_atoms(pos), spread_atoms(neg)).pair_errors
        self.bottom = self.least.units.original(self.least.bottom)
        self.top = self.largest.units.original(self.largest.top)

    def share_above(self, level: float) -> tuple[float, float]:
        """Bounds of ``P(ξ > γ)``."""
        low, high = (part.count(part.units.working(level)) / part.pairs[0] for part in (self.least, self.largest))
        return low, high

    def hinge(self, level: float) -> tuple[float, float]:
        """Bounds of ``E(ξ − γ)₊``."""
        ends = []
        for part in (self.mean, self.spread):
            working = part.units.working(level)
            ends.append(part.units.original(part.tail(working, working)[1][0] / part.pairs[0]))
        return ends[0], ends[1]

    def excess(self, level: float, threshold: float) -> tuple[float, float]:
        """Bounds of ``D(γ)``, for γ below the threshold."""
        gap = threshold - level
        (low, high), (least, most) = self.hinge(level), self.share_above(level)
        return (
            low - gap * most - ROUNDING * (low + gap * most),
            high - gap * least + ROUNDING * (high + gap * least),
        )

    def buffer_bracket(self, threshold: float) -> Bracket:
        """Where γ* lies, for ``E ξ < z < max ξ``."""
        below = math.nextafter(threshold, -math.inf)
        return Bracket(
            _last_true(lambda level: self.excess(level, threshold)[1] < 0.0, self.bottom, below),
            _first_true(lambda level: self.excess(level, threshold)[0] >= 0.0, self.bottom, below),
        )


def buffer_bracket(pos: ClassBins, neg: ClassBins, threshold: float) -> Bracket | None:
    """Where γ* of bAUC lies; None where bAUC is 0 or 1 whatever the scores within the bins are."""
    if mean_error(pos, neg) >= threshold:
        return None
    bounds = ErrorBounds(pos, neg)
    if threshold > bounds.top:
        return None
    if threshold == bounds.top:
        return Bracket(math.nextafter(threshold, -math.inf), threshold)
    return bounds.buffer_bracket(threshold)


def _first_true(test: Callable[[float], bool], low: float, high: float) -> float:
    """A level at which the test holds, with a neighbour at which it does not; `high`, where it certainly holds."""
    return _change(test, low, high)[1] if low < high else high


def _last_true(test: Callable[[float], bool], low: float, high: float) -> float:
    """A level at which the test holds, with a neighbour at which it does not; −∞, where it certainly holds."""
    if not low < high or not test(low):
        return -math.inf
    return _change(lambda level: not test(level), low, high)[0]


def _change(test: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Neighbours: the upper one passes the test or is `high`, the lower one does not or is `low`."""
    left, right = double_rank(low), double_rank(high)
    while right - left > 1:
        middle = (left + right) // 2
        if test(double_at(middle)):
            right = middle
        else:
            left = middle
    return double_at(left), double_at(right)


#: Rounding of a sum of weights ≥ 0 over bins, and of what is computed from it.
ROUNDING = 2.0**-44
#: Metrics that grow with the ROC curve, and those of the errors that grow (or fall) in the convex order.
CURVE = ("auc", "partial_auc", "two_way_partial_auc", "voros")
CONVEX = ("bauc", "ferri_auc", "ranking_superquantile", "scored_auc")


class Interval(NamedTuple):
    """Limits that certainly contain the value of the whole sample.

    See Also
    --------
    ScoreSummary : Its metrics are such intervals.

    Examples
    --------
    >>> Interval(0.25, 0.75).width
    0.5
    """

    low: float
    high: float

    @property
    def width(self) -> float:
        """``high − low``."""
        return self.high - self.low


def bounds_of(summary: BinnedScores, metric: str | Callable[..., float], options: Mapping[str, Any]) -> Interval:
    """Bounds of a metric by its name or function."""
    name, options = bounded_metric(metric, options)
    pos, neg = both_classes(summary, finite=name not in CURVE)
    if name == "auc":
        return auc_bounds(pos, neg, **options)
    from_sorted = METRICS[name].from_sorted
    if name in CURVE:
        low, high = (float(from_sorted(curve_lists(pos, neg, upper=upper), **options)) for upper in (False, True))
        return Interval(low - ROUNDING, high + ROUNDING)
    if name == "bauc":
        return bauc_bounds(pos, neg, **options)
    if name == "ferri_auc":
        value = 0.5 - 0.5 * float(mean_error(pos, neg))
        return Interval(value - 2.0**-51 * (0.5 + abs(value)), value + 2.0**-51 * (0.5 + abs(value)))
    if name == "ranking_superquantile" and options["level"] in (0.0, 1.0):
        largest = float(neg.high.max()) - float(pos.low.min())
        value = largest if options["level"] else float(mean_error(pos, neg))
        return Interval(math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
    lists = joined(mean_atoms(pos), mean_atoms(neg)), joined(spread_atoms(pos), spread_atoms(neg))
    tied = Interval(0.0, 0.0)
    if name == "scored_auc":
        tied = tied_share(pos, neg) if options.pop("ties") == "half" else tied
    low, high = (float(from_sorted(part, **options)) for part in lists)
    size = ROUNDING * (abs(low) + abs(high) + tied.high + spread_of(pos, neg))
    return Interval(low + 0.5 * tied.low - size, high + 0.5 * tied.high + size)


def bounded_metric(metric: str | Callable[..., float], options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of a metric that a summary bounds, with all of its options."""
    entry, given = metric_of(metric, options)
    known = (*CURVE, *CONVEX)
    if entry is None or entry.name not in known:
        name = entry.name if entry else getattr(metric, "__name__", repr(metric))
        raise AuclabError(
            f"a summary does not bound {name}; it bounds {', '.join(sorted(known))}. "
            "For others, gather the scores in one process"
        )
    given = entry.bind(given)
    one_pair = ClassScores(np.ones(1), np.zeros(1), np.empty(0), np.empty(0))
    entry.from_sorted(one_pair, **given)  # checks the options
    return entry.name, given


def both_classes(summary: BinnedScores, *, finite: bool = False) -> tuple[ClassBins, ClassBins]:
    """The bins of either class."""
    for name, bins in (("positive", summary.pos), ("negative", summary.neg)):
        if not bins.count.any():
            raise AuclabError(
                f"no block had a score of the {name} class with a weight above 0; AUC compares both classes: "
                "add the blocks that contain it, or check the labels"
            )
        if finite and not (np.isfinite(bins.low.min()) and np.isfinite(bins.high.max())):
            raise AuclabError(
                f"scores of the {name} class contain ±∞, and this metric needs differences; AUC, partial AUC and VOROS "
                "take them"
            )
        if finite and bins.total.infinite.any():
            raise AuclabError(
                f"weight × score of the {name} class leaves the range of doubles, and this metric needs their sums: "
                "divide weights or scores by a power of two"
            )
    if finite:
        low, high = (end(summary.pos, summary.neg) for end in (_least, _largest))
        if not math.isfinite(high - low):
            raise AuclabError(
                f"scores range from {low} to {high}: their differences exceed the largest double; divide all by 4"
            )
    return summary.pos, summary.neg


def auc_bounds(pos: ClassBins, neg: ClassBins, *, ties: str = "half") -> Interval:
    """``[R + Σ_k l_k u_k v_k, R + Σ_k h_k u_k v_k]/(UV)`` in integers, R the weight of right pairs across bins.

    ``u_k`` and ``v_k`` are the weights of a bin; ``(l_k, h_k)`` is (0, 1) unless the extremes decide the order. Rounded
    once, so that a summary without undecided bins gives the value of `auc_score`.
    """
    (u, _), (v, _) = pos.exact_weights(), neg.exact_weights()
    low_share, high_share = in_bin_shares(orders(pos, neg), TIED_SHARE[ties])
    right = below = 0
    inside = [0, 0]
    for u_k, v_k, low, high in zip(u, v, (2 * low_share).tolist(), (2 * high_share).tolist(), strict=True):
        if u_k:
            right += u_k * below
            if v_k:
                inside[0] += int(low) * u_k * v_k
                inside[1] += int(high) * u_k * v_k
        below += v_k
    pairs = 2 * sum(u) * below
    low, high = (Fraction(2 * right + part, pairs) for part in inside)
    if pos.mass is None and pairs <= 2**53:
        return Interval(float(low), float(high))
    return Interval(float(low) * (1.0 - 2.0**-50), min(float(high) * (1.0 + 2.0**-50), 1.0))


def tied_share(pos: ClassBins, neg: ClassBins) -> Interval:
    """Limits of ``P(p = n)``: ``upper − strict`` of `auc_score`."""
    found = orders(pos, neg)
    pairs = pos.weights * neg.weights / (pos.weights.sum() * neg.weights.sum())
    least, most = pairs[found == Order.TIED].sum(), pairs[(found != Order.ABOVE) & (found != Order.BELOW)].sum()
    return Interval(float(least), float(most))


def mean_error(pos: ClassBins, neg: ClassBins) -> Fraction:
    """``E ξ = E n − E p`` in exact arithmetic."""
    means = []
    for bins in (pos, neg):
        (totals, unit), (weights, weight_unit) = bins.total.integers(), bins.exact_weights()
        means.append(Fraction(sum(totals), sum(weights)) * Fraction(2) ** (unit - weight_unit))
    return means[1] - means[0]


def in_bin_shares(found: NDArray[np.int8], tied: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and largest share of the pairs of every bin that may count as right."""
    low, high = np.zeros(found.size), np.ones(found.size)
    low[found == Order.ABOVE], high[found == Order.BELOW] = 1.0, 0.0
    low[(found == Order.TIED) | (found == Order.NOT_BELOW)] = tied
    high[(found == Order.TIED) | (found == Order.NOT_ABOVE)] = tied
    return low, high


def bauc_bounds(pos: ClassBins, neg: ClassBins, *, threshold: float = 0.0) -> Interval:
    """``1 − bPOE`` of the errors of `spread_atoms` and of `mean_atoms`.

    ``bPOE_z = min_{γ<z} E(ξ − γ)₊/(z − γ)`` grows with ``E(ξ − γ)₊`` at every γ. Weights are rounded by a few units in
    the last place, which changes bPOE by as much, relative to itself; a difference of scores by one, relative to ``|z|
    + |γ|``.
    """
    z = finite_number("threshold", threshold)
    if mean_error(pos, neg) >= z:
        return Interval(0.0, 0.0)
    ends = []
    for atoms, sign in ((spread_atoms, 1.0), (mean_atoms, -1.0)):
        errors = joined(atoms(pos), atoms(neg)).pair_errors
        solution = solve_bpoe(errors, z, exact_level=False)
        share = solution.share
        if 0.0 < share < 1.0 and not math.isnan(solution.level):
            working = errors.units.working(z)
            share *= ROUNDING * (1.0 + (abs(working) + abs(solution.level)) / (working - solution.level))
        else:
            share *= ROUNDING
        ends.append(solution.rest - sign * (share + 2.0**-50))
    low, high = max(ends[0], 0.0), min(ends[1], 1.0)
    return Interval(low if low > ROUNDING else 0.0, high)


def spread_of(pos: ClassBins, neg: ClassBins) -> float:
    """Largest modulus of a difference of scores."""
    return abs(_largest(pos, neg) - _least(pos, neg))


def _least(pos: ClassBins, neg: ClassBins) -> float:
    return float(min(pos.low.min(), neg.low.min()))


def _largest(pos: ClassBins, neg: ClassBins) -> float:
    return float(max(pos.high.max(), neg.high.max()))
