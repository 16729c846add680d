"""HiGHS on the linear programs, in three encodings of the pairs that have one optimum.

* ``encoding=full``: the printed program (22) in Pyomo, every pair a row;
* ``encoding=dual``: its dual, every pair a boxed column, about n rows;
* ``encoding=aggregated``: only a window of undecided pairs gets columns (`auclab.solvers.windows`).

A program says which of them it has (`Program.encodings`): partial AUC the first alone, a count of pairs, which is a
mixed-integer program (`auclab.solvers.highs.exact_auc`), none.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from auclab.formulations.bauc import BufferedAUC
from auclab.formulations.problem import Problem
from auclab.models.dual_lp import EXACT, solve_dual
from auclab.models.margins import all_margins, marginals
from auclab.models.timings import Timings
from auclab.solvers.raw import RawSolution
from auclab.types import Array, AuclabError, Status

ENCODINGS = ("auto", "full", "dual", "aggregated")
#: Up to this many margins the dual with every one of them is the fastest (measured, benchmarks/pair_encodings.py).
DUAL_UP_TO = 1_000
#: The Pyomo model of more rows than this would take minutes to build.
EXPORT_UP_TO = 2_000_000


def solve(
    problem: Problem,
    *,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    encoding: str = "auto",
    export: str | None = None,
    pairs: str | None = None,
) -> RawSolution:
    """Solve a linear hinge program exactly, or count pairs by branch and bound.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Relative gap, > 0, at which ``encoding="aggregated"`` and a count of pairs may stop; the others are exact.
    time_limit : float, optional
        Seconds, > 0.
    encoding : {"auto", "full", "dual", "aggregated"}
        How the pairs (or points) enter the program. "auto" is "dual" up to 1,000 of them, then "aggregated" where the
        program has it.
    export : str, optional
        A path ending in .lp or .mps to which the algebraic model is written.
    pairs : str, optional
        The former name of `encoding`.

        .. deprecated:: 0.2
            Use `encoding`.

    Raises
    ------
    AuclabError
        An encoding that is unknown or that the program does not have, an export path that cannot be written or has
        another ending.

    See Also
    --------
    auclab.solvers.newton.solver.solve : Sorted scores in place of pairs.
    """
    if pairs is not None:
        warnings.warn("pairs= is deprecated; use encoding=", FutureWarning, stacklevel=2)
        encoding = pairs
    program = problem.program
    _check_encoding(problem, encoding, export)
    if not program.encodings:
        from auclab.solvers.highs.exact_auc import solve_exact_auc

        return solve_exact_auc(
            problem, lambda: _bauc_coef(problem, time_limit), tolerance=tolerance, time_limit=time_limit
        )
    if export is not None:
        _export(problem, Path(export))
    if encoding == "auto":
        encoding = _fastest_encoding(problem)
    if encoding == "full":
        return _solve_full(problem, time_limit)
    if encoding == "aggregated":
        from auclab.solvers.windows import solve_windows

        return solve_windows(problem, tolerance=tolerance, time_limit=time_limit)
    return _solve_dual(problem, time_limit)


def _check_encoding(problem: Problem, encoding: str, export: str | None) -> None:
    """Raise `AuclabError` unless the program has the encoding."""
    program = problem.program
    if encoding not in ENCODINGS:
        raise AuclabError(f"encoding={encoding!r} is unknown; choose one of {', '.join(ENCODINGS)}")
    if not program.encodings and (encoding != "auto" or export is not None):
        raise AuclabError(f"{program.name} takes neither encoding nor export: its pairs are integer variables")
    if encoding != "auto" and encoding not in program.encodings:
        available = " or ".join(f"encoding={name}" for name in program.encodings)
        raise AuclabError(
            f"{program.name} over {program.over} has no encoding={encoding}; use {available}, or "
            "solver=cutting_plane, which forms no pairs"
        )


def _fastest_encoding(problem: Problem) -> str:
    """What "auto" stands for."""
    encodings = problem.program.encodings
    if "dual" not in encodings:
        return "full"
    return "aggregated" if "aggregated" in encodings and problem.n_margins > DUAL_UP_TO else "dual"


def _bauc_coef(problem: Problem, time_limit: float | None) -> Array:
    """The w of the bAUC solution on the same sample, from which counting pairs starts."""
    return solve(Problem(BufferedAUC(), problem.sample), tolerance=1e-4, time_limit=time_limit).coef


def _solve_dual(problem: Problem, time_limit: float | None) -> RawSolution:
    start = perf_counter()
    margins = all_margins(problem)
    listed = perf_counter() - start
    point = solve_dual(problem.program, margins, time_limit=time_limit)
    timings = Timings(build=listed + point.timings.build, load=point.timings.load, solve=point.timings.solve)
    multipliers = marginals(problem, point.weights) if np.isfinite(point.weights).all() else None
    return RawSolution(point.coef, point.intercept, point.status, multipliers, point.iterations, timings)


def _solve_full(problem: Problem, time_limit: float | None) -> RawSolution:
    from pyomo.contrib.solver.common.results import TerminationCondition
    from pyomo.contrib.solver.solvers.highs import Highs

    from auclab.models.pyomo_model import to_pyomo

    start = perf_counter()
    model = to_pyomo(problem)
    built = perf_counter()
    result = Highs().solve(
        model,
        time_limit=time_limit,
        solver_options=EXACT,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
    )
    elapsed = perf_counter() - built
    solving = float(result.timing_info.highs_time)
    timings = Timings(build=built - start, load=max(0.0, elapsed - solving), solve=solving)
    status = {
        TerminationCondition.convergenceCriteriaSatisfied: Status.OPTIMAL,
        TerminationCondition.maxTimeLimit: Status.TIME_LIMIT,
        TerminationCondition.iterationLimit: Status.ITERATION_LIMIT,
    }.get(result.termination_condition, Status.FAILED)
    if status is not Status.OPTIMAL:
        # A simplex method that was stopped has no dual point, and its primal one may be worse than w = 0.
        return RawSolution.null(problem, status, timings)
    loader = result.solution_loader
    values, duals = loader.get_vars(), loader.get_duals()
    weights = np.array([duals[model.hinge[k]] for k in model.hinge])
    tail: Any = model.component("tail")
    share_neg = None if tail is None else np.array([duals[tail[j]] for j in model.neg])
    return RawSolution(
        coef=np.array([values[model.coef[k]] for k in model.features]),
        intercept=0.0 if problem.over_pairs else float(values[model.intercept]),
        status=status,
        multipliers=marginals(problem, np.maximum(weights, 0.0)),
        share_neg=share_neg,
        iterations=max(0, result.extra_info.simplex_iteration_count) + max(0, result.extra_info.ipm_iteration_count),
        timings=timings,
    )


def _export(problem: Problem, path: Path) -> None:
    """Write the printed program to `path`; under another name first, so that no partial file is left."""
    from auclab.models.pyomo_model import to_pyomo

    if path.suffix not in (".lp", ".mps"):
        raise AuclabError(f"export={path} must end in .lp or .mps")
    if problem.n_margins > EXPORT_UP_TO:
        raise AuclabError(
            f"export writes one row a pair, and there are {problem.n_margins:,} (at most {EXPORT_UP_TO:,}); "
            "use fewer observations"
        )
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        to_pyomo(problem).write(str(partial), io_options={"symbolic_solver_labels": True})
        partial.replace(path)
    except OSError as error:
        if partial.parent.is_dir():
            partial.unlink(missing_ok=True)
        raise AuclabError(f"export={path} could not be written: {error}") from error
