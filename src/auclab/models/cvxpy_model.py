"""Programs as CVXPY models, and their algebra in CVXPY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from auclab._core.base import Array, AuclabError
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.formulations.programs import without_squares
from auclab.models.algebraic_model import AlgebraicModel, OwnConstraints, rows_in_order, with_rows
from auclab.regularisers import Epigraph


@dataclass(frozen=True, repr=False)
class CvxpyModel(AlgebraicModel):
    """A formulation in CVXPY.

    `constraints`: of `model`; further ones are added to them in a problem that the caller builds.
    """

    constraints: tuple[Any, ...] = ()
    parts: ConvexModel | None = None

    def coef(self, solved: Any = None) -> Array:
        """The values of w."""
        if self.w.value is None:
            raise AuclabError("the model has no values yet: solve it first, with ….model.solve()")
        return np.asarray(self.w.value, dtype=float)

    def weights(self) -> Array | None:
        """The dual values of the hinge rows."""
        return None if self.parts is None else self.parts.weights()

    def share_neg(self) -> Array | None:
        """The dual values of the rows over negatives."""
        return None if self.parts is None else self.parts.share_neg()

    def own_constraints(self, solved: Any = None) -> OwnConstraints:
        """Constraints of the problem `solved`, that has further ones, linear in w or in `scores`."""
        known = {constraint.id for constraint in self.constraints}
        rows: list[tuple[Array, float, bool]] = []
        left_out: list[str] = []
        for constraint in () if solved is None else solved.constraints:
            if constraint.id in known:
                continue
            found = self._linear(constraint)
            if found is None:
                left_out.append(str(constraint))
            else:
                rows += found
        stated = with_rows(self.stated.constraints, self.stated.sample.n_features, rows)
        return OwnConstraints(stated, len(rows), tuple(left_out))

    def _linear(self, constraint: Any) -> list[tuple[Array, float, bool]] | None:
        """A constraint as rows ``a·w ≤ c``; None if it is not linear or has other variables.

        The rows of an affine expression are its values at the unit vectors.
        """
        kinds: dict[type, float] = {
            cp.constraints.Inequality: 1.0,
            cp.constraints.NonPos: 1.0,
            cp.constraints.NonNeg: -1.0,
            cp.constraints.Equality: 0.0,
            cp.constraints.Zero: 0.0,
        }
        if type(constraint) not in kinds or self.parts is None:
            return None
        sign, parts, sample = kinds[type(constraint)], self.parts, self.stated.sample
        compared = isinstance(constraint, cp.constraints.Inequality | cp.constraints.Equality)
        expression: Any = constraint.expr if compared else constraint.args[0]
        variables = (self.w, parts.scores_pos, parts.scores_neg)
        ids = {variable.id for variable in variables}
        if not expression.is_affine() or any(variable.id not in ids for variable in expression.variables()):
            return None
        before = [variable.value for variable in variables]

        def at(w: Array) -> Array:
            for variable, value in zip(variables, (w, sample.X_pos @ w, sample.X_neg @ w), strict=True):
                variable.value = np.asarray(value)
            return np.atleast_1d(np.asarray(expression.value, dtype=float)).ravel()

        constant = at(np.zeros(sample.n_features))
        matrix = np.array([at(unit) - constant for unit in np.eye(sample.n_features)]).T
        for variable, value in zip(variables, before, strict=True):
            variable.value = value
        factor = sign or 1.0
        return [
            (factor * row, float(-factor * limit), sign == 0.0) for row, limit in zip(matrix, constant, strict=True)
        ]


def in_cvxpy(problem: Problem) -> CvxpyModel:
    """The model of `auclab.models.cvxpy_model.to_cvxpy`, whose objective is the formulation's value."""
    parts = to_cvxpy(problem, unit=1.0)
    return CvxpyModel(
        model=parts.problem,
        w=parts.coef,
        intercept=parts.intercept,
        scores=rows_in_order(problem) @ cp.hstack([parts.scores_pos, parts.scores_neg]),
        hinge=parts.hinge,
        objective=parts.problem.objective,
        stated=problem,
        constraints=tuple(parts.problem.constraints),
        parts=parts,
    )


