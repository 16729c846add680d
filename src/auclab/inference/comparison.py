"""Paired comparisons of scorers: differences, their tests, and all pairs of several scorers jointly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2
from scipy.stats import t as student

from auclab._core.base import Array, AuclabError
from auclab._core.validation import check_choice
from auclab._core.words import html_table
from auclab.inference.catalogue import EstimableMetric, Range, estimable
from auclab.inference.components import FLAT, Comparison, Components, Observations
from auclab.inference.estimation import check_level, choose_method, few_in_a_class, resample
from auclab.inference.intervals import (
    CLASSES,
    ONE_OBSERVATION,
    Limits,
    dominating,
    enclose,
    few_observations,
    flat_class,
    unseen_limits,
)
from auclab.inference.multiclass import MulticlassComponents, multiclass_metric
from auclab.metrics.roc import finite_number

Alternative = Literal["two-sided", "greater", "less"]


@overload
def compare_scorers(
    y_true: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    metric: str | Callable[..., float] = "auc",
    **keywords: Any,
) -> Comparison: ...


@overload
def compare_scorers(
    y_true: ArrayLike,
    scores_a: Sequence[ArrayLike],
    scores_b: None = None,
    metric: str | Callable[..., float] = "auc",
    **keywords: Any,
) -> JointComparison: ...


def compare_scorers(
    y_true: ArrayLike,
    scores_a: ArrayLike | Sequence[ArrayLike],
    scores_b: ArrayLike | None = None,
    metric: str | Callable[..., float] = "auc",
    *,
    level: float = 0.95,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    clusters: ArrayLike | None = None,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    resamples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Comparison | JointComparison:
    """Paired test of two scorers by the differences of their components, in O(m log m); for AUC DeLong's test.

    With ``D10_i`` and ``D01_j`` the differences of the components of the two scorers on the same observations,

        statistic = (value_a − value_b) / √( S²(D10)/m₊ + S²(D01)/m₋ ),

    standard normal for large samples if the scorers have the same metric in the population (DeLong, DeLong &
    Clarke-Pearson 1988). The differences take the covariance of the scorers into account. Both scorers must be fixed
    before the sample is drawn.

    Of three or more scorers, with values θ, their covariance matrix V and the contrasts ``Lθ = (θ₁ − θ₂, θ₁ − θ₃, …)``,

        statistic = (Lθ)ᵀ (L V Lᵀ)⁻ (Lθ),

    is χ² with as many degrees of freedom as the rank of ``L V Lᵀ`` if all have the same value (DeLong et al., eq. 5).

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    scores_a, scores_b : arrays of shape (n_samples,)
        Two scores of every observation; or as `scores_a` alone a list of two or more arrays, for a joint test and all
        pairs.
    metric, level, method, sample_weight, pos_label, clusters, resamples, seed, **options
        As in `estimate`; not for ``method="hanley_mcneil"``. A joint test needs a metric that has components.
    alternative : {"two-sided", "greater", "less"}
        Whether the first scorer is different, better or worse. The interval has two sides in any case.
    margin : float
        At least 0, for a one-sided test. ``"greater"`` tests ``value_a − value_b ≤ −margin``: a small p shows that the
        first scorer is not inferior by the margin. ``"less"`` tests ``value_a − value_b ≥ margin``.

    Returns
    -------
    Comparison or JointComparison
        If the standard error is 0, a difference of 0 has p = 1, and the limits allow for the share of pairs that ``k =
        min(m₊, m₋)`` disjoint pairs may fail to show (`intervals`). If all of these pairs have the same difference d ≠
        0 and differences D lie within ±R, p is ``2 (R/(R + |d|))^k``, by Markov's inequality for ``R ± D`` in every
        pair; it is NaN if R is unknown, and a rule of thumb for bAUC, whose kernel is not bounded below.

    Raises
    ------
    AuclabError
        As `estimate`.

    See Also
    --------
    estimate : One scorer.
    auclab.runs.compare_runs : Configurations over many data sets and splits.

    Examples
    --------
    A ranks all four pairs rightly, B ranks the pair (1, 2) wrongly. The components of A are 1; those of B are 1, ½ and
    ½, 1; the differences 0, ½ and ½, 0:

    >>> result = compare_scorers([1, 1, 0, 0], [3, 2, 1, 0], [3, 1, 2, 0])
    >>> result.difference, round(result.standard_error**2, 12), round(result.statistic, 6)   # ¼/√(1/8)
    (0.25, 0.125, 0.707107)
    >>> one_sided = compare_scorers([1, 1, 0, 0], [3, 2, 1, 0], [3, 1, 2, 0], alternative="greater")
    >>> round(result.p_value, 6), round(one_sided.p_value, 6)
    (0.4795, 0.23975)
    """
    check_level(level)
    check_alternative(alternative, margin)
    if (several := multiclass_metric(metric)) and scores_b is not None:
        given = {"sample_weight": sample_weight, "clusters": clusters, **options}
        a, b = (
            MulticlassComponents.of(several, y_true, scores, **given)
            for scores in (cast(ArrayLike, scores_a), scores_b)
        )
        return _of_classes(a, b, level, alternative, margin)
    estimated = estimable(metric, options)
    plan = choose_method(method, estimated)
    if plan == "adjusted":
        raise AuclabError("method='adjusted' is for the interval of one scorer; use method='auto' for a difference")
    if plan == "hanley_mcneil":
        raise AuclabError(
            "Hanley & McNeil's formula does not include the covariance of two scorers; use method='delong'"
        )
    if scores_b is None:
        named: list[tuple[str, Any]] = [(f"scores_a[{k}]", scores) for k, scores in enumerate(scores_a)]  # type: ignore[arg-type]
        if len(named) < 2:
            raise AuclabError("two scorers are needed, got one; give scores_b, or a list of scores as scores_a")
    else:
        named = [("scores_a", scores_a), ("scores_b", scores_b)]
    scorers = [
        Observations.of(y_true, scores, sample_weight, pos_label, name=name, clusters=clusters)
        for name, scores in named
    ]

    def one_pair(first: int, second: int) -> Comparison:
        found = compare_observations(estimated, (scorers[first], scorers[second]), level, plan, resamples, seed)
        pairs, reach = scorers[first].disjoint_pairs(estimated.band), _span(estimated.range)[1]
        return _one_sided(found, alternative, margin, pairs, reach)

    return one_pair(0, 1) if scores_b is not None else _jointly(estimated, scorers, plan, one_pair)


def check_alternative(alternative: Alternative, margin: float) -> None:
    """`AuclabError` for an unknown alternative, or a margin that is negative or of a two-sided test."""
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    if not finite_number("margin", margin) >= 0.0 or (margin and alternative == "two-sided"):
        raise AuclabError(
            f"margin must be at least 0, and of a one-sided test, got {margin} with alternative={alternative!r}; "
            "alternative='greater' tests that the first scorer is not inferior by the margin"
        )


def compare_observations(
    estimated: EstimableMetric,
    scorers: tuple[Observations, Observations],
    level: float,
    plan: str,
    resamples: int | None,
    seed: int,
) -> Comparison:
    """Two scorers of the same observations, with a two-sided p."""
    a, b = scorers
    if plan in ("bootstrap", "half_sample"):
        return _resampled(estimated, a, b, level, plan, resamples, seed)
    first, second = estimated.components(a), estimated.components(b)
    difference = first - second
    if plan == "delong" and a.cluster is not None:
        plan = "obuchowski"
    error, values = difference.standard_error, (first.value, second.value)
    span = _span(estimated.range)
    if math.isnan(error):
        return unknown_comparison(difference.value, span, values, level, plan)
    if error == 0.0:
        return degenerate_comparison(difference.value, a.disjoint_pairs(estimated.band), span, values, level, plan)
    notes = (*few_observations(*a.effective_sizes, estimated.band, unit=a.unit), *dominating(difference))
    which = flat_class(difference.parts, difference.sizes)
    if which is not None:
        same = (
            f"the {CLASSES[which]} do not distinguish the scorers: limits and p are from the {CLASSES[1 - which]} only"
        )
        notes = (same, *notes)
    df = math.inf if a.cluster is None else difference.degrees_of_freedom
    return compared(difference.value, error, df, span, values, level, plan, notes)


def _of_classes(
    a: MulticlassComponents, b: MulticlassComponents, level: float, alternative: Alternative, margin: float
) -> Comparison:
    """Two scorers of more than two classes."""
    difference, values, span = a - b, (a.value, b.value), _span(a.metric.range)
    error, fewest = difference.standard_error, int(difference.sizes.min())
    if math.isnan(error):
        return unknown_comparison(difference.value, span, values, level, "influence")
    if error == 0.0:
        found = degenerate_comparison(difference.value, fewest, span, values, level, "influence")
    else:
        df = difference.degrees_of_freedom if difference.clusters is not None else math.inf
        notes = few_in_a_class(fewest)
        found = compared(difference.value, error, df, span, values, level, "influence", notes)
    return _one_sided(found, alternative, margin, fewest, span[1])


def _one_sided(found: Comparison, alternative: Alternative, margin: float, pairs: int, reach: float) -> Comparison:
    """The comparison with the statistic and p of a one-sided alternative, with the margin of non-inferiority."""
    if alternative == "two-sided" or math.isnan(found.standard_error):
        return found
    side = 1.0 if alternative == "greater" else -1.0
    lead = side * found.difference + margin  # how far the first scorer is from the edge of the hypothesis
    if found.standard_error == 0.0:
        statistic = math.copysign(math.inf, side * lead) if lead else 0.0
        p_value = degenerate_p_value(lead, pairs, reach)
        return replace(found, statistic=statistic, p_value=p_value)
    statistic = found.statistic + side * margin / found.standard_error
    return replace(found, statistic=statistic, p_value=float(student.sf(side * statistic, found.df)))


@dataclass(frozen=True)
class ScorerPair:
    """Two of several scorers: their comparison, and p after Holm's correction for all pairs.

    `first`, `second`: their numbers from 0. `p_holm`: adjusted p, which rejects at the level that all pairs share.

    See Also
    --------
    compare_scorers : Computes it.

    Examples
    --------
    >>> found = compare_scorers([1, 1, 0, 0], [[3, 2, 1, 0], [3, 1, 2, 0], [0, 1, 2, 3]])
    >>> [(pair.first, pair.second, pair.comparison.difference) for pair in found.pairs]
    [(0, 1, 0.25), (0, 2, 1.0), (1, 2, 0.75)]
    """

    first: int
    second: int
    comparison: Comparison
    p_holm: float


@dataclass(frozen=True)
class JointComparison:
    """Three or more scorers on the same sample: a test that all have the same value, and every pair.

    Attributes
    ----------
    values : tuple of float
        The metric of every scorer.
    statistic, df, p_value : float, int, float
        χ² of the contrasts with the first scorer; NaN where their covariance is unknown, p = 1 with 0 degrees of
        freedom where no observation distinguishes any two scorers. Where scorers differ and all observations contribute
        the same difference, ∞ with p NaN: their pairs have limits of their own.
    pairs : tuple of ScorerPair
        Every pair, with p after Holm.

    See Also
    --------
    compare_scorers : Computes it.

    Examples
    --------
    >>> y, a, b = [1, 1, 0, 0], [3, 2, 1, 0], [3, 1, 2, 0]
    >>> found = compare_scorers(y, [a, b])                       # of two scorers: the square of their statistic
    >>> round(found.statistic, 6), found.df, round(found.p_value, 4)
    (0.5, 1, 0.4795)
    """

    values: tuple[float, ...]
    statistic: float
    df: int
    p_value: float
    pairs: tuple[ScorerPair, ...]

    def _repr_html_(self) -> str:
        """The values, the joint test and p of each pair, for a notebook."""
        values = ", ".join(f"{value:.6g}" for value in self.values)
        rows: list[tuple[str, object]] = [("values", values), ("p, all the same", self.p_value)]
        rows += [
            (f"{each.first} − {each.second}", f"{each.comparison.difference:.6g}, p (Holm) {each.p_holm:.3g}")
            for each in self.pairs
        ]
        return html_table(rows)


def _jointly(
    metric: EstimableMetric, scorers: list[Observations], plan: str, one_pair: Callable[[int, int], Comparison]
) -> JointComparison:
    """The joint test from the components of all scorers, and the pairs with Holm's correction."""
    if plan in ("bootstrap", "half_sample"):
        raise AuclabError(f"a joint test needs components, which {metric.name} has not; compare two scorers at a time")
    components = [metric.components(each) for each in scorers]
    values = np.array([each.value for each in components])
    contrasts = [components[0] - other for other in components[1:]]
    statistic, df, p_value = wald_test(values[0] - values[1:], covariance(contrasts))
    pairs = all_pairs(len(scorers), one_pair)
    return JointComparison(tuple(values.tolist()), statistic, df, p_value, pairs)


