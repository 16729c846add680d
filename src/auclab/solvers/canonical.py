"""One point where there are many: w = 0 exactly, with the reason, and the hard-margin separator of separable data."""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter

import numpy as np

from auclab.formulations.null import NullProof
from auclab.formulations.problem import Problem
from auclab.precision import FEW_STEPS, LITTLE, TOLERANCE
from auclab.samples.centring import moved_intercept, moved_intercept_parts
from auclab.samples.rotated import rotated
from auclab.solvers.budget import CLARABEL_ENTRIES, MOMENT
from auclab.solvers.certificate import certify_answer
from auclab.solvers.raw import RawSolution
from auclab.solvers.separation import leaves_no_hinge, solution_of
from auclab.solvers.wide_rows import is_rotated
from auclab.types import Status

_OF_MANY = "; of the many optima this is the hard-margin one"
#: Seconds an entry of the rows of the program that finds multipliers for w = 0, and for the norms l1 and linf
#: (measured: 1.2 s and 6.6 s for 5.1 million). The first is for few columns: the program for l2 also forms a matrix of
#: them in every step, which takes as long where there are this many (measured: 30 s for 4 million in 2,000 columns).
_NULL_PROOF_PER_ENTRY, _LINEAR_NULL_PROOF_PER_ENTRY, _FEW_COLUMNS = 4e-7, 2e-6, 100


def canonical(
    problem: Problem, raw: RawSolution, tolerance: float, seconds: float
) -> tuple[RawSolution, float, str | None]:
    """One point where there are many: w = 0 exactly, the hard margin for separable data; its value; why w = 0."""
    program, sample = problem.program, problem.sample
    objective = value_returned(problem, raw)
    if not math.isfinite(objective):
        note = "the value at the solver's point is beyond the range of floats; w = 0 replaces it"
        raw = RawSolution.null(problem, Status.FAILED, raw.timings, note)
        return raw, program.null.value(sample), None
    allows_null = problem.constraints is None or problem.constraints.allows_null
    if allows_null and program.null.is_attained(objective, sample):
        null, reason = _null_solution(problem, raw, tolerance, seconds)
        return null, program.null.value(sample), reason
    if not leaves_no_hinge(problem, objective, raw.coef):
        return raw, objective, None
    note = f"the {'pairs' if problem.over_pairs else 'classes'} are linearly separable: no hinge is left"
    is_free = not sample.in_blocks and problem.constraints is None and program.comparisons.by_marginals
    if is_free and (program.regulariser.weight == 0 or _is_made_canonical(problem)):
        separator = _hard_margin(problem, raw, perf_counter() + seconds)
        # With a penalty the solver's point equals this one only up to the root of its gap.
        allowed = LITTLE * tolerance * objective if program.regulariser.weight > 0 else 0.0
        if separator is not None and separator[1] <= objective + allowed:
            note += "; the point is the hard-margin one" if program.regulariser.weight > 0 else _OF_MANY
            raw, objective = separator
    return replace(raw, notes=(*raw.notes, note)), objective, None


def _is_made_canonical(problem: Problem) -> bool:
    """Whether separable data get their hard-margin separator in a program with a penalty, where it is the optimum."""
    return problem.program.regulariser.norm.is_euclidean and problem.sample.n_entries <= CLARABEL_ENTRIES


def _hard_margin(problem: Problem, raw: RawSolution, deadline: float) -> tuple[RawSolution, float] | None:
    """The hard-margin separator and its value, a little longer if its rounded intercept leaves a hinge."""
    from auclab.models.hard_margin import hard_margin

    def is_late() -> bool | None:
        return perf_counter() > deadline or None

    separator = hard_margin(problem, is_late) if raw.separator is None else raw.separator
    exact = None if separator is None else solution_of(problem, separator)
    if exact is None:
        return None
    coef, intercept = exact.coef, exact.intercept
    if problem.program.regulariser.weight == 0:  # the value is 0, which needs no proof
        raw = replace(raw, multipliers=exact.multipliers)
    for _ in range(FEW_STEPS):
        found = as_returned(problem, replace(raw, coef=coef, intercept=intercept))
        objective = value_returned(problem, found)
        if objective - problem.program.regulariser.value(coef) <= 0:
            break
        coef, intercept = coef * (1.0 + TOLERANCE), intercept * (1.0 + TOLERANCE)
    return found, objective


