"""Every solution is re-evaluated, bounded and given its status here, independently of the solver that found it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.precision import ROUGH, SMALL_OBJECTIVE, TOLERANCE
from auclab.samples.memory import moved_intercept
from auclab.solvers.budget import MOMENT
from auclab.solvers.canonical import as_returned, canonical
from auclab.solvers.certificate import certify_answer, certify_tree, far_away
from auclab.solvers.exact_zeros import with_exact_zeros
from auclab.solvers.feasible_point import nearest_feasible
from auclab.solvers.rational_simplex import is_small_linear
from auclab.solvers.raw import RawSolution
from auclab.solvers.solution import Certificate, Solution, Step
from auclab.solvers.verified.scorers import Scorers
from auclab.types import Array, Status


def verify(problem: Problem, raw: RawSolution, solver: str, tolerance: float, clock: Clock | None = None) -> Solution:
    """Turn a solver's result into a certified solution, which is OPTIMAL only if the verified gap is small enough.

    `raw`: the result; only the status of a limit is used without a check. `solver`: name of the solver. `tolerance`:
    largest relative gap of the status OPTIMAL. `clock`: of the solve; its limit is for a hard-margin
    separator and for corrections of multipliers; everything else takes a few passes over the rows
    (`auclab.solvers.budget.without_verification`).
    """
    if not (np.isfinite(raw.coef).all() and math.isfinite(raw.intercept)):
        # A limit that was reached before any point is still a limit.
        outcome = Status.FAILED if raw.status is Status.OPTIMAL else raw.status
        raw = RawSolution.null(problem, outcome, raw.timings, "the solver returned no point; w = 0 replaces it")
    if raw.certificate is not None:  # verified where the rows are
        return _solution(problem, raw, raw.certificate, solver, tolerance)
    raw = as_returned(problem, _feasible(problem, _on_bounds(problem, raw, tolerance)))
    given, clock = raw, clock or Clock()
    begin, proving_clock = clock.seconds, clock.later(MOMENT) if raw.status is Status.OPTIMAL else clock
    raw, objective, null_reason = canonical(problem, raw, tolerance, clock)
    proving, of_constraints = problem, None
    scorers: Scorers = ()
    each: Array | None = None
    if math.isfinite(raw.bound):
        certificate, multipliers = certify_tree(raw.bound, objective, raw.norm_bound), raw.multipliers
        if problem.constraints is not None:
            certificate = replace(certificate, violation=problem.constraints.violation(raw.coef))
    else:
        proved = certify_answer(problem, raw, objective, tolerance, proving_clock)
        replaced = given.multipliers is not None and raw.multipliers is not given.multipliers
        if replaced and not proved[1].gap <= tolerance:
            # Those at w = 0 prove it from λ_max on; the solver's may prove that it is as good, within the tolerance.
            own = replace(raw, multipliers=given.multipliers, share_neg=given.share_neg)
            by_own = certify_answer(problem, own, objective, tolerance, proving_clock)
            proved = max(proved, by_own, key=lambda found: found[1].lower_bound)
        if (sparse := with_exact_zeros(problem, raw, proved, tolerance)) is not None:
            raw, objective = sparse
            proved = certify_answer(problem, raw, objective, tolerance, proving_clock)
        proving, certificate, multipliers, of_constraints, scorers, each = proved
    found = _solution(problem, raw, certificate, solver, tolerance)
    return replace(
        found,
        steps=(*raw.steps, Step("value and certificate on the rows as given", clock.seconds - begin)),
        history=raw.history or ((raw.timings.total, certificate.objective, certificate.lower_bound),),
        multipliers=None if multipliers is None else problem.sample.join(*multipliers),
        notes=(*found.notes, null_reason) if found.gap <= tolerance and null_reason else found.notes,
        shares_neg=None if proving is problem else proving.sample.share_neg,
        constraints=problem.constraints,
        constraint_multipliers=of_constraints,
        dual_scorers=tuple((weight, w, width) for weight, w, _, width in scorers),
        dual_pairs=None if each is None or problem.sample.is_of_classes else _pairs_of(problem, each),
        null_for_every_value=null_reason is not None
        and raw.multipliers is not None
        and problem.program.null.holds_for_every_value(problem.sample, raw.multipliers),
    )


def _pairs_of(problem: Problem, each: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """The pairs that have a multiplier: their upper rows, their lower rows, and the multipliers."""
    upper, lower, _ = problem.sample.pairs()
    used = np.flatnonzero(each > 0)
    return upper[used].astype(np.intp), lower[used].astype(np.intp), each[used]


def _solution(problem: Problem, raw: RawSolution, certificate: Certificate, solver: str, tolerance: float) -> Solution:
    """The solution with its certificate and status."""
    offset = problem.sample.offset
    return Solution(
        coef=raw.coef,
        intercept=0.0 if problem.over_pairs else moved_intercept(raw.intercept, raw.coef, offset, -1.0),
        formulation=problem.program,
        certificate=certificate,
        status=_status(problem, raw.status, certificate, tolerance),
        solver=solver,
        timings=raw.timings,
        iterations=raw.iterations,
        history=raw.history,
        notes=raw.notes,
        steps=raw.steps,
        bin_multipliers=raw.bin_multipliers,
    )


def _on_bounds(problem: Problem, raw: RawSolution, tolerance: float) -> RawSolution:
    """The result with coefficients that are nearly at their bounds moved there, if the objective hardly changes."""
    constraints, spread = problem.constraints, problem.sample.spread
    if constraints is None or not constraints.is_convex:
        return raw
    near = TOLERANCE * max(1.0, float(abs(raw.coef * spread).max(initial=0.0))) / spread
    coef = np.where(abs(raw.coef - constraints.lower) <= near, constraints.lower, raw.coef)
    coef = np.where(abs(raw.coef - constraints.upper) <= near, constraints.upper, coef)
    if (coef == raw.coef).all():
        return raw
    found = nearest_feasible(constraints, coef, spread)
    inside = nearest_feasible(constraints, raw.coef, spread)
    if found is None or inside is None:
        return raw
    value, other = (problem.objective(point, raw.intercept) for point in (inside, found))
    costs_little = other <= value + ROUGH * tolerance * max(value, SMALL_OBJECTIVE)
    return replace(raw, coef=found) if costs_little else raw


def _feasible(problem: Problem, raw: RawSolution) -> RawSolution:
    """The result moved onto constraints that rounding violates; FAILED if no such point is found."""
    constraints = problem.constraints
    if constraints is None:
        return raw
    coef = nearest_feasible(constraints, raw.coef, problem.sample.spread) if constraints.is_convex else raw.coef
    if coef is None:
        note = f"no point near the solver's satisfies the constraints; this one misses them by {_missed(problem, raw)}"
        return replace(raw, status=Status.FAILED, notes=(*raw.notes, note))
    found = replace(raw, coef=coef)
    violation = constraints.violation(coef)
    if violation > 1e-12 * max(1.0, float(abs(coef).max(initial=0.0))):
        note = f"the constraints are satisfied up to rounding, {violation:.1g}"
        found = replace(found, notes=(*found.notes, note))
    return found


def _missed(problem: Problem, raw: RawSolution) -> str:
    return "nothing" if problem.constraints is None else f"{problem.constraints.violation(raw.coef):.2g}"


def _status(problem: Problem, status: Status, certificate: Certificate, tolerance: float) -> Status:
    """OPTIMAL if that is proved for every w, OPTIMAL_WITHIN if for those up to the norm bound; a limit stays one."""
    if status is not Status.OPTIMAL:
        return status
    if not math.isfinite(certificate.violation):
        return Status.UNCERTIFIED  # too many features: no bound makes such a point optimal
    if not certificate.gap <= tolerance:
        return Status.ITERATION_LIMIT
    # Small linear programs are decided in rational arithmetic, for w of any length.
    far = math.inf if is_small_linear(problem) and problem.constraints is None else far_away(problem)
    return Status.OPTIMAL if certificate.norm_bound >= far else Status.OPTIMAL_WITHIN
