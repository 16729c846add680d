"""Base class of the scikit-learn estimators whose scores rank rows, without classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from auclab.estimators.checked import checked_rows, named
from auclab.estimators.given_parts import TakesFormulation, as_given_constraints, as_given_kernel
from auclab.estimators.inner_choice import FittedFold, InnerFold, PathFold
from auclab.formulations import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints
from auclab.kernels import Kernel
from auclab.kernels.kernel import Gamma
from auclab.samples.row_scores import row_scores
from auclab.samples.tables import new_rows
from auclab.solvers.dispatch import solve
from auclab.solvers.inner_path import InnerPath
from auclab.solvers.path_parameters import along, simplest_first
from auclab.solvers.solution import Solution
from auclab.types import Array, AuclabError, GroupWeights, Norm
from auclab.validation import weight_vector


class LinearRanker(TakesFormulation):
    """Scores ``X @ coef_``, or those of a kernel, that minimise a program over comparable pairs."""

    _of_formulations = ("penalty", "threshold", "norm", "squared", "loss")
    coef_: Array
    n_features_in_: int
    solution_: Solution
    ignored_parameters_: tuple[str, ...]
    n_iter_: int

    def __init__(
        self,
        formulation: str | Program = "ranksvm",
        solver: str = "auto",
        *,
        group_weights: GroupWeights = "pairs",
        penalty: float | None = None,
        threshold: float | None = None,
        norm: Norm | None = None,
        squared: bool | None = None,
        loss: str | None = None,
        kernel: str | Kernel | None = None,
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        tolerance: float | None = None,
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
        constraints: Constraints | ColumnConstraints | dict[str, Any] | None = None,
    ):
        self.formulation = formulation
        self.solver = solver
        self.group_weights = group_weights
        self.penalty = penalty
        self.threshold = threshold
        self.norm = norm
        self.squared = squared
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tolerance = tolerance
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.constraints = constraints

    def predict(self, X: Any) -> Array:
        """Scores of shape (n_samples,), ``X @ coef_`` without a kernel; equal rows have equal scores."""
        check_is_fitted(self)
        rows = checked_rows(self, X)
        return row_scores(rows, self.coef_) if hasattr(self, "coef_") else self.solution_.decision_function(rows)

    def _fit(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, **pairs: Any) -> Self:
        """Solve the program over the pairs that `pairs` tell, for checked rows."""
        pairs["group_weights"] = self.group_weights
        weight = weight_vector(sample_weight, X.shape[0])
        if weight is not None and not weight.any():
            raise AuclabError("every sample_weight is zero; a pair needs two rows with a weight above 0")
        program, self.ignored_parameters_ = self._given_program()
        numbered = [f"x{k}" for k in range(self.n_features_in_)]
        columns = [str(name) for name in getattr(self, "feature_names_in_", numbered)]
        self.solution_ = named(self, solve(program, X, y, sample_weight=weight, **self._options(columns), **pairs))
        self.__dict__.pop("coef_", None)  # of an earlier fit without a kernel
        if self.solution_.coef is not None:
            self.coef_ = np.asarray(self.solution_.coef)
        self.n_iter_ = max(1, self.solution_.iterations)
        return self

    def inner_fold(
        self,
        X: Any,
        y: ArrayLike,
        values: Sequence[float],
        held_out: Any,
        measure: Callable[[Array], float],
        parameter: str,
        **pairs: Any,
    ) -> InnerFold:
        """The scorers of all `values` on one fold, for `auclab.estimators.inner_choice.choose`.

        Parameters
        ----------
        X : array, table or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Classes, grades or times.
        values : sequence of float
        held_out : array, table or sparse matrix of shape (n_rows, n_features)
            Rows that are scored.
        measure : callable
            Of their scores; larger is better.
        parameter : {"penalty", "threshold"}
        **pairs
            `groups`, `ordered`, `event`, `group_weights` of `auclab.solve`.
        """
        program, _ = self._given_program()
        held_out = new_rows(held_out, X.shape[1])
        options = self._options([f"x{k}" for k in range(X.shape[1])])
        if options["kernel"] is None:
            del options["kernel"]
            path = InnerPath(program, X, y, values, parameter=parameter, **options, **pairs)
            return PathFold(path, lambda point: measure(row_scores(held_out, point.coef)))
        models = [copy(self) for _ in values]
        for model, each in zip(models, along(program, parameter, values), strict=True):
            model.solution_ = solve(each, X, y, **options, **pairs)
        order = simplest_first(parameter, values)
        return FittedFold(models, lambda model: measure(model.solution_.decision_function(held_out)), order)

    def _options(self, columns: Sequence[str]) -> dict[str, Any]:
        """What a solve is given besides program and data."""
        return {
            "solver": self.solver,
            "tolerance": self.tolerance,
            "time_limit": self.time_limit,
            "constraints": as_given_constraints(self.constraints, columns),
            "kernel": as_given_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0),
            **(self.solver_options or {}),
        }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = "precomputed" in (self.kernel, getattr(self.kernel, "name", None))
        tags.target_tags.required = True
        return tags
