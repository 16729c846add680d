"""A smoothed Newton method that never forms a pair.

A loss with kinks is smoothed: within the smoothing width h of a kink it is quadratic
(`auclab.solvers.smoothed.losses`). The phases:

0. **Start** (`_first_point`): a multiple of the difference of the class means, in units of the variances.
1. **Subsamples** (`nested_subsamples`): a damped Newton method (`minimise`) with a proximal step for the norm (`steps`)
   finds the smoothed minimum on nested subsamples, from the smallest to the largest.
2. **Continuation** (`continuation`): on all observations, where few evaluations are left to do, the minimum is
   followed while the width falls, until the multipliers of a last step certify a point: linearised in that step, they
   satisfy the dual constraint to rounding. Other losses than the hinge, and pairs within groups, are certified by the
   slopes of the smoothed loss at the minimum. A minimum without a hinge ends at the hard-margin separator.
3. **Polish** (`_polished`): where the width cannot fall further and the gap is still too large, small programs of the
   undecided margins (`auclab.solvers.windows`) find the vertex.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from auclab._core.base import Array, AuclabError, Status
from auclab._core.tolerances import ORDINARY
from auclab.formulations.problem import Problem
from auclab.models.hard_margin import is_quickly_separated
from auclab.samples.memory import Sample
from auclab.solvers.budget import NEWTON_FEATURES
from auclab.solvers.canonical import leaves_no_hinge, separates
from auclab.solvers.certificate import certify
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.continuation import WIDER, Continuation, State
from auclab.solvers.newton.minimise import DampedNewton, NewtonOptions
from auclab.solvers.registry import PARTS
from auclab.solvers.smoothed import compile_smoothed
from auclab.solvers.solution import RawSolution
from auclab.solvers.subspace import LENGTHS
from auclab.solvers.windows import solve_windows

#: The growth factor of subsamples, and the least ratio of the whole to the largest.
_GROWTH, _LEAST_GROWTH = 8, 3
#: The least first box of the polish, in changes of the margins.
_LEAST_BOX = 0.1


def solve(
    problem: Problem,
    monitor: Monitor,
    *,
    start: tuple[Array, float] | None = None,
    options: NewtonOptions = NewtonOptions(),  # noqa: B008 - frozen
) -> RawSolution:
    """Solve a convex program over pairs, the hardest pairs (partial AUC) or points to a certified relative gap.

    Parameters
    ----------
    problem : Problem
        A program with any loss and norm; the sample of one with the hinge may be in blocks.
    monitor : Monitor
        Has the relative gap ``(objective − lower_bound) / max(|objective|, 1e-3)`` at which to stop, and the time; the
        result is then the best point so far with a valid, perhaps weak, bound.
    start : (array of shape (n_features,), float), optional
        A point ``(w, b)`` near the optimum, as the solution at a slightly different λ or z is: the largest widths and
        all subsamples but the largest are then left out.
    options : NewtonOptions
        The largest number of steps, widths and sizes (`auclab.solvers.newton.minimise.NewtonOptions`).

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
    auclab.solvers.cutting_plane.solve : Any convex program, with many features too.

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
    solution = _solve(problem, monitor, start, options)
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


def _solve(
    problem: Problem, monitor: Monitor, start: tuple[Array, float] | None, options: NewtonOptions
) -> RawSolution:
    """Start → subsamples → continuation on all observations → polish."""
    problem = replace(problem, sample=problem.sample.within_groups())
    samples = nested_subsamples(problem.sample, options.subsample_size)
    method = DampedNewton(problem.program, problem.sample.spread, monitor, problem.constraints, options.max_iter)
    width = options.first_width
    if start is None:
        theta = _first_point(problem, (samples or [problem.sample])[0], method)
    else:
        samples, width = samples[-1:], min(WIDER, width)
        theta = method.feasible(np.r_[start[0], start[1], 0.0])
    state = State(problem, monitor, method, options, theta, width)
    while samples:
        path = Continuation(state, samples.pop(0))  # released one by one: the largest may be half a gigabyte
        while path.follow():
            pass
    if state.evaluation is not None and monitor.stopped() is not None:
        return _uncertified(state)
    path, tries_separator = Continuation(state, problem.sample), True
    while True:
        goes_on = path.follow()
        if tries_separator and _may_be_separator(state):
            tries_separator = False  # where it is not optimal, it is at no later minimum
            found = separates(problem, monitor)
            if found is not None:
                return state.timed(found)
        if not goes_on:
            return _polished(state)


