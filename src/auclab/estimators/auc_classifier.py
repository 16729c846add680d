"""scikit-learn classifier for all formulations and solvers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.estimators.linear_classifier import LinearClassifier, separating_score
from auclab.formulations import FORMULATIONS, Program
from auclab.solvers.dispatch import solve
from auclab.solvers.path import solve_path
from auclab.solvers.solution import Solution
from auclab.types import AuclabError

#: Parameters that belong to a formulation given by name.
_OF_FORMULATIONS = ("penalty", "threshold", "norm", "squared", "max_fpr")


class AUCClassifier(LinearClassifier):
    """Linear scorer that solves a hinge program; the scores rank, the intercept classifies.

    Parameters
    ----------
    formulation : str or Program
        A name ("bauc", "generalized_bauc", "ranksvm", "csvm", "ecsvm", "partial_auc", "exact_auc") or an object, e.g.
        ``RankSVM(0.01)``.
    solver : {"auto", "highs", "newton", "cutting_plane", "clarabel", "scs"}
        As in `auclab.solve`.
    penalty : float, optional
        λ ≥ 0 of a formulation given by name. None, here and below, leaves the default of the formulation; a parameter
        that the formulation does not have is an error.
    threshold : float, optional
        z of "generalized_bauc" and "ecsvm", in the units of the scores.
    norm : {"l1", "l2", "linf"}, optional
        Norm of w in the penalty or the constraint.
    squared : bool, optional
        Whether the penalty is λ‖w‖² in place of λ‖w‖.
    max_fpr : float, optional
        Largest false positive rate of "partial_auc", in (0, 1].
    tolerance : float
        Relative gap, > 0, at which the solver may stop.
    time_limit : float, optional
        Seconds, > 0, for the solver.
    solver_options : dict, optional
        Further options of the solver, see `auclab.solve`.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
        From the program over points; over pairs, where it cancels, the value that maximises TPR − FPR on the
        training sample (in the middle of the gap between two scores).
    classes_ : array of shape (2,)
        Sorted; the second is the positive class.
    n_features_in_ : int
    solution_ : Solution
        Solution with its certificate.
    n_iter_ : int
        Iterations of the solver, at least 1.

    Raises
    ------
    AuclabError
        As `auclab.solve`; a parameter that the formulation does not have, or one that it needs and that is missing.

    See Also
    --------
    auclab.solve : The solver behind it, without scikit-learn.
    PolynomialAUCClassifier : Gradient ascent on a polynomial approximation of AUC.
    bauc_scorer : Scorer for cross-validation by buffered AUC.

    Examples
    --------
    >>> model = AUCClassifier("bauc").fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.predict([[0.9], [2.2]]).tolist(), model.solution_.objective
    (['no', 'yes'], 0.0)
    """

    def __init__(
        self,
        formulation: str | Program = "bauc",
        solver: str = "auto",
        *,
        penalty: float | None = None,
        threshold: float | None = None,
        norm: str | None = None,
        squared: bool | None = None,
        max_fpr: float | None = None,
        tolerance: float = 1e-6,
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
    ):
        self.formulation = formulation
        self.solver = solver
        self.penalty = penalty
        self.threshold = threshold
        self.norm = norm
        self.squared = squared
        self.max_fpr = max_fpr
        self.tolerance = tolerance
        self.time_limit = time_limit
        self.solver_options = solver_options

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the program and certify the solution.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two classes.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; integer weights act as repeated rows.

        Returns
        -------
        AUCClassifier
            This object.
        """
        X, positive = self._two_classes(X, y)
        solution = solve(
            self._program(),
            X,
            positive,
            solver=self.solver,
            tolerance=self.tolerance,
            time_limit=self.time_limit,
            sample_weight=sample_weight,
            **(self.solver_options or {}),
        )
        return self._adopt(solution, X, positive, sample_weight)

    def fit_path(
        self, X: Any, y: ArrayLike, values: Sequence[float], *, parameter: str = "penalty"
    ) -> tuple[AUCClassifier, ...]:
        """Fit one classifier for each of `values` of λ (penalty) or z (threshold).

        The features are checked once, and each solve starts from the optimum of the value before
        (`auclab.solvers.path.solve_path`).

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two classes.
        values : sequence of float
            Values of the parameter.
        parameter : {"penalty", "threshold"}
            Parameter of the formulation that is varied.

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
        solutions = solve_path(
            self._program(),
            X,
            positive,
            values,
            parameter=parameter,
            solver=self.solver,
            tolerance=self.tolerance,
            time_limit=self.time_limit,
            **(self.solver_options or {}),
        )
        given = dict.fromkeys(_OF_FORMULATIONS)
        fitted = []
        for solution in solutions:
            model = copy(self).set_params(formulation=solution.formulation, **given)
            fitted.append(model._adopt(solution, X, positive, None))
        return tuple(fitted)

    def _adopt(self, solution: Solution, X: Any, positive: NDArray[np.bool_], sample_weight: ArrayLike | None) -> Self:
        """Set what `fit` sets."""
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self.coef_ = solution.coef[None, :]
        intercept = solution.intercept
        if solution.formulation.over == "pairs":
            intercept = -separating_score(positive, X @ solution.coef, sample_weight)
        self.intercept_ = np.array([intercept])
        return self

    def _program(self) -> Program:
        given = {name: value for name in _OF_FORMULATIONS if (value := getattr(self, name)) is not None}
        if isinstance(self.formulation, str):
            return formulation_named(self.formulation, **given)
        if given:
            raise AuclabError(
                f"{', '.join(given)} belong to a formulation given by name; set them on {self.formulation}"
            )
        return self.formulation


def formulation_named(name: str, **parameters: Any) -> Program:
    """Formulation by its name in `auclab.formulations.FORMULATIONS`.

    Parameters
    ----------
    name : str
        Such as ``"bauc"`` or ``"ranksvm"``.
    **parameters
        Parameters of the formulation, such as `penalty`.

    Returns
    -------
    Program

    Raises
    ------
    AuclabError
        No such formulation, a parameter that it does not have, or a required one that is missing.

    Examples
    --------
    >>> formulation_named("ranksvm", penalty=0.1)
    RankSVM(penalty=0.1, norm='l2', squared=False)
    """
    if name not in FORMULATIONS:
        raise AuclabError(f"formulation={name!r} is unknown; choose one of {', '.join(sorted(FORMULATIONS))}")
    program = FORMULATIONS[name]
    signature = inspect.signature(program)
    try:
        signature.bind(**parameters)
    except TypeError as error:
        raise AuclabError(f"formulation={name} takes {signature}: {error}") from error
    return program(**parameters)
