"""Intervals from a value and its standard error.

The standard error is then that of the other class alone. For three positives with one score its part is 0, and
Welch–Satterthwaite degrees of freedom are those of the negatives: the interval of AUC would be as short as if the
distribution of the positives were known. What n equal observations leave open is a share ``q = 1 − (α/2)^{1/n}`` of
others, which n independent ones do not show with probability α/2 (`intervals` has the same for both classes):

* Bounded means of a kernel, partial and weighted AUC: the unseen share is worth an end of the range ``[L, U]``, which
  gives ``v − q(v − L)`` and ``v + q(U − v)``; n counts negatives of the band only for partial AUC.
* bAUC, sAUC, Ferri's AUC, any modifier, where one observation may be worth anything: the metric of the sample with a
  share q of the class moved to the smallest and to the largest observed score. No unseen score lies beyond the observed
  ones, which is an assumption.

With ``(l, u)`` the limits from the standard error and ``(l', u')`` these, the distances from the value are combined as
those of independent parts (MOVER; Zou & Donner 2008, Statistics in Medicine 27, 1693–1702):

    lower = v − √((v − l)² + (v − l')²),        upper = v + √((u − v)² + (u' − v)²).

The same holds for a class of fewer than 10 observations whose standard error is less than a tenth of that of the other
class: scores that lie close together by chance. The interval is never shorter than from the standard error.

The best of many thresholds on a sample looks better than it is. Where the choice is from a continuum, the chosen
threshold errs by ``m^(−⅓)`` and the optimism is of order ``m^(−⅔)`` (Kim & Pollard 1990): hardly below the standard
error, and the bootstrap does not reproduce it, since it resamples a distribution with atoms (Abrevaya & Huang 2005).
Samples of half the size, drawn without replacement, are samples of the true distribution (Politis & Romano 1994). With
``r = m/m_half`` and optimism ``b m^(−ρ)``,

    E[V_half] − V = b m^(−ρ) (r^ρ − 1),        Var(V_half | sample) = (r − 1) Var(V)

to first order (for a mean the second is exact), which gives the optimism and the standard error. Halves of fewer than
10 observations hardly show the optimism: `estimate` then takes Student's quantile, and for VOROS the lower limit of AUC
where that is lower.

Regular case. With c the Student quantile at Welch–Satterthwaite degrees of freedom, ``value ± c·SE`` is taken on a
scale that is the real line inside the range ``[L, U]``: the logit of ``(v − L)/(U − L)``, ``log(v − L)`` where only L
is finite, the value itself where neither is.

bAUC takes ``log(1 − v)``, the logarithm of bPOE: near 1 a tail probability has a skew distribution, but 0 is not an end
of that kind. bAUC is 0 as soon as ``E ξ ≥ z``, the value moves into 0 and out of it without its spread getting smaller,
and on the logit scale lower limits would be far too high there. VOROS has the same scale.

Limits are then cut at the ends of the range, and no interval leaves out the value itself (`enclose`).

Degenerate cases, with ``α = 1 − level`` and k the number of disjoint pairs, ``min(m₊, m₋)`` (partial AUC: negatives of
the band only):

* All observations contribute the same. If every pair had the kernel value v, then so had k independent pairs, and a
  share ``q = 1 − (α/2)^{1/k}`` or more of pairs with another value would have shown up with probability ``1 − α/2``.
  The unseen share can be worth L or U, so the limits are ``v − q(v − L)`` and ``v + q(U − v)``. At AUC = 1 this is the
  limit of Clopper & Pearson, about ``1 − 3.7/k`` at 95 % (the rule of three, with α/2). Infinite where the range is.
* bAUC = 1. The same unseen share, and because bPOE depends on the size of errors: no unseen error exceeds the spread of
  the observed scores (nor, if that is more, lies as far above z as the mean error lies below). No limit but 0 holds
  without an assumption of that kind.
* bAUC = 0, ``E ξ ≥ z`` on the sample. The upper limit is ``bAUC_{z+δ}`` with δ = c times the standard error of the mean
  error: the largest value after a shift of the errors that the sample mean does not contradict. It is 0 where the mean
  error is above z beyond doubt.
* All observations of one class contribute the same: `flat_class`, which makes the limits from the other class wider.
* A class of one observation: its variance is unknown, the standard error is NaN and the interval is the whole range.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from scipy.stats import t as student

from auclab._core.base import AuclabError
from auclab._core.hinge import pair_hinge_value
from auclab.inference.bootstrap import Resampled, number_of_resamples, standard_deviation
from auclab.inference.catalogue import EstimableMetric, Range
from auclab.inference.component_rows import ferri_rows
from auclab.inference.components import FLAT, Components, Observations, arrange
from auclab.metrics.bpoe import solve_bpoe
from auclab.metrics.registry import ScoredPart

#: Classes smaller than this get a note, and their variance is not relied on where it is almost 0.
FEW = 10

#: Share of the other class's standard error below which that of a class with few observations is almost 0.
ALMOST_FLAT = 0.1

#: Part of the variance that one observation alone should not have: limits rely on many of its kind. Of 300 samples none
#: has more (50 + 50 normal scores, AUC .76), 60 % have where 5 % of 20 positives are below the negatives.
_DOMINATING = 0.5

CLASSES = ("positives", "negatives")


def flat_class(parts: tuple[float, float], sizes: tuple[int, int]) -> int | None:
    """0 where the positives alone contribute the same, 1 where the negatives do, else None.

    `parts`: standard errors due to the positives and due to the negatives. `sizes`: m₊ and m₋.
    """
    chosen = (w for w in (0, 1) if is_flat(parts[w], parts[1 - w], sizes[w]))
    return next(chosen, None)


def is_flat(own: float, other: float, size: int) -> bool:
    """Whether a class of this size has a standard error of 0, or almost, and the other class has not."""
    return other > 0.0 and (own == 0.0 or (size < FEW and own < ALMOST_FLAT * other))


def with_flat_class(
    metric: EstimableMetric, components: Components, observations: Observations, limits: Limits, level: float
) -> tuple[Limits, tuple[str, ...]]:
    """The limits from the standard error, wider where one class contributes the same; and a note on it."""
    which = flat_class(components.parts, components.sizes)
    low, high = metric.range
    if which is None or not low < components.value < high:
        return limits, ()
    share_of_class = metric.band if which == 1 else 1.0
    count = int(observations.effective_sizes[which] * share_of_class * (1.0 + 1e-12))
    tail = 0.5 * (1.0 - level)
    if metric.bounded_terms:
        unseen = unseen_limits(components.value, count, tail, metric.range)
    else:
        unseen = _with_others(metric, components.value, observations, which, unseen_share(count, tail))
    return combined(components.value, limits, unseen), (flat_note(which, components.parts, count),)


def combined(value: float, first: Limits, second: Limits) -> Limits:
    """Limits of a value with two independent errors, from its limits with either.

    Examples
    --------
    >>> combined(0.5, (0.2, 0.8), (0.1, 0.6))  # √(0.3² + 0.4²) below, √(0.3² + 0.1²) above
    (0.0, 0.816227766016838)
    """
    below = math.hypot(value - first[0], value - second[0])
    above = math.hypot(first[1] - value, second[1] - value)
    return value - below, value + above


def flat_note(which: int, parts: tuple[float, float], count: int) -> str:
    """What a reader should know."""
    same = "the same" if parts[which] == 0.0 else "almost the same"
    return f"all {CLASSES[which]} contribute {same}: the limits allow for what {count} of them cannot show"


def few_observations(
    n_pos: float, n_neg: float, band: float = 1.0, enough: int = FEW, unit: str = ""
) -> tuple[str, ...]:
    """A note where a class has fewer observations than are enough, of the negatives in the band.

    `n_pos`, `n_neg`: the effective numbers where rows are weighted or clustered, which `unit` says.

    Examples
    --------
    >>> few_observations(12, 30), few_observations(12, 30, 0.1)[0][:28]
    ((), 'only 3 negatives in the band')
    """
    of_pos, in_band = int(n_pos * (1.0 + 1e-12)), int(n_neg * band * (1.0 + 1e-12))
    few = [f"{of_pos} {unit}positive{'s' * (of_pos > 1)}"] if of_pos < enough else []
    if in_band < enough:
        few.append(f"{in_band} {unit}negative{'s' * (in_band != 1)}" + " in the band" * (band < 1.0))
    return (f"only {' and '.join(few)}: limits are those of large samples and may be too narrow",) if few else ()


def _with_others(metric: EstimableMetric, value: float, observations: Observations, which: int, share: float) -> Limits:
    """The least and the largest metric with a share of one class at the least or the largest score."""
    scores, positive = observations.score, observations.part.positive
    weight = np.empty(scores.size)
    for rows, shares, kept in zip(observations.class_rows, observations.shares, (which == 0, which == 1), strict=True):
        weight[rows] = shares * (1.0 - share if kept else 1.0)
    found = [value]
    for end in (float(scores.min()), float(scores.max())):
        part = ScoredPart(np.append(positive, which == 0), np.append(scores, end), np.append(weight, share))
        found.append(part.value(metric.function, **metric.options))
    return min(found), max(found)


def hanley_mcneil(auc: float, n_pos: int, n_neg: int) -> float:
    """Standard error of AUC after Hanley & McNeil 1982, for a published AUC without its scores.

    ::

        SE² = ( A(1 − A) + (m₊ − 1)(Q₁ − A²) + (m₋ − 1)(Q₂ − A²) ) / (m₊ m₋),     Q₁ = A/(2 − A),  Q₂ = 2A²/(1 + A)

    Q₁ and Q₂ are the chances that two positives outrank one negative and that one positive outranks two negatives if
    scores are exponential in both classes; `estimate` measures them instead (DeLong).

    Parameters
    ----------
    auc : float
        A in [0, 1], ties counted ½.
    n_pos, n_neg : int
        m₊, m₋ ≥ 1.

    Raises
    ------
    AuclabError
        An AUC outside [0, 1] or an empty class.

    See Also
    --------
    estimate : Standard error from the scores (DeLong).

    Examples
    --------
    A = ½ with two observations a class: Q₁ = Q₂ = 1/3, ``(1/4 + 1/12 + 1/12)/4 = 5/48``.

    >>> round(hanley_mcneil(0.5, 2, 2) ** 2 * 48, 12)
    5.0
    """
    if not 0.0 <= auc <= 1.0:
        raise AuclabError(f"auc must lie in [0, 1], got {auc}")
    if n_pos < 1 or n_neg < 1:
        raise AuclabError(f"both classes need an observation, got n_pos={n_pos} and n_neg={n_neg}")
    q1, q2 = auc / (2.0 - auc), 2.0 * auc * auc / (1.0 + auc)
    spread = auc * (1.0 - auc) + (n_pos - 1) * (q1 - auc * auc) + (n_neg - 1) * (q2 - auc * auc)
    return math.sqrt(max(spread, 0.0) / (n_pos * n_neg))


def dominating(components: Components) -> tuple[str, ...]:
    """A note where one observation, or one cluster, has most of the variance of a class that has enough of them."""
    part = components.largest_part
    if not part > _DOMINATING or min(components.sizes) < FEW:
        return ()
    unit = "observation" if components.cluster_pos is None else "cluster"
    return (f"one {unit} has {part:.0%} of the variance: limits may be too narrow, see method='adjusted'",)


Rows = NDArray[np.intp]


def half_sampling(
    statistic: Callable[[Rows], float],
    value: float,
    classes: tuple[Rows, ...],
    *,
    rate: float,
    halves: int | None,
    seed: int,
) -> Resampled:
    """Draw half of either class, and then the other half, `halves` times in all.

    `statistic`: from an array of row numbers to a float, NaN where a class is missing. `value`: the statistic on all
    rows. `classes`: row numbers of the positives and of the negatives, two at least of either; or the numbers of
    clusters. `rate`: ρ, the order ``m^(−ρ)`` of the bias: ⅔ for the
    best of a continuum of thresholds, 1 for smooth statistics. `halves`: number of half-samples, at least 50; 200 by
    default. `seed`: the same seed gives the same numbers.
    """
    halves = number_of_resamples(halves, 50, 200)
    sizes = [rows.size // 2 for rows in classes]
    rng = np.random.default_rng(seed)
    values: list[float] = []
    while len(values) < halves:
        orders = [rng.permutation(rows) for rows in classes]
        both = (
            statistic(np.concatenate([order[part(n)] for order, n in zip(orders, sizes, strict=True)]))
            for part in (lambda n: slice(n), lambda n: slice(-n, None))
        )
        values += [found for found in both if not math.isnan(found)]
    ratio = min(rows.size for rows in classes) / min(sizes)
    if np.ptp([*values, value]) <= FLAT * abs(value):
        return Resampled(0.0)
    bias = (float(np.mean(values)) - value) / (ratio**rate - 1.0)
    return Resampled(standard_deviation(values) / math.sqrt(ratio - 1.0), bias=bias)


Limits = tuple[float, float]

ONE_OBSERVATION = "a class of one observation: its variance is unknown, the interval is the whole range"


def confidence_limits(
    metric: EstimableMetric, components: Components, observations: Observations, level: float
) -> tuple[Limits, tuple[str, ...]]:
    """Limits of the metric, and notes on what was out of the ordinary."""
    value, error = components.value, components.standard_error
    tail = 0.5 * (1.0 - level)
    if math.isnan(error):
        return metric.range, (ONE_OBSERVATION,)
    quantile = float(student.isf(tail, components.degrees_of_freedom))
    if metric.name == "bauc":
        threshold = float(metric.options.get("threshold", 0.0))
        if value <= 0.0:
            return _bauc_at_zero(observations, threshold, tail)
        if value >= 1.0:
            return _bauc_at_one(observations, threshold, tail)
    low, high = metric.range
    if error == 0.0 or not low < value < high:
        return degenerate_limits(metric, value, observations, tail)
    return limits_on_scale(metric, value, quantile * error), ()


def enclose(value: float, limits: Limits, ends: Range) -> Limits:
    """The limits cut at the ends of the range, and moved out to the value where they do not hold it.

    Every interval is made here in the end. The value is not between its limits where a bias was subtracted that exceeds
    the half-width, where quantiles of resamples lie on one side of it, or by rounding. A limit that is NaN, because it
    exceeds the largest double, becomes the end of the range.

    Examples
    --------
    A value of 0.52, less a bias of 0.06, plus and minus 0.02, of a metric that is at least 0.5:

    >>> enclose(0.52, (0.44, 0.48), (0.5, 1.0))
    (0.5, 0.52)
    """
    lower, upper = (
        end if math.isnan(limit) else min(max(limit, ends[0]), ends[1]) for limit, end in zip(limits, ends, strict=True)
    )
    return min(lower, value), max(upper, value)


def limits_on_scale(metric: EstimableMetric, value: float, half_width: float) -> Limits:
    """``value ± half_width`` on the metric's scale, or as it is beyond the scale."""
    low, high = metric.scale or metric.range
    return transformed_limits(value, half_width, (low, high) if low < value < high else (-math.inf, math.inf))


