"""`AUCClassifier` with its penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import get_scorer as sklearn_scorer
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import BaseCrossValidator

from auclab._core.base import Array, AuclabError, Norm
from auclab._core.validation import check_types, weight_vector
from auclab._core.words import did_you_mean
from auclab.estimators.auc_classifier import AUCClassifier
from auclab.estimators.checked import LinearClassifier, as_given_constraints, as_given_program
from auclab.estimators.inner_choice import choose, stratified_folds
from auclab.formulations import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints
from auclab.metrics.registry import METRICS
from auclab.metrics.scorers import get_scorer
from auclab.samples.as_sample import as_sample
from auclab.samples.tables import require_memory
from auclab.solvers.path_parameters import DEFAULT_COUNT, along, penalty_series
from auclab.solvers.solution import Solution


class AUCClassifierCV(LinearClassifier):
    """Classifier fitted by a hinge program with the penalty λ of the best cross-validated AUC.

    Like `sklearn.linear_model.LogisticRegressionCV`: on every fold the scorers of all λ are computed along one path,
    the λ with the largest mean score is chosen (the largest of several), and the program is solved with it on all rows,
    with a certificate. The path is first solved to low accuracy, and again only for those λ that may still be the best
    (`auclab.estimators.inner_choice`).

    Parameters
    ----------
    formulation : str or Program
        A formulation with a penalty: "ranksvm", "csvm", "partial_auc", or an object, whose own λ is not used.
    penalties : int or sequence of float
        The values λ > 0, or the number of values of the series 1, 3, 10, 30, … below the λ at which w = 0: ``‖Δ‖_*``
        for λ‖w‖ and ``‖Δ‖_*²/2`` for λ‖w‖², Δ the difference of the class means (`auclab.solvers.path_parameters`).
    cv : int, splitter or iterable of (train, test)
        An int is the number of stratified folds (fewer if a class has fewer observations).
    scoring : str or callable
        A metric of `auclab.metrics.METRICS` without options, otherwise the name of a scorer of scikit-learn, or a
        scorer ``(estimator, X, y) -> float`` such as those of `auclab.metrics.get_scorer`.
    solver, norm, squared, tolerance, time_limit, class_weight, constraints, decision_threshold
        As in `AUCClassifier`.

    Attributes
    ----------
    penalty_ : float
        The chosen λ.
    penalties_ : array of shape (n_penalties,)
        The values compared, ascending.
    scores_ : array of shape (n_folds, n_penalties)
        Score on the held-out rows, accurate to the tolerance where the choice was close.
    gaps_ : array of shape (n_folds, n_penalties)
        Relative gaps of the scorers behind `scores_`.
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
    classes_ : array of shape (2,)
    n_features_in_ : int
    solution_ : Solution
        On all rows at `penalty_`, with its certificate.
    n_iter_ : int
        Iterations of that solve, at least 1.

    Raises
    ------
    AuclabError
        As `AUCClassifier`; a formulation without λ, no penalties, too few observations of a class for two folds.

    See Also
    --------
    AUCClassifier : With a given penalty.
    sklearn.model_selection.GridSearchCV : Any parameters, every fit on its own.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.5, 0.0], [3.0, 1.0], [4.0, 0.0]]
    >>> model = AUCClassifierCV(penalties=3, cv=3).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.penalties_.tolist(), model.scores_.shape     # ‖Δ‖ = 1.86
    ([0.1, 0.3, 1.0], (3, 3))
    >>> model.penalty_, model.scores_.mean(axis=0).round(3).tolist()
    (1.0, [0.667, 0.667, 1.0])
    """

    penalty_: float
    penalties_: Array
    scores_: Array
    gaps_: Array
    solution_: Solution
    n_iter_: int

    def __init__(
        self,
        formulation: str | Program = "ranksvm",
        *,
        penalties: int | Sequence[float] = DEFAULT_COUNT,
        cv: int | BaseCrossValidator | Iterable[Any] | None = 5,
        scoring: str | Callable[..., float] = "auc",
        solver: str = "auto",
        norm: Norm | None = None,
        squared: bool | None = None,
        tolerance: float | None = None,
        time_limit: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        constraints: Constraints | ColumnConstraints | Mapping[str, Any] | None = None,
        decision_threshold: str | tuple[Any, ...] | float = "auto",
    ):
        self.formulation = formulation
        self.penalties = penalties
        self.cv = cv
        self.scoring = scoring
        self.solver = solver
        self.norm = norm
        self.squared = squared
        self.tolerance = tolerance
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.constraints = constraints
        self.decision_threshold = decision_threshold

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Choose the penalty, and solve the program with it on all rows.

        Parameters
        ----------
        X : array, table or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two classes.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0, used in the fits and in the score.
        groups : array of shape (n_samples,), optional
            For a `cv` that keeps groups together.

        Returns
        -------
        AUCClassifierCV
            This object.
        """
        check_types(self)
        given, labels = X, y
        names = {name: value for name in ("norm", "squared") if (value := getattr(self, name)) is not None}
        program, _ = as_given_program(self.formulation, names)
        along(program, "penalty", [1.0])  # says where there is no λ
        require_memory(X, "cross-validation needs rows in memory, and X is in blocks; give AUCClassifier a penalty")
        X, positive = self._two_classes(X, y)
        weight = weight_vector(sample_weight, positive.size)
        values = self._values(program, X, positive, weight)
        constraints = as_given_constraints(self.constraints, self._columns())
        classifier = self._classifier(program, constraints)
        scorer, held = self._scorer(), self.classes_[positive.astype(int)]

        def fold(train: NDArray[np.intp], test: NDArray[np.intp]) -> Any:
            parts = (X[train], held[train]), (X[test], held[test])
            weights = (None, None) if weight is None else (weight[train], weight[test])
            return classifier.inner_fold(*parts, values, scorer, weights=weights)

        folds = stratified_folds(self.cv, positive, weight, groups=groups, hint="choose a penalty for AUCClassifier")
        choice = choose([partial(fold, *rows) for rows in folds], len(values))
        self.penalties_, self.penalty_ = np.array(values), values[choice.selected]
        self.scores_, self.gaps_ = choice.scores.T, choice.gaps.T
        fitted = self._classifier(program.with_params(penalty=self.penalty_), constraints).fit(given, labels, weight)
        self.coef_, self.intercept_ = fitted.coef_, fitted.intercept_
        self.solution_, self.n_iter_ = fitted.solution_, fitted.n_iter_
        return self

    def _classifier(self, program: Program, constraints: ColumnConstraints | None) -> AUCClassifier:
        return AUCClassifier(
            program,
            self.solver,
            tolerance=self.tolerance,
            time_limit=self.time_limit,
            class_weight=self.class_weight,
            constraints=constraints,
            decision_threshold=self.decision_threshold,
        )

    def _values(self, program: Program, X: Any, positive: NDArray[np.bool_], weight: Array | None) -> list[float]:
        if not isinstance(self.penalties, int | np.integer):
            values = sorted({float(value) for value in self.penalties})
            along(program, "penalty", values)
            return values
        if self.penalties < 1:
            raise AuclabError(f"penalties must be a number ≥ 1 or a list of values, got {self.penalties}")
        return penalty_series(program, as_sample(X, positive, weight), int(self.penalties))

    def _scorer(self) -> Callable[..., float]:
        if not isinstance(self.scoring, str):
            return self.scoring
        if self.scoring in METRICS:
            return get_scorer(self.scoring)
        try:
            return sklearn_scorer(self.scoring)
        except ValueError as error:
            known = {**METRICS, **dict.fromkeys(get_scorer_names())}
            meant = did_you_mean(self.scoring, known)
            raise AuclabError(
                f"scoring={self.scoring!r} is neither a metric of auclab nor a scorer of scikit-learn{meant}"
            ) from error
