"""scikit-learn estimator that ranks rows by risk, from times that may be censored."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length

from auclab.estimators.checked import checked_rows
from auclab.estimators.linear_ranker import LinearRanker
from auclab.metrics.comparable import ComparablePairs
from auclab.samples.bicliques import censored_pairs
from auclab.types import AuclabError


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
