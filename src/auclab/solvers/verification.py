"""Every solution is re-evaluated, bounded and given its status here, independently of the solver that found it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from auclab.formulations.problem import Problem
from auclab.solvers.certificate import certify, certify_tree
from auclab.solvers.raw import RawSolution
from auclab.solvers.solution import Solution
from auclab.types import Status

#: A mean hinge below this is taken for 0: the data are separable.
SEPARATED = 1e-9


def verify(problem: Problem, raw: RawSolution, solver: str, tolerance: float) -> Solution:
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
    """
    if not (np.isfinite(raw.coef).all() and math.isfinite(raw.intercept)):
        # A limit that was reached before any point is still a limit.
        outcome = Status.FAILED if raw.status is Status.OPTIMAL else raw.status
        raw = RawSolution.null(problem, outcome, raw.timings, "the solver returned no point; w = 0 replaces it")
    raw, objective, null_reason = _canonical(problem, raw)
    proving = problem
    if math.isfinite(raw.bound):
        certificate, multipliers = certify_tree(raw.bound, objective), None
    else:
        proving = problem if raw.multipliers is None else problem.dual_problem(raw.share_neg, raw.multipliers[1])
        certificate, multipliers = certify(proving, raw.coef, raw.intercept, raw.multipliers, objective)
    proved = certificate.gap <= tolerance
    unproved = Status.ITERATION_LIMIT if raw.status is Status.OPTIMAL else raw.status
    return Solution(
        coef=raw.coef,
        intercept=0.0 if problem.over_pairs else raw.intercept,
        formulation=problem.program,
        certificate=certificate,
        status=raw.status if proved else unproved,
        solver=solver,
        timings=raw.timings,
        iterations=raw.iterations,
        history=raw.history or ((raw.timings.total, certificate.objective, certificate.lower_bound),),
        multipliers=None if multipliers is None else problem.sample.join(*multipliers),
        notes=(*raw.notes, null_reason) if proved and null_reason else raw.notes,
        shares_neg=None if proving is problem else proving.sample.share_neg,
    )


def _canonical(problem: Problem, raw: RawSolution) -> tuple[RawSolution, float, str | None]:
    """One point where there are many: w = 0 exactly, the hard margin for separable data; its value; why w = 0."""
    program, sample = problem.program, problem.sample
    objective = problem.objective(raw.coef, raw.intercept)
    if program.is_null_value(objective, sample):
        null, reason = _null_solution(problem, raw)
        return null, program.null_value(sample), reason
    if not program.hinge_part(objective, raw.coef) <= SEPARATED:
        return raw, objective, None
    note = f"the {'pairs' if problem.over_pairs else 'classes'} are linearly separable: no hinge is left"
    if not program.uses_norm and not sample.in_blocks:
        from auclab.models.hard_margin import hard_margin

        separator = hard_margin(problem)
        if separator is not None and problem.objective(*separator) <= objective:
            none = (np.zeros(sample.n_pos), np.zeros(sample.n_neg))
            note += "; of the many optima this is the hard-margin one"
            raw = replace(raw, coef=separator[0], intercept=separator[1], multipliers=none)
            objective = problem.objective(*separator)
    return replace(raw, notes=(*raw.notes, note)), objective, None


def _null_solution(problem: Problem, raw: RawSolution) -> tuple[RawSolution, str | None]:
    """W = 0 with the multipliers that prove it, where the program has them, and the reason if that is optimal."""
    program, sample = problem.program, problem.sample
    proof = program.null_proof(sample)
    null = replace(
        raw,
        coef=np.zeros_like(raw.coef),
        intercept=problem.null_intercept(),
        multipliers=raw.multipliers if proof is None else proof.multipliers,
        share_neg=None if proof is None else proof.share_neg,
    )
    return null, program.null_reason(sample, proof)
