"""Select a solver, run it, verify what it returns; or say what would be done."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from auclab._core.base import AuclabError, GroupWeights
from auclab._core.compiling import compile_loops
from auclab._core.threads import limit_threads
from auclab._core.tolerances import TOLERANCE
from auclab._core.validation import check_type
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints, constraints_on_columns
from auclab.formulations.problem import Problem, Ranking
from auclab.formulations.programs import as_formulation
from auclab.kernels.kernel import Kernel
from auclab.models.timings import Clock
from auclab.samples.features import moved_intercept
from auclab.samples.tables import opened
from auclab.solvers.budget import NOTEWORTHY
from auclab.solvers.canonical import check_not_contradictory
from auclab.solvers.column_generation import column_limits
from auclab.solvers.monitor import Monitor, one_thread_each
from auclab.solvers.nonconvex import solve_nonconvex
from auclab.solvers.portfolio import candidates, select_solver, solve_convex
from auclab.solvers.reformulations import reformulations
from auclab.solvers.registry import (
    SOLVERS,
    check_blocks,
    check_capable,
    check_constrainable,
    check_options,
    load_solver,
)
from auclab.solvers.solution import RawSolution, Solution


def solve(
    formulation: str | Program,
    X: Any,
    y: ArrayLike | None,
    *,
    solver: str = "auto",
    tolerance: float | None = None,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    ordered: bool = False,
    event: ArrayLike | None = None,
    group_weights: GroupWeights = "pairs",
    constraints: Constraints | ColumnConstraints | None = None,
    kernel: str | Kernel | None = None,
    threads: int | None = None,
    **options: Any,
) -> Solution:
    """Solve a formulation on a sample and certify the solution.

    Parameters
    ----------
    formulation : str or Program
        For example ``BufferedAUC()``, ``RankSVM(0.01, norm="l1")`` or ``PartialAUC(0.1)``; a name, such as "ranksvm",
        is the formulation with the default parameters of the command line (`auclab.formulations.formulation_named`).
    X : array, table or sparse matrix of shape (n_samples, n_features)
        Numbers without gaps, as NumPy, SciPy, pandas, polars or PyArrow hold them. The solution remembers the names of
        the columns. A Dask DataFrame or Array, a dataset of pyarrow, a LazyFrame of polars and a relation of DuckDB are
        read in blocks (docs/blocks.md).
    y : array of shape (n_samples,), or str
        0/1, −1/+1 or booleans, of which the larger is positive, or any two values with `pos_label`; None over
        `auclab.margins.Bicliques`. Of rows that are read in blocks also the name of their column.
    solver : {"auto", "highs", "newton", "interior", "cutting_plane", "clarabel", "scs", "integer"}
        "highs" solves linear programs, z > 0 and exact AUC; "integer" scorecards and constraints with `max_features`;
        the others all convex programs. "auto" selects one and states which and why in the notes. If it does not prove
        an optimum, other solvers continue, and the best point and the best lower bound of all are returned.
    tolerance : float, optional
        Relative gap, > 0, at or below which the status is OPTIMAL; 1e-6 if left out, with a kernel 1e-3.
    time_limit : float, optional
        Seconds, > 0, for the whole call: checks, model, solver and verification; a solve that a limit stopped is never
        called OPTIMAL. By default, solves of unpredictable duration (highs, clarabel, scs, z > 0, exact AUC) stop after
        600 s; `math.inf` removes the limit.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; equal to repeating observations.
    pos_label : optional
        The label of the positive class.
    groups : array of shape (n_samples,), optional
        The group of each row: the pairs are those with ``y_i > y_j`` in one group; y may be grades.
    ordered : bool
        Whether y are grades: all pairs with ``y_i > y_j``.
    event : array of shape (n_samples,), optional
        0/1 or booleans. If given, y are times: of the event where this is 1, of censoring elsewhere. The pairs are
        those with ``event_i`` and ``y_i < y_j``, of one group if there are groups, and a score is a risk.
    group_weights : {"pairs", "groups"}
        Whether every pair has the same weight, or every group that has a pair.
    constraints : Constraints or ColumnConstraints, optional
        Constraints on w (signs, bounds, ``A w ≤ c``), by the names of a DataFrame's columns or by column number. The
        certificate is then for every w that satisfies them. Not for z > 0 and exact AUC.
    kernel : str or Kernel, optional
        "rbf", "laplacian", "polynomial" or one of `auclab.kernels`, such as ``RBF(gamma=0.5)``: fit scorers ``Σ_k c_k
        κ(x_k, x)`` of its whole space in place of linear ones, for convex programs with the norm l2.
    threads : int, optional
        Largest number of threads, ≥ 1; by default ``OMP_NUM_THREADS`` or one per core. The two classes of a large
        sample are sorted and summed in parallel: a second thread helps, a third does not. Results have the same digits
        as with one thread.
    **options
        Options of the solver: `encoding` of "highs", `max_iters` of "scs" and "cutting_plane", `max_iter` and `start`
        of "newton"; with a kernel `max_landmarks` and `memory_gb` (`auclab.solvers.kernel.solve.solve_kernel`).

    Returns
    -------
    Solution
        Objective re-evaluated without pairs, lower bound from corrected dual values, relative gap, seconds. With a
        kernel, a `KernelSolution` with landmarks and their coefficients; `coef` is None.

    Raises
    ------
    AuclabError
        Bad input, an unknown solver or option, constraints that contradict each other, a solver that does not support
        the formulation, or one that would exceed the memory or the time limit in a step that cannot be interrupted; the
        message names alternatives.

    See Also
    --------
    auclab.solvers.path.solve_path : Many values of λ or z on one sample.
    auclab.formulations.read_optimum : What the optimal value says about the ranking errors.
    auclab.estimators.AUCClassifier : The same as a scikit-learn estimator.

    Examples
    --------
    >>> from auclab.formulations import BufferedAUC
    >>> solution = solve(BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], solver="highs")
    >>> round(solution.objective, 9), str(solution.status)   # ξ/w ∈ {−3, −1, −1, 1}: the worst two average 0
    (0.5, 'optimal')

    Where the score must not rise with the feature, it is constant:

    >>> falling = Constraints(nonpositive=[0])
    >>> solve(BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], constraints=falling).coef.tolist()
    [0.0]
    """
    ranking = Ranking(groups, ordered, event, group_weights)
    X, y = opened(X, y)
    with limit_threads(threads):
        if kernel is not None:
            return _solve_kernel(
                as_formulation(formulation), X, y, kernel, solver, tolerance, time_limit, constraints, ranking,
                sample_weight=sample_weight, pos_label=pos_label, **options,
            )  # fmt: skip
        tolerance = TOLERANCE if tolerance is None else tolerance
        check_limits(tolerance, time_limit)
        clock, program = Clock(time_limit), as_formulation(formulation)
        program, sample = ranking.problem_parts(program, X, y, sample_weight, pos_label)
        problem = Problem(program, sample, constraints_on_columns(constraints, sample))
        return solve_problem(problem, solver, tolerance=tolerance, clock=clock, **options)


def _solve_kernel(
    program: Program,
    X: Any,
    y: ArrayLike | None,
    kernel: str | Kernel,
    solver: str,
    tolerance: float | None,
    time_limit: float | None,
    constraints: Constraints | ColumnConstraints | None,
    ranking: Ranking,
    **options: Any,
) -> Solution:
    """`solve` over the space of a kernel; its modules are imported here, as they take a second of the start-up."""
    from auclab.solvers.kernel.solve import KERNEL_TOLERANCE, check_kernel_choices, solve_kernel

    tolerance = KERNEL_TOLERANCE if tolerance is None else tolerance
    check_limits(tolerance, time_limit)
    check_kernel_choices(solver, constraints, options)
    limits: dict[str, Any] = {"tolerance": tolerance, "time_limit": time_limit}
    return solve_kernel(program, X, y, kernel, ranking=ranking, **limits, **options)


def check_limits(tolerance: float, time_limit: float | None) -> None:
    """Raise `AuclabError` unless the tolerance and the seconds are positive."""
    check_type("tolerance", tolerance, float)
    check_type("time_limit", time_limit, float | None)
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise AuclabError(f"tolerance must be a positive number, got {tolerance}")
    if time_limit is not None and not time_limit > 0:
        raise AuclabError(f"time_limit must be a positive number of seconds or None, got {time_limit}")


def choose_solver(problem: Problem, solver: str) -> tuple[str, str]:
    """The solver of a problem and, if "auto" chose it, why; raises `AuclabError` where it cannot take the problem."""
    check_constrainable(problem.program, problem.constraints)
    name, reason = (solver, "") if solver != "auto" else select_solver(problem)
    check_capable(name, problem.program, problem.constraints)
    if problem.constraints is not None:
        check_not_contradictory(problem.constraints)
    if problem.sample.in_blocks:
        check_blocks(name, problem.program, problem.constraints)
    return name, reason


def solve_problem(problem: Problem, solver: str, *, tolerance: float, clock: Clock, **options: Any) -> Solution:
    """`solve` on a sample that was checked before: select a solver, check that it can, run it, add what it did."""
    formulation = problem.program
    name, reason = choose_solver(problem, solver)
    if solver == "auto" and not SOLVERS[name].takes_start:
        options.pop("start", None)
    check_options(name, load_solver(name), options)
    if options.get("start") is not None:
        coef, intercept = options["start"]
        options["start"] = coef, moved_intercept(intercept, coef, problem.sample.offset, 1.0)
    compiling = compile_loops(*problem.program.comparisons.loops["values"])
    with one_thread_each():  # the products are small: more threads would wait for each other
        if formulation.threshold > 0:
            # The convex programs of one with z > 0 are over pairs or points of their own.
            def solve_member(convex: Problem, clock: Clock) -> Solution:
                member = name if solver != "auto" else select_solver(convex)[0]
                return solve_convex(convex, member, solver == "auto", tolerance, clock, options)

            solution = solve_nonconvex(problem, solve_member, tolerance=tolerance, clock=clock)
        else:
            solution = solve_convex(problem, name, solver == "auto", tolerance, clock, options)
    problem.sample.check_files()
    timings = replace(solution.timings, compile=solution.timings.compile + compiling)
    added = [reason] if reason else []
    if timings.compile > NOTEWORTHY:
        added.append(f"Numba compiled the loops in {timings.compile:.1f} s; later calls load them from a cache")
    no_norm = not formulation.uses_norm and math.isfinite(solution.certificate.norm_bound)
    spread = problem.sample.spread if no_norm else None
    return replace(
        solution, timings=timings, notes=(*added, *solution.notes), spread=spread, columns=problem.sample.columns
    )


@dataclass(frozen=True)
class Explanation:
    """The steps of a solve in their order, each in a line; `print` shows them numbered.

    See Also
    --------
    auclab.explain : Makes it.
    """

    steps: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, 1))

    __repr__ = __str__


def explain(
    formulation: str | Program,
    X: Any,
    y: ArrayLike | None,
    *,
    solver: str = "auto",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    ordered: bool = False,
    event: ArrayLike | None = None,
    group_weights: GroupWeights = "pairs",
    constraints: Constraints | ColumnConstraints | None = None,
) -> Explanation:
    """What `auclab.solve` would do with a formulation on a sample: which solver, on which problem, and what after it.

    As ``EXPLAIN`` of a database. Reformulations are carried out, as they tell what they would do; nothing is solved
    except for the hard-margin separator of more columns than rows, which may be the answer.

    Parameters
    ----------
    formulation, X, y, solver, sample_weight, pos_label, groups, ordered, event, group_weights, constraints
        As in `auclab.solve`.

    Returns
    -------
    Explanation
        `Solution.steps` says the same of a solve that was done, with seconds.

    Raises
    ------
    AuclabError
        As `auclab.solve`, for bad input and for a solver that cannot take the formulation.

    See Also
    --------
    auclab.solve : Does it.

    Examples
    --------
    >>> import auclab
    >>> auclab.explain("bauc", [[0.0], [2e6], [1e6], [3e6]], [0, 0, 1, 1], solver="newton")
    1. 2 positives and 2 negatives, 1 column: 4 pairs
    2. features in units of 1.05e+06
    3. newton
    4. value and certificate on the rows as given
    """
    ranking = Ranking(groups, ordered, event, group_weights)
    program, sample = ranking.problem_parts(as_formulation(formulation), X, y, sample_weight, pos_label)
    problem = Problem(program, sample, constraints_on_columns(constraints, sample))
    name, reason = choose_solver(problem, solver)
    columns = f"{sample.n_features:,} column{'s' if sample.n_features != 1 else ''}"
    counts = f"{sample}, {columns}: {problem.n_margins:,} {program.comparisons.name}"
    return Explanation((counts, *_steps(problem, name, reason), "value and certificate on the rows as given"))


def _steps(problem: Problem, name: str, reason: str) -> list[str]:
    """Reformulations, the solver, and those that may follow it."""
    entry, chosen = SOLVERS[name], reason or name
    if problem.program.threshold > 0:
        each = "the solver that suits it" if reason else name
        return [f"z > 0: the best of many convex programs over shifted rows, each by {each}"]
    if entry.generates_columns and column_limits(problem) is not None:
        return [f"column generation: on the columns that are not 0, {chosen}", *_others(problem, name, reason)]
    done: list[str] = []
    for found, _ in reformulations(entry.reformulations, problem, Monitor()):
        if isinstance(found, RawSolution):
            return [*done, "the hard-margin separator is the optimum"]
        done.append(str(found))
    return [*done, chosen, *_others(problem, name, reason)]


def _others(problem: Problem, name: str, reason: str) -> list[str]:
    """The solvers that continue if "auto" was asked, and the first proves no optimum."""
    labels = [candidate.label for candidate in candidates(problem, name) if candidate.solver != name] if reason else []
    return [f"only if that proves no optimum: {', '.join(labels)}"] if labels else []
