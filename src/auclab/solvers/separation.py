"""The hard-margin separator as the solution of a program on separable data, with the multipliers that prove it.

The separator u is ``Σ a_i x_i⁺ − Σ b_j x_j⁻`` with multipliers a, b ≥ 0 of its margins. For ``λ‖w‖²`` the multipliers
2λ(a, b), for ``λ‖w‖`` λ(a, b)/‖u‖, satisfy the dual constraint of the program with equality; if they are within their
capacities they prove that u is its optimum (derivations 7.1). Without a penalty ``u/(1 + z‖u‖)`` has the value 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.hard_margin import Separator, hard_margin
from auclab.models.timings import Timings
from auclab.precision import EQUAL
from auclab.solvers.certificate import certify
from auclab.solvers.monitor import Monitor
from auclab.solvers.raw import RawSolution
from auclab.solvers.registry import PARTS
from auclab.types import Array, Status


def separates(problem: Problem, monitor: Monitor) -> RawSolution | None:
    """The hard-margin separator where it is proved to be the optimum.

    `monitor`: has the relative gap, and ends the attempt.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> from auclab.samples.as_sample import as_sample
    >>> sample = as_sample([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [1, 0])
    >>> separates(Problem(RankSVM(0.1), sample), Monitor(1e-6)).coef.round(9).tolist()
    [0.5, 0.0, 0.0]
    >>> separates(Problem(RankSVM(1.9), sample), Monitor(1e-6)).coef.round(9).tolist()   # λ‖w‖ below ‖Δ‖ = 2
    [0.5, 0.0, 0.0]
    """
    if problem.program.uses_norm and not problem.program.regulariser.norm.is_euclidean:
        return None
    if not may_be_separated(problem):
        return None
    begin = monitor.clock.seconds
    separator = hard_margin(problem, monitor.stopped)
    found = None if separator is None else solution_of(problem, separator)
    if found is None or found.multipliers is None:
        return None
    dual = problem.dual_problem(found.share_neg, found.multipliers[1])
    certificate, _ = certify(dual, found.coef, found.intercept, found.multipliers)
    if problem.program.regulariser.weight > 0 and not certificate.gap <= monitor.tolerance:
        return None
    return replace(found, timings=Timings(solve=monitor.clock.seconds - begin))


def solution_of(problem: Problem, separator: Separator) -> RawSolution | None:
    """The separator as a solution, for the proof; None if a threshold is beyond its margin."""
    regulariser, coef, share_neg = problem.program.regulariser, separator.coef, None
    shrunk = 1.0 + problem.program.threshold * regulariser.norm(coef)
    if shrunk <= 0:
        return None
    multipliers = np.zeros(problem.sample.n_pos), np.zeros(problem.sample.n_neg)
    if regulariser.weight > 0:
        factor = regulariser.weight * (2.0 if regulariser.squared else 1.0 / float(np.linalg.norm(coef)))
        multipliers = factor * separator.multipliers[0], factor * separator.multipliers[1]
        share_neg = shares_of(problem, multipliers[1])
    intercept = separator.intercept / shrunk
    return RawSolution(coef / shrunk, intercept, Status.OPTIMAL, multipliers, share_neg=share_neg, separator=separator)


def leaves_no_hinge(problem: Problem, objective: float, coef: Array) -> bool:
    """Whether the mean hinge at a point is 0 up to rounding: the data are separable.

    `objective`: the value at the point.
    """
    return problem.program.is_convex and objective - problem.program.regulariser.value(coef) <= EQUAL


def may_be_separated(problem: Problem) -> bool:
    """Whether a separator may be so short that its multipliers fit: no shorter than one of the two means.

    ``u·Δ ≥ c`` with c = 1 over pairs and 2 over points, so that ``R(u)`` is at least ``max_s cs − R*(sΔ)``, and each
    class has multipliers of sum ``∂R(u)·u/c ≥ R(u)/c``.
    """
    program, sample, regulariser = problem.program, problem.sample, problem.program.regulariser
    if PARTS["hard margin"].why_not(program, problem.constraints) is not None:
        return False
    difference, wide = sample.mean_difference, 1.0 if problem.over_pairs else 2.0
    if regulariser.weight == 0 and not regulariser.ridge:
        distance = max(regulariser.norm.dual(difference), 1e-300) if program.threshold else 1.0
        return not program.threshold or -program.threshold * wide / distance < 1.0
    if program.threshold:
        return False
    room = 1.0 if problem.over_pairs else min(sample.prior_pos, sample.prior_neg)
    return regulariser.dual_value(difference / EQUAL, 0.0, wide / EQUAL)[0] <= room * wide  # a large multiple of Δ


def shares_of(problem: Problem, multipliers_neg: Array) -> Array | None:
    """Of partial AUC weights r of the negatives that leave room for these multipliers: in proportion, if they may be.

    With ``r = β/Σβ`` pairs ``q_ij = α_i β_j/Σβ`` are within ``u_i r_j`` if ``α_i ≤ u_i``.
    """
    capacity, total = problem.program.comparisons.capacity(problem.sample), float(multipliers_neg.sum())
    if capacity is None or total == 0.0:
        return None
    share = np.minimum(multipliers_neg / total, capacity)
    room = capacity - share
    return np.asarray(share + room * max(0.0, 1.0 - float(share.sum())) / max(float(room.sum()), 1e-300))
