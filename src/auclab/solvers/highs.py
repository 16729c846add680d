"""HiGHS on the linear programs, in three encodings of the pairs that have one optimum.

* ``encoding=full``: the printed program (22) in Pyomo, every pair a row;
* ``encoding=dual``: its dual, every pair a boxed column, about n rows;
* ``encoding=aggregated``: only a window of undecided pairs gets columns (`auclab.solvers.windows`).

Comparisons say which of them they have: the hardest negatives the first alone. A count of pairs is a mixed-integer
program (`auclab.solvers.exact_auc`).
"""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

import highspy
import numpy as np

from auclab._core.base import Array, AuclabError, Status
from auclab._core.validation import check_choice
from auclab.formulations.problem import Problem
from auclab.formulations.programs import BufferedAUC
from auclab.models.dual_lp import highs_status, quiet_highs, run_highs, solve_dual
from auclab.models.hard_margin import all_margins, marginals
from auclab.models.timings import Clock, Timings
from auclab.solvers.budget import NOTEWORTHY, check_margins, default_limit_note, finite_or_none, seconds_allowed
from auclab.solvers.monitor import Monitor
from auclab.solvers.reformulations import feature_units, run_solver
from auclab.solvers.registry import encodings, fastest_encoding
from auclab.solvers.solution import RawSolution

ENCODINGS = ("auto", "full", "dual", "aggregated")
#: From this number of rows on an interior-point method is faster than the simplex method (measured: 0.9 s against 5.9 s
#: at 22,500 rows, 3.9 s against a minute at 62,500).
INTERIOR_POINT_FROM = 5_000
#: Seconds per entry of the margins' rows to pass them to HiGHS (measured: 3 s for 9 million, on a busy machine).
_BUILDING_PER_ENTRY = 2e-7
#: Terms of rows that Pyomo builds and lowers in a second (measured: 7 million in 6 s).
_TERMS_PER_SECOND = 1_000_000


def solve(
    problem: Problem,
    monitor: Monitor,
    *,
    encoding: str = "auto",
) -> RawSolution:
    """Solve a linear hinge program exactly, or count pairs by branch and bound.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        Has the relative gap at which ``encoding="aggregated"`` and a count of pairs may stop; the others are exact. Its
        time includes the building of the model; 600 s where it has no limit.
    encoding : {"auto", "full", "dual", "aggregated"}
        How the pairs (or points) enter the program. "auto" is "dual" up to 1,000 of them, then "aggregated" where the
        program has it.

    Raises
    ------
    AuclabError
        An encoding that is unknown or that the program does not have, or margins that would not fit into the memory.

    See Also
    --------
    auclab.solvers.newton.solver.solve : Sorted scores in place of pairs.
    """
    _check_encoding(problem, encoding)
    if not encodings(problem.program):
        from auclab.solvers.exact_auc import solve_exact_auc

        check_margins(problem, "highs encoding=dual", "use fewer observations or features")
        bauc = Problem(BufferedAUC(), problem.sample)  # counting pairs starts at its w
        answer = solve_exact_auc(problem, lambda: run_solver("highs", bauc, monitor.part(1e-4)).coef, monitor)
        return replace(answer, notes=(*answer.notes, *default_limit_note(monitor.clock, answer.status)))
    if encoding == "auto":
        encoding = fastest_encoding(problem)
    if encoding != "aggregated":
        check_margins(problem, f"highs encoding={encoding}")
    limited = monitor.part(monitor.tolerance, monitor.clock.until(seconds_allowed(monitor.clock.left)))
    if encoding == "full":
        answer = _solve_full(problem, limited.clock)
    elif encoding == "aggregated":
        from auclab.solvers.windows import solve_windows

        answer = solve_windows(problem, limited)
    else:
        answer = _solve_dual(problem, limited.clock)
    return replace(answer, notes=(*answer.notes, *default_limit_note(monitor.clock, answer.status)))


def _check_encoding(problem: Problem, encoding: str) -> None:
    """Raise `AuclabError` unless the program has the encoding."""
    program = problem.program
    check_choice("encoding", encoding, ENCODINGS)
    if not encodings(program) and encoding != "auto":
        raise AuclabError(f"{program.name} takes no encoding: its pairs are integer variables")
    if encoding != "auto" and encoding not in encodings(program):
        available = " or ".join(f"encoding={name}" for name in encodings(program))
        raise AuclabError(
            f"{program.name} over {program.comparisons.name} has no encoding={encoding}; use {available}, or "
            "solver=cutting_plane, which forms no pairs"
        )


