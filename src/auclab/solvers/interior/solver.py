"""A primal-dual interior-point method for programs over few rows with many columns: systems of the size of the rows.

The hinge terms have slack variables and multipliers of their own, one a margin; w has the block of its norm
(`lengths`), which is a diagonal D except for one to three columns. With the weights W of the margins and ``B = PᵀWP``,
P the derivatives of the margins by the scores, a Newton step solves

    (D + XᵀBX) Δw + F β = r,

by ``Δw = D⁻¹(r + XᵀΔv)`` and ``(I + BG) Δv = …`` with ``G = X D⁻¹ Xᵀ``, of the size of the rows, whatever the number of
columns. Predictor and corrector are Mehrotra's; multipliers follow the dual vector, so that they prove a bound after
every step. Where the classes are separable, the hard-margin separator in the norm of the program comes first: it has a
margin a row and not a pair, and its multipliers prove it where they fit.

Wright (1997), Primal-Dual Interior-Point Methods; the normal equations of few rows: Ferris & Munson (2002).
"""

from __future__ import annotations

import scipy.linalg as la

from auclab.formulations.problem import Problem
from auclab.precision import FEW_STEPS, LITTLE, MOST_STEPS, PATIENCE, ROUGH, SMALL_OBJECTIVE
from auclab.samples.rotated import MAX_ROWS
from auclab.solvers.interior.lengths import top_factors
from auclab.solvers.interior.state import Best, Setting, State, all_margins, hard_margin
from auclab.solvers.monitor import Monitor
from auclab.solvers.raw import RawSolution
from auclab.solvers.separation import may_be_separated, separates, shares_of
from auclab.types import AuclabError, Status

#: Largest number of pairs: each is stored, and a step takes some tens of passes over them.
MAX_PAIRS = 1_000_000
#: Where the own gap of a separator is small and this often in the certified one, no hinge-free optimum is taken to be
#: there.
_NO_FIT = 5.0

#: The reason for refusing a program without a hinge-free optimum.
_ONLY_SEPARATORS = "interior takes partial AUC, or more pairs than it can hold, only where an optimal w leaves no hinge"


def solve(problem: Problem, monitor: Monitor) -> RawSolution:
    """Solve a convex hinge program with a norm over at most 4,000 points, or a million pairs.

    Parameters
    ----------
    problem : Problem
        Over pairs or points, with a penalty or a threshold z < 0, in memory; over the hardest negatives (partial AUC)
        where no hinge is left.
    monitor : Monitor
        Has the relative gap at which to stop, and the time.

    Raises
    ------
    AuclabError
        Too many rows or pairs, no norm in the program, or one that the method does not know.

    See Also
    --------
    auclab.solvers.newton.solver.solve : For many rows with few columns.
    """
    reason = why_not(problem)
    if reason is not None:
        raise AuclabError(f"solver=interior {reason}; use solver=newton or solver=cutting_plane")
    euclidean = problem.program.regulariser.norm.is_euclidean
    found = separates(problem, monitor) if euclidean else None
    if found is not None:
        return found
    best = Best(problem, monitor)
    if may_be_separated(problem) and not euclidean:
        _followed(best, hard_margin(problem), share_neg=True)
    if not (best.is_found or best.is_late):
        if problem.program.comparisons.hardest or _n_pairs(problem) > MAX_PAIRS:
            return RawSolution.null(problem, monitor.stopped() or Status.FAILED, note=_ONLY_SEPARATORS)
        _followed(best, all_margins(problem))
    return best.solution()


def why_not(problem: Problem) -> str | None:
    """Why the method does not support a problem; None if it does.

    Parameters
    ----------
    problem : Problem
    """
    program, sample = problem.program, problem.sample
    if sample.in_blocks or sample.n_pos + sample.n_neg > MAX_ROWS:
        return f"solves systems of the size of the rows, in memory and at most {MAX_ROWS:,}"
    hard_only = program.comparisons.hardest and not may_be_separated(problem)
    if hard_only or (_n_pairs(problem) > MAX_PAIRS and not may_be_separated(problem)):
        return f"holds every pair, at most {MAX_PAIRS:,}, and none of the hardest negatives alone"
    norm, n_features = program.regulariser.norm, sample.n_features
    if norm.is_euclidean or norm.dual_box(n_features) is not None or top_factors(norm, n_features) is not None:
        return None
    return f"knows the norms l2, l1, linf and weighted ones, and not {norm.name}"


def _n_pairs(problem: Problem) -> int:
    return problem.n_margins if problem.over_pairs else 0


def _followed(best: Best, setting: Setting, share_neg: bool = False) -> None:
    """Steps until the gap is reached, or no longer decreases."""
    problem, idle = best.problem, 0
    try:
        state = State(problem, setting)
        longest = 0.0 if best.monitor.remaining is None else state.grams.least_seconds(best.monitor.clock)
        for _ in range(MOST_STEPS):
            remaining = best.monitor.remaining
            best.is_late = remaining is not None and remaining < longest
            if best.is_late or best.monitor.stopped() is not None:
                return
            begin = best.monitor.seconds
            length = state.step(best.tolerance * max(best.objective, SMALL_OBJECTIVE))
            longest = max(longest, best.monitor.seconds - begin)
            best.steps += 1
            coef, intercept, multipliers = state.point()
            shares = shares_of(problem, multipliers[1]) if share_neg else None
            idle = 0 if best.consider(coef, intercept, multipliers, shares) else idle + 1
            # Of a separator that is near, the gap is that of the steps, unless its multipliers do not fit.
            if idle and idle % PATIENCE == 0 and length < LITTLE:
                state.proximal *= 100.0
            # A gap far below the tolerance, where the next step leads there, leaves room for `exact_zeros`.
            if (
                (best.is_found and (idle or best.gap <= LITTLE * best.tolerance))
                or idle >= FEW_STEPS * PATIENCE
                or (share_neg and _NO_FIT * state.own_gap() < min(best.gap, ROUGH))
            ):
                return
    except (la.LinAlgError, ValueError, ZeroDivisionError, FloatingPointError):
        return  # rounding has left no system to solve: keep the best point so far
