"""Programs with z > 0, which are not convex, as minima over convex ones (derivations 7.5, derived).

Because the hinge rises and ``−z‖w‖ = min over ‖u‖_* ≤ 1 of −z u·w``,

    min_w mean[1 − m(w) − z‖w‖]₊ = min_{‖u‖_* ≤ 1} min_w mean[1 − (m(w) + z u·w)]₊ ,

the plain program with every margin's direction shifted by z·u. Extreme u suffice: 2n of them for linf, 2ⁿ for l1.
Where they are not listed, as for l2, "solve in w" and "u is the subgradient of the norm at w" alternate from several
starts, and the result is called local.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from auclab._core.base import Array, AuclabError, Status
from auclab._core.tolerances import EQUAL, SMALL_OBJECTIVE
from auclab.formulations.base import Program
from auclab.formulations.problem import Problem
from auclab.formulations.programs import row_with
from auclab.models.timings import Clock, Timings
from auclab.samples.features import moved_intercept, moved_intercept_parts
from auclab.solvers.budget import check_memory, default_limit_note, seconds_allowed
from auclab.solvers.certificate import far_away, relative_gap
from auclab.solvers.solution import Certificate, Solution

#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: 2ⁿ programs for the l1 norm: more features than this are refused.
MAX_FEATURES_L1 = 12
DEFAULT_RESTARTS = 8
#: Statuses of a member that do not end the search.
_GOES_ON = (Status.OPTIMAL, Status.OPTIMAL_WITHIN, Status.ITERATION_LIMIT, Status.UNCERTIFIED, Status.FAILED)

#: From a convex problem and its clock to its verified solution.
SolveConvex = Callable[[Problem, Clock], Solution]


def solve_nonconvex(problem: Problem, solve: SolveConvex, *, tolerance: float, clock: Clock) -> Solution:
    """The best solution over the shifted copies of the program at z = 0; its lower bound is the smallest of theirs.

    `problem`: with z > 0. `solve`: solves and verifies the convex programs. `tolerance`: relative gap. `clock`:
    of the solve; it ends after 600 s where no limit is given.
    """
    sample, plain = problem.sample, row_with(problem.program, threshold=0.0)
    if sample.is_sparse:
        needed = 3.0 * 8.0 * (sample.n_pos + sample.n_neg) * sample.n_features
        check_memory(needed, "z > 0 shifts every entry of the sparse features", "use z ≤ 0, or fewer features")
    own = clock.until(seconds_allowed(clock.left))

    def member(direction: Array) -> Solution:
        return solve(_shifted(problem, plain, direction), own)

    directions = _extreme_directions(problem)
    if directions is None:
        found = _alternate(problem, member, tolerance, own)
    else:
        found = _enumerate(problem, directions, member, tolerance, own)
    return replace(found, notes=(*found.notes, *default_limit_note(clock, found.status)))


def _shifted(problem: Problem, plain: Program, direction: Array) -> Problem:
    """The plain program (z = 0) whose margins are those of `problem` plus ``z direction·w``."""
    sample, step = problem.sample, problem.program.threshold * direction
    dense_pos, dense_neg = sample.arrays()
    moved_neg = dense_neg - problem.program.comparisons.total(0.0, 1.0) * step  # of a pair the positive moves alone
    return Problem(plain, replace(sample, X_pos=dense_pos + step, X_neg=moved_neg, offset=None))


def _enumerate(
    problem: Problem,
    directions: Sequence[Array],
    member: Callable[[Array], Solution],
    tolerance: float,
    clock: Clock,
) -> Solution:
    """All extreme directions: the global optimum, with a certificate."""
    members: list[Solution] = []
    for direction in directions:
        members.append(member(direction))
        if members[-1].objective <= 0 or clock.is_over or members[-1].status not in _GOES_ON:
            break
    complete = members[-1].status in _GOES_ON and (len(members) == len(directions) or members[-1].objective <= 0)
    best = min(members, key=lambda m: _value(problem, m) if m.status is not Status.FAILED else math.inf)
    note = f"the best of {len(members)} linear programs, one for each extreme direction of the shift"
    if not complete:
        note += f" (of {len(directions)}: stopped)"
        return _assembled(problem, best, members, math.nan, math.inf, tolerance, complete, note)
    bounds = [m.lower_bound for m in members]
    bound = math.nan if any(map(math.isnan, bounds)) else min(bounds)
    radius = min(
        _radius(problem, direction, m) for direction, m in zip(directions[: len(members)], members, strict=True)
    )
    charge, visible = _shift_rounding(problem, tolerance * max(best.objective, SMALL_OBJECTIVE))
    return _assembled(problem, best, members, bound - charge, min(radius, visible), tolerance, complete, note)


def _shift_rounding(problem: Problem, allowed: float) -> tuple[float, float]:
    """Error of the bound from rounding the shifted rows, and the ‖w‖ up to which it holds, if z is relatively small.

    ``x + z u`` is rounded to 2⁻⁵³ of its size. A z below 1e-9 of the features is lost in that, and a w as long as 1/z
    is no longer seen to have no hinge: the bound is claimed up to a radius that costs a tenth of what is `allowed`.
    """
    size = problem.largest_row
    if problem.program.threshold >= EQUAL * size:
        return 0.0, math.inf
    return 0.1 * allowed, 0.1 * allowed / (4.0 * 2.0**-52 * size)


def _radius(problem: Problem, direction: Array, member: Solution) -> float:
    """The ‖w‖, in the norm of the program with z > 0, up to which a member's bound holds.

    A member has no norm of its own: its radius is that of the l2 norm of ``w·spread``.
    """
    spread = _shifted(problem, member.formulation, direction).sample.spread
    return member.certificate.norm_bound / problem.program.regulariser.norm.largest_image(np.diag(spread))


def _value(problem: Problem, member: Solution) -> float:
    """The value of the program with z > 0 at a member's point; NaN counts as the largest."""
    value = problem.objective(member.coef, member.intercept)
    return math.inf if math.isnan(value) else value