def all_pairs(n: int, one_pair: Callable[[int, int], Comparison]) -> tuple[ScorerPair, ...]:
    """Every pair of n scorers, with p after Holm."""
    pairs = [(a, b, one_pair(a, b)) for a, b in combinations(range(n), 2)]
    adjusted = holm([comparison.p_value for _, _, comparison in pairs])
    return tuple(ScorerPair(*pair, float(p)) for pair, p in zip(pairs, adjusted, strict=True))


def covariance(components: Sequence[Components]) -> Array:
    """Covariance matrix of values from their components on the same observations; squared errors on its diagonal."""
    sizes, clustered = components[0].sizes, components[0].cluster_pos is not None
    if min(sizes) == 1:
        return np.full((len(components),) * 2, math.nan)
    pos, neg = (np.stack([each.influence[of] for each in components]) for of in (0, 1))
    found = sizes[0] / (sizes[0] - 1) * (pos @ pos.T) + sizes[1] / (sizes[1] - 1) * (neg @ neg.T)
    if clustered:
        n = pos.shape[1]
        found = found + n / (n - 1) * (pos @ neg.T + neg @ pos.T)
    return np.asarray(found)


def wald_test(difference: Array, covariance: Array) -> tuple[float, int, float]:
    """``dᵀ V⁻ d`` with the pseudoinverse, its degrees of freedom, the rank of V, and p from χ²."""
    if np.isnan(covariance).any():
        return math.nan, 0, math.nan
    eigenvalues, vectors = np.linalg.eigh(covariance)
    kept = eigenvalues > FLAT * max(float(eigenvalues[-1]), 0.0)
    df = int(np.count_nonzero(kept))
    unseen = vectors[:, ~kept].T @ difference  # differences that all rows share
    if np.any(abs(unseen) > FLAT):
        return math.inf, df, math.nan
    if df == 0:
        return 0.0, 0, 1.0
    statistic = float(np.sum((vectors[:, kept].T @ difference) ** 2 / eigenvalues[kept]))
    return statistic, df, float(chi2.sf(statistic, df))