def nested_subsamples(full: Sample, first_size: int = NewtonOptions.subsample_size) -> list[Sample]:
    """Subsamples in ascending size, each drawn from the next, with more observations than features.

    `first_size`: observations per class of the smallest. Empty where the sample is too small for any. The draws have a
    fixed seed.
    """
    generator, sizes = np.random.default_rng(0), [first_size]
    while _LEAST_GROWTH * sizes[-1] < max(full.n_pos, full.n_neg):
        sizes.append(_GROWTH * sizes[-1])
    # The largest is drawn first and the others from it: one pass over the sample, which may be in blocks.
    samples: list[Sample] = []
    for size in reversed(sizes[:-1]):
        drawn = (samples[0] if samples else full).thinned(size, generator) if size >= full.n_features else None
        samples = samples if drawn is None else [drawn, *samples]
    return samples


def _first_point(problem: Problem, sample: Sample, method: DampedNewton) -> Array:
    """The best multiple of the difference of the means of a sample in units of the variances.

    Columns of the smallest variance get the largest coefficients and dominate a norm of w, so if variances differ much,
    the small ones are damped.
    """
    here, variance = Problem(problem.program, sample), method.scale**2
    levels, least, largest = np.zeros(1), float(variance.min()), float(variance.max())
    if least * ORDINARY**2 < largest:
        levels = np.r_[levels, np.geomspace(least, largest, max(3, round(math.log10(largest / least) / 3.0)))]
    intercept = here.null_intercept()
    directions = [sample.mean_difference / (variance + level) for level in levels]
    points = [method.feasible(np.r_[length * w, intercept, 0.0]) for w in directions for length in LENGTHS]
    return min(points, key=lambda point: here.objective(point[:-2], float(point[-2])))


def _may_be_separator(state: State) -> bool:
    """Whether the last minimum has no hinge, and the hard-margin separator is found quickly.

    Newton's method would need many steps to a point with only a few margins at the kink.
    """
    problem, theta = state.problem, state.theta
    if not (problem.program.regulariser.weight > 0 and is_quickly_separated(problem.sample)):
        return False
    return leaves_no_hinge(problem, problem.objective(theta[:-2], float(theta[-2])), theta[:-2])


def _polished(state: State) -> RawSolution:
    """The best point; where its gap is too large, the exact optimum by windows around it, which are for the hinge."""
    problem, monitor, first = state.problem, state.monitor, state.solution()
    able = PARTS["windows"].why_not(problem.program, problem.constraints) is None
    able = able and problem.sample.n_features <= NEWTON_FEATURES
    if state.is_certified or state.method.stopped() is not None or not able:
        return first
    exact = solve_windows(
        problem,
        monitor,
        start=(first.coef, first.intercept),
        radius=max(_LEAST_BOX, 2.0 * state.width),  # about how far the optimum is, in changes of the margins
        lower_bound=max((entry[2] for entry in first.history), default=0.0),
    )

    def bound(proof: RawSolution) -> float:
        return certify(problem, exact.coef, exact.intercept, proof.multipliers)[0].lower_bound

    if exact.status is not Status.OPTIMAL and not bound(exact) >= bound(first):
        # Windows keep the better point, but may run out of time for a bound.
        exact = replace(exact, multipliers=first.multipliers)
    return state.timed(exact)


def _uncertified(state: State) -> RawSolution:
    """A subsample's point, with the lower bound 0 that holds since no hinge is negative."""
    sample = state.problem.sample
    found = RawSolution(
        state.theta[:-2],
        float(state.theta[-2]),
        state.monitor.stopped() or Status.TIME_LIMIT,
        (np.zeros(sample.n_pos), np.zeros(sample.n_neg)),
        notes=("the solve ended before it looked at all observations: this is a subsample's optimum",),
    )
    return state.timed(found)
