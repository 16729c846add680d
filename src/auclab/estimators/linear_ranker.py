"""Linear rankers: of grades and groups, of classes, of censored times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from auclab._core.base import Array, AuclabError, GroupWeights, Norm
from auclab._core.forms import row_scores
from auclab._core.validation import weight_vector
from auclab.estimators.checked import (
    TakesFormulation,
    as_given_constraints,
    as_given_kernel,
    checked_rows,
    checked_sample,
    named,
)
from auclab.estimators.inner_choice import FittedFold, InnerFold, PathFold
from auclab.formulations import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints
from auclab.kernels import Kernel
from auclab.kernels.kernel import Gamma
from auclab.metrics.comparable import ComparablePairs
from auclab.metrics.concordance import grouped_auc
from auclab.samples.bicliques import censored_pairs
from auclab.samples.tables import by_partition, is_collection, new_rows
from auclab.solvers.dispatch import solve
from auclab.solvers.path import InnerPath
from auclab.solvers.path_parameters import along, simplest_first
from auclab.solvers.solution import Solution


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
        """Scores of shape (n_samples,), ``X @ coef_`` without a kernel; equal rows have equal scores.

        Of a Dask DataFrame or Array they are a Dask Series or Array.
        """
        check_is_fitted(self)
        if is_collection(X):
            return by_partition(self, "predict", X, float)
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


class AUCRanker(LinearRanker):
    """Certified linear scorer for pairs within groups, such as the documents of a query, or for grades.

    The pairs are all (i, j) of one group with ``y_i > y_j``; without groups, of all rows. y has two or more values.

    Parameters
    ----------
    formulation : str or Program
        A name of a program over pairs ("bauc", "generalized_bauc", "ranksvm") or an object, e.g. ``RankSVM(0.01)``. In
        a search ``formulation__penalty`` is the penalty of the object.
    solver : {"auto", "newton", "cutting_plane", "clarabel", "highs"}
        As in `auclab.solve`.
    group_weights : {"pairs", "groups"}
        Whether all pairs have equal weight, or all groups that have a pair; in the program and in `score`.
    penalty, threshold, norm, squared, loss : optional
        Parameters of a formulation given by name; those that it does not have are ignored (`ignored_parameters_`).
    kernel : {"rbf", "laplacian", "polynomial", "precomputed"} or Kernel, optional
        Scorers ``Σ_k c_k κ(x_k, x)`` in place of linear ones, as in `AUCClassifier`.
    gamma, degree, coef0 : optional
        γ, degree and c₀ of a kernel given by name, as in `AUCClassifier`.
    tolerance : float, optional
        Relative gap, > 0, at which the solver may stop; 1e-6 if left out, with a kernel 1e-3.
    time_limit : float, optional
        Seconds, > 0.
    solver_options : dict, optional
        Further options of the solver.
    constraints : Constraints or mapping, optional
        Constraints on the coefficients, as in `AUCClassifier`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Not set with a kernel, whose landmarks and coefficients are in `solution_`.
    n_features_in_ : int
    solution_ : Solution
        Solution with its certificate.
    ignored_parameters_ : tuple of str
        Parameters that were given and that the formulation does not have.
    n_iter_ : int
        Iterations of the solver, at least 1.

    Raises
    ------
    AuclabError
        As `auclab.solve`; no pair in any group.

    See Also
    --------
    SurvivalRanker : Times that may be censored.
    AUCClassifier : Two classes, with labels and probabilities.
    auclab.metrics.grouped_auc : The value of `score`.

    Notes
    -----
    scikit-learn passes `groups` to splitters, and to `fit` and `score` if metadata routing is enabled and requested:
    ``AUCRanker().set_fit_request(groups=True).set_score_request(groups=True)``.

    Examples
    --------
    Two queries; the first column ranks within both, though not across them:

    >>> X, query = [[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"]
    >>> model = AUCRanker("bauc").fit(X, [0, 1, 0, 1], groups=query)
    >>> model.score(X, [0, 1, 0, 1], groups=query), model.score(X, [0, 1, 0, 1])
    (1.0, 0.75)
    """

    def fit(
        self, X: Any, y: ArrayLike, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Solve the program over the pairs within groups and certify the solution.

        Parameters
        ----------
        X : array, table or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Numbers; a larger one should have a larger score.
        groups : array of shape (n_samples,), optional
            Group of every row; by default all rows form one group.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; the weight of a pair is the product of both.

        Returns
        -------
        AUCRanker
            This object.
        """
        X, grades = checked_sample(self, X, y, y_numeric=True, ensure_min_samples=2)
        return self._fit(X, grades, sample_weight, groups=groups, ordered=groups is None)

    def score(
        self, X: Any, y: ArrayLike, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """`auclab.metrics.grouped_auc` of the scores; parameters as in `fit`."""
        return grouped_auc(y, self.predict(X), groups, weights=self.group_weights, sample_weight=sample_weight)


class SurvivalRanker(LinearRanker):
    """Certified linear risk score for censored times, fitted to the pairs of the concordance index.

    A pair (i, j) counts if i has an event before the time of j; i should have the larger score.

    Parameters
    ----------
    formulation : str or Program
        A name of a program over pairs ("bauc", "generalized_bauc", "ranksvm") or an object, e.g. ``RankSVM(0.01)``. In
        a search ``formulation__penalty`` is the penalty of the object.
    solver : {"auto", "newton", "cutting_plane", "clarabel", "highs"}
        As in `auclab.solve`.
    group_weights : {"pairs", "groups"}
        Whether all pairs have equal weight, or all groups of `fit` that have a pair; in the program and in `score`.
    penalty, threshold, norm, squared, loss : optional
        Parameters of a formulation given by name; those that it does not have are ignored (`ignored_parameters_`).
    kernel : {"rbf", "laplacian", "polynomial", "precomputed"} or Kernel, optional
        Scorers ``Σ_k c_k κ(x_k, x)`` in place of linear ones, as in `AUCClassifier`.
    gamma, degree, coef0 : optional
        γ, degree and c₀ of a kernel given by name, as in `AUCClassifier`.
    tolerance : float, optional
        Relative gap, > 0, at which the solver may stop; 1e-6 if left out, with a kernel 1e-3.
    time_limit : float, optional
        Seconds, > 0.
    solver_options : dict, optional
        Further options of the solver.
    constraints : Constraints or mapping, optional
        Constraints on the coefficients, as in `AUCClassifier`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Not set with a kernel, whose landmarks and coefficients are in `solution_`.
    n_features_in_ : int
    solution_ : Solution
        Solution with its certificate.
    ignored_parameters_ : tuple of str
        Parameters that were given and that the formulation does not have.
    n_iter_ : int
        Iterations of the solver, at least 1.

    Raises
    ------
    AuclabError
        As `auclab.solve`; y without a boolean and a numeric field, no comparable pair.

    See Also
    --------
    AUCRanker : Pairs within groups, and grades.
    auclab.metrics.concordance_index : The value of `score`.

    Examples
    --------
    >>> y = np.array([(True, 1.0), (True, 2.0), (False, 3.0)], dtype=[("died", bool), ("days", float)])
    >>> model = SurvivalRanker("bauc").fit([[3.0], [2.0], [1.0]], y)
    >>> model.score([[3.0], [2.0], [1.0]], y), bool(model.coef_[0] > 0)
    (1.0, True)
    """

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None) -> Self:
        """Solve the program over the comparable pairs and certify the solution.

        Parameters
        ----------
        X : array, table or sparse matrix of shape (n_samples, n_features)
        y : structured array of shape (n_samples,)
            A boolean field (whether the event was observed) and a numeric one (time of the event or of censoring), as
            created by scikit-survival's ``Surv``; in any order. Whole numbers 0 and 1 count as booleans.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; the weight of a pair is the product of both.
        groups : array of shape (n_samples,), optional
            Stratum of every row, such as a hospital; only rows of the same stratum are compared.

        Returns
        -------
        SurvivalRanker
            This object.
        """
        X = checked_rows(self, X, reset=True, ensure_min_samples=2)
        time, event = times_and_events(y)
        check_consistent_length(X, time)
        return self._fit(X, time, sample_weight, event=event, groups=groups)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None) -> float:
        """`auclab.metrics.concordance_index` of the scores, with the parameters of `fit`."""
        time, event = times_and_events(y)
        pairs = ComparablePairs(censored_pairs(time, event, groups, sample_weight, group_weights=self.group_weights))
        return pairs.auc(self.predict(X))


def times_and_events(y: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The numeric and the boolean field of a structured array; in place of booleans also whole numbers 0 and 1.

    Examples
    --------
    >>> time, event = times_and_events(np.array([(True, 2.0)], dtype=[("died", "?"), ("days", "f8")]))
    >>> time.tolist(), event.tolist()
    ([2.0], [True])
    """
    names = getattr(getattr(y, "dtype", None), "names", None) or ()
    seen = [name for name in names if y[name].dtype.kind == "b"]
    seen = seen or [name for name in names if y[name].dtype.kind in "iu" and np.isin(y[name], (0, 1)).all()]
    if len(names) != 2 or len(seen) != 1 or any(y[name].dtype.kind not in "biuf" for name in names):
        fields = ", ".join(f"{name}: {y[name].dtype}" for name in names) or f"none, but {type(y).__name__}"
        raise AuclabError(
            "y must be a structured array with a boolean field (whether the event was seen) and a numeric one (the "
            f"time), got fields {fields}; np.array([(True, 3.5), …], dtype=[('event', bool), ('time', float)]) is one"
        )
    time = next(name for name in names if name not in seen)
    return np.asarray(y[time], dtype=np.float64), np.asarray(y[seen[0]], dtype=np.bool_)