def holm(p_values: Sequence[float]) -> Array:
    """P-values corrected for their number k by Holm's (1979) step-down method.

    The i-th smallest is multiplied by k + 1 − i; the results are then made non-decreasing and capped at 1.

    See Also
    --------
    compare_scorers : All pairs of several scorers.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    corrected = np.empty(p.size)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def compared(
    difference: float,
    error: float,
    df: float,
    span: Range,
    values: tuple[float, float],
    level: float,
    plan: str,
    notes: tuple[str, ...],
    bias: float = 0.0,
    limits: Limits | None = None,
) -> Comparison:
    """Interval and test of a difference minus its bias, over its standard error: Student's with `df`, normal for ∞.

    `limits`: those of a method that has its own.
    """
    centre, half_width = difference - bias, float(student.isf(0.5 * (1.0 - level), df)) * error
    interval = enclose(difference, limits or (centre - half_width, centre + half_width), span)
    p_value = 2.0 * float(student.sf(abs(centre / error), df))
    return Comparison(difference, error, interval, centre / error, p_value, values, level, plan, notes, df)


def degenerate_comparison(
    difference: float, pairs: int, span: Range, values: tuple[float, float], level: float, plan: str
) -> Comparison:
    """All observations contribute the same difference."""
    interval = enclose(difference, unseen_limits(difference, pairs, 0.5 * (1.0 - level), span), span)
    notes = (f"no observation distinguishes the scorers: limits for what {pairs} independent pairs cannot show",)
    if difference == 0.0:
        return Comparison(difference, 0.0, interval, 0.0, 1.0, values, level, plan, notes)
    p_value = min(1.0, 2.0 * degenerate_p_value(abs(difference), pairs, span[1]))
    statistic = math.copysign(math.inf, difference)
    return Comparison(difference, 0.0, interval, statistic, p_value, values, level, plan, notes)


def degenerate_p_value(lead: float, pairs: int, reach: float) -> float:
    """One-sided p of a lead that all disjoint pairs have, ``(R/(R + lead))^k`` (Markov); NaN without a range R."""
    if lead <= 0.0:
        return 1.0
    return (reach / (reach + lead)) ** pairs if math.isfinite(reach) else math.nan


def _resampled(
    metric: EstimableMetric, a: Observations, b: Observations, level: float, plan: str, resamples: int | None, seed: int
) -> Comparison:
    """The difference resampled: observations keep their two scores."""
    values, span = (metric.value(a), metric.value(b)), _span(metric.range)
    difference = values[0] - values[1]
    if a.fewest == 1:
        return unknown_comparison(difference, span, values, level, plan)
    found = resample(metric, difference, [a, b], plan=plan, level=level, resamples=resamples, seed=seed)
    if found.standard_error == 0.0:
        return degenerate_comparison(difference, a.disjoint_pairs(metric.band), span, values, level, plan)
    notes = found.notes or few_observations(*a.effective_sizes, metric.band, metric.enough, a.unit)
    error, bias, limits = found.standard_error, found.bias, found.limits
    return compared(difference, error, math.inf, span, values, level, plan, notes, bias, limits)


def unknown_comparison(
    difference: float, span: Range, values: tuple[float, float], level: float, plan: str, note: str = ONE_OBSERVATION
) -> Comparison:
    """One observation in a class, or one unit in all pairs."""
    interval = enclose(difference, span, span)
    return Comparison(difference, math.nan, interval, math.nan, math.nan, values, level, plan, (note,))


def _span(values: Range) -> Range:
    """Range of the difference of two values."""
    width = values[1] - values[0]
    return -width, width
