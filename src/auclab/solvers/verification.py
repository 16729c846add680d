"""Every solution is re-evaluated, bounded and given its status here, independently of the solver that found it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from auclab.formulations.problem import Problem
from auclab.samples.centring import moved_intercept, moved_intercept_parts
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify_scorers, certify_tree, far_away, verified_certificate
from auclab.solvers.feasible_point import nearest_feasible
from auclab.solvers.rational_simplex import is_small_linear
from auclab.solvers.raw import RawSolution
from auclab.solvers.solution import Certificate, Solution
from auclab.types import Array, Status

#: A mean hinge below this is taken for 0: the data are separable.
SEPARATED = 1e-9
#: With a penalty the hard-margin separator is looked for in samples of so many entries at most (0.1 s), and takes the
#: place of a point whose value is better by at most this part of the tolerance.
_CANONICAL_ENTRIES, _SAME_VALUE = 30_000, 0.1
_OF_MANY = "; of the many optima this is the hard-margin one"
#: A separator whose rounded intercept leaves a hinge is lengthened by this, relatively, at most so often.
_LENGTHENING, _LENGTHENINGS = 1e-6, 3
#: Coefficients so near to a bound, in units of their spread, are put there if that costs this part of the tolerance.
_NEAR_BOUND, _COST_OF_BOUNDS = 1e-6, 0.01
#: Seconds an entry of the rows of the program that finds multipliers for w = 0, and for the norms l1 and linf
#: (measured: 1.2 s and 6.6 s for 5.1 million), and the seconds that are always spent on it.
_NULL_PROOF_PER_ENTRY, _LINEAR_NULL_PROOF_PER_ENTRY, _QUICK = 4e-7, 2e-6, 0.5


def verify(problem: Problem, raw: RawSolution, solver: str, tolerance: float, seconds: float | None = None) -> Solution:
    """Turn a solver's answer into a certified solution; OPTIMAL stands only if the verified gap is small enough.

    Parameters
    ----------
    problem : Problem
    raw : RawSolution
        The answer; nothing in it is taken on trust but the status of a limit.
    solver : str
        Name of the solver.
    tolerance : float
        Relative gap at or below which OPTIMAL stands.
    seconds : float, optional
        What is left of a time limit. It bounds only the search for multipliers that prove w = 0 optimal; the rest
        takes a few passes over the rows (`auclab.solvers.budget.without_verification`).
    """
    if not (np.isfinite(raw.coef).all() and math.isfinite(raw.intercept)):
        # A limit that was reached before any point is still a limit.
        outcome = Status.FAILED if raw.status is Status.OPTIMAL else raw.status
        raw = RawSolution.null(problem, outcome, raw.timings, "the solver returned no point; w = 0 replaces it")
    if raw.certificate is not None:
        return _verified_before(problem, raw, raw.certificate, solver, tolerance)
    raw = _as_returned(problem, _feasible(problem, _on_bounds(problem, raw, tolerance)))
    given = raw
    raw, objective, null_reason = _canonical(problem, raw, tolerance, math.inf if seconds is None else seconds)
    proving, of_constraints = problem, None
    if math.isfinite(raw.bound):
        certificate, multipliers = certify_tree(raw.bound, objective), raw.multipliers
        if problem.constraints is not None:
            certificate = replace(certificate, violation=problem.constraints.violation(raw.coef))
    else:
        proved = _proved(problem, raw, objective, tolerance)
        if null_reason is not None and given.multipliers is not None and not proved[1].gap <= tolerance:
            # The program for the multipliers of w = 0 was not solved far enough; the solver's may prove more.
            own = replace(raw, multipliers=given.multipliers, share_neg=given.share_neg)
            proved = max(proved, _proved(problem, own, objective, tolerance), key=lambda found: found[1].lower_bound)
        proving, certificate, multipliers, of_constraints = proved
    return Solution(
        coef=raw.coef,
        intercept=0.0 if problem.over_pairs else moved_intercept(raw.intercept, raw.coef, problem.sample.offset, -1.0),
        formulation=problem.program,
        certificate=certificate,
        status=_status(problem, raw.status, certificate, tolerance),
        solver=solver,
        timings=raw.timings,
        iterations=raw.iterations,
        history=raw.history or ((raw.timings.total, certificate.objective, certificate.lower_bound),),
        multipliers=None if multipliers is None else problem.sample.join(*multipliers),
        notes=(*raw.notes, null_reason) if certificate.gap <= tolerance and null_reason else raw.notes,
        shares_neg=None if proving is problem else proving.sample.share_neg,
        constraints=problem.constraints,
        constraint_multipliers=of_constraints,
    )


def _verified_before(
    problem: Problem, raw: RawSolution, certificate: Certificate, solver: str, tolerance: float
) -> Solution:
    """The solution of a solver that verified its answer itself, where the rows are."""
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
        bin_multipliers=raw.bin_multipliers,
    )


def _on_bounds(problem: Problem, raw: RawSolution, tolerance: float) -> RawSolution:
    """The answer with coefficients that are nearly at their bounds there, where that costs next to nothing."""
    constraints, spread = problem.constraints, problem.sample.spread
    if constraints is None or not constraints.is_convex:
        return raw
    near = _NEAR_BOUND * max(1.0, float(abs(raw.coef * spread).max(initial=0.0))) / spread
    coef = np.where(abs(raw.coef - constraints.lower) <= near, constraints.lower, raw.coef)
    coef = np.where(abs(raw.coef - constraints.upper) <= near, constraints.upper, coef)
    if (coef == raw.coef).all():
        return raw
    found = nearest_feasible(constraints, coef, spread)
    inside = nearest_feasible(constraints, raw.coef, spread)
    if found is None or inside is None:
        return raw
    value, other = (problem.objective(point, raw.intercept) for point in (inside, found))
    costs_little = other <= value + _COST_OF_BOUNDS * tolerance * max(value, SMALL_OBJECTIVE)
    return replace(raw, coef=found) if costs_little else raw


def _feasible(problem: Problem, raw: RawSolution) -> RawSolution:
    """The answer moved onto the constraints by what a solver's rounding left; FAILED if there is no such point."""
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


