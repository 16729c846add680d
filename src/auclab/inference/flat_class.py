"""Limits where the observations of one class contribute the same, and those of the other do not.

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
"""

from __future__ import annotations

import math

import numpy as np

from auclab.inference.catalogue import EstimableMetric
from auclab.inference.components import Components
from auclab.inference.intervals import Limits, unseen_limits, unseen_share
from auclab.inference.sample import Observations
from auclab.metrics.scored_part import ScoredPart
from auclab.sizes import ENOUGH

#: Classes smaller than this get a note, and their variance is not relied on where it is almost 0.
FEW = ENOUGH

#: Share of the other class's standard error below which that of a class with few observations is almost 0.
ALMOST_FLAT = 0.1

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
    which = flat_class(components.parts, (components.pos.size, components.neg.size))
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


def few_observations(n_pos: int, n_neg: int, band: float = 1.0, enough: int = FEW) -> tuple[str, ...]:
    """A note where a class has fewer observations than are enough, of the negatives in the band.

    Examples
    --------
    >>> few_observations(12, 30), few_observations(12, 30, 0.1)[0][:28]
    ((), 'only 3 negatives in the band')
    """
    in_band = int(n_neg * band * (1.0 + 1e-12))
    few = [f"{n_pos} positive{'s' * (n_pos > 1)}"] if n_pos < enough else []
    if in_band < enough:
        few.append(f"{in_band} negative{'s' * (in_band != 1)}" + " in the band" * (band < 1.0))
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