def _null_solution(
    problem: Problem, raw: RawSolution, tolerance: float, seconds: float
) -> tuple[RawSolution, str | None]:
    """W = 0 with the multipliers that prove it optimal, if the program has them, and the reason."""
    program, sample = problem.program, problem.sample
    null = replace(
        raw, coef=np.zeros_like(raw.coef), intercept=problem.null_intercept(), scorers=(), margin_multipliers=None
    )
    given = raw.multipliers
    if given is not None and not raw.coef.any() and program.null.holds_for_every_value(sample, given):
        return null, program.null.reason(sample, NullProof(given, raw.share_neg))
    if problem.constraints is not None:
        if problem.over_pairs and not program.comparisons.hardest:  # every hinge is positive at w = 0
            null = replace(null, multipliers=(sample.share_pos, sample.share_neg))
        return null, "w = 0 is optimal under the constraints, within the tolerance"
    if _null_proof_is_too_long(problem, null, tolerance, seconds):
        return null, program.null.reason(sample, None)
    rows = rotated(sample) if is_rotated(problem) else None  # lengths are the same
    proof = program.null.proof(sample if rows is None else rows.sample)
    if proof is not None:
        null = replace(null, multipliers=proof.multipliers, share_neg=proof.share_neg)
    return null, program.null.reason(sample, proof)


def _null_proof_is_too_long(problem: Problem, null: RawSolution, tolerance: float, seconds: float) -> bool:
    """Whether to keep the solver's multipliers, because better ones take a program over all rows.

    That program is solved where it is quick, or where the solver's proof is insufficient and there is time.
    """
    if not problem.program.null.proof_takes_program:
        return False
    if problem.sample.in_blocks or null.status is Status.FAILED:
        return True  # the program needs all rows in memory; and no proof turns a failure into an optimum
    needed = _seconds_of_null_proof(problem)
    if needed <= MOMENT:
        return False
    if null.status is not Status.OPTIMAL or 2.0 * needed > seconds:
        return True
    proof = certify_answer(problem, null, problem.program.null.value(problem.sample), tolerance)
    return proof.certificate.gap <= tolerance


def _seconds_of_null_proof(problem: Problem) -> float:
    sample = problem.sample
    if not problem.program.regulariser.norm.is_euclidean:
        return _LINEAR_NULL_PROOF_PER_ENTRY * sample.n_entries
    n_rows = sample.n_pos + sample.n_neg
    entries, columns = (n_rows**2, n_rows) if is_rotated(problem) else (sample.n_entries, sample.n_features)
    return _NULL_PROOF_PER_ENTRY * entries * (1.0 + columns / _FEW_COLUMNS)


def as_returned(problem: Problem, raw: RawSolution) -> RawSolution:
    """The result as it is returned: without weight on constant columns, with an intercept in the units of the data.

    The intercept is rounded in these units, and the certificate is for the rounded one.
    """
    offset, constant = problem.sample.offset, problem.sample.peaks == 0
    # Of an absolute norm the weight of a constant column only costs; of another one it may make ‖w‖ smaller.
    costs = not problem.program.uses_norm or problem.program.regulariser.norm.is_absolute
    if costs and (raw.coef[constant] != 0).any():
        without = np.where(constant, 0.0, raw.coef)
        if problem.constraints is None or problem.constraints.violation(without) <= 0:
            raw = replace(raw, coef=without)
    if problem.over_pairs or offset is None:
        return raw
    returned = moved_intercept(raw.intercept, raw.coef, offset, -1.0)
    return replace(raw, intercept=moved_intercept(returned, raw.coef, offset, 1.0))


def value_returned(problem: Problem, raw: RawSolution) -> float:
    """The objective at the point that is returned, whose intercept is not quite a float in the units of the sample."""
    sample = problem.sample
    if problem.over_pairs or sample.offset is None:
        return problem.accurate_objective(raw.coef, raw.intercept)
    returned = moved_intercept(raw.intercept, raw.coef, sample.offset, -1.0)
    return problem.accurate_objective(raw.coef, *moved_intercept_parts(returned, raw.coef, sample.offset, 1.0))
