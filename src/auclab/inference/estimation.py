"""One metric on one sample: value, standard error, confidence interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from scipy.stats import t as student

from auclab._core.base import AuclabError
from auclab._core.validation import check_choice
from auclab.inference.bootstrap import Resampled, stratified_bootstrap
from auclab.inference.catalogue import EstimableMetric, estimable
from auclab.inference.components import Estimate, Observations
from auclab.inference.intervals import (
    FEW,
    ONE_OBSERVATION,
    confidence_limits,
    degenerate_limits,
    dominating,
    enclose,
    few_observations,
    half_sampling,
    hanley_mcneil,
    limits_on_scale,
    transformed_limits,
    unseen_limits,
    with_flat_class,
)
from auclab.inference.multiclass import MulticlassComponents, multiclass_metric
from auclab.metrics.registry import ScoredPart
from auclab.metrics.roc import finite_number

METHODS = ("auto", "delong", "influence", "adjusted", "half_sample", "bootstrap", "hanley_mcneil")


def estimate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: str | Callable[..., float] = "auc",
    *,
    level: float = 0.95,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    clusters: ArrayLike | None = None,
    resamples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Estimate:
    """Value, standard error and confidence interval of a metric for a scorer that was fixed before the sample.

    Observations, or their `clusters`, are assumed to be independent, and class sizes fixed. For means of a kernel over
    pairs, bAUC_z, partial, weighted AUC the standard error is ``√(S10/m₊ + S01/m₋)`` from one component for each
    observation, in O(m log m); for AUC that is DeLong's. Limits are computed on a transformed scale that keeps them in
    the metric's range (`intervals` describes it, and the limits at the ends of the range). VOROS chooses thresholds on
    the sample; half-samples estimate this optimism, and the limits are for the value minus the optimism. Everything
    else is bootstrapped.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Larger means more positive. ±∞ where the metric takes it.
    metric : str or callable
        ``"auc"``, ``"bauc"``, ``"scored_auc"``, ``"ferri_auc"``, ``"soft_auc"``, ``"probabilistic_auc"``, ``"gauc"``,
        ``"partial_auc"``, ``"weighted_auc"`` (tie-averaged) have components; ``"voros"``; ``"two_way_partial_auc"``,
        ``"polynomial_auc"``, ``"polynomial_soft_auc"`` and any function ``(y_true, y_score, **options) -> float`` are
        bootstrapped. ``"multiclass_auc"`` and ``"multiclass_bauc"`` take scores of shape (n_samples, n_classes), the
        option ``average``, weights and clusters, and have components. A metric of `auclab.metrics` may be given itself,
        also as a `functools.partial`.
    level : float
        Confidence level in (0, 1).
    method : {"auto", "delong", "influence", "adjusted", "half_sample", "bootstrap", "hanley_mcneil"}
        ``"auto"`` is ``"influence"`` (for AUC named ``"delong"``) where there are components, ``"half_sample"`` for
        VOROS, else ``"bootstrap"``. ``"adjusted"`` takes the larger standard error of the sample and of the sample with
        half an observation more of either class, divided between the smallest and the largest score: limits allow for
        rare errors that the sample hardly shows, as Agresti & Coull (1998) allow for rare successes.
        ``"hanley_mcneil"`` is for AUC with ties ½ only.
    sample_weight : array of shape (n_samples,), optional
        Sampling (importance) weights ≥ 0 of rows that are independent observations: the standard error is that of a
        ratio of weighted sums, and does not change when all weights are scaled. It is *not* that of repeated rows: if a
        row stands for several independent observations, repeat it.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.
    clusters : array of shape (n_samples,), optional
        Rows with the same entry depend on each other, such as the lesions of a patient. The components are summed over
        each cluster (Obuchowski 1997; of AUC, ``method`` is then ``"obuchowski"``), degrees of freedom count clusters
        with a positive and with a negative, and resamples are drawn of whole clusters.
    resamples, seed : int
        Number of resamples (by default 2000 of the bootstrap, 200 half-samples) and seed; not used otherwise.
    **options
        Options of the metric: ``threshold``, ``ties``, ``beta``, ``width``, ``modifier``, ``max_fpr``, …

    Returns
    -------
    Estimate

    Raises
    ------
    AuclabError
        As the metric; an unknown metric, method or option; a level outside (0, 1); a method that the metric or the
        weights do not allow.

    See Also
    --------
    estimate_part : The same for a part whose scores are sorted already.
    compare_scorers : Two scorers on the same sample.
    hanley_mcneil : Standard error of a published AUC without its scores.

    Examples
    --------
    Positives 3 and 1, negatives 2 and 0: components 1, ½ and ½, 1, so ``SE² = (1/8)/2 + (1/8)/2``.

    >>> result = estimate([1, 1, 0, 0], [3, 1, 2, 0])
    >>> result.value, round(result.standard_error**2, 12), result.method
    (0.75, 0.125, 'delong')

    A perfect order on ten disjoint pairs is still compatible with a share ``1 − 0.025^(1/10)`` of wrong pairs:

    >>> perfect = estimate([0] * 10 + [1] * 10, range(20))
    >>> round(perfect.lower, 6), perfect.upper             # 0.025^0.1
    (0.691503, 1.0)
    """
    check_level(level)
    if several := multiclass_metric(metric):
        given = {"sample_weight": sample_weight, "clusters": clusters, **options}
        return _of_classes(MulticlassComponents.of(several, y_true, y_score, **given), level)
    estimated = estimable(metric, options)
    plan = choose_method(method, estimated)
    return estimate_observations(
        estimated,
        Observations.of(y_true, y_score, sample_weight, pos_label, clusters=clusters),
        level,
        plan,
        resamples,
        seed,
    )


def estimate_part(
    part: ScoredPart,
    metric: str | Callable[..., float] = "auc",
    *,
    level: float = 0.95,
    method: str = "auto",
    clusters: ArrayLike | None = None,
    resamples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Estimate:
    """`estimate` for a part of a split, reusing its sorted scores and computed values.

    Parameters
    ----------
    part : ScoredPart
        The held-out part: its scorer was fixed before it was seen.
    metric, level, method, clusters, resamples, seed, **options
        As in `estimate`.

    Raises
    ------
    AuclabError
        As `estimate`.

    See Also
    --------
    estimate : The same from labels and scores.

    Examples
    --------
    >>> part = ScoredPart(np.array([1, 1, 0, 0]), np.array([3.0, 1.0, 2.0, 0.0]))
    >>> result = estimate_part(part)
    >>> result.value, round(result.standard_error**2, 12)
    (0.75, 0.125)
    """
    check_level(level)
    estimated = estimable(metric, options)
    plan = choose_method(method, estimated)
    return estimate_observations(estimated, Observations.of_part(part, clusters), level, plan, resamples, seed)


def estimate_observations(
    metric: EstimableMetric, observations: Observations, level: float, plan: str, resamples: int | None, seed: int
) -> Estimate:
    """A metric by a method that it has: limits around its value, a note on few observations where there is no other."""
    found = _by_method(metric, observations, level, plan, resamples, seed)
    lower, upper = enclose(found.value, (found.lower, found.upper), metric.range)
    return replace(found, lower=lower, upper=upper, notes=found.notes or _few(metric, observations))


def _few(metric: EstimableMetric, observations: Observations) -> tuple[str, ...]:
    """A note where a class has few observations for this metric."""
    return few_observations(*observations.effective_sizes, metric.band, metric.enough, observations.unit)


def _of_classes(components: MulticlassComponents, level: float) -> Estimate:
    """A metric of more than two classes from its components."""
    value, error, metric = components.value, components.standard_error, components.metric
    tail, fewest = 0.5 * (1.0 - level), int(components.sizes.min())
    if math.isnan(error):
        return Estimate(value, error, *metric.range, level, "influence", (ONE_OBSERVATION,))
    if error == 0.0 or not metric.range[0] < value < metric.range[1]:
        limits = unseen_limits(value, fewest, tail, metric.range)
        note = f"all observations contribute the same: limits for what {fewest} independent pairs cannot show"
        return Estimate(value, error, *limits, level, "influence", (note,))
    limits = limits_on_scale(metric, value, float(student.isf(tail, components.degrees_of_freedom)) * error)
    return Estimate(value, error, *enclose(value, limits, metric.range), level, "influence", few_in_a_class(fewest))


def few_in_a_class(fewest: int) -> tuple[str, ...]:
    """A note where a class has few rows, or clusters."""
    note = f"a class has only {fewest} rows or clusters: limits are those of large samples and may be too narrow"
    return (note,) if fewest < FEW else ()


def _by_method(
    metric: EstimableMetric, observations: Observations, level: float, plan: str, resamples: int | None, seed: int
) -> Estimate:
    if plan in ("bootstrap", "half_sample"):
        return _resampled(metric, observations, level, plan, resamples, seed)
    if plan == "hanley_mcneil":
        return _hanley_mcneil(metric, observations, level)
    components = metric.components(observations)
    limits, notes = confidence_limits(metric, components, observations, level)
    if plan == "adjusted" and not notes:
        adjusted = metric.components(observations.with_pseudo_rows()).standard_error
        quantile = float(student.isf(0.5 * (1.0 - level), components.degrees_of_freedom))
        error = max(components.standard_error, adjusted)
        return Estimate(
            components.value, error, *limits_on_scale(metric, components.value, quantile * error), level, plan
        )
    if not notes:
        limits, notes = with_flat_class(metric, components, observations, limits, level)
    if plan == "delong" and observations.cluster is not None:
        plan = "obuchowski"
    notes = notes or (*_few(metric, observations), *dominating(components))
    return Estimate(components.value, components.standard_error, *limits, level, plan, notes)


def choose_method(method: str, metric: EstimableMetric) -> str:
    """The method that will be used, by name; `AuclabError` where the metric does not have it."""
    check_choice("method", method, METHODS)
    usual = {"auc": "delong", "voros": "half_sample"}.get(metric.name, "influence" if metric.rows else "bootstrap")
    if method == "auto" or (method == "influence" and usual == "delong"):
        return usual
    if method == "adjusted" and metric.rows is None:
        raise AuclabError(f"method='adjusted' needs components, which {metric.name} has not; use method={usual!r}")
    if method in ("delong", "hanley_mcneil") and metric.name != "auc":
        raise AuclabError(f"method={method!r} is for metric='auc', not for {metric.name}; use method='auto'")
    return method


def check_level(level: float) -> None:
    """`AuclabError` unless the level is a share strictly between 0 and 1."""
    if not 0.0 < finite_number("level", level) < 1.0:
        raise AuclabError(f"level must lie in (0, 1), such as 0.95, got {level}")


def resample(
    metric: EstimableMetric,
    value: float,
    scorers: Sequence[Observations],
    *,
    plan: str,
    level: float,
    resamples: int | None,
    seed: int,
) -> Resampled:
    """Standard error, bias and limits of a metric, or of its difference between two scorers, by bootstrap or halves."""
    if math.isnan(value):
        raise AuclabError(f"the metric ({metric.name}) returned nan; an interval needs a number")
    units, unit = scorers[0].strata, 1.0
    if metric.in_units:  # squares of values stay in range
        unit = 2.0 ** max(*(math.frexp(float(np.ptp(each.score)))[1] - 1 for each in scorers), 0)

    def statistic(drawn: NDArray[np.intp]) -> float:
        rows = scorers[0].rows_of(drawn)
        drawn_positive = scorers[0].part.positive[rows]
        if drawn_positive.all() or not drawn_positive.any():  # clusters of one class alone
            return math.nan
        first, *others = (metric.value(each.take(rows)) / unit for each in scorers)
        return first - sum(others)

    if plan == "bootstrap":
        found = stratified_bootstrap(statistic, units, level=level, resamples=resamples, seed=seed)
    else:
        found = half_sampling(statistic, value / unit, units, rate=metric.bias_rate, halves=resamples, seed=seed)
    return found.times(unit)


def _resampled(
    metric: EstimableMetric, observations: Observations, level: float, plan: str, resamples: int | None, seed: int
) -> Estimate:
    """A metric by the bootstrap or by half-samples."""
    value = metric.value(observations)
    if observations.fewest == 1:
        return Estimate(value, math.nan, *metric.range, level, plan, (ONE_OBSERVATION,))
    found = resample(metric, value, [observations], plan=plan, level=level, resamples=resamples, seed=seed)
    error, notes = found.standard_error, found.notes
    if error == 0.0:
        limits, notes = degenerate_limits(metric, value, observations, 0.5 * (1.0 - level))
    else:
        limits = found.limits or _half_sample_limits(metric, observations, value - found.bias, error, level)
    return Estimate(value, error, *limits, level, plan, notes, found.bias)


def _half_sample_limits(
    metric: EstimableMetric, observations: Observations, centre: float, error: float, level: float
) -> tuple[float, float]:
    """Normal limits; with few observations Student's, and for VOROS no higher than the lower limit of AUC.

    Halves of a few observations hardly show the optimism. For every cost the lesser classifiers contain the area under
    the ROC curve, so VOROS is at least AUC, and a lower limit of AUC is one of VOROS.
    """
    tail, fewest = 0.5 * (1.0 - level), observations.fewest
    if fewest >= FEW:
        return limits_on_scale(metric, centre, float(norm.isf(tail)) * error)
    lower, upper = limits_on_scale(metric, centre, float(student.isf(tail, fewest - 1)) * error)
    if metric.name == "voros":
        auc = _by_method(estimable("auc", {}), observations, level, "delong", None, 0)
        lower = min(lower, auc.lower)
    return lower, upper


def _hanley_mcneil(metric: EstimableMetric, observations: Observations, level: float) -> Estimate:
    """AUC with the standard error of Hanley & McNeil and normal limits on the logit scale."""
    if observations.weight is not None or observations.cluster is not None:
        raise AuclabError(
            "Hanley & McNeil's formula uses class sizes and does not support weights or clusters; use method='delong'"
        )
    if metric.options.get("ties", "half") != "half":
        raise AuclabError("Hanley & McNeil count ties ½; use method='delong' for other conventions")
    value, (pos, neg) = metric.value(observations), observations.class_rows
    error, tail = hanley_mcneil(value, pos.size, neg.size), 0.5 * (1.0 - level)
    if error == 0.0 or not 0.0 < value < 1.0:
        limits, notes = degenerate_limits(metric, value, observations, tail)
        return Estimate(value, error, *limits, level, "hanley_mcneil", notes)
    limits = transformed_limits(value, float(norm.isf(tail)) * error, metric.range)
    return Estimate(value, error, *limits, level, "hanley_mcneil")