def _as_returned(problem: Problem, raw: RawSolution) -> RawSolution:
    """The answer as it is returned: without weight on constant columns, with an intercept in the units of the data.

    The intercept is rounded there, and what is certified belongs to the rounded one.
    """
    offset, constant = problem.sample.offset, problem.sample.peaks == 0
    if (raw.coef[constant] != 0).any():
        without = np.where(constant, 0.0, raw.coef)
        if problem.constraints is None or problem.constraints.violation(without) <= 0:
            raw = replace(raw, coef=without)
    if problem.over_pairs or offset is None:
        return raw
    returned = moved_intercept(raw.intercept, raw.coef, offset, -1.0)
    return replace(raw, intercept=moved_intercept(returned, raw.coef, offset, 1.0))


def _value(problem: Problem, raw: RawSolution) -> float:
    """The objective at the point that is returned, whose intercept is not quite a float in the units of the sample."""
    sample = problem.sample
    if problem.over_pairs or sample.offset is None:
        return problem.accurate_objective(raw.coef, raw.intercept)
    returned = moved_intercept(raw.intercept, raw.coef, sample.offset, -1.0)
    return problem.accurate_objective(raw.coef, *moved_intercept_parts(returned, raw.coef, sample.offset, 1.0))


def _proved(
    problem: Problem, raw: RawSolution, objective: float, tolerance: float
) -> tuple[Problem, Certificate, tuple[Array, Array] | None, Array | None]:
    """The certificate, its multipliers, those of the constraints, and the problem to which they belong.

    That is the one with the weights r of the negatives where there are any.
    """
    if problem.program.kind == "piecewise":
        # The point's own slopes first: a proof by them can be repeated from what is stored of a run.
        own = ((1.0, raw.coef, raw.intercept, 0.0),)
        found = certify_scorers(problem, raw.coef, objective, own, tolerance=tolerance)
        for scorers, each in ((raw.scorers, None), ((), raw.margin_multipliers)):
            if not found[0].gap <= tolerance and (scorers or each is not None):
                other = certify_scorers(problem, raw.coef, objective, scorers, each, tolerance)
                found = max(found, other, key=lambda one: one[0].lower_bound)
        return problem, *found, None
    proving = problem if raw.multipliers is None else problem.dual_problem(raw.share_neg, raw.multipliers[1])
    return proving, *verified_certificate(proving, raw.coef, raw.multipliers, objective, tolerance)


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


