"""``solver=newton``: over bins of the scores for large samples in blocks, else with a score for every row."""

from __future__ import annotations

from dataclasses import replace

from auclab.formulations.problem import Problem
from auclab.solvers.binned.solver import is_solved_in_bins, solve_in_bins
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.minimise import NewtonOptions
from auclab.solvers.newton.solver import solve as solve_newton
from auclab.solvers.raw import RawSolution
from auclab.solvers.smoothed.smoothed_loss import compile_smoothed
from auclab.types import Array, AuclabError, Status


def solve(
    problem: Problem,
    monitor: Monitor,
    *,
    start: tuple[Array, float] | None = None,
    bins: int | None = None,
    max_iter: int = NewtonOptions.max_iter,
    first_width: float = NewtonOptions.first_width,
    subsample_width: float = NewtonOptions.subsample_width,
    least_width: float = NewtonOptions.least_width,
    subsample_size: int = NewtonOptions.subsample_size,
) -> RawSolution:
    """Solve a convex hinge program over pairs, the hardest pairs (partial AUC) or points to a certified relative gap.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        As for `auclab.solvers.newton.solver.solve`.
    start : (array of shape (n_features,), float), optional
        As for `auclab.solvers.newton.solver.solve`.
    bins : int ≥ 0, optional
        Of large samples in blocks: the bins of the scores at first; 0 for a score of every row in this process. Left
        out, a number that suits the tolerance.
    max_iter : int ≥ 1
        The largest number of Newton steps; over bins, of passes over the rows. The best point so far is then certified
        and returned, with the status ITERATION_LIMIT.
    first_width, subsample_width, least_width : float > 0
    subsample_size : int ≥ 1
        As for `auclab.solvers.newton.minimise.NewtonOptions`.

    Returns
    -------
    RawSolution

    Raises
    ------
    AuclabError
        `bins` for a sample that is not solved over bins; and as `auclab.solvers.newton.solver.solve`.

    See Also
    --------
    auclab.solvers.binned.solver.solve_in_bins : Over bins.
    auclab.solvers.newton.solver.solve : With a score for every row.
    """
    options = NewtonOptions(max_iter, first_width, subsample_width, least_width, subsample_size)
    if bins is not None and bins < 0:
        raise AuclabError(f"solver.bins is {bins}; it is a number of bins, 0 for none, or left out")
    if bins == 0 or not is_solved_in_bins(problem):
        if bins:
            raise AuclabError(
                "solver.bins is for large samples in blocks (from half a million rows, no constraints on w, "
                "formulations that are means of hinges); leave it out"
            )
        return solve_newton(problem, monitor, start=start, options=options)
    compile_smoothed(problem)
    monitor.start()
    solution = solve_in_bins(problem, monitor, n_bins=bins, start=start, max_passes=max_iter)
    if solution is not None:
        # With more rows, a score for each takes too much memory (90 bytes a row) for a second attempt where bins fail.
        many = problem.sample.n_pos + problem.sample.n_neg > 50_000_000
        ended = solution.status is not Status.ITERATION_LIMIT or monitor.stopped() is not None
        if ended or many or solution.iterations >= max_iter:
            return solution
        start, options = (solution.coef, solution.intercept), replace(options, max_iter=max_iter - solution.iterations)
    return solve_newton(problem, monitor.part(monitor.tolerance), start=start, options=options)
