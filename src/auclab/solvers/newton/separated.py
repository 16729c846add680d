"""Separable data with so small a penalty that no hinge is left: the optimum is the hard-margin separator.

A smoothed minimum shows this before its multipliers prove it: it has no hinge either. Newton's method would need
hundreds of steps to a point with only a few margins at the kink.
"""

from __future__ import annotations

from auclab.models.hard_margin import hard_margin, is_quickly_separated
from auclab.solvers.certificate import certify
from auclab.solvers.newton.state import State
from auclab.solvers.raw import RawSolution
from auclab.solvers.registry import PARTS
from auclab.solvers.separation import leaves_no_hinge, solution_of


class HardMargin:
    """The hard-margin separator, where a minimum has no hinge and the separator is found quickly."""

    def may(self, state: State) -> bool:
        """Whether the minimum has no hinge and the separator is cheap to compute."""
        problem, theta = state.problem, state.theta
        program, sample = problem.program, problem.sample
        if state.evaluation is None or problem.constraints is not None or sample.in_blocks:
            return False
        if program.threshold != 0 or not program.regulariser.weight > 0 or not program.regulariser.norm.is_euclidean:
            return False
        if PARTS["hard margin"].why_not(program) is not None or not is_quickly_separated(sample):
            return False
        return leaves_no_hinge(problem, problem.objective(theta[:-2], float(theta[-2])), theta[:-2])

    def attempt(self, state: State) -> RawSolution | None:
        """The separator if its multipliers prove that it is the optimum."""
        problem = state.problem
        separator = hard_margin(problem, state.monitor.stopped)
        found = None if separator is None else solution_of(problem, separator)
        if found is None or found.multipliers is None:
            return None
        dual = problem.dual_problem(found.share_neg, found.multipliers[1])
        certificate, _ = certify(dual, found.coef, found.intercept, found.multipliers)
        if not certificate.gap <= state.tolerance:
            return None
        state.best = None
        state.consider(found, certificate)
        return state.solution()