def _canonical(
    problem: Problem, raw: RawSolution, tolerance: float, seconds: float
) -> tuple[RawSolution, float, str | None]:
    """One point where there are many: w = 0 exactly, the hard margin for separable data; its value; why w = 0."""
    program, sample = problem.program, problem.sample
    objective = _value(problem, raw)
    if not math.isfinite(objective):
        note = "the value at the solver's point is beyond the range of floats; w = 0 replaces it"
        raw = RawSolution.null(problem, Status.FAILED, raw.timings, note)
        return raw, program.null.value(sample), None
    allows_null = problem.constraints is None or problem.constraints.allows_null
    if allows_null and program.null.is_attained(objective, sample):
        null, reason = _null_solution(problem, raw, tolerance, seconds)
        return null, program.null.value(sample), reason
    if not (program.is_convex and objective - program.regulariser.value(raw.coef) <= SEPARATED):
        return raw, objective, None
    note = f"the {'pairs' if problem.over_pairs else 'classes'} are linearly separable: no hinge is left"
    is_free = not sample.in_blocks and problem.constraints is None and program.comparisons.by_marginals
    if is_free and (program.regulariser.weight == 0 or _is_made_canonical(problem)):
        separator = _hard_margin(problem, raw)
        # With a penalty the solver's point is the same up to the root of its gap: this one does not depend on it.
        allowed = _SAME_VALUE * tolerance * objective if program.regulariser.weight > 0 else 0.0
        if separator is not None and separator[1] <= objective + allowed:
            note += "; the point is the hard-margin one" if program.regulariser.weight > 0 else _OF_MANY
            raw, objective = separator
    return replace(raw, notes=(*raw.notes, note)), objective, None


def _is_made_canonical(problem: Problem) -> bool:
    """Whether separable data get their hard-margin separator in a program with a penalty, where it is the optimum."""
    return problem.program.regulariser.norm.is_euclidean and problem.sample.n_entries <= _CANONICAL_ENTRIES


def _hard_margin(problem: Problem, raw: RawSolution) -> tuple[RawSolution, float] | None:
    """The hard-margin separator and its value, a little longer if its rounded intercept leaves a hinge.

    With z < 0 its margins are ``1 − z‖w‖``: w = u/(1 + z‖u‖) for the separator u with margins of 1, if ``−z‖u‖ < 1``.
    """
    from auclab.models.hard_margin import hard_margin

    separator = hard_margin(problem) if raw.separator is None else raw.separator
    if separator is None:
        return None
    shrunk = 1.0 + problem.program.threshold * problem.program.regulariser.norm(separator.coef)
    if shrunk <= 0:
        return None
    coef, intercept = separator.coef / shrunk, separator.intercept / shrunk
    if problem.program.regulariser.weight == 0:  # the value is 0, which needs no proof
        raw = replace(raw, multipliers=(np.zeros(problem.sample.n_pos), np.zeros(problem.sample.n_neg)))
    for _ in range(_LENGTHENINGS):
        found = _as_returned(problem, replace(raw, coef=coef, intercept=intercept))
        objective = _value(problem, found)
        if objective - problem.program.regulariser.value(coef) <= 0:
            break
        coef, intercept = coef * (1.0 + _LENGTHENING), intercept * (1.0 + _LENGTHENING)
    return found, objective


def _null_solution(
    problem: Problem, raw: RawSolution, tolerance: float, seconds: float
) -> tuple[RawSolution, str | None]:
    """W = 0 with the multipliers that prove it, where the program has them, and the reason if that is optimal."""
    program, sample = problem.program, problem.sample
    null = replace(
        raw, coef=np.zeros_like(raw.coef), intercept=problem.null_intercept(), scorers=(), margin_multipliers=None
    )
    if program.kind == "piecewise":
        return null, program.null.reason(sample, program.null.proof(sample))
    if problem.constraints is not None:
        if problem.over_pairs and not program.comparisons.hardest:  # every hinge is positive at w = 0
            null = replace(null, multipliers=(sample.share_pos, sample.share_neg))
        return null, "w = 0 is optimal under the constraints, within the tolerance"
    if _null_proof_is_too_long(problem, null, tolerance, seconds):
        return null, program.null.reason(sample, None)
    proof = program.null.proof(sample)
    if proof is not None:
        null = replace(null, multipliers=proof.multipliers, share_neg=proof.share_neg)
    return null, program.null.reason(sample, proof)


def _null_proof_is_too_long(problem: Problem, null: RawSolution, tolerance: float, seconds: float) -> bool:
    """Whether to do with the solver's multipliers: others would take a program over all rows to find.

    They are looked for where that is quick, or where the solver's prove less than is wanted and there is time.
    """
    if not problem.program.comparisons.null_proof_takes_program:
        return False
    if problem.sample.in_blocks:
        return True  # the program takes all rows in memory
    per_entry = _NULL_PROOF_PER_ENTRY if problem.program.regulariser.norm.is_euclidean else _LINEAR_NULL_PROOF_PER_ENTRY
    needed = per_entry * problem.sample.n_entries
    if needed <= _QUICK:
        return False
    if null.status is not Status.OPTIMAL or 2.0 * needed > seconds:
        return True
    _, certificate, _, _ = _proved(problem, null, problem.program.null.value(problem.sample), tolerance)
    return certificate.gap <= tolerance
