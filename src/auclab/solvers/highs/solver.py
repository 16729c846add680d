"""HiGHS on the linear programs, in three statements of the pairs that have one optimum.

* ``pairs=full``: the printed program (22) in Pyomo, every pair a row;
* ``pairs=dual``: its dual, every pair a boxed column, about n rows;
* ``pairs=aggregated``: only a window of undecided pairs gets columns (`solvers._aggregated`).

The hinge over the hardest negatives has the first, and counting pairs a mixed-integer program (`solvers._count`).
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.dual_lp import EXACT, solve_dual
from auclab.models.margins import all_margins, marginals
from auclab.models.timings import Timings
from auclab.solvers.raw import RawSolution
from auclab.types import AuclabError, Status

STATEMENTS = ("auto", "full", "dual", "aggregated")
#: Up to this many margins the dual with every one of them is the fastest (measured, benchmarks/pair_statements.py).
DUAL_UP_TO = 1_000
#: The Pyomo model of more rows than this would take minutes to build.
EXPORT_UP_TO = 2_000_000


def solve(
    problem: Problem,
    *,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    pairs: str = "auto",
    export: str | None = None,
) -> RawSolution:
    """Solve a linear hinge program exactly, or count pairs by branch and bound.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Relative gap at which ``pairs=aggregated`` may stop; the others are exact in any case.
    time_limit : float, optional
        Seconds.
    pairs : {"auto", "full", "dual", "aggregated"}
        Points have no pairs to aggregate: there "auto" is "dual".
    export : str, optional
        A path ending in .lp or .mps to which the algebraic model is written.

    Raises
    ------
    AuclabError
        An unknown statement, an export path that cannot be written or has another ending.
    """
    if pairs not in STATEMENTS:
        raise AuclabError(f"pairs={pairs!r} is unknown; choose one of {', '.join(STATEMENTS)}")
    if pairs == "aggregated" and not problem.over_pairs:
        raise AuclabError(
            f"{problem.program.name} is a program over points, with no pairs to aggregate; use pairs=dual"
        )
    if problem.program.family == "count":
        if pairs != "auto" or export is not None:
            raise AuclabError(f"{problem.program.name} takes neither pairs nor export: its pairs are integer variables")
        from auclab.solvers.highs.exact_auc import solve_exact_auc

        return solve_exact_auc(problem, tolerance=tolerance, time_limit=time_limit)
    if problem.program.family == "hardest" and pairs in ("dual", "aggregated"):
        raise AuclabError(
            f"{problem.program.name} has no statement pairs={pairs}; use pairs=full, or solver=cutting_plane, which "
            "forms no pairs"
        )
    if export is not None:
        _export(problem, Path(export))
    if pairs == "full" or problem.program.family == "hardest":
        return _solve_full(problem, time_limit)
    if pairs == "aggregated" or (pairs == "auto" and problem.over_pairs and problem.n_margins > DUAL_UP_TO):
        from auclab.solvers.windows import solve_windows

        return solve_windows(problem, tolerance=tolerance, time_limit=time_limit)
    return _solve_dual(problem, time_limit)


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
    share_neg = None
    if problem.program.family == "hardest":
        share_neg = np.array([duals[model.hardest[j]] for j in model.neg])
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
    """Write the printed program to `path`; under another name first, so that nothing half-written stays."""
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