def degenerate_limits(
    metric: EstimableMetric, value: float, observations: Observations, tail: float
) -> tuple[Limits, tuple[str, ...]]:
    """Limits where nothing varies."""
    k = observations.disjoint_pairs(metric.band)
    note = f"all observations contribute the same: limits for what {k} independent pairs cannot show"
    return unseen_limits(value, k, tail, metric.unseen or metric.range), (note,)


def transformed_limits(value: float, half_width: float, span: Range) -> Limits:
    """``value ± half_width`` on the scale that turns an open range into the real line."""
    low, high = span
    if math.isfinite(low) and math.isfinite(high):
        share = (value - low) / (high - low)
        centre, width = logit(share), half_width / ((high - low) * share * (1.0 - share))
        return tuple(low + (high - low) * float(expit(centre + side * width)) for side in (-1.0, 1.0))  # type: ignore[return-value]
    if math.isfinite(low):
        factor = _exp(half_width / (value - low))
        return low + (value - low) / factor, low + (value - low) * factor
    if math.isfinite(high):
        factor = _exp(half_width / (high - value))
        return high - (high - value) * factor, high - (high - value) / factor
    return value - half_width, value + half_width


def unseen_share(pairs: int, tail: float) -> float:
    """Largest share of pairs that none of `pairs` independent ones shows with probability `tail`."""
    return -math.expm1(math.log(tail) / pairs) if pairs > 0 else 1.0


