"""Base class of the scikit-learn estimators whose scores rank rows, without classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from auclab.estimators.given_parts import as_given_constraints, as_given_program
from auclab.formulations import Program, as_formulation
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints
from auclab.solvers.dispatch import solve
from auclab.solvers.solution import Solution
from auclab.types import Array, AuclabError, Norm
from auclab.validation import weight_vector

#: Parameters that belong to a formulation given by name.
_OF_FORMULATIONS = ("penalty", "threshold", "norm", "squared", "loss")
#: Prefix of parameters of the formulation in a search.
_NESTED = "formulation__"


class LinearRanker(BaseEstimator):
    """Scores ``X @ coef_`` that minimise a program over comparable pairs."""

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
        penalty: float | None = None,
        threshold: float | None = None,
        norm: Norm | None = None,
        squared: bool | None = None,
        loss: str | None = None,
        tolerance: float | None = None,
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
        constraints: Constraints | ColumnConstraints | dict[str, Any] | None = None,
    ):
        self.formulation = formulation
        self.solver = solver
        self.penalty = penalty
        self.threshold = threshold
        self.norm = norm
        self.squared = squared
        self.loss = loss
        self.tolerance = tolerance
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.constraints = constraints

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of a formulation, as ``formulation__penalty``."""
        params: dict[str, Any] = super().get_params(deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``formulation__penalty=0.1`` puts a formulation with that penalty in place of the one here.

        Raises
        ------
        AuclabError
            A parameter that the formulation does not have.
        ValueError
            A parameter that the ranker does not have.
        """
        nested = {name.removeprefix(_NESTED): params.pop(name) for name in list(params) if name.startswith(_NESTED)}
        super().set_params(**params)
        if nested:
            self.formulation = as_formulation(self.formulation).with_params(**nested)
        return self

    def predict(self, X: Any) -> Array:
        """Scores ``X @ coef_`` of shape (n_samples,)."""
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(rows @ self.coef_)

    def _fit(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, **pairs: Any) -> Self:
        """Solve the program over the pairs that `pairs` tell, for checked rows."""
        weight = weight_vector(sample_weight, X.shape[0])
        if weight is not None and not weight.any():
            raise AuclabError("every sample_weight is zero; a pair needs two rows with a weight above 0")
        given = {name: value for name in _OF_FORMULATIONS if (value := getattr(self, name)) is not None}
        program, self.ignored_parameters_ = as_given_program(self.formulation, given)
        numbered = [f"x{k}" for k in range(self.n_features_in_)]
        columns = [str(name) for name in getattr(self, "feature_names_in_", numbered)]
        self.solution_ = solve(
            program, X, y, solver=self.solver, tolerance=self.tolerance, time_limit=self.time_limit,
            sample_weight=weight, constraints=as_given_constraints(self.constraints, columns), **pairs,
            **(self.solver_options or {}),
        )  # fmt: skip
        self.coef_ = np.asarray(self.solution_.coef)
        self.n_iter_ = max(1, self.solution_.iterations)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
