"""One point where there are many: w = 0 exactly, with the reason, and the hard-margin separator of separable data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.precision import FEW_STEPS, LITTLE, TOLERANCE
from auclab.samples.memory import moved_intercept, moved_intercept_parts
from auclab.solvers.budget import CLARABEL_ENTRIES
from auclab.solvers.raw import RawSolution
from auclab.solvers.separation import leaves_no_hinge, solution_of
from auclab.types import Status

_OF_MANY = "; of the many optima this is the hard-margin one"


def canonical(
    problem: Problem, raw: RawSolution, tolerance: float, clock: Clock
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
        null, reason = _null_solution(problem, raw)
        return null, program.null.value(sample), reason
    if not leaves_no_hinge(problem, objective, raw.coef):
        return raw, objective, None
    note = f"the {'pairs' if problem.over_pairs else 'classes'} are linearly separable: no hinge is left"
    is_free = not sample.in_blocks and problem.constraints is None and program.comparisons.by_marginals
    if is_free and (program.regulariser.weight == 0 or _is_made_canonical(problem)):
        separator = _hard_margin(problem, raw, clock)
        # With a penalty the solver's point equals this one only up to the root of its gap.
        allowed = LITTLE * tolerance * objective if program.regulariser.weight > 0 else 0.0
        if separator is not None and separator[1] <= objective + allowed:
            note += "; the point is the hard-margin one" if program.regulariser.weight > 0 else _OF_MANY
            raw, objective = separator
    return replace(raw, notes=(*raw.notes, note)), objective, None


def _is_made_canonical(problem: Problem) -> bool:
    """Whether separable data get their hard-margin separator in a program with a penalty, where it is the optimum."""
    return problem.program.regulariser.norm.is_euclidean and problem.sample.n_entries <= CLARABEL_ENTRIES


def _hard_margin(problem: Problem, raw: RawSolution, clock: Clock) -> tuple[RawSolution, float] | None:
    """The hard-margin separator and its value, a little longer if its rounded intercept leaves a hinge."""
    from auclab.models.hard_margin import hard_margin

    separator = hard_margin(problem, lambda: clock.is_over or None) if raw.separator is None else raw.separator
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


def _null_solution(problem: Problem, raw: RawSolution) -> tuple[RawSolution, str | None]:
    """W = 0 with its multipliers where they are unique, else with those of the solver; and the reason."""
    program, sample = problem.program, problem.sample
    null = replace(
        raw, coef=np.zeros_like(raw.coef), intercept=problem.null_intercept(), scorers=(), margin_multipliers=None
    )
    multipliers = program.null.multipliers(sample)
    if multipliers is not None:
        null = replace(null, multipliers=multipliers)
    if problem.constraints is not None:
        return null, "w = 0 is optimal under the constraints, within the tolerance"
    return null, program.null.reason(sample, null.multipliers)


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
