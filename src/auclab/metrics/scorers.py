"""The metrics as scikit-learn scorers, for ``scoring=`` in a search or a cross-validation.

scikit-learn looks up strings in a table of its own, which nothing public adds to: ``scoring=get_scorer("bauc")`` is
what works where ``scoring="bauc"`` does not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from auclab._core.base import AuclabError
from auclab._core.forms import as_column, distinct
from auclab._core.validation import check_choice
from auclab._core.words import did_you_mean
from auclab.metrics.registry import METRICS

_ANY_SCORE = ("decision_function", "predict_proba")


def get_scorer(
    name: str,
    *,
    response_method: str | Sequence[str] | None = None,
    undefined: Literal["raise", "nan"] = "raise",
    **options: Any,
) -> MetricScorer:
    """A metric as a scorer ``(estimator, X, y, sample_weight=None) -> float``; larger is better.

    Parameters
    ----------
    name : str
        ``"auc"``, ``"bauc"``, ``"partial_auc"``, … (`auclab.metrics.METRICS`). ``"auc_threshold"`` and
        ``"ranking_superquantile"`` are errors and are negated.
    response_method : str or sequence of str, optional
        The method that computes the scores; of several, the first that the estimator has. By default
        ``decision_function``, then ``predict_proba``; for ``"scored_auc"``, ``"ferri_auc"`` and
        ``"probabilistic_auc"``, whose values can be compared between models only for scores in [0, 1],
        ``predict_proba`` alone.
    undefined : {"raise", "nan"}
        What a part of the rows with one class alone gives: an error, which scikit-learn's search reports as a failed
        fold, or NaN and a warning. Of the folds of a search take the mean without them: ``np.nanmean`` of
        ``cv_results_["split0_test_score"]``, …
    **options
        Options of the metric, such as ``beta`` or ``max_fpr``; and ``pos_label``, by default the second of the two
        sorted labels, which is the estimator's ``classes_[1]``.

    Returns
    -------
    MetricScorer
        For `GridSearchCV`, `cross_val_score`, …; with metadata routing,
        ``scorer.set_score_request(sample_weight=True)`` requests weights.

    Raises
    ------
    AuclabError
        An unknown name, unknown or missing options; on use, an estimator without scores, and what the metric raises.

    See Also
    --------
    auclab.metrics.METRICS : The metrics by name.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> scorer = get_scorer("partial_auc", max_fpr=0.5, standardized="mcclish")
    >>> scorer(model, [[0.0], [3.0], [2.0], [1.0]], ["no", "yes", "no", "yes"])  # TPR ½ up to FPR ½
    0.6666666666666666

    Eight metrics need options; `Metric.example` has some that work:

    >>> for metric in METRICS.values():
    ...     if metric.example:
    ...         print(f"get_scorer({metric.name!r}, {metric.example})")
    get_scorer('gauc', modifier=numpy.tanh)
    get_scorer('partial_auc', max_fpr=0.1, standardized='mcclish')
    get_scorer('polynomial_soft_auc', beta=2.0)
    get_scorer('probabilistic_auc', width=0.1)
    get_scorer('ranking_superquantile', level=0.9)
    get_scorer('soft_auc', beta=2.0)
    get_scorer('two_way_partial_auc', min_tpr=0.5, max_fpr=0.5)
    get_scorer('weighted_auc', weight=numpy.square)
    """
    if name not in METRICS:
        raise AuclabError(
            f"no scorer is named {name!r}{did_you_mean(name, METRICS)}; choose one of {', '.join(METRICS)}, or "
            "sklearn.metrics.get_scorer for those of scikit-learn"
        )
    metric = METRICS[name]
    try:
        metric.bind({key: value for key, value in options.items() if key != "pos_label"})
    except AuclabError as error:
        example = f"{name!r}, {metric.example}" if metric.example else repr(name)
        raise AuclabError(f"{error}. This works: get_scorer({example})") from error
    default = ("predict_proba",) if metric.needs == "probabilities" else _ANY_SCORE
    methods = default if response_method is None else response_method
    check_choice("undefined", undefined, ("raise", "nan"))
    return MetricScorer(name, (methods,) if isinstance(methods, str) else tuple(methods), options, undefined)


class MetricScorer:
    """A metric as a scikit-learn scorer, made by `get_scorer`."""

    def __init__(self, name: str, methods: tuple[str, ...], options: dict[str, Any], undefined: str = "raise"):
        self._name, self._methods, self._options, self._undefined = name, methods, options, undefined
        self._scorer = make_scorer(
            _SecondLabelPositive(METRICS[name].function),
            response_method=methods,
            greater_is_better=METRICS[name].greater_is_better,
            **options,
        )

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The metric of a fitted binary classifier on a sample."""
        if not any(hasattr(estimator, method) for method in self._methods):
            hint = (
                "calibrate it (sklearn.calibration.CalibratedClassifierCV) or, if its scores lie on one scale, "
                "pass response_method='decision_function'"
                if self._methods == ("predict_proba",)
                else "use a classifier that scores"
            )
            raise AuclabError(
                f"the scorer of {self._name} needs {' or '.join(self._methods)}, which "
                f"{type(estimator).__name__} does not have; {hint}"
            )
        if self._undefined == "nan" and distinct("labels", as_column("labels", y)).size < 2:
            warnings.warn(f"{self._name} is undefined on {len(np.asarray(y))} rows of one class: NaN", stacklevel=2)
            return math.nan
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._scorer(estimator, X, y, **weight))

    def of_scores(self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The metric of scores that were computed already; larger is better."""
        metric = METRICS[self._name]
        if "decision_function" not in self._methods:
            raise AuclabError(f"the scorer of {self._name} needs predict_proba; choose a metric of scores, such as auc")
        value = _SecondLabelPositive(metric.function)(y, scores, sample_weight=sample_weight, **self._options)
        return value if metric.greater_is_better else -value

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Request metadata, ``sample_weight=True``; needs scikit-learn's metadata routing to be enabled."""
        self._scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """The requests, as scikit-learn's metadata routing reads them."""
        return self._scorer.get_metadata_routing()

    def __repr__(self) -> str:
        return f"get_scorer({', '.join([repr(self._name), *(f'{k}={v!r}' for k, v in self._options.items())])})"


@dataclass(frozen=True)
class _SecondLabelPositive:
    """A metric whose positive class, unless it is named, is the second of the two sorted labels."""

    metric: Callable[..., float]

    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, pos_label: Any = None, **options: Any) -> float:
        if pos_label is None:
            labels = distinct("labels", as_column("labels", y_true))
            pos_label = labels[1] if labels.size == 2 else None  # otherwise the metric says what is wrong
        return self.metric(y_true, y_score, pos_label=pos_label, **options)


bauc_scorer = get_scorer("bauc")
voros_scorer = get_scorer("voros")
soft_auc_scorer = get_scorer("soft_auc", beta=10.0)
