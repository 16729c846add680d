"""W = 0 if it is known to be optimal without a solve."""

from __future__ import annotations

from dataclasses import replace

from auclab.formulations.problem import Problem
from auclab.solvers.raw import RawSolution
from auclab.types import Status


def null_in_advance(problem: Problem) -> RawSolution | None:
    """W = 0 with the multipliers that prove it optimal; None if that is not certain, or w = 0 is not allowed.

    Over pairs the condition has a closed form. Over points and the hardest negatives, multipliers that prove it for
    every λ are searched for (`auclab.projection.common_mean.weights_of_mean`).

    `problem`: of a convex program.
    """
    null, constraints = problem.program.null, problem.constraints
    if constraints is not None and not constraints.allows_null:
        return None
    found = RawSolution.null(problem, Status.OPTIMAL)
    if null.is_certain(problem.sample):
        return found
    proof = null.certain_proof(problem.sample)
    return None if proof is None else replace(found, multipliers=proof.multipliers, share_neg=proof.share_neg)
