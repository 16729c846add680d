"""Programs as Pyomo models, and their algebra in Pyomo.

minimise   Σ_k c_k β_k + λ r      s.t.   β_ij ≥ 1 − (s_i − t_j) − z r,   s_i = w·x_i⁺,   t_j = w·x_j⁻,   r ≥ ‖w‖

so that a pair row has three nonzeros (four with ‖w‖) and not n + 1. Constraints on w are rows ``A w ≤ c``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.label import TextLabeler
from pyomo.repn import generate_standard_repn
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from auclab._core.base import Array, AuclabError
from auclab._core.files import replace_file
from auclab._core.forms import dense
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.formulations.programs import without_squares
from auclab.models.algebraic_model import AlgebraicModel, OwnConstraints, with_rows
from auclab.models.timings import Clock
from auclab.regularisers import VectorNorm
from auclab.samples.memory import Sample


@dataclass(frozen=True, repr=False)
class PyomoModel(AlgebraicModel):
    """A formulation in Pyomo; `model` imports the duals of its solver.

    With integers there are none, and Pyomo's interfaces stop where they are requested: ``model.dual.deactivate()``.

    `components`: the constraints that the model was built with.
    """

    components: tuple[Any, ...] = ()

    def coef(self, solved: Any = None) -> Array:
        """The values of w."""
        values = [variable.value for variable in self.w.values()]
        if any(value is None for value in values):
            raise AuclabError("the model has no values yet: solve it first, pyo.SolverFactory('highs').solve(….model)")
        return np.array(values, dtype=float)

    def weights(self) -> Array | None:
        """The duals of the hinge rows."""
        return self._duals(self.hinge)

    def share_neg(self) -> Array | None:
        """The duals of the rows `tail`."""
        tail = self.model.component("tail")
        return None if tail is None else self._duals(tail)

    def _duals(self, rows: Any) -> Array | None:
        duals = self.model.component("dual")
        found = [None if duals is None else duals.get(row) for row in rows.values()]
        return None if any(value is None for value in found) else np.array(found, dtype=float)

    def own_constraints(self, solved: Any = None) -> OwnConstraints:
        """Bounds of the variables w, and constraints linear in w or in `scores`."""
        for part in self.components:
            if self.model.component(part.local_name) is not part:
                raise AuclabError(
                    f"the model's own constraint {part.local_name!r} was replaced by another of this name; build the "
                    "model again, and give yours a name that it does not have"
                )
        sample, w = self.stated.sample, list(self.w.values())
        built = {part.local_name for part in self.components}
        lower = np.array([-math.inf if v.lb is None else v.lb for v in w])
        upper = np.array([math.inf if v.ub is None else v.ub for v in w])
        for k, variable in enumerate(w):
            if variable.fixed:
                lower[k] = upper[k] = float(variable.value)
        of_variable = {id(variable): row for variable, row in zip(w, np.eye(len(w)), strict=True)}
        rows: list[tuple[Array, float, bool]] = []
        left_out: list[str] = []
        for constraint in self.model.component_data_objects(pyo.Constraint, active=True):
            if constraint.parent_component().local_name in built:
                continue
            found = _linear(constraint, of_variable) or _linear(constraint, of_variable | self._of_scores(sample))
            if found is None:
                left_out.append(constraint.name)
            else:
                rows += found
        if any(True for _ in self.model.component_objects(pyo.SOSConstraint, active=True)):
            left_out.append("SOS")
        stated = with_rows(self.stated.constraints, len(w), rows, lower, upper)
        n_added = len(rows) + int(np.isfinite(lower).sum() + (np.isfinite(upper) & (lower != upper)).sum())
        return OwnConstraints(stated, n_added, tuple(left_out))

    def _of_scores(self, sample: Any) -> dict[int, Array]:
        """The row of X of every score variable."""
        sides = ((self.model.score_pos, sample.X_pos), (self.model.score_neg, sample.X_neg))
        return {id(variable): dense(X[i]).ravel() for variables, X in sides for i, variable in variables.items()}


def in_pyomo(problem: Problem) -> PyomoModel:
    """The model of `auclab.models.pyomo_model.to_pyomo` with its parts by name."""
    model = to_pyomo(problem)
    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    pos, neg = iter(model.score_pos.values()), iter(model.score_neg.values())
    return PyomoModel(
        model=model,
        w=model.coef,
        intercept=model.component("intercept"),
        scores=[next(pos if positive else neg) for positive in problem.sample.positive],
        hinge=model.hinge,
        objective=model.objective,
        stated=problem,
        components=tuple(model.component_objects(pyo.Constraint)),
    )


def _linear(constraint: Any, of_variable: dict[int, Array]) -> list[tuple[Array, float, bool]] | None:
    """A constraint as rows ``a·w ≤ c``; None if it is not linear or has other variables."""
    form = generate_standard_repn(constraint.body, compute_values=True)
    if not form.is_linear() or any(id(variable) not in of_variable for variable in form.linear_vars):
        return None
    if not form.linear_vars:
        return []
    parts = zip(form.linear_coefs, form.linear_vars, strict=True)
    row = np.sum([float(factor) * of_variable[id(variable)] for factor, variable in parts], axis=0)
    constant = float(form.constant)
    ends = (constraint.lower, constraint.upper)
    low, high = (None if end is None else float(pyo.value(end)) - constant for end in ends)
    if constraint.equality:
        return [(row, float(high if high is not None else 0.0), True)]
    found = [(row, high, False)] if high is not None else []
    return found + ([(-row, -low, False)] if low is not None else [])


#: Rows a second of building the model and compiling it, measured on one core of a busy machine.
ROWS_PER_SECOND = 20_000
#: Seconds of compiling for a second of building (measured).
COMPILE_SHARE = 0.3


class OutOfTimeError(Exception):
    """The time limit was reached while a model was being built."""


def to_pyomo(problem: Problem, clock: Clock | None = None) -> pyo.ConcreteModel:
    """The model of a convex program; a linear one (no norm, or l1 or linf unsquared) is a linear model.

    Norm l2 is a quadratic constraint ``Σ w_k² ≤ r²``, a squared penalty a quadratic objective: for solvers that take
    these.

    Components: `coef` (w, in scores per unit of each feature), `intercept` (b, in scores, points only), `size` (r,
    where ‖w‖ appears, but not for λ‖w‖₂²), `score_pos`, `score_neg`, `loss` (β) and the constraint `hinge`, whose
    duals are the q of derivations 7.1, all with the index of the margin; for partial AUC the constraint `tail`, whose
    duals are the r; where w is constrained, `rows` with the index of `ColumnConstraints.all_rows` (`row_multipliers`
    reads their duals). The objective is the program's value, a mean of hinges and a penalty, without a unit.

    `problem`: convex, a mean of hinges or its superquantile; features in their own units. `clock`: of the
    solve, whose limit ends the building. Raises `AuclabError` for another loss than the hinge.
    """
    program, sample = problem.program, problem.sample
    if not program.loss.is_hinge:
        raise AuclabError(f"models in Pyomo support the hinge alone, not {program.loss}; use language='cvxpy'")
    in_time = _in_time(clock or Clock())
    model = pyo.ConcreteModel(name=program.name)
    model.features = pyo.RangeSet(0, sample.n_features - 1)
    model.pos = pyo.RangeSet(0, sample.n_pos - 1)
    model.neg = pyo.RangeSet(0, sample.n_neg - 1)
    model.coef = pyo.Var(model.features)
    if problem.constraints is not None:
        _add_rows(model, problem.constraints)
    _add_scores(model, "pos", sample.X_pos, in_time)
    _add_scores(model, "neg", sample.X_neg, in_time)
    buffer: Any = 0.0
    ridge, program = without_squares(program)
    if program.uses_norm:
        _add_norm(model, program.regulariser.norm)
        buffer = program.threshold * model.size if program.threshold else 0.0
    margins = program.comparisons.rows(sample)
    rows, weights = list(zip(margins.pos.tolist(), margins.neg.tolist(), strict=True)), margins.weights.tolist()
    if margins.signs is None:
        keys: Sequence[Any] = rows
        signs, intercept = [0.0] * len(rows), 0.0
    else:
        keys, signs, intercept = range(len(rows)), margins.signs.tolist(), pyo.Var()
        model.intercept = intercept
    model.loss = pyo.Var(keys, domain=pyo.NonNegativeReals)
    model.hinge = pyo.Constraint(keys)
    for key, (i, j), sign in zip(keys, rows, signs, strict=True):
        in_time()
        margin = (model.score_pos[i] if i >= 0 else 0.0) - (model.score_neg[j] if j >= 0 else 0.0) + sign * intercept
        model.hinge[key] = model.loss[key] + margin + buffer >= 1.0
    capacity = program.comparisons.capacity(sample)
    if capacity is not None:
        mean = _add_tail(model, sample, capacity, in_time)
    else:
        mean = pyo.quicksum(weight * model.loss[key] for key, weight in zip(keys, weights, strict=True))
    model.objective = pyo.Objective(expr=mean + _penalty(model, program, ridge), sense=pyo.minimize)
    return model


def write_model(problem: Problem, path: Path, columns: Sequence[str]) -> None:
    """Write the linear program as an .lp or .mps file, with the variables `coef(NAME)`, on the rows as they were given.

    `columns`: names of the features; characters other than letters, digits and _ become _, as these formats have fewer.
    """
    model = to_pyomo(replace(problem, sample=problem.sample.uncentred()))
    plain = [re.sub(r"\W", "_", str(name), flags=re.ASCII) for name in columns]
    names = [name if plain.count(name) == 1 else f"{name}_{k}" for k, name in enumerate(plain)]
    of_others = TextLabeler()

    def label(part: Any) -> str:
        is_coefficient = part.parent_component() is model.coef
        return f"coef({names[part.index()]})" if is_coefficient else str(of_others(part))

    with replace_file(path) as draft:
        model.write(str(draft), io_options={"labeler": label})


def row_multipliers(model: pyo.ConcreteModel, dual_of: Callable[[Any], float]) -> Array:
    """The multipliers μ of the constraints on w, in the order of `ColumnConstraints.all_rows`.

    `model`: from `to_pyomo`, with constraints on w. `dual_of`: the dual value of a constraint as Pyomo and HiGHS state
    it, the change of the minimum per unit of the right-hand side, so that the one of a row with ≤ is negative.
    Returns: ≥ 0, free for equations.
    """
    found = np.zeros(len(model.row_numbers))
    for r, row in model.rows.items():
        dual = -float(dual_of(row))
        found[r] = dual if row.equality else max(dual, 0.0)
    return found


def lower_to_highs(model: pyo.ConcreteModel) -> tuple[highspy.HighsLp, list[Any], list[Any]]:
    """The linear program in HiGHS's own form, the variables of its columns, and the constraints of its rows.

    Variables that no constraint uses, such as the coefficient of a constant feature, have no column.
    """
    form = LinearStandardFormCompiler().write(model, mixed_form=True)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = form.A.shape
    lp.col_cost_ = form.c.toarray().ravel()
    lp.col_lower_ = np.array([-math.inf if variable.lb is None else variable.lb for variable in form.columns])
    lp.col_upper_ = np.array([math.inf if variable.ub is None else variable.ub for variable in form.columns])
    # Pyomo's kinds of rows: 1 for ≤, −1 for ≥, 0 for =.
    kind, right = np.array([row.bound_type for row in form.rows]), np.array(form.rhs, dtype=float)
    lp.row_lower_, lp.row_upper_ = np.where(kind == 1, -math.inf, right), np.where(kind == -1, math.inf, right)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = form.A.indptr, form.A.indices, form.A.data
    return lp, list(form.columns), [row.constraint for row in form.rows]


def _in_time(clock: Clock) -> Callable[[], None]:
    """A function to be called for every row, which raises `OutOfTimeError` at the limit."""

    def in_time() -> None:
        if clock.is_over:
            raise OutOfTimeError

    return in_time


def _add_tail(model: pyo.ConcreteModel, sample: Sample, capacity: Array, in_time: Callable[[], None]) -> Any:
    """The superquantile of the losses of the negatives, ``γ + Σ_j c_j [Σ_i u_i β_ij − γ]₊``, c the largest r.

    The duals of `tail` are the r of `PartialAUC`.
    """
    model.level = pyo.Var(domain=pyo.NonNegativeReals)
    model.excess = pyo.Var(model.neg, domain=pyo.NonNegativeReals)
    share = sample.share_pos.tolist()

    def tail(m: Any, j: int) -> Any:
        in_time()
        return m.excess[j] + m.level - pyo.quicksum(share[i] * m.loss[i, j] for i in m.pos) >= 0.0

    model.tail = pyo.Constraint(model.neg, rule=tail)
    largest = capacity.tolist()
    return model.level + pyo.quicksum(largest[j] * model.excess[j] for j in model.neg)


def _add_rows(model: pyo.ConcreteModel, constraints: ColumnConstraints) -> None:
    """``A w ≤ c`` or ``= c``, row by row; what a row without a coefficient says is decided here."""
    if not constraints.is_convex:
        raise AuclabError("max_features needs integer variables, which this model does not have; add them to it")
    matrix, limit, equal = constraints.all_rows()
    model.row_numbers = pyo.RangeSet(0, limit.size - 1)

    def row(m: Any, r: int) -> Any:
        entries = list(_entries(matrix, r))
        if not entries:
            if limit[r] < 0.0 or (equal[r] and limit[r] > 0.0):
                raise AuclabError(f"row {r} of the constraints has only zeros, with limit {limit[r]:g}: leave it out")
            return pyo.Constraint.Skip
        left = pyo.quicksum(value * m.coef[k] for k, value in entries)
        return left == float(limit[r]) if equal[r] else left <= float(limit[r])

    model.rows = pyo.Constraint(model.row_numbers, rule=row)


def _add_scores(model: pyo.ConcreteModel, side: str, X: Any, in_time: Callable[[], None]) -> None:
    """Score variables of one class, tied to w by one dense row each."""
    rows = getattr(model, side)
    scores = pyo.Var(rows)
    setattr(model, f"score_{side}", scores)

    def definition(m: Any, i: int) -> Any:
        in_time()
        return scores[i] - pyo.quicksum(value * m.coef[k] for k, value in _entries(X, i)) == 0.0

    setattr(model, f"define_{side}", pyo.Constraint(rows, rule=definition))


def _entries(X: Any, row: int) -> Iterable[tuple[int, float]]:
    """The nonzeros ``(column, value)`` of a row of an array or CSR matrix."""
    if isinstance(X, np.ndarray):
        columns = np.flatnonzero(X[row])
        return zip(columns.tolist(), X[row, columns].tolist(), strict=True)
    span = slice(X.indptr[row], X.indptr[row + 1])
    return zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True)


def _penalty(model: pyo.ConcreteModel, program: Program, ridge: float) -> Any:
    """``R(w)``, of which a part are `ridge` times the squares."""
    squares = ridge * pyo.quicksum(model.coef[k] ** 2 for k in model.features) if ridge else 0.0
    if not program.regulariser.weight:
        return squares
    return squares + program.regulariser.weight * (model.size**2 if program.regulariser.squared else model.size)


def _add_norm(model: pyo.ConcreteModel, norm: VectorNorm) -> None:
    """`size` ≥ ‖w‖, by the rows of its epigraph; cones as squares."""
    n = len(model.features)
    epigraph = norm.epigraph(np.ones(n))
    model.size = pyo.Var(domain=pyo.NonNegativeReals)
    model.parts = pyo.RangeSet(0, epigraph.n_parts(n) - 1)
    model.part = pyo.Var(model.parts, domain=pyo.NonNegativeReals)
    columns = [*(model.coef[k] for k in model.features), model.size, *(model.part[k] for k in model.parts)]

    def row(matrix: Any, k: int) -> Any:
        span = slice(matrix.indptr[k], matrix.indptr[k + 1])
        return pyo.quicksum(
            float(value) * columns[c] for c, value in zip(matrix.indices[span], matrix.data[span], strict=True)
        )

    model.norm_rows = pyo.Constraint(
        pyo.RangeSet(0, epigraph.linear.shape[0] - 1), rule=lambda m, k: row(epigraph.linear, k) <= 0.0
    )
    first = np.r_[0, np.cumsum(epigraph.sizes)].astype(int)
    model.norm_cones = pyo.Constraint(
        pyo.RangeSet(0, len(epigraph.sizes) - 1),
        rule=lambda m, k: (
            pyo.quicksum(row(epigraph.conic, j) ** 2 for j in range(first[k] + 1, first[k + 1]))
            <= row(epigraph.conic, int(first[k])) ** 2
        ),
    )
