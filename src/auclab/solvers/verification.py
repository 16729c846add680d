"""Every solution is re-evaluated, bounded and given its status here, independently of the solver that found it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from auclab.formulations.norms import dual_norm_of, norm_of
from auclab.formulations.null import pair_null_level, point_null_level, point_null_multipliers
from auclab.formulations.partial_auc import PartialAUC
from auclab.formulations.problem import Problem
from auclab.formulations.weighted_negatives import plain_problem
from auclab.solvers.certificate import certify, certify_tree
from auclab.solvers.raw import RawSolution
from auclab.solvers.solution import Solution
from auclab.types import Array, Status

#: A mean hinge below this is taken for 0: the data are separable.
SEPARATED = 1e-9


def verify(problem: Problem, raw: RawSolution, solver: str, tolerance: float) -> Solution:
    """Turn a solver's answer into a certified solution; its word "optimal" stands only with a gap to show for it."""
    if not (np.isfinite(raw.coef).all() and math.isfinite(raw.intercept)):
        # A limit that came too early for any point is still a limit.
        outcome = Status.FAILED if raw.status is Status.OPTIMAL else raw.status
        raw = RawSolution.null(problem, outcome, raw.timings, "no point came back; w = 0 stands in its place")
    raw, objective = _canonical(problem, raw)
    if problem.program.family == "count":
        certificate, multipliers = certify_tree(raw.bound, objective), None
    else:
        proving = problem
        if raw.share_neg is not None and raw.multipliers is not None:
            proving = plain_problem(problem, raw.share_neg, raw.multipliers[1])
        certificate, multipliers = certify(proving, raw.coef, raw.intercept, raw.multipliers, objective)
    proved = raw.status is not Status.OPTIMAL or certificate.gap <= tolerance
    status = raw.status if proved else Status.ITERATION_LIMIT
    return Solution(
        coef=raw.coef,
        intercept=0.0 if problem.over_pairs else raw.intercept,
        formulation=problem.program,
        certificate=certificate,
        status=status,
        solver=solver,
        timings=raw.timings,
        iterations=raw.iterations,
        history=raw.history or ((raw.timings.total, certificate.objective, certificate.lower_bound),),
        multipliers=None if multipliers is None else problem.sample.join(*multipliers),
        notes=raw.notes if raw.coef.any() else (*raw.notes, *_null_remark(problem, raw)),
    )


def _canonical(problem: Problem, raw: RawSolution) -> tuple[RawSolution, float]:
    """One point where there are many, and its value: w = 0 exactly, the hard margin for separable data."""
    program, sample = problem.program, problem.sample
    objective = problem.objective(raw.coef, raw.intercept)
    if program.family == "count":
        return (raw if objective < 1.0 else replace(raw, coef=np.zeros_like(raw.coef))), objective
    if program.is_convex and objective >= program.null_value(sample) * (1 - 1e-9):
        return _null_solution(problem, raw), program.null_value(sample)
    size = norm_of(raw.coef, program.norm)
    if objective - program.penalty * (size * size if program.squared else size) > SEPARATED:
        return raw, objective
    note = f"the {'pairs' if problem.over_pairs else 'classes'} are linearly separable: no hinge is left"
    if not program.uses_norm and not sample.in_blocks:
        from auclab.models.hard_margin import hard_margin

        separator = hard_margin(problem)
        if separator is not None and problem.objective(*separator) <= objective:
            none = (np.zeros(sample.n_pos), np.zeros(sample.n_neg))
            note += "; of the many optima this is the hard-margin one"
            raw = replace(raw, coef=separator[0], intercept=separator[1], multipliers=none)
            objective = problem.objective(*separator)
    return replace(raw, notes=(*raw.notes, note)), objective


def _null_solution(problem: Problem, raw: RawSolution) -> RawSolution:
    """W = 0 with the multipliers that prove it where it can be proved."""
    program, sample = problem.program, problem.sample
    share_neg = program.null_share(sample) if isinstance(program, PartialAUC) else None
    every = (sample.share_pos, sample.share_neg if share_neg is None else share_neg)
    if problem.over_pairs:
        proof: tuple[Array, Array] | None = every
    elif sample.in_blocks:
        proof = raw.multipliers  # the exact ones are those of a program over all rows
    else:
        proof = point_null_multipliers(sample, program.norm)
    coef, intercept = np.zeros_like(raw.coef), problem.null_intercept()
    return replace(raw, coef=coef, intercept=intercept, multipliers=proof, share_neg=share_neg)


def _null_remark(problem: Problem, raw: RawSolution) -> tuple[str, ...]:
    """Why w = 0 is optimal, if it is."""
    program, sample = problem.program, problem.sample
    null_value = program.null_value(sample)
    if program.family == "count":
        return ("no w has any pair right: all observations are equal",)
    if isinstance(program, PartialAUC) and raw.multipliers is not None:
        if program.penalty == 0:
            return (
                "w = 0 is optimal: the mean of the positives is a mean of hardest negatives, and every direction "
                "has those above it on average",
            )
        level = dual_norm_of(sample.combine(*raw.multipliers), program.norm)
        name = "the least ‖mean(x⁺) − Σ r_j x_j⁻‖_*"
        meaning = "no direction has the hardest negatives below the positives on average"
    elif sample.in_blocks and not problem.over_pairs:
        return ("w = 0 is optimal within the tolerance",)
    elif problem.over_pairs:
        level, name = pair_null_level(sample, program.norm), "‖mean(x⁺) − mean(x⁻)‖_*"
        meaning = "the value is 1 and the bAUC of every linear scorer is 0"
    else:
        level, name = point_null_level(sample, program.norm), "λ_max"
        meaning = f"the value is 2·min(class shares) = {null_value:.4g}"
    if program.squared or program.penalty - program.threshold * null_value < level * (1 - 1e-9):
        return ()
    if program.penalty > 0:
        return (f"w = 0 is optimal because λ = {program.penalty:g} ≥ λ_max = {level:.6g}; {meaning}",)
    if program.threshold < 0:
        name = name if problem.over_pairs else "λ_max / (2·min(class shares))"
        return (f"w = 0 is optimal because −z = {-program.threshold:g} ≥ {name} = {level / null_value:.6g}; {meaning}",)
    return (f"w = 0 is optimal because {name} = {level:.3g}: no linear scorer tells the classes apart; {meaning}",)