@dataclass(frozen=True)
class ConstraintRows:
    """The rows ``A w ≤ c`` of a CVXPY model, each divided by its largest entry in the variable.

    `parts`: which rows of `ColumnConstraints.all_rows`, and the constraint that they are. `scale` (n_rows,): by what
    each row was divided.
    """

    parts: tuple[tuple[Any, Any], ...]
    scale: Array

    def multipliers(self, unit: float) -> Array | None:
        """The μ of the rows, ≥ 0 and free for equations, or None before a solve; `unit` is the objective's."""
        found = np.zeros(self.scale.size)
        for which, constraint in self.parts:
            if constraint.dual_value is None:
                return None
            dual = np.asarray(constraint.dual_value, dtype=float)
            found[which] = np.maximum(dual, 0.0) if isinstance(constraint, cp.constraints.Inequality) else dual
        return found * unit / self.scale


@dataclass(frozen=True)
class ConvexModel:
    """The CVXPY problem and the parts of it from which a solution is read.

    `problem`: minimises the program's value divided by `unit`. `coef`, `intercept`: w, in scores per unit of each
    feature, and b, in scores; b is None over pairs. `hinge`, `tail`: the constraints whose duals are the q of
    derivations 7.1 and, for partial AUC, the r of `PartialAUC`. `unit`: the mean weight of a margin, in which objective
    and duals are stated. `rows`: the constraints on w. `scores_pos`, `scores_neg`: of shapes (n_pos,) and (n_neg,),
    without b.
    """

    problem: cp.Problem
    coef: Any
    intercept: cp.Variable | None
    hinge: Any
    unit: float
    tail: Any = None
    rows: ConstraintRows | None = None
    scores_pos: Any = None
    scores_neg: Any = None

    def weights(self) -> Array | None:
        """The q of derivations 7.1, one for each hinge row in the order of `models.margins.all_margins`."""
        dual = self.hinge.dual_value
        return None if dual is None else np.maximum(np.asarray(dual, dtype=float), 0.0) * self.unit

    def share_neg(self) -> Array | None:
        """The r of `PartialAUC`, shape (n_neg,), where there is one."""
        dual = None if self.tail is None else self.tail.dual_value
        return None if dual is None else np.asarray(dual, dtype=float) * self.unit

    def row_multipliers(self) -> Array | None:
        """The μ of the constraints on w, in the order of `ColumnConstraints.all_rows`: ≥ 0, free for equations."""
        return None if self.rows is None else self.rows.multipliers(self.unit)


