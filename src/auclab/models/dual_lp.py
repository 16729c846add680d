"""The dual of a linear hinge program, in HiGHS: one bounded column per margin, about n rows.

    max Σ_k q_k   s.t.   ‖Σ_k q_k d_k‖_* ≤ λ − z Σ_k q_k,   Σ_k q_k y_k = 0 (points),   0 ≤ q_k ≤ capacity_k

(derivations 7.1). `w` and `b` are read from the row duals. Some margins may be left out of the columns as their q_k
is fixed (`Fixed`: full for a hinge that is surely on, 0 for one that is surely off), and w may be kept within a box
(`Region`), which in the dual is a penalty on violating the first constraint. Constraints on w, ``A w ≤ c``, are further
columns μ ≥ 0 (free for equations), with cost c and −Aᵀμ in the first constraint.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

from auclab._core.base import Array, AuclabError, Status
from auclab._core.forms import dense
from auclab._core.tolerances import HALF_OF_DIGITS, ORDINARY, SOLVED
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.models.timings import Timings

#: One thread, so that parallel runs do not compete for cores, and the tightest tolerances that HiGHS takes.
EXACT: dict[str, Any] = {
    "threads": 1,
    "primal_feasibility_tolerance": SOLVED,
    "dual_feasibility_tolerance": SOLVED,
}


#: Programs with fewer columns end within seconds.
_INTERRUPTIBLE_FROM = 1_500


@dataclass(frozen=True)
class Margins:
    """The hinge terms that get a column: ``m_k = w·directions[k] + b·signs[k]``, weight at most `capacity[k]`.

    `signs` is None over pairs, where the intercept cancels.
    """

    directions: Any
    capacity: Array
    signs: Array | None = None


@dataclass(frozen=True)
class Fixed:
    """Sums over the margins without a column: ``Σ q``, ``Σ q d`` and ``Σ q y`` (their hinges are linear terms)."""

    total: float
    gradient: Array
    balance: float = 0.0


@dataclass(frozen=True)
class Region:
    """The box ``|w − center| ≤ radius``, componentwise."""

    center: Array
    radius: Array


@dataclass(frozen=True)
class DualPoint:
    """A primal point read from the row duals, the weights of the columns, the status, iterations and seconds.

    `reason` is the solver's own word for how it ended.
    """

    coef: Array
    intercept: float
    weights: Array
    status: Status
    value: float
    iterations: int
    timings: Timings
    reason: str = ""


def solve_dual(
    program: Program,
    margins: Margins,
    fixed: Fixed | None = None,
    region: Region | None = None,
    *,
    time_limit: float | None = None,
    constraints: ColumnConstraints | None = None,
    stopped: Callable[[], object] = lambda: None,
) -> DualPoint:
    """Solve the dual of a linear program over `margins`; `value` is the optimum, fixed part included.

    `program`: linear. `margins`: directions in units of the features, capacities as shares of all hinge terms. `fixed`:
    the sums of the margins without a column; none if not given. `region`: in the units of w, scores per unit of each
    feature. `time_limit`: seconds, the building included. `constraints`: on w: a column a row and a bound, its
    multiplier. `stopped`: as `run_highs` takes it.
    """
    start = perf_counter()
    n_margins, n_features = margins.directions.shape
    fixed = fixed or Fixed(0.0, np.zeros(n_features))
    scale = feature_scale(margins.directions)
    if scale is not None:
        margins, fixed, region = _in_scale(scale, margins, fixed, region)
        constraints = None if constraints is None else constraints.in_units(1.0 / scale)
    # Weights in units of the mean capacity: HiGHS's feasibility tolerances are absolute.
    unit = float(margins.capacity.mean()) if n_margins else 1.0
    scale_or_one = np.ones(n_features) if scale is None else scale
    lp = _linear_program(program, margins, fixed, region, unit, scale_or_one, constraints)
    built = perf_counter()
    highs = quiet_highs(None if time_limit is None else max(time_limit - (built - start), 1e-3))
    accepted = highs.passModel(lp)
    loaded = perf_counter()
    run_highs(highs, stopped)
    solved = perf_counter()
    timings = Timings(build=built - start, load=loaded - built, solve=solved - loaded)
    status = highs_status(highs.getModelStatus())
    info, solution = highs.getInfo(), highs.getSolution()
    iterations = max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
    if accepted == highspy.HighsStatus.kError or not (solution.dual_valid and solution.value_valid):
        status = Status.FAILED if status is Status.OPTIMAL else status
        nothing, reason = np.full(n_features, np.nan), highs.modelStatusToString(highs.getModelStatus())
        return DualPoint(nothing, np.nan, np.full(n_margins, np.nan), status, np.nan, iterations, timings, reason)
    row_dual = np.array(solution.row_dual)
    columns = np.array(solution.col_value)
    two_sided = program.uses_norm and program.threshold != 0 and program.regulariser.norm.dual_box(1) is not None
    coef = -row_dual[:n_features] + (row_dual[n_features : 2 * n_features] if two_sided else 0.0)
    if scale is not None:
        coef = coef * scale
    intercept = -float(row_dual[-1]) if margins.signs is not None else 0.0
    weights = np.clip(columns[:n_margins] * unit, 0.0, margins.capacity)
    value = fixed.total - info.objective_function_value * unit
    return DualPoint(coef, intercept, weights, status, value, iterations, timings)


def feature_scale(directions: Any) -> Array | None:
    """Powers of two that bring the columns near 1, shape (n_features,), or None if they are not far from it.

    HiGHS drops entries below 1e-9 and refuses those above 1e15.

    Examples
    --------
    >>> feature_scale(np.array([[1.0, 3.0], [2.0, -5.0]])) is None
    True
    >>> feature_scale(np.array([[1.0, 2.0**-20], [0.0, 0.0]])).tolist() == [1.0, 2.0**20]
    True
    """
    if not directions.shape[0]:
        return None
    peaks: Any = abs(directions).max(axis=0)
    largest: Array = dense(peaks).astype(np.float64).ravel()
    largest[largest == 0] = 1.0
    if ((largest >= 1.0 / ORDINARY) & (largest <= ORDINARY)).all():
        return None
    return np.asarray(np.exp2(-np.rint(np.log2(np.clip(largest, HALF_OF_DIGITS, 1.0 / HALF_OF_DIGITS)))))


def _in_scale(
    scale: Array, margins: Margins, fixed: Fixed, region: Region | None
) -> tuple[Margins, Fixed, Region | None]:
    """The same with features times `scale`, and w divided by it."""
    directions: Any = margins.directions
    scaled = directions @ sp.diags_array(scale) if hasattr(directions, "toarray") else directions * scale
    margins = Margins(scaled, margins.capacity, margins.signs)
    fixed = Fixed(fixed.total, fixed.gradient * scale, fixed.balance)
    return margins, fixed, None if region is None else Region(region.center / scale, region.radius / scale)


def quiet_highs(time_limit: float | None) -> highspy.Highs:
    """A silent HiGHS with tight tolerances and a limit in seconds; a refused option is an error, not a default."""
    highs = highspy.Highs()
    options: dict[str, Any] = {"output_flag": False, **EXACT}
    if time_limit is not None:
        options["time_limit"] = float(time_limit)
    set_options(highs, options)
    return highs


def set_options(highs: highspy.Highs, options: Mapping[str, Any]) -> None:
    """Set options; `AuclabError` where this version of HiGHS does not take one."""
    for name, value in options.items():
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise AuclabError(f"HiGHS refuses the option {name}={value}; install the version that auclab requires")


def run_highs(highs: highspy.Highs, stopped: Callable[[], object] = lambda: None) -> None:
    """Run HiGHS; Ctrl-C ends a large program after at most some tenths of a second.

    `stopped`: a result other than None ends a large program: where a handler of signals notes Ctrl-C, nothing is raised
    here.
    """
    if highs.getNumCol() < _INTERRUPTIBLE_FROM or threading.current_thread() is not threading.main_thread():
        highs.run()
        return
    # Python handles Ctrl-C in its main thread between two instructions, so HiGHS computes in another one.
    highs.HandleUserInterrupt = True
    highs.startSolve()
    try:
        while not highs.wait(0.2)[0]:
            if stopped() is not None:
                highs.cancelSolve()
                highs.wait()
                return
    except KeyboardInterrupt:
        highs.cancelSolve()
        highs.wait()
        raise


def highs_status(status: highspy.HighsModelStatus) -> Status:
    """HiGHS's status as ours; whatever is neither optimal nor a limit has no usable point."""
    theirs = highspy.HighsModelStatus
    return {
        theirs.kOptimal: Status.OPTIMAL,
        theirs.kTimeLimit: Status.TIME_LIMIT,
        theirs.kIterationLimit: Status.ITERATION_LIMIT,
    }.get(status, Status.FAILED)


