"""Estimators that are fitted along a path of λ or z, and measured along one on an inner fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from auclab.estimators.checked import TakesFormulation, named
from auclab.estimators.inner_choice import FittedFold, InnerFold, PathFold, largest_jump
from auclab.metrics.scorers import MetricScorer
from auclab.samples.as_sample import new_rows
from auclab.samples.row_scores import row_scores
from auclab.solvers.path import InnerPath, Point, solve_path
from auclab.solvers.path_parameters import simplest_first
from auclab.validation import weight_vector

if TYPE_CHECKING:
    from auclab.solvers.kernel.training import KernelMatrix


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