def unseen_limits(value: float, pairs: int, tail: float, span: Range) -> Limits:
    """Limits when a share of the pairs that was not seen may be worth either end of the range.

    Examples
    --------
    AUC = 1 on two disjoint pairs, tail 1/4: half of the pairs may be wrong.

    >>> unseen_limits(1.0, 2, 0.25, (0.0, 1.0))
    (0.5, 1.0)
    """
    share = unseen_share(pairs, tail)
    low, high = (end if end == value else value + share * (end - value) for end in span)
    return low, high


def _bauc_at_zero(observations: Observations, threshold: float, tail: float) -> tuple[Limits, tuple[str, ...]]:
    """[0, bAUC at the threshold raised by what the mean error may be too high]."""
    mean = arrange(0.5, *ferri_rows(observations.part.finite_classes), observations)  # half of the mean margin
    shift = 2.0 * mean.standard_error * float(student.isf(tail, mean.degrees_of_freedom))
    if shift == 0.0:
        upper = unseen_share(observations.disjoint_pairs(), tail)
    else:
        upper = solve_bpoe(observations.part.finite_classes.pair_errors, threshold + shift, exact_level=False).rest
    why = f"the mean ranking error is at least {threshold}"
    return (0.0, upper), (f"{why}: the upper limit is that of errors shifted down by their margin of error",)


