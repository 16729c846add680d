"""Hinge programs through windows: exact, with only the undecided margins in a linear (or conic) program.

A trust-region method. With the decided margins replaced by their linear parts the program is a relaxation that is exact
near the centre; it is solved within a box, the step is taken if the true objective (O(m log m)) falls, and box and
window follow the agreement of the two. When no margin has crossed and the box does not bind, the point is the exact
optimum and the multipliers are an exact dual: full for on, 0 for off, HiGHS's in the window.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from scipy.optimize import minimize

from auclab.compiled.hinge import pair_hinge_active
from auclab.formulations.norms import norm_of, subgradient
from auclab.formulations.problem import Problem
from auclab.models.dual_lp import DualPoint, Region, solve_dual
from auclab.models.timings import Timings
from auclab.models.window import Window, window_around
from auclab.models.window_cone import solve_cone
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify
from auclab.solvers.raw import RawSolution
from auclab.types import Array, Status

_MAX_STEPS = 200
#: Margins of the first window, and a hundredth of that for every feature; a cone's rows take longer than a linear
#: program's.
_LEAST_WINDOW, _LEAST_CONIC_WINDOW = 2_000, 600
_MAX_WINDOW = 300_000
#: Agreement of true and predicted decrease at which the box grows, and below which it shrinks.
_GOOD, _POOR = 0.75, 0.25
#: Relative differences of sums over all observations below this are rounding.
_ROUNDING = 1e-12


@dataclass
class _Search:
    """The state of the trust-region method: where it stands and what it has proved."""

    coef: Array
    intercept: float
    value: float
    radius: float
    n_wanted: int
    bound: float = -math.inf
    gap: float = math.inf
    multipliers: tuple[Array, Array] | None = None
    iterations: int = 0
    timings: Timings = field(default_factory=Timings)
    history: list[tuple[float, float, float]] = field(default_factory=list)


def solve_windows(
    problem: Problem,
    *,
    tolerance: float,
    time_limit: float | None,
    start: tuple[Array, float] | None = None,
    radius: float = 0.1,
    stopped: Callable[[], Status | None] = lambda: None,
) -> RawSolution:
    """Solve a convex program to a certified gap of 1e-4·`tolerance`, or as far as rounding or time allow.

    `start` is a point to begin with, `radius` how far from it the optimum is expected, in changes of the margins;
    without one, L-BFGS looks for it (pairs only). The window's program goes to HiGHS if it is linear, else to
    Clarabel. `stopped` is asked between the steps.
    """
    begin = perf_counter()
    deadline = math.inf if time_limit is None else begin + time_limit
    coef, intercept = (_rough_solution(problem, deadline), 0.0) if start is None else start
    least = _LEAST_WINDOW if problem.program.is_linear else _LEAST_CONIC_WINDOW
    search = _Search(
        coef,
        intercept,
        problem.objective(coef, intercept),
        radius=radius,
        n_wanted=max(least, least // 100 * problem.sample.n_features),
    )
    search.timings = Timings(solve=perf_counter() - begin)
    unit = 1.0 / problem.sample.spread
    solve_window = solve_dual if problem.program.is_linear else solve_cone
    status = Status.ITERATION_LIMIT
    for _ in range(_MAX_STEPS):
        remaining = deadline - perf_counter()
        reason = Status.TIME_LIMIT if remaining <= 0 else stopped()
        if reason is not None:
            status = reason
            break
        window = window_around(problem, search.coef, search.intercept, search.n_wanted)
        region = Region(search.coef, search.radius * unit)
        limit = remaining if math.isfinite(remaining) else None
        point = solve_window(problem.program, window.margins, window.fixed(problem), region, time_limit=limit)
        if point.status is Status.TIME_LIMIT:
            status = Status.TIME_LIMIT
            break
        if point.status is not Status.OPTIMAL:
            # The window's program was too hard; a smaller box and a larger window make another one.
            search.radius *= 0.25
            search.n_wanted = min(2 * search.n_wanted, _MAX_WINDOW)
            continue
        stalled = _step(problem, search, window, point)
        search.history.append((perf_counter() - begin, search.value, search.bound))
        if search.gap <= max(1e-4 * tolerance, _ROUNDING) or (stalled and search.gap <= tolerance):
            status = Status.OPTIMAL
            break
    return RawSolution(
        coef=search.coef,
        intercept=search.intercept,
        status=status,
        multipliers=search.multipliers,
        iterations=search.iterations,
        timings=search.timings,
        history=tuple(search.history),
    )


def _step(problem: Problem, search: _Search, window: Window, point: DualPoint) -> bool:
    """Take or refuse the step to `point`, adapt box and window; True if nothing is left to be gained."""
    certificate, multipliers = certify(problem, point.coef, point.intercept, window.marginals(point.weights))
    predicted, actual = search.value - point.value, search.value - certificate.objective
    if certificate.lower_bound > search.bound:
        search.bound, search.multipliers = certificate.lower_bound, multipliers
    if actual > 0:
        search.coef, search.intercept, search.value = point.coef, point.intercept, certificate.objective
    search.gap = (search.value - search.bound) / max(search.value, SMALL_OBJECTIVE)
    agreement = actual / predicted if predicted > 0 else 0.0
    if agreement >= _GOOD:
        search.radius *= 4.0
    elif agreement < _POOR:
        search.radius *= 0.25
        search.n_wanted = min(2 * search.n_wanted, _MAX_WINDOW)
    search.iterations += point.iterations
    spent = search.timings
    search.timings = Timings(
        build=spent.build + point.timings.build,
        load=spent.load + point.timings.load,
        solve=spent.solve + point.timings.solve,
    )
    return predicted <= _ROUNDING * max(search.value, 1e-3)


def _rough_solution(problem: Problem, deadline: float) -> Array:
    """A point near the optimum by L-BFGS on the subgradient oracle, which is cheap and gets to some 1e-4."""
    program, sample = problem.program, problem.sample

    def oracle(coef: Array) -> tuple[float, Array]:
        shift = 1.0 - program.threshold * norm_of(coef, program.norm)
        active = pair_hinge_active(*sample.scores(coef), shift, *sample.weights)
        slope = program.penalty - program.threshold * float(active[0].sum())
        gradient = slope * subgradient(coef, program.norm) - sample.combine(*active)
        return problem.objective(coef, 0.0), gradient

    def out_of_time(_: Array) -> None:
        if perf_counter() > deadline:
            raise StopIteration

    null = np.zeros(sample.n_features)
    # Start from the difference of the means, at the length that is best along it among a few.
    direction = sample.mean_difference / sample.spread**2
    starts = [null, *(length * direction for length in (0.1, 0.3, 1.0, 3.0))]
    first = min(starts, key=lambda w: problem.objective(w, 0.0))
    result = minimize(oracle, first, jac=True, method="L-BFGS-B", callback=out_of_time, options={"maxiter": 300})
    return np.asarray(result.x)
