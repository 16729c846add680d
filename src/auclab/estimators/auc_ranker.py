"""scikit-learn estimator that ranks rows within groups, or by grades."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from auclab.estimators.checked import checked_sample
from auclab.estimators.linear_ranker import LinearRanker
from auclab.metrics.comparable import grouped_auc


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
