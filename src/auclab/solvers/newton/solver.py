"""A smoothed Newton method that never forms a pair, with exact finishes.

1. A loss with kinks is smoothed over a band of half-width h (`smoothed_loss`), and a damped Newton method with a
   proximal step for the norm (`damped_newton`, `proximal_step`) finds its minimum: first on nested subsamples
   (`subsampling`), then on all observations, where few evaluations are left to do.
2. The minimum is followed while the band narrows (`continuation`), until the multipliers of a last step certify a point
   (`certified_step`): linearised in that step, they satisfy the dual constraint to rounding. Other losses than the
   hinge, and pairs within groups, are certified by the slopes of the smoothed loss at the minimum.
3. Where they apply, finishes find the exact optimum in another way and end the solve: one small program for few margins
   and windows near a vertex (`window_finish`), and the hard-margin separator (`separated`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.precision import ORDINARY
from auclab.samples.memory import Sample
from auclab.solvers.budget import NEWTON_FEATURES
from auclab.solvers.cutting_plane.cuts import LENGTHS
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.continuation import WIDER, follow_minima
from auclab.solvers.newton.damped_newton import DampedNewton
from auclab.solvers.newton.separated import HardMargin
from auclab.solvers.newton.state import Finish, State
from auclab.solvers.newton.subsampling import nested_subsamples
from auclab.solvers.newton.window_finish import OneWindow, Windows
from auclab.solvers.raw import RawSolution
from auclab.solvers.smoothed.smoothed_loss import compile_smoothed, smooth_loss
from auclab.types import Array, AuclabError, Status

#: In the order in which they are tried.
FINISHES: tuple[type[Finish], ...] = (OneWindow, HardMargin, Windows)


def solve(problem: Problem, monitor: Monitor, *, start: tuple[Array, float] | None = None) -> RawSolution:
    """Solve a convex program over pairs, the hardest pairs (partial AUC) or points to a certified relative gap.

    Parameters
    ----------
    problem : Problem
        A program with any loss and norm; the sample of one with the hinge may be in blocks.
    monitor : Monitor
        Has the relative gap ``(objective − lower_bound) / max(|objective|, 1e-3)`` at which to stop, and the time; the
        result is then the best point so far with a valid, perhaps weak, bound.
    start : (array of shape (n_features,), float), optional
        A point ``(w, b)`` near the optimum, as the solution at a slightly different λ or z is: the widest bands and
        all subsamples but the largest are then left out.

    Returns
    -------
    RawSolution

    Raises
    ------
    AuclabError
        More than 2,000 features where the method needs an n × n matrix: norms l1 and linf, constraints on w, and
        samples in blocks.

    See Also
    --------
    auclab.solvers.cutting_plane.solver.solve : Any convex program, with many features too.

    Notes
    -----
    Newton's method on a smoothed hinge: Lee & Mangasarian (2001), "SSVM", and Chapelle (2007), "Training a support
    vector machine in the primal"; sums over pairs from sorted scores: Lee & Lin (2014), "Large-scale linear RankSVM".
    The linearised multipliers, the smoothed superquantile of partial AUC and the finish by windows are derived here
    (module docstrings).
    """
    _check_size(problem)
    compiling = compile_smoothed(problem)
    monitor.start()
    solution = _solve(problem, monitor.tolerance, monitor, start)
    return replace(solution, timings=replace(solution.timings, compile=compiling))


def _check_size(problem: Problem) -> None:
    program, n = problem.program, problem.sample.n_features
    norm = program.regulariser.norm
    for what, needed, advice in (
        ("constraints on w", problem.constraints is not None, ""),
        ("samples in blocks", problem.sample.in_blocks, ", or drop features"),
        (f"the norm {norm.name}", program.uses_norm and not norm.is_euclidean, ", or norm l2"),
    ):
        if needed and n > NEWTON_FEATURES:
            raise AuclabError(
                f"solver=newton needs an n × n matrix for {what} and the data have n = {n} features (at most "
                f"{NEWTON_FEATURES}); use solver=cutting_plane{advice}"
            )


def _solve(problem: Problem, tolerance: float, monitor: Monitor, start: tuple[Array, float] | None) -> RawSolution:
    """Start → subsamples → follow the minimum while the band narrows → finish → certificate."""
    problem = replace(problem, sample=problem.sample.within_groups())
    samples = [*nested_subsamples(problem.sample), problem.sample]
    if start is not None:
        samples = samples[-2:]
    method = DampedNewton(problem.program, problem.sample.spread, monitor, problem.constraints)
    theta = (
        _first_point(problem, samples[0], method) if start is None else method.feasible(np.r_[start[0], start[1], 0.0])
    )
    width = 1.0 if start is None else WIDER  # at 1 every margin counts
    state = State(problem, tolerance, monitor, method, [finish() for finish in FINISHES], start, theta, width)
    solution = state.finished()
    while samples and solution is None:
        sample = samples.pop(0)  # released one by one: the largest may be half a gigabyte
        solution = follow_minima(state, sample)
        if samples == [problem.sample] and _is_too_late(state, sample):
            return _uncertified(state)
    if solution is None:
        state.ended = True
        solution = state.finished() or state.solution()
    return solution


def _first_point(problem: Problem, sample: Sample, method: DampedNewton) -> Array:
    """The best multiple of the difference of the means of a sample in units of the variances.

    Columns of the smallest variance get the largest coefficients and dominate a norm of w, so if variances differ much,
    the small ones are damped.
    """
    here, variance, difference = Problem(problem.program, sample), method.unit**-2.0, sample.mean_difference
    levels, least, largest = np.zeros(1), float(variance.min()), float(variance.max())
    if problem.program.uses_norm and least * ORDINARY**2 < largest:
        levels = np.r_[levels, np.geomspace(least, largest, max(3, round(math.log10(largest / least) / 3.0)))]
    intercept = here.null_intercept()
    starts = [w for level in levels for w in np.outer(LENGTHS, difference / (variance + level))]
    points = [method.feasible(np.r_[w, intercept, 0.0]) for w in starts]
    return min(points, key=lambda point: here.objective(point[:-2], float(point[-2])))


def _is_too_late(state: State, sample: Sample) -> bool:
    """Whether no time is left for a step and a certificate on all observations: about four evaluations."""
    if state.monitor.remaining is None:
        return False
    begin = state.monitor.seconds
    smooth_loss(state.problem, sample).evaluate(state.theta, state.half_width)
    full, part = (each.n_pos + each.n_neg for each in (state.problem.sample, sample))
    return state.monitor.remaining < 4.0 * (state.monitor.seconds - begin) * full / part


def _uncertified(state: State) -> RawSolution:
    """A subsample's point, with the lower bound 0 that holds since no hinge is negative."""
    sample = state.problem.sample
    return RawSolution(
        state.theta[:-2],
        float(state.theta[-2]),
        state.monitor.stopped() or Status.TIME_LIMIT,
        (np.zeros(sample.n_pos), np.zeros(sample.n_neg)),
        state.method.iterations,
        Timings(solve=state.monitor.seconds),
        ("the time limit left no time to look at all observations: this is a subsample's optimum",),
    )
