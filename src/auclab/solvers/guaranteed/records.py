"""The results: scorers with guaranteed values, and frontiers of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auclab.samples.row_scores import row_scores
from auclab.samples.tables import new_rows
from auclab.solvers.fitted import coef_in_words
from auclab.solvers.solution import Certificate
from auclab.types import Array, Status


@dataclass(frozen=True)
class GroupValue:
    """Values of the pairs of one group.

    Attributes
    ----------
    n_pos, n_neg : int
        Observations that make up its pairs.
    at_least : float
        The least bAUC that was required, −∞ if none; ``mean_hinge ≤ 1 − at_least``.
    mean_hinge : float
        ``mean [1 − w·d]₊`` over its pairs, at the length of w.
    bauc : float
        The buffered AUC of its pairs, which takes the best length for them alone: at least ``1 − mean_hinge``.
    best_bauc : float
        An upper bound of the bAUC of every linear scorer on its pairs, proved.
    multiplier : float ≥ 0
        Decrease of the objective per unit of increase of the limit on the mean hinge.

    See Also
    --------
    auclab.solvers.guaranteed.GuaranteedSolution : Has one for each group.

    Examples
    --------
    >>> value = GroupValue(n_pos=3, n_neg=4, at_least=0.8, mean_hinge=0.15, bauc=0.9, best_bauc=0.95, multiplier=0.0)
    >>> value.mean_hinge <= 1 - value.at_least
    True
    """

    n_pos: int
    n_neg: int
    at_least: float
    mean_hinge: float
    bauc: float
    best_bauc: float
    multiplier: float


@dataclass(frozen=True, repr=False)
class GuaranteedSolution:
    """A linear scorer with a required bAUC.

    Attributes
    ----------
    coef : array of shape (n_features,)
    minimised : str
        Name of the objective.
    at_least : float
        The required bAUC of all pairs; −∞ if none.
    norm : float
        ``Σ_k cost_k |w_k|``.
    mean_hinge : float
        ``mean_ij [1 − w·d_ij]₊`` over all pairs, re-evaluated: at most ``1 − at_least``.
    bauc : float
        The buffered AUC of the scores: at least ``1 − mean_hinge``.
    multiplier : float ≥ 0
        π of the limit of the mean hinge of all pairs: the increase of the objective per unit of `at_least`. With equal
        costs and no constraints, w solves RankSVM with ``λ = 1/π`` and norm l1.
    certificate : Certificate
        Objective, lower bound for every w that keeps the limits and constraints, gap, norm bound.
    status : Status
        OPTIMAL: the gap is within the tolerance.
    groups : mapping from labels to GroupValue
    multipliers : array of shape (n_samples,)
        ``Σ_j q_ij`` of the weights q of all pairs that prove the bound, together with the multiplier.
    iterations : int
        Number of master problems solved.
    seconds : float
    notes : tuple of str
        What is guaranteed, and for which quantity.

    See Also
    --------
    auclab.solvers.guaranteed.least_norm.least_norm, auclab.solvers.guaranteed.groups.with_groups : Return it.

    Examples
    --------
    >>> from auclab.solvers.guaranteed import least_norm
    >>> found = least_norm([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], 0.4)
    >>> bool(found.bauc >= 0.4), found.gap <= 1e-6
    (True, True)
    """

    coef: Array
    minimised: str
    at_least: float
    norm: float
    mean_hinge: float
    bauc: float
    multiplier: float
    certificate: Certificate
    status: Status
    groups: Mapping[Any, GroupValue] = field(default_factory=dict)
    multipliers: Array | None = None
    iterations: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        """One line."""
        asked = "" if math.isinf(self.at_least) else f", at_least={self.at_least:.6g}"
        proved = f"lower_bound={self.lower_bound:.6g}, gap={self.gap:.2g}, status={self.status!s}"
        values = f"norm={self.norm:.6g}, bauc={self.bauc:.6g}{asked}"
        return f"GuaranteedSolution(coef={coef_in_words(self.coef)}, {values}, {proved}, seconds={self.seconds:.3g})"

    @property
    def objective(self) -> float:
        """What was minimised, re-evaluated."""
        return self.certificate.objective

    @property
    def lower_bound(self) -> float:
        """No w that keeps the limits and constraints has a smaller objective."""
        return self.certificate.lower_bound

    @property
    def gap(self) -> float:
        """``(objective − lower_bound) / max(|objective|, 1e-3)``."""
        return self.certificate.gap

    @property
    def n_used(self) -> int:
        """Coefficients that are not 0."""
        return int(np.count_nonzero(self.coef))

    @property
    def difference(self) -> float:
        """Difference between the largest and the smallest mean hinge of the groups; NaN without groups."""
        hinges = [group.mean_hinge for group in self.groups.values()]
        return max(hinges) - min(hinges) if hinges else math.nan

    def decision_function(self, X: Any) -> Array:
        """Scores ``X @ coef``, shape (n_samples,)."""
        return row_scores(new_rows(X, self.coef.size, self.columns), self.coef)


@dataclass(frozen=True)
class Frontier:
    """The least norm for several levels of bAUC, in ascending order of the levels.

    Attributes
    ----------
    points : tuple of GuaranteedSolution
    best_bauc : float
        The largest bAUC that was found.
    best_bauc_bound : float
        No linear scorer, within the constraints, has a larger one.
    seconds : float
        Total time, including the search for the largest bAUC.

    See Also
    --------
    auclab.solvers.guaranteed.frontier.frontier : Returns it.
    auclab.displays.frontier.draw_frontier : Draws it.

    Examples
    --------
    >>> from auclab.solvers.guaranteed import frontier
    >>> found = frontier([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], [0.3, 0.4])
    >>> bool(found.norms[0] <= found.norms[1]), found.levels.tolist()
    (True, [0.3, 0.4])
    """

    points: tuple[GuaranteedSolution, ...]
    best_bauc: float
    best_bauc_bound: float
    seconds: float

    @property
    def levels(self) -> Array:
        """The levels, shape (n_points,)."""
        return np.array([point.at_least for point in self.points])

    @property
    def norms(self) -> Array:
        """The least norms, shape (n_points,)."""
        return np.array([point.norm for point in self.points])

    def table(self) -> list[dict[str, Any]]:
        """A row for each point: level, norm, its bound, multiplier, bAUC and features used, for a csv file."""
        return [
            {
                "at_least": point.at_least,
                "norm": point.norm,
                "norm_lower_bound": point.lower_bound,
                "gap": point.gap,
                "status": str(point.status),
                "mean_hinge": point.mean_hinge,
                "bauc": point.bauc,
                "features_used": point.n_used,
                "multiplier": point.multiplier,
                "seconds": point.seconds,
            }
            for point in self.points
        ]
