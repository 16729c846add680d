"""Bounds of each metric from a summary: two short lists of scores, or the exact integers for AUC."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from auclab.metrics.buffered import solve_bpoe
from auclab.metrics.class_scores import ClassScores, finite_number
from auclab.metrics.registry import METRICS, metric_of
from auclab.metrics.roc import TIED_SHARE
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.class_bins import ClassBins
from auclab.metrics.summary.lists import Order, curve_lists, joined, mean_atoms, orders, spread_atoms
from auclab.types import AuclabError

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
