"""Separable data with so small a penalty that no hinge is left: the optimum is the hard-margin separator.

The separator u is ``Σ a_i x_i⁺ − Σ b_j x_j⁻`` with multipliers a, b ≥ 0 of its margins. For ``λ‖w‖²`` the multipliers
2λ(a, b), for ``λ‖w‖`` λ(a, b)/‖u‖, satisfy the dual constraint of the program with equality; if they are within their
capacities they prove that u is its optimum (derivations 7.1). Of a smoothed minimum this is seen before: it has no
hinge either. Newton steps would take hundreds to where only a few margins are at the kink.
"""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.hard_margin import MAX_SIZE, hard_margin
from auclab.solvers.newton.state import State
from auclab.solvers.raw import RawSolution
from auclab.types import Array

#: A mean hinge below this is none.
NO_HINGE = 1e-9


class HardMargin:
    """The hard-margin separator, where a minimum has no hinge and the separator is found quickly."""

    def may(self, state: State) -> bool:
        """Whether that is so."""
        problem, theta = state.problem, state.theta
        program, sample = problem.program, problem.sample
        if state.evaluation is None or problem.constraints is not None or sample.in_blocks:
            return False
        if program.threshold != 0 or not program.penalty > 0 or not program.regulariser.norm.is_euclidean:
            return False
        if (sample.n_pos + sample.n_neg) * sample.n_features > MAX_SIZE:
            return False
        objective = problem.objective(theta[:-2], float(theta[-2]))
        return objective - program.regulariser.value(theta[:-2]) <= NO_HINGE

    def attempt(self, state: State) -> RawSolution | None:
        """The separator if its multipliers prove that it is the optimum."""
        problem = state.problem
        separator = hard_margin(problem)
        if separator is None:
            return None
        program, coef = problem.program, separator.coef
        factor = program.penalty * (2.0 if program.squared else 1.0 / float(np.linalg.norm(coef)))
        pos, neg = (factor * part for part in separator.multipliers)
        share_neg = _shares(problem, neg)
        return state.proved(coef, separator.intercept, (pos, neg), share_neg)


def _shares(problem: Problem, multipliers_neg: Array) -> Array | None:
    """Of partial AUC weights r of the negatives that leave room for these multipliers: in proportion, if they may be.

    With ``r = β/Σβ`` pairs ``q_ij = α_i β_j/Σβ`` are within ``u_i r_j`` if ``α_i ≤ u_i``.
    """
    capacity, total = problem.program.comparisons.capacity(problem.sample), float(multipliers_neg.sum())
    if capacity is None or total == 0.0:
        return None
    share = np.minimum(multipliers_neg / total, capacity)
    room = capacity - share
    return np.asarray(share + room * max(0.0, 1.0 - float(share.sum())) / max(float(room.sum()), 1e-300))
