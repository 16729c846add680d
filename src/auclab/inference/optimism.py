"""Validation of a model on the rows that it was fitted to: optimism by the bootstrap.

A model looks better on its own rows than on others. Refitted to a bootstrap sample b, it has the value ``V_b`` there
and ``V_b,all`` on the rows at hand; the mean difference is the optimism (Efron & Gong 1983; Harrell, Lee & Mark 1996),

    corrected = apparent − mean_b (V_b − V_b,all).

On the rows that a bootstrap sample has left out, about 37 %, the model has the value ``V_b,out``: too low, since it saw
only 63 % of the rows. The .632+ estimate weighs both (Efron & Tibshirani 1997, JASA 92, 548–560): with ``out`` the mean
of ``V_b,out``, at least the value of a scorer that knows nothing, γ,

    R = (apparent − out)/(apparent − γ) in [0, 1],    w = .632/(1 − .368 R),    plus632 = (1 − w) apparent + w out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_column, distinct
from auclab.datasets.splits import take_rows
from auclab.inference.estimation import check_level, estimate
from auclab.metrics.registry import METRICS

#: Of a scorer that says nothing, where it is not 0: rows are as often ranked right as wrong.
_NO_INFORMATION = {"auc": 0.5, "soft_auc": 0.5, "probabilistic_auc": 0.5, "ferri_auc": 0.5}


@dataclass(frozen=True)
class ValidatedModel:
    """A model's metric on its own rows, corrected for its optimism.

    Attributes
    ----------
    apparent : float
        On the rows of the fit.
    optimism : float
        Mean difference between a bootstrap sample and the rows at hand.
    corrected : float
        ``apparent − optimism``.
    lower, upper : float
        Interval of the apparent value, moved down by the optimism (Noma et al. 2021, Statistics in Medicine 40,
        5691–5701): it takes the optimism for known.
    plus632 : float
        The .632+ estimate.
    level : float
    repeats : int
        Bootstrap samples with both classes inside and outside, which may be fewer than requested.

    See Also
    --------
    validate : Computes it.

    Examples
    --------
    >>> ValidatedModel(0.9, 0.05, 0.85, 0.78, 0.9, 0.84, 0.95, 200).corrected
    0.85
    """

    apparent: float
    optimism: float
    corrected: float
    lower: float
    upper: float
    plus632: float
    level: float
    repeats: int


def validate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    metric: str = "auc",
    *,
    repeats: int = 200,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    **options: Any,
) -> ValidatedModel:
    """Apparent, optimism-corrected and .632+ value of a metric of a classifier, by refits to bootstrap samples.

    Everything that looks at the labels has to be part of the estimator: a `Pipeline` with its selection of features, a
    search with its grid.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``decision_function`` or ``predict_proba``. It is cloned, and not fitted itself. One with a method
        ``for_resamples`` is refitted as its result (`auclab.estimators.AUCClassifier.for_resamples`).
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Two labels; the second of the sorted labels is positive.
    metric : str
        A name in `auclab.metrics.METRICS`.
    repeats : int
        Number of bootstrap samples, 10 or more.
    level : float
        Confidence level in (0, 1).
    seed : int
        The same seed draws the same samples.
    n_jobs : int, optional
        Fits at the same time, as joblib counts them.
    **options
        Options of the metric.

    Returns
    -------
    ValidatedModel

    Raises
    ------
    AuclabError
        Labels that are not two, fewer than 10 repeats, an unknown metric, an estimator without scores.

    See Also
    --------
    auclab.estimate : Interval of a scorer that was fixed before the sample.

    Examples
    --------
    Twenty features of noise: the model ranks its own 40 rows nearly right, and knows nothing. The optimism is not all
    that it is flattered by, .632+ sees more.

    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> found = validate(LogisticRegression(C=10), rng.normal(size=(40, 20)), [0, 1] * 20, repeats=20)
    >>> found.apparent > 0.9, found.optimism > 0.1, found.plus632 < 0.75
    (True, True, True)
    """
    from sklearn.base import clone
    from sklearn.utils import indexable
    from sklearn.utils.parallel import Parallel, delayed

    check_level(level)
    if metric not in METRICS:
        raise AuclabError(f"no metric is named {metric!r}; choose one of {', '.join(METRICS)}")
    if not isinstance(repeats, int | np.integer) or repeats < 10:
        raise AuclabError(f"repeats must be a whole number, at least 10, got {repeats!r}; 200 is usual")
    X, labels = indexable(X, as_column("y", y))
    known = distinct("labels", labels)
    if known.size != 2:
        raise AuclabError(f"two classes are needed, got {known.size}; validate one class against the rest")
    positive = labels == known[1]
    function = METRICS[metric].function
    sign = 1.0 if METRICS[metric].greater_is_better else -1.0

    def scores_of(fitted: Any) -> Array:
        """Its scores of all rows."""
        for name in ("decision_function", "predict_proba"):
            if hasattr(fitted, name):
                found = np.asarray(getattr(fitted, name)(X))
                return found[:, 1] if found.ndim == 2 else found
        raise AuclabError(f"{type(fitted).__name__} has no decision_function and no predict_proba; use one that scores")

    def one(drawn: Any) -> tuple[float, float, float] | None:
        left_out = np.flatnonzero(np.bincount(drawn, minlength=positive.size) == 0)
        if any(np.unique(positive[part]).size < 2 for part in (drawn, left_out)):
            return None
        scores = scores_of(clone(refitted).fit(take_rows(X, drawn), labels[drawn]))
        of_sample, of_all, of_rest = (
            function(positive[part], scores[part], **options) for part in (drawn, slice(None), left_out)
        )
        return of_sample, of_all, of_rest

    fitted = clone(estimator).fit(X, labels)
    # What is fitted to resamples need not be as exact, and lies near this fit.
    refitted = fitted.for_resamples() if hasattr(fitted, "for_resamples") else estimator
    scores = scores_of(fitted)
    rng = np.random.default_rng(seed)
    samples = [rng.integers(positive.size, size=positive.size) for _ in range(repeats)]
    found = [each for each in Parallel(n_jobs=n_jobs)(delayed(one)(drawn) for drawn in samples) if each is not None]
    if len(found) < 10:
        raise AuclabError(
            f"only {len(found)} of {repeats} bootstrap samples have both classes inside and outside; the smaller class "
            f"has {min(positive.sum(), (~positive).sum())} rows"
        )
    on_sample, on_all, on_rest = np.array(found).T
    apparent, optimism = function(positive, scores, **options), float(np.mean(on_sample - on_all))
    interval = estimate(positive, scores, metric, level=level, seed=seed, **options)
    return ValidatedModel(
        apparent,
        optimism,
        apparent - optimism,
        interval.lower - optimism,
        interval.upper - optimism,
        _plus632(sign * apparent, sign * float(np.mean(on_rest)), sign * _NO_INFORMATION.get(metric, 0.0)) * sign,
        level,
        len(found),
    )


def _plus632(apparent: float, out: float, no_information: float) -> float:
    """The .632+ estimate of values of which larger ones are better.

    Examples
    --------
    R = (1 − 0.75)/(1 − 0.5) = ½, w = 0.632/0.816:

    >>> round(_plus632(1.0, 0.75, 0.5), 6)
    0.806373
    """
    out = max(out, min(no_information, apparent))
    room = apparent - no_information
    rate = min(max((apparent - out) / room, 0.0), 1.0) if room > 0.0 else 0.0
    weight = 0.632 / (1.0 - 0.368 * rate)
    return (1.0 - weight) * apparent + weight * out
