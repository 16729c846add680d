"""The base class of models of a formulation in Pyomo and CVXPY, with their parts by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from auclab._core.base import Array
from auclab._core.words import html_table
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.models.hard_margin import marginals
from auclab.samples.features import moved_intercept


@dataclass(frozen=True)
class OwnConstraints:
    """The constraints that a user has added to a model.

    `stated`: the constraints that the model was built with, and those added that are linear in w. `n_added`: how many
    rows and bounds were added to it. `left_out`: the constraints with other variables, or not linear.
    """

    stated: ColumnConstraints | None
    n_added: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class AlgebraicModel(ABC):
    """A formulation on a sample as algebra, with its parts by name.

    Attributes
    ----------
    model
        A `pyomo.environ.ConcreteModel`, to which components are added, or a `cvxpy.Problem`, which does not change:
        ``cp.Problem(built.objective, [*built.constraints, …])`` has further constraints.
    w
        The coefficients: an indexed variable of Pyomo, or a vector of CVXPY.
    intercept
        b, None over pairs, where it cancels.
    scores
        ``w·x_k`` of every row of X, in their order, without b: a list in Pyomo, a vector in CVXPY.
    hinge
        The rows ``β ≥ 1 − m − z‖w‖``, whose multipliers prove the lower bound.
    objective
        The formulation's value.
    stated : Problem
        The program, the sample and the constraints that the model was built with.

    See Also
    --------
    auclab.models.build : Creates it.
    auclab.certify : Certifies its solution.

    Examples
    --------
    >>> from auclab.models import build
    >>> built = build("ranksvm", [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], language="cvxpy")
    >>> built.w.shape, built.intercept is None
    ((1,), True)
    >>> built
    CvxpyModel(RankSVM(penalty=0.01, norm='l2', squared=False, loss=Hinge()), 4 rows, 1 features, 4 margins)
    """

    model: Any
    w: Any
    intercept: Any
    scores: Any
    hinge: Any
    objective: Any
    stated: Problem

    def __repr__(self) -> str:
        """The program and the sizes of the sample; the rows of the model are in `model`."""
        problem, sample = self.stated, self.stated.sample
        size = f"{sample.positive.size} rows, {sample.n_features} features, {problem.n_margins} margins"
        limits = "" if problem.constraints is None else ", with constraints"
        return f"{type(self).__name__}({problem.program}, {size}{limits})"

    def _repr_html_(self) -> str:
        """The same as a table, with the equation of the program."""
        problem, sample = self.stated, self.stated.sample
        constraints = 0 if problem.constraints is None else problem.constraints.all_rows()[1].size
        return html_table(
            [
                ("model", type(self).__name__),
                ("program", problem.program.equation()),
                ("rows", f"{sample.positive.size:,}"),
                ("features", f"{sample.n_features:,}"),
                ("margins", f"{problem.n_margins:,}"),
                ("constraints on w", f"{constraints:,}"),
            ]
        )

    @abstractmethod
    def coef(self, solved: Any = None) -> Array:
        """The values of w after a solve, shape (n_features,)."""

    @abstractmethod
    def weights(self) -> Array | None:
        """The multipliers of the hinge rows in the order of `all_margins`, if there are any."""

    @abstractmethod
    def share_neg(self) -> Array | None:
        """The weights r of the negatives of partial AUC, if there are any."""

    @abstractmethod
    def own_constraints(self, solved: Any = None) -> OwnConstraints:
        """Constraints that were added to the model."""

    def multipliers(self) -> Array | None:
        """The multipliers of every observation, as `Solution.multipliers` has them; None where a solver gives none."""
        weights = self.weights()
        if weights is None or not np.isfinite(weights).all():
            return None
        return self.stated.sample.join(*marginals(self.stated, np.maximum(weights, 0.0)))

    def intercept_value(self, coef: Array) -> float:
        """B after a solve, for uncentred rows of X."""
        if self.intercept is None:
            return 0.0
        return moved_intercept(float(self.intercept.value), coef, self.stated.sample.offset, -1.0)


def rows_in_order(problem: Problem) -> sp.csr_array:
    """The 0/1 matrix that takes the scores of positives and negatives to the order of the data."""
    positive = problem.sample.positive
    place = np.r_[np.flatnonzero(positive), np.flatnonzero(~positive)]
    return sp.csr_array((np.ones(place.size), (place, np.arange(place.size))), shape=(place.size, place.size))


def with_rows(
    constraints: ColumnConstraints | None,
    n_features: int,
    rows: list[tuple[Array, float, bool]],
    lower: Array | None = None,
    upper: Array | None = None,
) -> ColumnConstraints | None:
    """Constraints with further rows ``a·w ≤ c`` (or ``=``) and bounds; None if there are none at all."""
    base = constraints or ColumnConstraints.of(n_features)
    if lower is not None and upper is not None:
        base = replace(base, lower=np.maximum(base.lower, lower), upper=np.minimum(base.upper, upper))
    if rows:
        base = replace(
            base,
            matrix=np.vstack([base.matrix, *(row for row, _, _ in rows)]),
            limit=np.r_[base.limit, [limit for _, limit, _ in rows]],
            equal=np.r_[base.equal, [equal for _, _, equal in rows]].astype(bool),
        )
    empty = not base.limit.size and not (np.isfinite(base.lower) | np.isfinite(base.upper)).any()
    return None if empty else base