def to_cvxpy(problem: Problem, units: Array | None = None, *, unit: float | None = None) -> ConvexModel:
    """The model with score variables, so that a pair row has three nonzeros and not n + 1.

    The objective is in units of the mean margin weight, for the solvers' absolute tolerances, unless it is given one.

    `problem`: convex, a mean of hinges or its superquantile; features in their own units. Its constraints are rows of
    the model. `units` (n_features,): the variable is w divided by them, for features whose spreads differ by many
    orders. `unit`: of the objective; 1 makes it the program's value.
    """
    program, sample = problem.program, problem.sample
    n_pos, n_neg = sample.n_pos, sample.n_neg
    variable = cp.Variable(sample.n_features, name="coef")
    coef = variable if units is None else cp.multiply(units, variable)
    X_pos, X_neg = (X if units is None else X @ sp.diags_array(units) for X in (sample.X_pos, sample.X_neg))
    score_pos, score_neg = cp.Variable(n_pos, name="score_pos"), cp.Variable(n_neg, name="score_neg")
    ridge, program = without_squares(program)
    size = cp.Variable(nonneg=True, name="size") if program.uses_norm else None
    constraints = [score_pos == X_pos @ variable, score_neg == X_neg @ variable]
    rows = None if problem.constraints is None else _constraint_rows(problem.constraints, variable, units)
    if rows is not None:
        constraints += [constraint for _, constraint in rows.parts]
    if size is not None:
        constraints += _epigraph(program.regulariser.norm.epigraph(np.ones(sample.n_features)), coef, size)
    shift = 1.0 if size is None else 1.0 - program.threshold * size
    margins = program.comparisons.rows(sample)
    weights, margin = margins.weights, margins.differences(score_pos, score_neg)
    intercept = None if margins.signs is None else cp.Variable(name="intercept")
    if intercept is not None:
        margin = margin + margins.signs * intercept
    # The loss as a minimum over what its pieces take up of an error; the hinge has one piece, without end.
    widths, slopes, curvatures = program.loss.filled()
    # A piece with slope 0 and a curvature is not negative at a minimum; the bound would be active with a multiplier of
    # 0, near which an interior-point method gets stuck.
    bounded = (slopes > 0) | (curvatures == 0)
    parts = [
        cp.Variable(problem.n_margins, nonneg=bool(bound), name=f"loss{s or ''}") for s, bound in enumerate(bounded)
    ]
    constraints += [part <= width for part, width in zip(parts, widths, strict=True) if np.isfinite(width)]
    loss = parts[0]
    hinge = sum(parts[1:], loss) + margin >= shift - float(program.loss.table.breakpoints[0])
    unit = float(weights.mean()) if unit is None else unit
    objective: Any = sum(
        (weights / unit * slope) @ part + (weights / unit * (0.5 * curvature)) @ cp.square(part)
        if curvature
        else (weights / unit * slope) @ part
        for part, slope, curvature in zip(parts, slopes, curvatures, strict=True)
    )
    tail, capacity = None, program.comparisons.capacity(sample)
    if capacity is not None:
        level, excess = cp.Variable(nonneg=True, name="level"), cp.Variable(n_neg, nonneg=True, name="excess")
        share = sample.share_pos[margins.pos]
        tail = excess + level >= margins.marginals(cp.multiply(share, loss), n_pos, n_neg)[1]
        objective = (level + capacity @ excess) / unit
        constraints.append(tail)
    regulariser = program.regulariser
    if size is not None and regulariser.weight > 0:
        objective = objective + regulariser.weight / unit * (cp.square(size) if regulariser.squared else size)
    if ridge:
        objective = objective + ridge / unit * cp.sum_squares(coef)
    stated = cp.Problem(cp.Minimize(objective), [*constraints, hinge])
    return ConvexModel(stated, coef, intercept, hinge, unit, tail, rows, score_pos, score_neg)


def _epigraph(epigraph: Epigraph, coef: Any, size: Any) -> list[Any]:
    """``‖coef‖ ≤ size``."""
    top = cp.Variable(1, name="top")  # with a variable of its own the interior-point method ends more precisely
    columns = [coef, top]
    n_parts = epigraph.n_parts(coef.size)
    if n_parts:
        columns.append(cp.Variable(n_parts, name="parts"))
    point = cp.hstack(columns)
    rows = [top <= size, *([epigraph.linear @ point <= 0] if epigraph.linear.shape[0] else [])]
    for first, count in zip(np.r_[0, np.cumsum(epigraph.sizes)][:-1], epigraph.sizes, strict=True):
        cone = epigraph.conic[first : first + count] @ point
        rows.append(cp.SOC(cone[0], cone[1:]))
    return rows


def _constraint_rows(constraints: ColumnConstraints, variable: Any, units: Array | None) -> ConstraintRows:
    """The rows of the constraints on w, which is the variable times `units`."""
    if not constraints.is_convex:
        raise AuclabError("max_features is not convex: a CVXPY model with continuous variables cannot state it")
    matrix, limit, equal = constraints.all_rows()
    matrix = matrix if units is None else matrix * units
    largest = abs(matrix).max(axis=1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    matrix, limit = matrix / scale[:, None], limit / scale
    parts = []
    for which, is_equal in ((np.flatnonzero(~equal), False), (np.flatnonzero(equal), True)):
        if which.size:
            left = sp.csr_array(matrix[which]) @ variable
            parts.append((which, left == limit[which] if is_equal else left <= limit[which]))
    return ConstraintRows(tuple(parts), scale)
