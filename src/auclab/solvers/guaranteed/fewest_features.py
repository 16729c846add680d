"""The linear scorer with the fewest features whose buffered AUC is at least a given level.

    minimise  the number of features with w ≠ 0     subject to     mean_ij [1 − w·d_ij]₊ ≤ 1 − α

With at most k features, `auclab.solvers.integer` computes the least mean hinge V_k, which decreases in k; the result is
the first k with V_k ≤ 1 − α. That k − 1 features do not suffice is proved by a lower bound of V_{k−1} above 1 − α.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.formulations.bauc import BufferedAUC
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints, constraints_on_columns
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.dispatch import check_limits, solve_problem
from auclab.solvers.guaranteed.least_norm import check_level
from auclab.solvers.solution import Solution
from auclab.types import AuclabError
from auclab.wording import counted

#: Least time, in seconds, of the search for one number of features.
_LEAST_SECONDS = 1.0


@dataclass(frozen=True)
class FewestFeatures:
    """The scorer, the number of features that it uses, and a proved lower bound of this number.

    Attributes
    ----------
    solution : Solution
        Of bAUC maximisation with at most `n_features` features; its mean hinge is at most ``1 − at_least``.
    at_least : float
        The level α.
    n_features : int
        Features that the scorer uses; a nominal feature of several columns counts as one.
    proved : int
        No scorer with fewer features has that level. Equal to `n_features` if the search was completed.

    See Also
    --------
    auclab.solvers.guaranteed.fewest_features.fewest_features : Returns it.

    Examples
    --------
    >>> import auclab
    >>> solution = auclab.solve(auclab.RankSVM(0.1), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    >>> FewestFeatures(solution, at_least=0.4, n_features=1, proved=1).is_least
    True
    """

    solution: Solution
    at_least: float
    n_features: int
    proved: int

    @property
    def is_least(self) -> bool:
        """Whether no scorer with fewer features has the level."""
        return self.proved == self.n_features


def fewest_features(
    X: Any,
    y: ArrayLike,
    bauc: float,
    *,
    constraints: Constraints | ColumnConstraints | None = None,
    tolerance: float = 1e-4,
    time_limit: float | None = 60.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> FewestFeatures:
    """A scorer with a buffered AUC of at least `bauc` that uses as few features as possible.

    Numbers of features are tried from 1 on. One of which neither is shown in the time that is left is passed over: then
    `proved` is below `n_features`.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans, of which the larger is positive, or any two values with `pos_label`.
    bauc : float in (0, 1)
        The level α.
    constraints : Constraints or ColumnConstraints, optional
        Bounds, rows, features of several columns; with `max_features`, no more than these are tried.
    tolerance : float
        Relative gap, > 0, of each search.
    time_limit : float, optional
        Seconds, > 0, for all searches together, each of which has half of what is left.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0.
    pos_label : optional
        The label of the positive class.

    Raises
    ------
    AuclabError
        No scorer with that level was found (the message says whether there is none), or the search has no bound on w:
        separable classes, or columns that depend on each other.

    See Also
    --------
    auclab.solvers.guaranteed.least_norm.least_norm : The shortest scorer of a level.
    auclab.solvers.integer.feature_path.feature_path : The best value for each number of features.

    Examples
    --------
    The first column has margins 3, 1, 1 and −1, of which the worst two average 0, so its bAUC is ½; the second has
    −2, 0, 0 and 2, whose mean is 0, so its bAUC is 0.

    >>> found = fewest_features([[0.0, 1.0], [2.0, -1.0], [1.0, -1.0], [3.0, 1.0]], [0, 0, 1, 1], 0.4)
    >>> found.n_features, found.proved, (found.solution.coef != 0).tolist()
    (1, 1, [True, False])
    """
    check_limits(tolerance, time_limit)
    check_level(bauc)
    begin = perf_counter()
    sample = as_sample(X, y, sample_weight, pos_label=pos_label)
    given = constraints_on_columns(constraints, sample)
    given = ColumnConstraints.of(sample.n_features) if given is None else given
    most = int(np.unique(given.groups[sample.peaks > 0]).size)
    most = most if given.max_features is None else min(most, given.max_features)
    first = max(1, len(given.forced))
    proved, last = first, None
    for count in range(first, most + 1):
        left = None if time_limit is None else time_limit - (perf_counter() - begin)
        if left is not None and left <= 0:
            break
        seconds = None if left is None else max(0.5 * left, _LEAST_SECONDS)
        problem = Problem(BufferedAUC(), sample, replace(given, max_features=count))
        last = solve_problem(problem, "auto", tolerance=tolerance, time_limit=seconds)
        if last.objective <= 1.0 - bauc:
            return FewestFeatures(last, float(bauc), given.n_used(last.coef), min(proved, given.n_used(last.coef)))
        if proved == count and last.lower_bound > 1.0 - bauc:
            proved = count + 1
    raise AuclabError(_not_found(bauc, proved, most, last))


def _not_found(bauc: float, proved: int, most: int, last: Solution | None) -> str:
    """Why there is no scorer to return."""
    best = "none was found in the time" if last is None else f"the last search found {1 - last.objective:.6g}"
    if proved == most + 1:
        return f"bAUC ≥ {bauc:g} is impossible with {counted(most, 'feature')} (proved): {best}; lower the level"
    return (
        f"no scorer with bAUC ≥ {bauc:g} was found; it needs at least {counted(proved, 'feature')} (proved), and "
        f"{best}: raise time_limit, or lower the level"
    )
