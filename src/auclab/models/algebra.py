"""Formulations as models of Pyomo and CVXPY, to which constraints of one's own can be added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints
from auclab.formulations.named import as_formulation
from auclab.formulations.problem import Problem
from auclab.models.margins import marginals
from auclab.samples.as_sample import as_sample
from auclab.samples.centring import moved_intercept
from auclab.types import Array, AuclabError

Language = Literal["pyomo", "cvxpy"]

#: Hinge rows up to which a model is built: Pyomo takes minutes from here on, and CVXPY the memory.
MOST_ROWS: dict[str, int] = {"pyomo": 2_000_000, "cvxpy": 20_000_000}


@dataclass(frozen=True)
class OwnConstraints:
    """What a user has added to a model.

    Attributes
    ----------
    stated : ColumnConstraints or None
        The constraints that the model was built with, and those added that are linear in w.
    n_added : int
        How many rows and bounds were added to it.
    left_out : tuple of str
        The constraints with other variables, or not linear.

    See Also
    --------
    auclab.certify : Takes the first into the lower bound, and names the others.
    """

    stated: ColumnConstraints | None
    n_added: int
    left_out: tuple[str, ...]


@dataclass(frozen=True)
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
    auclab.models.build : Makes it.
    auclab.certify : Judges its solution.
    """

    model: Any
    w: Any
    intercept: Any
    scores: Any
    hinge: Any
    objective: Any
    stated: Problem

    @abstractmethod
    def coef(self, solved: Any = None) -> Array:
        """The values of w after a solve, shape (n_features,)."""

    @abstractmethod
    def weights(self) -> Array | None:
        """The multipliers of the hinge rows in the order of `auclab.models.margins.all_margins`, if there are any."""

    @abstractmethod
    def share_neg(self) -> Array | None:
        """The weights r of the negatives of partial AUC, if there are any."""

    @abstractmethod
    def own_constraints(self, solved: Any = None) -> OwnConstraints:
        """What was added to the model."""

    def multipliers(self) -> Array | None:
        """The multipliers of every observation, as `Solution.multipliers` has them; None where a solver gives none."""
        weights = self.weights()
        if weights is None or not np.isfinite(weights).all():
            return None
        return self.stated.sample.join(*marginals(self.stated, np.maximum(weights, 0.0)))

    def intercept_value(self, coef: Array) -> float:
        """B after a solve, for rows of X as they are."""
        if self.intercept is None:
            return 0.0
        return moved_intercept(float(self.intercept.value), coef, self.stated.sample.offset, -1.0)


def build(
    formulation: str | Program,
    X: Any,
    y: ArrayLike,
    language: Language = "pyomo",
    *,
    constraints: Constraints | ColumnConstraints | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> AlgebraicModel:
    """A formulation on a sample as a model of Pyomo or CVXPY, for constraints of one's own and any solver there.

    Every pair (or point) is a row: these models are for thousands of rows, `auclab.solve` for billions of pairs.

    Parameters
    ----------
    formulation : str or Program
        Convex; in Pyomo linear where the solver takes nothing else: no norm, or l1 or linf unsquared.
    X : array, DataFrame or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans, of which the larger is positive, or any two values with `pos_label`.
    language : {"pyomo", "cvxpy"}
    constraints : Constraints or ColumnConstraints, optional
        As `auclab.solve` takes them.
    sample_weight : array of shape (n_samples,), optional
    pos_label : optional

    Returns
    -------
    AlgebraicModel

    Raises
    ------
    AuclabError
        Bad input, another language, a formulation that is not convex, or too many rows.

    See Also
    --------
    auclab.certify : Judges the solution with the exact objective, and bounds how far it is from the best.
    auclab.solve : Without a modelling language.

    Examples
    --------
    The best bAUC where the second feature counts at least as much as the first:

    >>> import auclab, pyomo.environ as pyo
    >>> X, y = [[0.0, 1.0], [2.0, 0.0], [1.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1]
    >>> built = build("bauc", X, y)
    >>> built.model.order = pyo.Constraint(expr=built.w[1] >= built.w[0])
    >>> _ = pyo.SolverFactory("highs").solve(built.model)
    >>> found = auclab.certify(built)
    >>> round(found.objective, 6), found.gap <= 1e-6, found.bound_for
    (0.0, True, 'every w that satisfies the 1 linear constraint on it')
    """
    if language not in MOST_ROWS:
        raise AuclabError(f"language must be pyomo or cvxpy, got {language!r}")
    program = as_formulation(formulation)
    if program.kind == "mip" or not program.is_convex:
        raise AuclabError(
            f"formulation {program.name} is not convex here, and models are of convex ones; auclab.solve takes it"
        )
    sample = as_sample(X, y, sample_weight, pos_label=pos_label)
    if sample.in_blocks:
        raise AuclabError("a model has every row in memory, and X is in blocks; auclab.solve takes them")
    if sample.offset is not None and not sample.is_sparse:  # scores of the model are those of the rows as they are
        rows = {"X_pos": sample.X_pos + sample.offset, "X_neg": sample.X_neg + sample.offset}
        sample = replace(sample, **rows, offset=None)
    problem = Problem(program, sample, _on_columns(constraints, X, sample.n_features))
    if problem.n_margins > MOST_ROWS[language]:
        raise AuclabError(
            f"the model would have {problem.n_margins:,} rows, and in {language} {MOST_ROWS[language]:,} are possible; "
            "take fewer observations, or auclab.solve(…, constraints=…), which forms no pairs"
        )
    if language == "pyomo":
        from auclab.models.pyomo_algebra import in_pyomo

        return in_pyomo(problem)
    from auclab.models.cvxpy_algebra import in_cvxpy

    return in_cvxpy(problem)


def _on_columns(
    constraints: Constraints | ColumnConstraints | None, X: Any, n_features: int
) -> ColumnConstraints | None:
    """Constraints by the names of a DataFrame's columns, or by their numbers."""
    if not isinstance(constraints, Constraints):
        return constraints
    names = getattr(X, "columns", range(n_features))
    return constraints.on_columns([str(name) for name in names])


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