def _linear_program(
    program: Program,
    margins: Margins,
    fixed: Fixed,
    region: Region | None,
    unit: float,
    scale: Array,
    constraints: ColumnConstraints | None,
) -> highspy.HighsLp:
    """Columns: q, the penalties of the box, the multipliers of the constraints, those of the norm's rows.

    Rows: the gradient g, the norm, the balance.

    Features were multiplied by `scale`.
    """
    n_margins, n_features = margins.directions.shape
    identity = sp.eye_array(n_features, format="csc")
    transposed = sp.csc_array(margins.directions.T)
    capacity, gradient, total = margins.capacity / unit, fixed.gradient / unit, fixed.total / unit
    penalty, z = program.regulariser.weight / unit, program.threshold

    cost, lower, upper = [-np.ones(n_margins)], [np.zeros(n_margins)], [capacity]
    blocks = [transposed]
    if region is not None:
        cost += [region.center + region.radius, region.radius - region.center]
        lower, upper = [*lower, np.zeros(2 * n_features)], [*upper, np.full(2 * n_features, np.inf)]
        blocks += [-identity, identity]
    if constraints is not None:
        matrix, limit, equal = constraints.scaled_rows(np.ones(n_features))
        cost, upper = [*cost, limit], [*upper, np.full(limit.size, np.inf)]
        lower = [*lower, np.where(equal, -np.inf, 0.0)]
        blocks += [sp.csc_array(-matrix.T)]
    g = sp.hstack(blocks, format="csc")
    n_extra = g.shape[1] - n_margins
    sum_q = sp.csc_array(np.r_[np.ones(n_margins), np.zeros(n_extra)][None, :])
    slack, box = penalty - z * total, program.used_norm.dual_box(n_features)

    if box is not None and z == 0:
        limit = slack * scale * box
        rows, lower_rows, upper_rows = [g], [-limit - gradient], [limit - gradient]
    elif box is not None:
        tilt = sp.csc_array((scale * box * z)[:, None]) @ sum_q
        rows = [g + tilt, -g + tilt]
        lower_rows = [np.full(2 * n_features, -np.inf)]
        upper_rows = [slack * scale * box - gradient, slack * scale * box + gradient]
    else:
        # The multipliers y ≥ 0 of the rows of ‖w‖ ≤ t take up g, z Σq − λ, and nothing in the columns of its parts.
        of_norm = sp.csc_array(program.regulariser.norm.epigraph(scale).linear.T)
        of_w, of_t, of_parts = of_norm[:n_features], of_norm[[n_features]], of_norm[n_features + 1 :]
        n_rows, n_parts = of_norm.shape[1], of_parts.shape[0]
        cost, lower, upper = [*cost, np.zeros(n_rows)], [*lower, np.zeros(n_rows)], [*upper, np.full(n_rows, np.inf)]
        none = sp.csc_array((n_parts, g.shape[1]))
        rows = [sp.hstack([g, -of_w]), sp.hstack([z * sum_q, -of_t]), sp.hstack([none, of_parts])]
        lower_rows = [-gradient, np.array([-np.inf]), np.zeros(n_parts)]
        upper_rows = [-gradient, np.array([slack]), np.zeros(n_parts)]
    if margins.signs is not None:
        width = rows[0].shape[1]
        rows += [sp.csc_array(np.r_[margins.signs, np.zeros(width - n_margins)][None, :])]
        balance = np.array([-fixed.balance / unit])
        lower_rows, upper_rows = [*lower_rows, balance], [*upper_rows, balance]

    system = sp.csc_array(sp.vstack(rows, format="csc"))
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = system.shape
    lp.col_cost_ = np.concatenate(cost)
    lp.col_lower_ = np.concatenate(lower)
    lp.col_upper_ = np.concatenate(upper)
    lp.row_lower_, lp.row_upper_ = np.concatenate(lower_rows), np.concatenate(upper_rows)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = system.indptr
    lp.a_matrix_.index_ = system.indices
    lp.a_matrix_.value_ = system.data
    return lp