def _solve_dual(problem: Problem, clock: Clock) -> RawSolution:
    start, limit = clock.seconds, seconds_allowed(clock.left)
    each = problem.n_margins / max(problem.sample.n_pos, problem.sample.n_neg)  # of an observation
    if _BUILDING_PER_ENTRY * problem.sample.n_entries * each > limit:
        note = "the time limit leaves no time to build a column for every margin"
        return RawSolution.null(problem, Status.TIME_LIMIT, note=note)
    margins = all_margins(problem)
    listed = clock.seconds - start
    point = solve_dual(problem.program, margins, time_limit=clock.left, constraints=problem.constraints)
    timings = Timings(build=listed + point.timings.build, load=point.timings.load, solve=point.timings.solve)
    if point.status is Status.FAILED:
        return RawSolution.null(problem, Status.FAILED, timings, f"HiGHS ended without a solution: {point.reason}")
    found = RawSolution(point.coef, point.intercept, point.status, None, point.iterations, timings)
    if not np.isfinite(point.weights).all():
        return found
    if problem.program.kind == "piecewise":
        return replace(found, margin_multipliers=point.weights)
    return replace(found, multipliers=marginals(problem, point.weights))


def _solve_full(problem: Problem, clock: Clock) -> RawSolution:
    from pyomo.common.log import LoggingIntercept

    from auclab.models.pyomo_model import COMPILE_SHARE, ROWS_PER_SECOND, OutOfTimeError, lower_to_highs, to_pyomo

    start, expected = clock.seconds, problem.n_margins / ROWS_PER_SECOND
    notes: tuple[str, ...] = ()
    if problem.sample.n_entries / _TERMS_PER_SECOND > seconds_allowed(clock.left):
        note = "the time limit leaves no time for a Pyomo model with a term for every entry of the rows"
        return RawSolution.null(problem, Status.TIME_LIMIT, note=note)
    if expected > NOTEWORTHY:
        notes = (f"encoding=full has {problem.n_margins:,} rows in Pyomo, about {expected:.0f} s to build",)
    try:
        with LoggingIntercept(StringIO(), "pyomo.core"):  # Pyomo would log the end of the time as an error of the model
            model = to_pyomo(problem, clock)
        built = clock.seconds
        if COMPILE_SHARE * (built - start) > seconds_allowed(clock.left):
            raise OutOfTimeError
    except OutOfTimeError:
        timings = Timings(build=clock.seconds - start)
        note = "the time limit was reached while the Pyomo model was being built"
        return replace(RawSolution.null(problem, Status.TIME_LIMIT, timings, note), notes=(*notes, note))
    lp, variables, constraints = lower_to_highs(model)
    units = feature_units(problem)
    if units is not None:
        _scale_features(lp, model, units, variables)
    highs = quiet_highs(finite_or_none(seconds_allowed(clock.left)))
    if problem.n_margins > INTERIOR_POINT_FROM:
        highs.setOptionValue("solver", "ipm")
    accepted = highs.passModel(lp)
    loaded = clock.seconds
    run_highs(highs)
    timings = Timings(build=built - start, load=loaded - built, solve=clock.seconds - loaded)
    status, found = highs_status(highs.getModelStatus()), highs.getSolution()
    if accepted == highspy.HighsStatus.kError or (status is Status.OPTIMAL and not found.dual_valid):
        status = Status.FAILED
    if status is not Status.OPTIMAL:
        # A simplex method that was stopped has no dual point, and its primal one may be worse than w = 0.
        if status is Status.FAILED:
            reason = highs.modelStatusToString(highs.getModelStatus())
            notes = (*notes, f"HiGHS ended without a solution: {reason}")
        return replace(RawSolution.null(problem, status, timings), notes=notes)
    columns = dict(zip(map(id, variables), found.col_value, strict=True))
    rows = dict(zip(map(id, constraints), found.row_dual, strict=True))
    # A variable that no row uses, the coefficient of a constant feature, has no column: it is 0.
    coef = np.array([columns.get(id(model.coef[k]), 0.0) for k in model.features])
    weights = np.array([rows.get(id(row), 0.0) for row in model.hinge.values()])
    tail: Any = model.component("tail")
    share_neg = None if tail is None else np.array([rows.get(id(tail[j]), 0.0) for j in model.neg])
    info = highs.getInfo()
    return RawSolution(
        coef=coef if units is None else coef * units,
        intercept=float(columns.get(id(model.component("intercept")), 0.0)),
        status=status,
        multipliers=marginals(problem, np.maximum(weights, 0.0)),
        share_neg=share_neg,
        iterations=max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count),
        timings=timings,
        notes=notes,
    )


def _scale_features(lp: highspy.HighsLp, model: Any, units: Array, variables: list[Any]) -> None:
    """Bring the columns of w, and of its parts in the norm, to units: HiGHS drops entries below 1e-9."""
    of_variable = {id(model.coef[k]): float(units[k]) for k in model.features}
    part = model.component("part")
    if part is not None:
        of_variable |= {id(part[k]): float(units[k]) for k in model.parts if k < units.size}
    scale = np.array([of_variable.get(id(variable), 1.0) for variable in variables])
    lp.a_matrix_.value_ = np.array(lp.a_matrix_.value_) * np.repeat(scale, np.diff(np.array(lp.a_matrix_.start_)))
    lp.col_cost_ = np.array(lp.col_cost_) * scale
