"""Standard errors and confidence intervals from a summary that merges, without all scores in one place.

With ``V10_i`` and ``V01_j`` the structural components (`auclab.inference.components`), the part of a class is the
seminorm ``q(V) = √(n/(n−1) Σ share² (V − Σ share V)²)`` of its components. A summary knows limits ``l ≤ V ≤ h`` of the
components in every bin: for AUC from the weight of the other class below the bin and in it; for bAUC from

    V10(p) = 1 − E(n − p − γ*)₊/(z − γ*),        γ_low < γ* ≤ γ_high,

with the least and the largest p of the bin and the limits of the hinge of the negatives (their means, and the ends of
their bins). With c the middle and r half of the distance of l and h, ``|q(V) − q(c)| ≤ q(V − c)``, and ``q(V − c)`` is
at most ``√(n/(n−1)) (√(Σ share² r²) + √(Σ share²) Σ share r)``, without the second term where all shares are equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from auclab._core.base import Array, AuclabError
from auclab._core.rows import positive_part_rows
from auclab.inference.catalogue import EstimableMetric, estimable
from auclab.inference.estimation import check_level
from auclab.inference.intervals import (
    CLASSES,
    FEW,
    Limits,
    combined,
    enclose,
    few_observations,
    is_flat,
    limits_on_scale,
    unseen_limits,
)
from auclab.metrics import Interval, ScoreSummary
from auclab.metrics.roc import TIED_SHARE
from auclab.metrics.summary.bounds import (
    ROUNDING,
    Bracket,
    both_classes,
    bounded_metric,
    buffer_bracket,
    in_bin_shares,
    mean_atoms,
    orders,
    spread_atoms,
    spread_of,
)
from auclab.metrics.summary.class_bins import ClassBins

#: Components beyond it have no squares, and no standard error.
LARGEST = 1e150


@dataclass(frozen=True)
class SummaryEstimate:
    """A metric of a summarised sample with its standard error and a confidence interval.

    Attributes
    ----------
    value, standard_error : Interval
        Limits of the result of `auclab.inference.estimate` for the sample.
    lower, upper : float
        Confidence limits, for the worst value and standard error within their limits.
    level : float
        Confidence level.
    notes : tuple of str
        Remarks on a degenerate case; empty otherwise.

    See Also
    --------
    estimate_summary : Computes it.

    Examples
    --------
    >>> from auclab.inference import estimate_summary
    >>> from auclab.metrics import score_blocks, summarise
    >>> summary = summarise(score_blocks([([0, 0], [0.0, 2.0]), ([1, 1], [1.0, 3.0])]))
    >>> found = estimate_summary(summary, "auc")
    >>> bool(found.value.low <= 0.75 <= found.value.high)
    True
    """

    value: Interval
    standard_error: Interval
    lower: float
    upper: float
    level: float
    notes: tuple[str, ...] = ()


def estimate_summary(
    summary: ScoreSummary,
    metric: str = "auc",
    *,
    level: float = 0.95,
    **options: Any,
) -> SummaryEstimate:
    """Value, standard error and confidence interval of AUC or bAUC from a summary of blocks.

    The standard error is that of `estimate`: DeLong's for AUC, from structural components for bAUC.

    Parameters
    ----------
    summary : ScoreSummary
    metric : {"auc", "bauc"}
    level : float
        Confidence level in (0, 1).
    **options
        Options of the metric: ``ties``; ``threshold``.

    Raises
    ------
    AuclabError
        Another metric; a level outside (0, 1); what `ScoreSummary.bounds` raises.

    See Also
    --------
    estimate : The same from scores in memory.
    auclab.metrics.ScoreSummary : The summary.

    Examples
    --------
    Positives 3 and 1, negatives 2 and 0: ``SE² = (1/8)/2 + (1/8)/2``.

    >>> from auclab.metrics import summarise
    >>> result = estimate_summary(summarise([([1, 1], [3.0, 1.0]), ([0, 0], [2.0, 0.0])]))
    >>> result.value.low, [round(limit**2, 12) for limit in result.standard_error]
    (0.75, [0.125, 0.125])
    """
    check_level(level)
    name, options = bounded_metric(metric, options)
    if name not in ("auc", "bauc"):
        raise AuclabError(f"standard errors from a summary are those of auc and bauc, not of {name}")
    both_classes(summary, finite=name == "bauc")
    value = summary.bounds(name, **options)
    parts = [_part_limits(bins, *ends) for bins, ends in _component_limits(summary, name, options, value)]
    error = Interval(math.hypot(*(part.low for part in parts)), math.hypot(*(part.high for part in parts)))
    freedom = float(max(min(summary.n_pos, summary.n_neg) - 1, 1))
    estimated = estimable(name, options)
    limits, notes = _limits(estimated, summary, value, error, freedom, level)
    if not notes:
        limits, notes = _with_flat_class(estimated, summary, value, parts, limits, level)
    lower, upper = enclose(value.low, limits, estimated.range)[0], enclose(value.high, limits, estimated.range)[1]
    return SummaryEstimate(value, error, lower, upper, level, notes)


def _limits(
    metric: EstimableMetric, summary: ScoreSummary, value: Interval, error: Interval, freedom: float, level: float
) -> tuple[Limits, tuple[str, ...]]:
    """Confidence limits that hold for every value and standard error between their limits."""
    tail = 0.5 * (1.0 - level)
    low, high = metric.range
    if error.high == math.inf:
        return metric.range, ("the bins are too wide for a standard error: take more of them",)
    if math.isnan(error.high):
        return metric.range, ("a class of one observation: its variance is unknown, the interval is the whole range",)
    flat = error.high <= 2.0 * ROUNDING  # no more than rounding
    if flat or value.low <= low or value.high >= high:
        if metric.name == "bauc":
            return metric.range, ("bAUC is 0 or 1, or may be: estimate() on the scores says more",)
        k = min(_effective(summary.pos), _effective(summary.neg))
        note = f"all observations contribute the same, or may: limits for what {k} independent pairs cannot show"
        ends = [unseen_limits(v, k, tail, metric.range) for v in value]
        if flat:
            return (ends[0][0], ends[1][1]), (note,)
        return metric.range, (note,)
    half = float(student.isf(tail, freedom)) * error.high
    return (limits_on_scale(metric, value.low, half)[0], limits_on_scale(metric, value.high, half)[1]), ()


def _with_flat_class(
    metric: EstimableMetric, summary: ScoreSummary, value: Interval, parts: list[Interval], limits: Limits, level: float
) -> tuple[Limits, tuple[str, ...]]:
    """The limits, wider where one class contributes the same, or may (`auclab.inference.intervals`)."""
    tail = 0.5 * (1.0 - level)
    for name, bins, own, other in zip(CLASSES, (summary.pos, summary.neg), parts, parts[::-1], strict=True):
        count = _effective(bins)
        if not is_flat(max(own.low - ROUNDING, 0.0), other.high, int(bins.count.sum())):
            continue
        if metric.name == "bauc":
            if count < FEW:
                return metric.range, (f"the {name} contribute the same, or may: estimate() on the scores says more",)
            continue
        ends = [combined(v, limits, unseen_limits(v, count, tail, metric.range)) for v in value]
        note = f"all {name} contribute the same, or may: the limits allow for what {count} of them cannot show"
        return (ends[0][0], ends[1][1]), (note,)
    return limits, few_observations(summary.n_pos, summary.n_neg)


def _effective(bins: ClassBins) -> int:
    """Number of observations; ``(Σw)²/Σw²`` where they are weighted (Kish)."""
    _, squares = _shares(bins)
    return int((1.0 + 1e-12) / float(squares.sum()))


def _shares(bins: ClassBins) -> tuple[Array, Array]:
    """Sum of the shares of every bin in its class, and sum of their squares."""
    share = bins.weights / bins.weights.sum()
    if bins.mass_squares is None:
        return share, share / bins.count.sum()
    high, low, exponent = bins.mass_squares.parts()
    power = np.clip(exponent - 2 * bins.scale, -2000, 2000).astype(np.int32)
    return share, np.ldexp(high + low, power) / bins.weights.sum() ** 2


def _part_limits(bins: ClassBins, low: Array, high: Array) -> Interval:
    """Limits of q from those of the components in every bin."""
    n = int(bins.count.sum())
    if n == 1:
        return Interval(math.nan, math.nan)
    share, squares = _shares(bins)
    used = bins.count > 0
    if max(np.abs(low[used]).max(), np.abs(high[used]).max()) > LARGEST:
        return Interval(0.0, math.inf)
    middle, half = np.where(used, 0.5 * (low + high), 0.0), np.where(used, 0.5 * (high - low), 0.0)
    factor = math.sqrt(n / (n - 1))
    centre = factor * math.sqrt(float(np.sum(squares * (middle - np.sum(share * middle)) ** 2)))
    radius = math.sqrt(float(np.sum(squares * half**2)))
    if bins.mass is not None:
        radius += math.sqrt(float(squares.sum())) * float(np.sum(share * half))
    radius = factor * radius + ROUNDING * (centre + math.sqrt(float(squares.sum())))
    return Interval(max(centre - radius, 0.0), centre + radius)


def _component_limits(
    summary: ScoreSummary, name: str, options: dict[str, Any], value: Interval
) -> list[tuple[ClassBins, tuple[Array, Array]]]:
    """Limits of V10 and V01 in every bin."""
    pos, neg = summary.pos, summary.neg
    if name == "auc":
        u, v = pos.weights / pos.weights.sum(), neg.weights / neg.weights.sum()
        low, high = in_bin_shares(orders(pos, neg), TIED_SHARE[options["ties"]])
        below, above = np.cumsum(v) - v, np.cumsum(u[::-1])[::-1] - u
        return [(pos, (below + low * v, below + high * v)), (neg, (above + low * u, above + high * u))]
    nothing = np.zeros(summary.n_bins)
    z = float(options["threshold"])
    bracket = buffer_bracket(pos, neg, z)
    if bracket is None:  # certainly 0 or 1
        ends = np.full(summary.n_bins, value.low), np.full(summary.n_bins, value.high)
        return [(pos, ends), (neg, ends)]
    bracket = Bracket(max(bracket.low, float(neg.low.min() - pos.high.max())), bracket.high)
    if not z > bracket.high:
        ends = nothing, nothing + 1.0
        return [(pos, ends), (neg, ends)]
    if spread_of(pos, neg) > LARGEST:
        ends = nothing - math.inf, nothing + 1.0
        return [(pos, ends), (neg, ends)]
    limits = []
    # the errors of a positive are (n − γ) − p, those of a negative (−p − γ) − (−n)
    for bins, other, sign in ((pos, neg, 1.0), (neg, pos, -1.0)):
        least, most = (bins.low, bins.high) if sign > 0 else (-bins.high, -bins.low)
        used = bins.count > 0
        hinges = []
        for end, atoms, level in ((most, mean_atoms, bracket.high), (least, spread_atoms, bracket.low)):
            at, weight = atoms(other)
            at, weight = sign * at[weight > 0], weight[weight > 0]
            order = np.argsort(-at)
            points = -(end[used] + level)
            rising = np.argsort(points)
            found, sums = np.zeros(bins.count.size), np.empty(points.size)
            sums[rising] = positive_part_rows(points[rising], -at[order], weight[order]) / weight.sum()
            found[used] = sums
            hinges.append(found)
        with np.errstate(over="ignore"):  # γ* may lie next to z where bins are wide
            bottom = hinges[0] / (z - bracket.low) * (1.0 - ROUNDING)
            top = hinges[1] / (z - bracket.high) * (1.0 + ROUNDING)
        limits.append((bins, (1.0 - top, 1.0 - bottom)))
    return limits