def _extreme_directions(problem: Problem) -> Sequence[Array] | None:
    """The extreme points of the dual unit ball; None where the norm does not list them."""
    n, norm = problem.sample.n_features, problem.program.regulariser.norm
    box, listed = norm.dual_box(n), norm.dual_extremes(n)
    if box is None:
        return None if listed is None else list(listed)
    if n > MAX_FEATURES_L1:
        raise AuclabError(
            f"z = {problem.program.threshold:g} > 0 with norm {norm.name} takes 2^n linear programs and the data have "
            f"n = {n} features (at most {MAX_FEATURES_L1}); use norm=linf (2n programs), norm=l2 (a local method), "
            "or fewer features"
        )
    return [box * signs for signs in itertools.product((1.0, -1.0), repeat=n)]


def _alternate(problem: Problem, member: Callable[[Array], Solution], tolerance: float, clock: Clock) -> Solution:
    """Solve in w, then turn the shift to the norm's subgradient, until nothing improves; from several starts."""
    norm = problem.program.regulariser.norm
    members: list[Solution] = []
    best: Solution | None = None
    best_value, stopped = math.inf, False
    for start in _starts(problem):
        direction, value = start, math.inf
        for _ in range(MOST_STEPS):
            current = member(direction)
            members.append(current)
            now = _value(problem, current)
            if now < best_value:
                best, best_value = current, now
            length = norm(current.coef)
            stopped = clock.is_over or current.status not in _GOES_ON
            if not now < value - 1e-3 * tolerance * max(now, 1e-3) or not 0 < length < math.inf or stopped:
                break
            direction, value = norm.subgradient(current.coef), now
        if best_value <= 0 or stopped:
            break
    if best is None:
        best = members[0]
    note = f"a local optimum: {len(members)} linear programs from {DEFAULT_RESTARTS} starts; others may be better"
    bound = math.nan
    if best_value <= 0:
        note, bound = "the value is 0, and no w has a smaller one", 0.0
    return _assembled(problem, best, members, bound, math.inf, tolerance, not stopped, note)


def _starts(problem: Problem) -> Iterator[Array]:
    """Start directions: no shift, the difference of the class means, and seeded random ones."""
    n, norm = problem.sample.n_features, problem.program.regulariser.norm
    yield np.zeros(n)
    if (mean := problem.sample.mean_difference).any():
        yield norm.subgradient(mean)
    generator = np.random.default_rng(0)
    for _ in range(DEFAULT_RESTARTS - 2):
        yield norm.subgradient(generator.standard_normal(n))


def _assembled(
    problem: Problem,
    best: Solution,
    members: list[Solution],
    bound: float,
    radius: float,
    tolerance: float,
    complete: bool,
    note: str,
) -> Solution:
    """The best member as a solution of the program with z > 0; `bound` holds for ‖w‖ up to `radius`."""
    offset = problem.sample.offset
    returned = problem.program.comparisons.of_intercept(moved_intercept(best.intercept, best.coef, offset, -1.0))
    # The value of the returned point, whose intercept is rounded in the units of the data.
    objective = problem.accurate_objective(best.coef, *moved_intercept_parts(returned, best.coef, offset, 1.0))
    bound = max(bound, 0.0) if not math.isnan(bound) else bound
    if objective <= 0 or bound == 0.0:
        bound, radius = 0.0, math.inf  # a mean of hinges is not negative
    gap = relative_gap(objective, bound)
    certificate = Certificate(objective, bound, objective - bound, gap, best.certificate.dual_residual, radius)
    if best.status is Status.FAILED:
        status = Status.FAILED
    elif not complete:
        interrupted = members[-1].status is Status.INTERRUPTED
        status = Status.INTERRUPTED if interrupted else Status.TIME_LIMIT
    elif math.isnan(bound):
        status = Status.LOCAL
    elif gap <= tolerance:
        far = max(far_away(problem), 1.0 / problem.program.threshold)  # of that length w has no hinge left on its own
        status = Status.OPTIMAL if radius >= far else Status.OPTIMAL_WITHIN
    else:
        status = Status.ITERATION_LIMIT
    timings = sum((member.timings for member in members), Timings())
    return replace(
        best,
        intercept=returned,
        formulation=problem.program,
        certificate=certificate,
        status=status,
        timings=timings,
        iterations=sum(m.iterations for m in members),
        history=((timings.total, objective, bound),),
        notes=(note, *(n for n in best.notes if "w = 0" not in n)),
    )
