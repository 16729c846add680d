"""scikit-learn classifier for all formulations and solvers."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab import formulations
from auclab.estimators.linear_classifier import LinearClassifier, separating_score
from auclab.formulations.base import Program
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
    solver : str
        As in `auclab.solve`.
    penalty, threshold, norm, squared, max_fpr : optional
        Parameters of a formulation given by name; None leaves it at its own default. One that the formulation does
        not have is an error.
    tolerance : float
        Relative gap aimed at.
    time_limit : float, optional
        Seconds for the solver.
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
    solution_ : Solution
        With the certificate.
    n_iter_ : int

    Raises
    ------
    AuclabError
        As `auclab.solve`; a parameter that the formulation does not have, or one that it needs and that is missing.

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
        """Solve the program on ``X`` (n_samples, n_features), ``y`` (two classes) and certify the solution."""
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
        """Classifiers fitted at every one of `values` of λ (penalty) or z (threshold), in their order.

        The features are checked once, and each solve starts from the optimum of the value before
        (`auclab.solvers.path.solve_path`).

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
    """The formulation of the module ``auclab.formulations.<name>``, with its parameters.

    Raises
    ------
    AuclabError
        No such formulation, or parameters that it lacks or misses.

    Examples
    --------
    >>> formulation_named("ranksvm", penalty=0.1)
    RankSVM(penalty=0.1, norm='l2', squared=False)
    """
    try:
        module = importlib.import_module(f"auclab.formulations.{name}")
    except ModuleNotFoundError:
        module = None
    family = next((f for f in vars(module).values() if getattr(f, "name", None) == name), None) if module else None
    if family is None:
        known = sorted(it.name for key in formulations.__all__ if hasattr(it := getattr(formulations, key), "name"))
        raise AuclabError(f"formulation={name!r} is unknown; choose one of {', '.join(known)}")
    signature = inspect.signature(family)
    try:
        signature.bind(**parameters)
    except TypeError as error:
        raise AuclabError(f"formulation={name} takes {signature}: {error}") from error
    return family(**parameters)
