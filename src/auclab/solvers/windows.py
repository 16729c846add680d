"""Hinge programs by windows: exact, with only the undecided margins in a linear or conic program.

A trust-region method (Nocedal & Wright, Numerical Optimization, 2nd ed., algorithm 4.1) whose model is a small program.
A window holds the margins near the kink; all others are replaced by their linear parts, a relaxation that is exact
near the centre. The model is minimised within a box, the step is taken if the true objective (O(m log m)) falls, and
box and window follow the ratio of actual to predicted reduction. When no margin outside the window has crossed the kink
and the box does not bind, the point is the exact optimum and the multipliers are an exact dual solution: at their upper
bound for active margins, 0 for inactive ones, the small program's in the window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.optimize import minimize

from auclab._core.base import Array, Status
from auclab._core.hinge import pair_hinge_active
from auclab._core.tolerances import ROUNDING, SMALL_OBJECTIVE
from auclab.certificates.value import dual_bound
from auclab.formulations.problem import Problem
from auclab.models.dual_lp import DualPoint, Region, solve_dual
from auclab.models.timings import Clock, Timings
from auclab.models.window import Window, solve_cone, window_around
from auclab.solvers.canonical import nearest_feasible
from auclab.solvers.certificate import certify, relative_gap
from auclab.solvers.monitor import Monitor
from auclab.solvers.registry import is_linear
from auclab.solvers.solution import RawSolution

#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: Steps without progress after which the method changes, or ends.
PATIENCE = 3
#: The gap of a first, rough solve, which others refine.
ROUGH = 1e-2
#: Ratios of actual to predicted reduction below which the trust region shrinks, and above which it grows.
POOR_RATIO, GOOD_RATIO = 0.25, 0.75
#: Steps that hardly lower the gap, after which a solve ends; `PATIENCE` of them where it is within the tolerance.
_MAX_IDLE_ABOVE = 40
#: Margins of the first window, or a hundredth of that for every feature if that is more; a conic program's rows take
#: longer than a linear program's.
MIN_WINDOW, MIN_CONIC_WINDOW = 2_000, 600
_MAX_WINDOW = 300_000
#: Largest number of entries of a window's rows: the small program takes 150 to 200 bytes for each (measured), 2 GB.
_MAX_ENTRIES = 10_000_000
#: Seconds of one small program, and how many times what the others took together, after which it is given up: on a
#: degenerate one of 2,000 margins HiGHS went on for more than half an hour, where a second is usual.
_LONGEST, _LONGER = 30.0, 10.0


@dataclass
class _TrustRegion:
    """The state of the trust-region method: the point, the box, the window, and the proved bound."""

    coef: Array
    intercept: float
    value: float
    radius: float
    window_size: int
    largest_window: int = _MAX_WINDOW
    bound: float = -math.inf
    reach: float = math.inf  # the largest ‖w‖ for which the bound holds
    gap: float = math.inf
    multipliers: tuple[Array, Array] | None = None
    iterations: int = 0
    timings: Timings = field(default_factory=Timings)


def solve_windows(
    problem: Problem,
    monitor: Monitor,
    *,
    start: tuple[Array, float] | None = None,
    radius: float = 0.1,
    lower_bound: float = 0.0,
) -> RawSolution:
    """Solve a convex program to a certified gap of 1e-4·`tolerance`, or as far as rounding or time allow.

    `monitor`: has the relative gap of the solve (what is reached is usually much smaller), takes the history, and says
    when to stop. `start`: a point ``(w, b)`` to begin with; without one, L-BFGS looks for it (pairs only). `radius`:
    how far from the start the optimum is expected, in changes of the margins: the first box. `lower_bound`: what has
    been proved already: steps that prove and gain nothing end earlier if that is near.
    """
    tolerance, begin = monitor.tolerance, monitor.seconds
    coef, intercept = (_rough_solution(problem, monitor.clock), 0.0) if start is None else start
    if problem.constraints is not None:
        near = nearest_feasible(problem.constraints, coef, problem.sample.spread)
        coef = coef if near is None else near
    entries = max(1, problem.sample.n_entries // (problem.sample.n_pos + problem.sample.n_neg))
    largest = max(MIN_CONIC_WINDOW, min(_MAX_WINDOW, _MAX_ENTRIES // entries))
    # Margins of the first window, if memory allows: a hundredth of the least number for every feature, or that.
    least = MIN_WINDOW if is_linear(problem.program) else MIN_CONIC_WINDOW
    state = _TrustRegion(
        coef,
        intercept,
        problem.objective(coef, intercept),
        radius=radius,
        window_size=min(max(least, least // 100 * problem.sample.n_features), largest),
        largest_window=largest,
    )
    state.timings = Timings(solve=monitor.seconds - begin)
    unit = 1.0 / problem.sample.spread
    solve_window = partial(solve_dual, stopped=monitor.stopped) if is_linear(problem.program) else solve_cone
    status = Status.ITERATION_LIMIT
    idle, reached = -1, (state.value, lower_bound)
    for _ in range(MOST_STEPS):
        # Steps since value or bound last moved by a hundredth of what is between them.
        value, bound = state.value, max(state.bound, lower_bound)
        idle += 1
        if (reached[0] - value) + (bound - reached[1]) > ROUGH * (reached[0] - reached[1]):
            idle, reached = 0, (value, bound)
        is_near = relative_gap(*reached) <= tolerance
        if idle >= (PATIENCE if is_near else _MAX_IDLE_ABOVE):
            status = Status.OPTIMAL if state.gap <= tolerance else status
            break
        reason = monitor.stopped()
        if reason is not None:
            status = reason
            break
        window = window_around(problem, state.coef, state.intercept, state.window_size)
        region = Region(state.coef, state.radius * unit)
        longest = max(_LONGEST, _LONGER * (monitor.seconds - begin))
        limit = min(s for s in (monitor.call_limit, longest) if s is not None)
        point = solve_window(
            problem.program,
            window.margins,
            window.fixed(problem),
            region,
            time_limit=limit,
            constraints=problem.constraints,
        )
        if point.status is Status.TIME_LIMIT:
            status = monitor.stopped() or Status.TIME_LIMIT
            break
        if point.status is not Status.OPTIMAL:
            # The small program failed; a smaller box and a larger window make another one.
            state.radius *= 0.25
            state.window_size = min(2 * state.window_size, state.largest_window)
            continue
        stalled = _step(problem, state, window, point)
        monitor.record(state.value, state.bound)
        if state.gap <= max(1e-4 * tolerance, ROUNDING) or (stalled and state.gap <= tolerance):
            status = Status.OPTIMAL
            break
    return RawSolution(
        coef=state.coef,
        intercept=state.intercept,
        status=status,
        multipliers=state.multipliers,
        iterations=state.iterations,
        timings=state.timings,
        history=tuple(monitor.history),
    )


def _step(problem: Problem, state: _TrustRegion, window: Window, point: DualPoint) -> bool:
    """Accept or reject the step to `point`, and adapt box and window; True if the predicted reduction is negligible."""
    certificate, multipliers = certify(problem, point.coef, point.intercept, window.marginals(point.weights))
    predicted, actual = state.value - point.value, state.value - certificate.objective
    if state.multipliers is not None and state.reach < certificate.norm_bound:
        # A bound for shorter w proves nothing about this point: what the same multipliers prove farther out.
        farther = dual_bound(problem, point.coef, state.multipliers)
        state.bound, state.reach = farther.bound, farther.radius
    if certificate.lower_bound > state.bound:
        state.bound, state.reach, state.multipliers = certificate.lower_bound, certificate.norm_bound, multipliers
    if actual > 0:
        state.coef, state.intercept, state.value = point.coef, point.intercept, certificate.objective
    state.gap = (state.value - state.bound) / max(state.value, SMALL_OBJECTIVE)
    ratio = actual / predicted if predicted > 0 else 0.0
    if ratio >= GOOD_RATIO:
        state.radius *= 4.0
    elif ratio < POOR_RATIO:
        state.radius *= 0.25
        state.window_size = min(2 * state.window_size, state.largest_window)
    state.iterations += point.iterations
    spent = state.timings
    state.timings = Timings(
        build=spent.build + point.timings.build,
        load=spent.load + point.timings.load,
        solve=spent.solve + point.timings.solve,
    )
    return predicted <= ROUNDING * max(state.value, 1e-3)


def _rough_solution(problem: Problem, clock: Clock) -> Array:
    """A point near the optimum by L-BFGS on values and subgradients: cheap, and within about 1e-4 of the optimum."""
    program, sample = problem.program, problem.sample

    def oracle(coef: Array) -> tuple[float, Array]:
        shift = 1.0 - program.threshold * program.regulariser.norm(coef)
        active = pair_hinge_active(*sample.scores(coef), shift, *sample.weights)
        slope = program.regulariser.weight - program.threshold * float(active[0].sum())
        gradient = slope * program.regulariser.norm.subgradient(coef) - sample.combine(*active)
        return problem.objective(coef, 0.0), gradient

    def stop_in_time(xk: Array) -> None:
        if clock.is_over:
            raise StopIteration

    null = np.zeros(sample.n_features)
    # Start from the difference of the means, at the length that is best along it among a few.
    direction = sample.mean_difference / sample.spread**2
    starts = [null, *(length * direction for length in (0.1, 0.3, 1.0, 3.0))]
    first = min(starts, key=lambda w: problem.objective(w, 0.0))
    result = minimize(oracle, first, jac=True, method="L-BFGS-B", callback=stop_in_time, options={"maxiter": 300})
    return np.asarray(result.x)