def _bauc_at_one(observations: Observations, threshold: float, tail: float) -> tuple[Limits, tuple[str, ...]]:
    """[1 − bPOE of the sample mixed with an unseen share of large errors, 1]."""
    errors, k = observations.part.finite_classes.pair_errors, observations.disjoint_pairs()
    weights = (errors.weight_pos, errors.weight_neg) if errors.weight_pos.size else (None, None)
    spread = float(max(errors.pos[-1], errors.neg[-1]) - min(errors.pos[0], errors.neg[0]))

    def hinge(level: float) -> float:
        return pair_hinge_value(errors.pos, errors.neg, -level, *weights)

    z = errors.units.working(threshold)
    lower = unseen_buffer(hinge, errors.bottom, errors.top, spread, z, unseen_share(k, tail))
    note = (
        f"no error reaches {threshold}: lower limit for what {k} independent pairs cannot show, errors up to the spread"
    )
    return (lower, 1.0), (note,)


def unseen_buffer(
    hinge: Callable[[float], float], bottom: float, top: float, spread: float, threshold: float, share: float
) -> float:
    """Least buffered share when a share of the pairs was not seen and may have errors up to the spread.

    `hinge`: ``γ → E(ξ − γ)₊`` of the errors seen. `bottom`, `top`: the errors are between; all are below the threshold.
    """
    if math.isinf(threshold):
        return max(1.0 - 2.0 * share, 0.0)  # the limit of ``bpoe`` below
    mean_gap = threshold - (bottom + hinge(bottom))  # E ξ = γ + E(ξ − γ)₊ below all errors
    excess = max(spread - threshold, mean_gap)

    def bpoe(part: float) -> float:
        level = min(bottom + part * (top - bottom), top)
        gap = threshold - level
        return (1.0 - share) * (hinge(level) / gap) + share * (1.0 + excess / gap)

    ends = [bpoe(0.0), bpoe(1.0)]
    if bottom < top:
        ends.append(float(minimize_scalar(bpoe, bounds=(0.0, 1.0), method="bounded").fun))
    return max(1.0 - float(min(ends)), 0.0)


def _exp(x: float) -> float:
    """``e^x``, ∞ where it exceeds the largest double."""
    return math.exp(x) if x < 709.0 else math.inf
