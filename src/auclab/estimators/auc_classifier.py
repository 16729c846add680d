"""Any formulation as a scikit-learn classifier, and its paths of λ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from auclab._core.base import Array, Norm
from auclab._core.forms import row_scores
from auclab._core.validation import weight_vector
from auclab.estimators.calibration import (
    Calibration,
    Cuts,
    check_method,
    decision_threshold,
    fit_calibration,
    held_out_scores,
    read_rule,
    standard_units,
)
from auclab.estimators.checked import (
    CANCELS,
    LinearClassifier,
    TakesFormulation,
    as_given_constraints,
    as_given_kernel,
    cancels,
    checked_rows,
    class_weights,
    default_penalty,
    named,
)
from auclab.estimators.inner_choice import FittedFold, InnerFold, PathFold, largest_jump, stratified_folds
from auclab.formulations import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints
from auclab.kernels import Kernel
from auclab.kernels.kernel import Gamma
from auclab.metrics.scorers import MetricScorer
from auclab.samples.tables import by_partition, is_collection, new_rows, require_memory
from auclab.solvers.dispatch import solve
from auclab.solvers.path import InnerPath, Point, solve_path
from auclab.solvers.path_parameters import simplest_first
from auclab.solvers.solution import Solution

if TYPE_CHECKING:
    from auclab.solvers.kernel.training import KernelMatrix

#: Relative gap of fits to resamples: against 1e-6 the optimism of 100 resamples changed by at most 1e-4 in 12 cases.
RESAMPLE_TOLERANCE = 1e-3


class FitsPaths(TakesFormulation):
    """Base class of a classifier that is fitted for several values of λ or z.

    It says how labels become two classes (`_two_classes`), what a solve is given (`_options`), which program is solved
    (`_program`) and how a solution is kept (`_adopt`).
    """

    kernel: Any
    _two_classes: Callable[..., Any]
    _check_choices: Callable[[], None]
    _options: Callable[..., dict[str, Any]]
    _program: Callable[[], Any]
    _adopt: Callable[..., Any]

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        values: Sequence[float],
        *,
        parameter: str = "penalty",
        kernel_matrix: KernelMatrix | None = None,
    ) -> tuple[Self, ...]:
        """Fit one classifier for each of `values` of λ (penalty) or z (threshold).

        The features are checked once, and each solve starts from the optimum at the previous value
        (`auclab.solvers.path.solve_path`). With a kernel it starts from the previous landmarks, and the kernel matrix
        is computed once.

        Parameters
        ----------
        X : array, table or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two classes.
        values : sequence of float
            Values of the parameter.
        parameter : {"penalty", "threshold"}
            Parameter of the formulation that is varied.
        kernel_matrix : KernelMatrix, optional
            With a kernel, its matrix for the rows of `X` if it has been computed; the kernel of the matrix is then
            used.

        Returns
        -------
        tuple of AUCClassifier
            In the order of `values`.

        Raises
        ------
        AuclabError
            As `auclab.solvers.path.solve_path`.
        KeyboardInterrupt
            Interrupted with Ctrl-C.
        """
        X, positive = self._two_classes(X, y)
        self._check_choices()
        options = self._options(positive, None) | {"parameter": parameter, "kernel_matrix": kernel_matrix}
        solutions = solve_path(self._program(), X, positive, values, **options)
        given = dict.fromkeys(self._of_formulations)
        fitted = []
        for solution in solutions:
            model = copy(self).set_params(formulation=solution.formulation, **given)
            fitted.append(model._adopt(named(self, solution), X, positive, None))
        return tuple(fitted)

    def inner_fold(
        self,
        train: tuple[Any, ArrayLike],
        held_out: tuple[Any, ArrayLike],
        values: Sequence[float],
        scorer: Callable[..., float],
        *,
        parameter: str = "penalty",
        weights: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
    ) -> InnerFold:
        """The scorers of all `values` on one fold, for `auclab.estimators.inner_choice.choose`.

        Parameters
        ----------
        train, held_out : (X, y)
            Rows and labels to fit and to measure.
        values : sequence of float
        scorer : callable
            ``(estimator, X, y, sample_weight=None) -> float``, larger is better; one of `auclab.metrics.get_scorer` is
            given the scores alone.
        parameter : {"penalty", "threshold"}
        weights : (array or None, array or None)
            Weights of both parts.
        """
        if self.kernel is not None:
            fitted = self.fit_path(*train, values, parameter=parameter)
            return FittedFold(fitted, lambda model: scorer(model, *held_out), simplest_first(parameter, values))
        model = copy(self)
        X, positive = model._two_classes(*train)
        X_held, y_held = new_rows(held_out[0], X.shape[1]), held_out[1]
        options = model._options(positive, weight_vector(weights[0], positive.size)) | {"parameter": parameter}
        del options["kernel"]
        program, weight = model._program(), {} if weights[1] is None else {"sample_weight": weights[1]}
        path = InnerPath(program, X, positive, values, **options)
        if isinstance(scorer, MetricScorer):

            def measure(point: Point) -> float:
                return scorer.of_scores(y_held, row_scores(X_held, point.coef) + point.intercept, **weight)

        else:
            model.set_params(calibration=None, **dict.fromkeys(self._of_formulations))

            def measure(point: Point) -> float:
                model.formulation = point.formulation
                return float(scorer(model._adopt(point, X, positive, None), X_held, y_held, **weight))

        return PathFold(path, measure, largest_jump(X_held, y_held))


def _calibrated(model: AUCClassifier) -> bool:
    if model.calibration is None:
        raise AttributeError("AUCClassifier has probabilities with calibration='sigmoid' or 'isotonic'")
    return True


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _with_calibration(method: _Method) -> _Method:
    """The method, there only with a calibration; type checkers see it as it is written."""
    found: _Method = available_if(_calibrated)(method)
    return found


class AUCClassifier(FitsPaths, LinearClassifier):
    """Binary classifier fitted by a hinge program, linear or with a kernel: the scores rank, the intercept classifies.

    Parameters
    ----------
    formulation : str or Program, optional
        By default that of `auclab run`: "ranksvm" with ``squared=True`` and, unless `penalty` is given, λ chosen by AUC
        on five inner folds. A name ("bauc", "generalized_bauc", "ranksvm", "csvm", "ecsvm", "partial_auc",
        "exact_auc"), which has the default parameters of the command line, or an object, e.g. ``RankSVM(0.01)``. In a
        search ``formulation__penalty`` is the penalty of the object.
    solver : {"auto", "highs", "newton", "interior", "cutting_plane", "clarabel", "scs", "integer"}
        As in `auclab.solve`.
    penalty : float, optional
        λ ≥ 0 of a formulation given by name. None, here and below, keeps the default of the formulation; a formulation
        without the parameter ignores it (`ignored_parameters_`), as the kernels of `sklearn.svm.SVC` do, so that
        formulations and penalties can be searched in one grid.
    threshold : float, optional
        z of "generalized_bauc" and "ecsvm", in the units of the scores.
    norm : {"l1", "l2", "linf"}, optional
        Norm of w in the penalty or the constraint.
    squared : bool, optional
        Whether the penalty is λ‖w‖² in place of λ‖w‖.
    max_fpr : float, optional
        Largest false positive rate of "partial_auc", in (0, 1].
    kernel : {"rbf", "laplacian", "polynomial", "precomputed"} or Kernel, optional
        Fit kernel scorers ``Σ_k c_k κ(x_k, x)`` in place of linear ones (`auclab.kernels`), for convex programs with
        the norm l2.
    gamma : float, "scale" or "auto"
        γ of a kernel given by name, as in `sklearn.svm.SVC`. Like `degree` and `coef0`, it is ignored by kernels
        without it and refused if `kernel` is an object.
    degree : int
        Degree of "polynomial".
    coef0 : float
        c₀ ≥ 0 of "polynomial".
    tolerance : float, optional
        Relative gap, > 0, at which the solver may stop; 1e-6 if left out, with a kernel 1e-3.
    time_limit : float, optional
        Seconds, > 0, for each solve.
    solver_options : dict, optional
        Further options of the solver, see `auclab.solve`; with a kernel `max_landmarks`, `memory_gb`.
    class_weight : dict or "balanced", optional
        Weights ≥ 0 by label, 1 for a label that is left out; "balanced" gives both classes the same total weight. They
        multiply `sample_weight` in programs over points. In programs over pairs they cancel, because every pair has one
        observation of each class: neither w nor the ranking changes, only the threshold does.
    constraints : Constraints or mapping, optional
        Constraints on the coefficients: `auclab.Constraints` or a mapping of its parameters. Columns are given by the
        names of a DataFrame or by number, and coefficients in the units of the `X` passed to `fit`. After a scaler in a
        pipeline these are scaled units: signs keep their meaning, but numbers do not. Column names reach the classifier
        only after ``pipeline.set_output(transform="pandas")``.
    decision_threshold : str, tuple or float
        Where `predict` cuts: a rule of `auclab.estimators.decision_threshold`, "prior", "youden", ``("cost", 1, 5)`` or
        ``("fpr", 0.05)``, or a number, in units of ``X @ coef_[0]``. "auto" is probability ½ with a calibration (with
        class weights: the probability at which both errors cost the same), otherwise the intercept of a program over
        points. Programs over pairs have no intercept, and "auto" is "prior": the predicted share of positives matches
        the sample. Rules are applied to held-out scores with a calibration, otherwise to the scores of the training
        sample.
    calibration : {"sigmoid", "isotonic"}, optional
        Adds `predict_proba`: a map of `auclab.estimators.fit_calibration` from the scores to probabilities, fitted to
        held-out scores of `cv` folds. It takes one more solve per fold, so it is off by default. Class weights do not
        enter the probabilities.
    cv : int, splitter or iterable of (train, test)
        Folds of the calibration; an int is the number of stratified folds (fewer if a class has fewer observations).

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Not set with a kernel, whose landmarks and coefficients are in `solution_`.
    intercept_ : array of shape (1,)
        Minus the decision threshold: `predict` cuts `decision_function` at 0.
    classes_ : array of shape (2,)
        Sorted; the second is the positive class.
    n_features_in_ : int
    solution_ : Solution
        Solution with its certificate.
    calibration_ : SigmoidCalibration or IsotonicCalibration
        From `decision_function` to the probability of the second class; with `calibration` only.
    ignored_parameters_ : tuple of str
        Parameters that were given and that the formulation does not have.
    n_iter_ : int
        Iterations of the solver, at least 1.

    Raises
    ------
    AuclabError
        As `auclab.solve`; parameters together with a formulation or kernel object, an unknown name, rule or
        calibration.

    See Also
    --------
    auclab.solve : The solver behind it, without scikit-learn.
    PolynomialAUCClassifier : Gradient ascent on a polynomial approximation of AUC.
    auclab.metrics.get_scorer : Scorers for cross-validation, such as that of buffered AUC.

    Examples
    --------
    >>> model = AUCClassifier("bauc").fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.predict([[0.9], [2.2]]).tolist(), model.solution_.objective
    (['no', 'yes'], 0.0)

    Formulations and penalties in one search; "bauc" has no penalty and ignores it:

    >>> from sklearn.model_selection import GridSearchCV
    >>> from auclab.metrics import get_scorer
    >>> grid = {"formulation": ["bauc", "ranksvm"], "penalty": [0.1, 1.0]}
    >>> X, y = [[0.0], [3.0], [1.0], [2.0], [5.0], [4.0]], [0, 0, 0, 1, 1, 1]
    >>> search = GridSearchCV(AUCClassifier(), grid, scoring=get_scorer("auc"), cv=2).fit(X, y)
    >>> search.cv_results_["mean_test_score"].shape
    (4,)
    """

    _of_formulations = ("penalty", "threshold", "norm", "squared", "max_fpr")
    solution_: Solution
    calibration_: Calibration
    ignored_parameters_: tuple[str, ...]
    n_iter_: int

    def __init__(
        self,
        formulation: str | Program | None = None,
        solver: str = "auto",
        *,
        penalty: float | None = None,
        threshold: float | None = None,
        norm: Norm | None = None,
        squared: bool | None = None,
        max_fpr: float | None = None,
        kernel: str | Kernel | None = None,
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        tolerance: float | None = None,
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        constraints: Constraints | ColumnConstraints | Mapping[str, Any] | None = None,
        decision_threshold: str | tuple[Any, ...] | float = "auto",
        calibration: Literal["sigmoid", "isotonic"] | None = None,
        cv: int | BaseCrossValidator | Iterable[Any] | None = 5,
    ):
        self.formulation = formulation
        self.solver = solver
        self.penalty = penalty
        self.threshold = threshold
        self.norm = norm
        self.squared = squared
        self.max_fpr = max_fpr
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tolerance = tolerance
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.class_weight = class_weight
        self.constraints = constraints
        self.decision_threshold = decision_threshold
        self.calibration = calibration
        self.cv = cv

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the program and certify the solution.

        Parameters
        ----------
        X : array, table or sparse matrix of shape (n_samples, n_features)
            Also what `auclab.solve` reads in blocks, such as a Dask DataFrame.
        y : array of shape (n_samples,), or str
            Two classes; of rows in blocks also the name of their column.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; integer weights act as repeated rows.

        Returns
        -------
        AUCClassifier
            This object.
        """
        X, positive = self._two_classes(X, y)
        self._check_choices()
        weight = weight_vector(sample_weight, positive.size)
        program = self._program()
        if self.formulation is None and self.penalty is None:
            model = copy(self).set_params(formulation=program, **dict.fromkeys(self._of_formulations))
            program = program.with_params(penalty=default_penalty(model, X, positive, weight))
        return self._adopt(self._solve(program, X, positive, weight), X, positive, weight)

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,), larger for the positive class; predictions change at 0.

        Of a Dask DataFrame or Array they are a Dask Series or Array.
        """
        check_is_fitted(self)
        if is_collection(X):
            return by_partition(self, "decision_function", X, float)
        if hasattr(self, "coef_"):
            return super().decision_function(X)
        return self.solution_.decision_function(checked_rows(self, X)) - self.solution_.intercept + self.intercept_[0]

    def for_resamples(self) -> Self:
        """An unfitted copy for the scores of resamples: it starts at this solution and stops at a gap of 10⁻³.

        The start is for solver newton without a kernel. A `tolerance` that was given stays, and every fit has its
        certificate. Without a calibration its `decision_threshold` is 0, which is not computed.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        """
        check_is_fitted(self)
        near = clone(self)
        if self.calibration is None:
            near.set_params(decision_threshold=0.0)
        if self.tolerance is None and self.kernel is None:
            near.set_params(tolerance=RESAMPLE_TOLERANCE)
        if self.solution_.solver == "newton" and self.solution_.coef is not None:
            start = self.solution_.coef, self.solution_.intercept
            near.set_params(solver_options={**(self.solver_options or {}), "start": start})
        return near

    @_with_calibration
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of both classes, shape (n_samples, 2); there with `calibration` only."""
        check_is_fitted(self)
        positive = self.calibration_(self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])

    @_with_calibration
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):  # an isotonic probability may be 0
            return np.log(self.predict_proba(X))

    def _solve(self, program: Program, X: Any, positive: NDArray[np.bool_], weight: Array | None) -> Solution:
        solution = named(self, solve(program, X, positive, **self._options(positive, weight)))
        if self.class_weight is None or not cancels(program):
            return solution
        return replace(solution, notes=(*solution.notes, CANCELS))

    def _options(self, positive: NDArray[np.bool_], weight: Array | None) -> dict[str, Any]:
        """What a solve is given besides program and data."""
        return {
            "solver": self.solver,
            "tolerance": self.tolerance,
            "time_limit": self.time_limit,
            "sample_weight": self._weights(positive, weight),
            "constraints": self._column_constraints(),
            "kernel": self._kernel(),
            **(self.solver_options or {}),
        }

    def _adopt(self, solution: Solution | Point, X: Any, positive: NDArray[np.bool_], weight: Array | None) -> Self:
        """Set what `fit` sets."""
        self.solution_ = solution  # type: ignore[assignment]  # of a point only while it is measured
        self.n_iter_ = max(1, solution.iterations)
        self.__dict__.pop("coef_", None)  # of an earlier fit without a kernel
        if solution.coef is not None:
            self.coef_ = solution.coef[None, :]
        if isinstance(self.decision_threshold, int | float) and self.calibration is None:  # nothing looks at the scores
            self.intercept_ = np.array([-float(self.decision_threshold)])
            return self
        if solution.coef is not None:  # without the rounding of an added intercept
            scores = row_scores(X, solution.coef)
        else:
            scores = solution.decision_function(X) - solution.intercept
        seen = positive, scores, weight
        if self.calibration is not None:
            y_held, z_held, w_held = self._held_out(solution.formulation, X, positive, weight)
            map_of_units = fit_calibration(y_held, z_held, self.calibration, sample_weight=w_held)
            centre, unit = standard_units(scores, weight)
            calibration = map_of_units.in_units(unit, centre)
            seen = y_held, centre + unit * z_held, w_held
            cut = self._cut(solution, *seen, calibration)
            self.calibration_ = calibration.in_units(1.0, -cut)
        else:
            cut = self._cut(solution, *seen, None)
        self.intercept_ = np.array([-cut])
        return self

    def _cut(
        self,
        solution: Solution | Point,
        positive: NDArray[np.bool_],
        scores: Array,
        weight: Array | None,
        calibration: Calibration | None,
    ) -> float:
        """The value of ``X @ coef`` above which an observation is called positive."""
        weights = self._weights(positive, weight)
        if self.decision_threshold != "auto":
            return decision_threshold(positive, scores, self.decision_threshold, sample_weight=weights)
        if calibration is not None:
            of_negative, of_positive = self._class_weights(positive, weight)
            cut = calibration.score_at(of_negative / (of_negative + of_positive))
            return cut if np.isfinite(cut) else Cuts.of(positive, scores, weight, None).ends(cut < 0)
        if solution.formulation.comparisons.name == "points":
            return -solution.intercept
        return decision_threshold(positive, scores, "prior", sample_weight=weights)

    def _held_out(
        self, program: Program, X: Any, positive: NDArray[np.bool_], weight: Array | None
    ) -> tuple[NDArray[np.bool_], Array, Array | None]:
        """Labels of the rows of the folds, their scores in standard units, and their weights."""
        require_memory(X, "a calibration needs rows in memory, and X is in blocks; set calibration=None")

        kernel = self._kernel()

        def fit(train: NDArray[np.intp]) -> Any:
            part = None if weight is None else weight[train]
            of_training = X if kernel is None else kernel.columns_of(X, train)
            solution = self._solve(program, of_training[train], positive[train], part)
            return lambda rows: solution.decision_function(of_training[rows])

        rows, scores = held_out_scores(
            fit, stratified_folds(self.cv, positive, weight, hint="set calibration=None"), weight
        )
        return positive[rows], scores, None if weight is None else weight[rows]

    def _weights(self, positive: NDArray[np.bool_], weight: Array | None) -> Array | None:
        """Weights of the observations, with those of their classes."""
        if self.class_weight is None:
            return weight
        of_negative, of_positive = self._class_weights(positive, weight)
        weights = np.where(positive, of_positive, of_negative)
        return weights if weight is None else weights * weight

    def _class_weights(self, positive: NDArray[np.bool_], weight: Array | None) -> tuple[float, float]:
        return class_weights(self.class_weight, self.classes_.tolist(), positive, weight)

    def _program(self) -> Program:
        program, self.ignored_parameters_ = self._given_program()
        return program

    def _kernel(self) -> Kernel | None:
        return as_given_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _column_constraints(self) -> ColumnConstraints | None:
        """The constraints on the columns that `fit` has seen."""
        return as_given_constraints(self.constraints, self._columns())

    def _check_choices(self) -> None:
        """Refuse bad choices before the solve."""
        if self.calibration is not None:
            check_method(self.calibration)
        if self.decision_threshold != "auto":
            read_rule(self.decision_threshold)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # With a precomputed kernel searches take rows and columns of the matrix.
        tags.input_tags.pairwise = "precomputed" in (self.kernel, getattr(self.kernel, "name", None))
        return tags
