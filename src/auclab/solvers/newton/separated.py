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
from auclab.models.timings import Timings
from auclab.solvers.certificate import certify
from auclab.solvers.monitor import Monitor
from auclab.solvers.raw import RawSolution
from auclab.types import Array, Status

#: A mean hinge below this is none.
NO_HINGE = 1e-9


def may_be_hard_margin(problem: Problem) -> bool:
    """Whether the hard-margin separator can be the optimum, and is found quickly.

    Parameters
    ----------
    problem : Problem
    """
    program, sample = problem.program, problem.sample
    if problem.constraints is not None or sample.in_blocks or program.threshold != 0:
        return False
    small = (sample.n_pos + sample.n_neg) * sample.n_features <= MAX_SIZE
    return small and program.penalty > 0 and program.regulariser.norm.is_euclidean


def hard_margin_optimum(problem: Problem, tolerance: float, monitor: Monitor, iterations: int) -> RawSolution | None:
    """The hard-margin separator where its multipliers prove that it is the optimum, else None.

    Parameters
    ----------
    problem : Problem
        With `may_be_hard_margin`.
    tolerance : float
        Relative gap.
    monitor : Monitor
        Takes the history.
    iterations : int
        Steps taken before.
    """
    separator = hard_margin(problem)
    if separator is None:
        return None
    program, coef = problem.program, separator.coef
    factor = program.penalty * (2.0 if program.squared else 1.0 / float(np.linalg.norm(coef)))
    pos, neg = (factor * part for part in separator.multipliers)
    share_neg = _shares(problem, neg)
    certificate, _ = certify(
        problem.dual_problem(share_neg, neg),
        coef,
        separator.intercept,
        (pos, neg),
        problem.objective(coef, separator.intercept),
    )
    if not certificate.gap <= tolerance:
        return None
    monitor.record(certificate.objective, certificate.lower_bound)
    return RawSolution(
        coef,
        separator.intercept,
        Status.OPTIMAL,
        (pos, neg),
        iterations,
        Timings(solve=monitor.seconds),
        history=tuple(monitor.history),
        share_neg=share_neg,
    )


def _shares(problem: Problem, multipliers_neg: Array) -> Array | None:
    """Of partial AUC weights r of the negatives that leave room for these multipliers: in proportion, if they may be.

    With ``r = β/Σβ`` pairs ``q_ij = α_i β_j/Σβ`` are within ``u_i r_j`` if ``α_i ≤ u_i``.
    """
    capacity, total = problem.program.negative_capacity(problem.sample), float(multipliers_neg.sum())
    if capacity is None or total == 0.0:
        return None
    share = np.minimum(multipliers_neg / total, capacity)
    room = capacity - share
    return np.asarray(share + room * max(0.0, 1.0 - float(share.sum())) / max(float(room.sum()), 1e-300))
