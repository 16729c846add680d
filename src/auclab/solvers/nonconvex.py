"""Programs with z > 0, which are not convex, as minima over convex ones (formulas 7.5, derived).

Because the hinge rises and ``−z‖w‖ = min over ‖u‖_* ≤ 1 of −z u·w``,

    min_w mean[1 − m(w) − z‖w‖]₊ = min_{‖u‖_* ≤ 1} min_w mean[1 − (m(w) + z u·w)]₊ ,

the plain program with every margin's direction shifted by z·u. Extreme u suffice: 2n of them for linf, 2ⁿ for l1;
for l2 "solve in w" and "u = w/‖w‖" alternate from several starts, and the result is called local.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from auclab.formulations.base import Program
from auclab.formulations.norms import norm_of
from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.solvers.certificate import relative_gap
from auclab.solvers.raw import RawSolution
from auclab.solvers.registry import Solver
from auclab.solvers.solution import Certificate, Solution
from auclab.types import Array, AuclabError, Status

#: 2ⁿ programs for the l1 norm: more features than this are refused.
MAX_FEATURES_L1 = 12
DEFAULT_RESTARTS = 8
_MAX_ALTERNATIONS = 100

Verify = Callable[[Problem, RawSolution, str, float], Solution]


def solve_nonconvex(
    problem: Problem, plain: Program, solve: Solver, verify: Verify, solver: str, limits: dict[str, Any]
) -> Solution:
    """The best solution over the shifted copies of `plain`; its lower bound is the smallest of theirs.

    Parameters
    ----------
    problem : Problem
        With z > 0.
    plain : Program
        The program with z = 0 (`Program.unshifted`).
    solve, verify : callable
        A solver of the convex programs, and the verification of its answers.
    solver : str
        Its name.
    limits : dict
        `tolerance`, `time_limit` (seconds or None) and the solver's own options.

    Raises
    ------
    AuclabError
        The l1 norm with more than 12 features.
    """
    search = _alternate if problem.program.norm == "l2" else _enumerate
    deadline = math.inf if limits["time_limit"] is None else perf_counter() + float(limits["time_limit"])

    def member(direction: Array) -> Solution:
        remaining = None if math.isinf(deadline) else max(1e-3, deadline - perf_counter())
        shifted = _shifted(problem, plain, direction)
        answer = solve(shifted, **{**limits, "time_limit": remaining})
        return verify(shifted, answer, solver, limits["tolerance"])

    return search(problem, member, limits["tolerance"], deadline)


def _shifted(problem: Problem, plain: Program, direction: Array) -> Problem:
    """The plain program (z = 0) whose margins are those of `problem` plus ``z direction·w``."""
    sample, step = problem.sample, problem.program.threshold * direction
    dense_pos = sample.X_pos.toarray() if sample.is_sparse else sample.X_pos
    dense_neg = sample.X_neg.toarray() if sample.is_sparse else sample.X_neg
    moved_neg = dense_neg if problem.over_pairs else dense_neg - step
    return Problem(plain, replace(sample, X_pos=dense_pos + step, X_neg=moved_neg))


def _enumerate(problem: Problem, member: Callable[[Array], Solution], tolerance: float, deadline: float) -> Solution:
    """All extreme directions: the global optimum, with a certificate."""
    members: list[Solution] = []
    directions = list(_extreme_directions(problem))
    for direction in directions:
        members.append(member(direction))
        if members[-1].objective <= 0 or perf_counter() > deadline:
            break
    complete = len(members) == len(directions) or members[-1].objective <= 0
    best = min(
        members,
        key=lambda m: problem.objective(m.coef, m.intercept) if m.status is not Status.FAILED else math.inf,
    )
    objective = problem.objective(best.coef, best.intercept)
    bound = min(m.lower_bound for m in members) if complete else math.nan
    note = f"the best of {len(members)} linear programs, one for each extreme direction of the shift"
    if not complete:
        note += f" (of {len(directions)}: stopped by the time limit)"
    return _assembled(problem, best, members, objective, bound, tolerance, complete, note)


def _extreme_directions(problem: Problem) -> Iterator[Array]:
    """The extreme points of the dual unit ball: ±e_k for linf, {−1, 1}ⁿ for l1."""
    n = problem.sample.n_features
    if problem.program.norm == "linf":
        return (sign * row for row in np.eye(n) for sign in (1.0, -1.0))
    if n > MAX_FEATURES_L1:
        raise AuclabError(
            f"z = {problem.program.threshold:g} > 0 with norm l1 takes 2^n linear programs and the data have n = {n} "
            f"features (at most {MAX_FEATURES_L1}); use norm=linf (2n programs), norm=l2 (a local method), "
            "or fewer features"
        )
    return (np.array(signs) for signs in itertools.product((1.0, -1.0), repeat=n))


def _alternate(problem: Problem, member: Callable[[Array], Solution], tolerance: float, deadline: float) -> Solution:
    """Solve in w, then turn the shift to w/‖w‖, until nothing improves; from several starts."""
    members: list[Solution] = []
    best: Solution | None = None
    best_value = math.inf
    for start in _starts(problem):
        direction, value = start, math.inf
        for _ in range(_MAX_ALTERNATIONS):
            current = member(direction)
            members.append(current)
            now = problem.objective(current.coef, current.intercept)
            if now < best_value:
                best, best_value = current, now
            length = norm_of(current.coef, "l2")
            if not now < value - 1e-3 * tolerance * max(now, 1e-3) or length == 0 or perf_counter() > deadline:
                break
            direction, value = current.coef / length, now
        if best_value <= 0 or perf_counter() > deadline:
            break
    if best is None:
        best = members[0]
    note = f"a local optimum: {len(members)} linear programs from {DEFAULT_RESTARTS} starts; others may be better"
    bound = 0.0 if best_value <= 0 else math.nan
    return _assembled(problem, best, members, best_value, bound, tolerance, perf_counter() <= deadline, note)


def _starts(problem: Problem) -> Iterator[Array]:
    """Start directions: no shift, the difference of the class means, and seeded random ones."""
    n = problem.sample.n_features
    yield np.zeros(n)
    mean = problem.sample.mean_difference
    if mean.any():
        yield mean / norm_of(mean, "l2")
    generator = np.random.default_rng(0)
    for _ in range(DEFAULT_RESTARTS - 2):
        direction = generator.standard_normal(n)
        yield direction / norm_of(direction, "l2")


def _assembled(
    problem: Problem,
    best: Solution,
    members: list[Solution],
    objective: float,
    bound: float,
    tolerance: float,
    complete: bool,
    note: str,
) -> Solution:
    """The best member as a solution of the program with z > 0."""
    gap = relative_gap(objective, bound)
    certificate = Certificate(
        objective, bound, objective - bound, gap, best.certificate.dual_residual, best.certificate.norm_bound
    )
    if best.status is Status.FAILED:
        status = Status.FAILED
    elif not complete:
        status = Status.TIME_LIMIT
    elif math.isnan(bound):
        status = Status.LOCAL
    else:
        status = Status.OPTIMAL if gap <= tolerance else Status.ITERATION_LIMIT
    timings = Timings(
        *(sum(getattr(m.timings, kind) for m in members) for kind in ("build", "load", "compile", "solve"))
    )
    return replace(
        best,
        formulation=problem.program,
        certificate=certificate,
        status=status,
        timings=timings,
        iterations=sum(m.iterations for m in members),
        history=((timings.total, objective, bound),),
        notes=(note, *(n for n in best.notes if "w = 0" not in n)),
    )
