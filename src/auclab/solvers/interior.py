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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError, Status
from auclab._core.tolerances import ROUNDING, SMALL_OBJECTIVE
from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.regularisers import Regulariser
from auclab.samples.rotated import MAX_ROWS
from auclab.solvers.canonical import may_be_separated, separates, shares_of
from auclab.solvers.certificate import certify, relative_gap
from auclab.solvers.interior_system import (
    INSIDE,
    GramMatrices,
    Margins,
    PairMargins,
    PointMargins,
    Steps,
    System,
    length_at,
    top_factors,
)
from auclab.solvers.monitor import Monitor
from auclab.solvers.solution import RawSolution

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: The part of a gap, or of a step, that does not count.
LITTLE = 0.1
#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: Steps without progress after which the method changes, or ends.
PATIENCE = 3
#: The gap of a first, rough solve, which others refine.
ROUGH = 1e-2


@dataclass(frozen=True)
class Setting:
    """The rows with weight, their margins, masks of these rows within each class, the regulariser, and z."""

    rows: Any
    margins: Margins
    weighted: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    regulariser: Regulariser
    threshold: float


def _rows(problem: Problem) -> tuple[Any, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    sample = problem.sample
    weighted = sample.share_pos > 0, sample.share_neg > 0
    return sample.stack([sample.X_pos[weighted[0]], sample.X_neg[weighted[1]]]), weighted


#: The margins by what they are of.
_MARGINS: dict[str, Callable[[Array, Array], Margins]] = {"pairs": PairMargins, "points": PointMargins.of_weights}


def hard_margin(problem: Problem) -> Setting:
    """The shortest separator: a margin a row, of half the length over pairs."""
    rows, weighted = _rows(problem)
    sides = np.r_[np.ones(np.count_nonzero(weighted[0])), -np.ones(np.count_nonzero(weighted[1]))]
    least = 0.5 * problem.program.comparisons.total(1.0, 1.0)
    regulariser = problem.program.regulariser
    if not regulariser.weight and not regulariser.ridge:  # any weight: w is shortened to margins of 1 − z‖w‖
        regulariser = regulariser.with_weight(1.0)
    return Setting(rows, PointMargins(sides, np.full(sides.size, np.inf), least), weighted, regulariser, 0.0)


def all_margins(problem: Problem) -> Setting:
    """Every pair or point with its slack variable."""
    rows, weighted = _rows(problem)
    sample, program = problem.sample, problem.program
    weights = (part[used] for part, used in zip(program.comparisons.row_weights(sample), weighted, strict=True))
    margins = _MARGINS[program.comparisons.name](*weights)
    return Setting(rows, margins, weighted, program.regulariser, program.threshold)


Multipliers = tuple[Array, Array]


class Best:
    """The best point and the best multipliers, which may belong to different steps."""

    def __init__(self, problem: Problem, monitor: Monitor):
        self.problem, self.tolerance, self.monitor = problem, monitor.tolerance, monitor
        null = RawSolution.null(problem, Status.ITERATION_LIMIT)
        self.point, self.objective = (null.coef, null.intercept), problem.objective(null.coef, null.intercept)
        self.multipliers: Multipliers | None = None
        self.share_neg: Array | None = None
        self.bound = 0.0
        self.steps, self.is_late = 0, False

    @property
    def gap(self) -> float:
        """The certified gap."""
        return relative_gap(self.objective, self.bound)

    @property
    def is_found(self) -> bool:
        """Whether the gap is small enough, with a reserve for the rounding errors that the verification subtracts."""
        return self.gap <= 0.9 * self.tolerance

    def consider(self, coef: Array, intercept: float, multipliers: Multipliers, share_neg: Array | None) -> bool:
        """Keep the better point and bound; whether either improved."""
        if not all(np.isfinite(part).all() for part in (coef, *multipliers)):
            return False
        before, objective_before = self.gap, self.objective
        dual = self.problem.dual_problem(share_neg, multipliers[1])
        objective = self.problem.objective(coef, intercept)
        certificate, _ = certify(dual, coef, intercept, multipliers, objective)
        if objective < self.objective:
            self.point, self.objective = (coef, intercept), objective
        if certificate.lower_bound > self.bound or self.multipliers is None:
            self.bound, self.multipliers, self.share_neg = certificate.lower_bound, multipliers, share_neg
        self.monitor.record(self.objective, self.bound)
        return self.gap < before or self.objective < objective_before

    def solution(self) -> RawSolution:
        """The solution that is to be verified."""
        # Whether it is, the verification says: of w = 0 by multipliers of its own.
        reached = Status.OPTIMAL
        if self.gap > self.tolerance:
            reached = Status.TIME_LIMIT if self.is_late else self.monitor.stopped() or reached
        return RawSolution(
            *self.point,
            reached,
            self.multipliers,
            share_neg=self.share_neg,
            iterations=self.steps,
            timings=Timings(solve=self.monitor.seconds),
            history=tuple(self.monitor.history),
        )


#: Fraction of the step to the boundary.
_SHARE = 0.995
#: First multipliers, as a fraction of the capacities.
_FIRST_SHARE = 0.5


@dataclass(frozen=True)
class _Direction:
    w: Array
    b: float
    border: Array
    q: Array
    r: Array
    xi: Array
    of_length: Steps | None


class State:
    """A point, its slack variables, and the dual point."""

    def __init__(self, problem: Problem, setting: Setting):
        self.problem, self.X, self.margins, self.weighted = problem, setting.rows, setting.margins, setting.weighted
        self.grams = GramMatrices(self.X)
        self.threshold, self.whole = setting.threshold, setting.regulariser
        self.ridge, self.regulariser = self.whole.split()
        given = problem.program.regulariser
        self.costs = bool(given.weight or given.ridge)
        self.bounded = bool(np.isfinite(self.margins.capacity).all())
        n, unit = self.X.shape[1], float(problem.sample.spread.mean())
        self.w, self.b = np.zeros(n), 0.0
        norm = self.regulariser.norm
        free = not self.threshold and not self.regulariser.weight
        slope = self.regulariser.slope(0.1 / unit)
        weights = self.margins.capacity if self.bounded else self._balanced()
        total, size = float(weights.sum()), norm.dual(self.X.T @ self.margins.over_rows(weights))
        room = size + self.threshold * total
        share = min(_FIRST_SHARE, INSIDE * slope / room) if room > 0 and slope > 0 else _FIRST_SHARE
        self.q = (share if self.bounded or not slope else INSIDE * slope / size) * weights
        gradient, tau = self._gradient(), slope - self.threshold * float(self.q.sum())
        self.length = length_at(None if free else norm, self.w, gradient, unit, tau)
        lacking = self._lacking()
        self.xi = np.maximum(lacking, 0.0) + 1.0
        self.r = self.xi - lacking
        if not self.bounded:
            self.xi = np.zeros_like(lacking)
            self.r = np.maximum(-lacking, 0.0) + 1.0
        self.proximal = ROUNDING

    def _balanced(self) -> Array:
        """Weights with one sum in either class."""
        sides = self.margins.sides
        return np.where(sides > 0, 1.0 / np.count_nonzero(sides > 0), 1.0 / np.count_nonzero(sides < 0))

    def _gradient(self) -> Array:
        """``Σ q d`` minus the derivative of the squares, which the norm has to balance."""
        return np.asarray(self.X.T @ self.margins.over_rows(self.q)) - 2.0 * self.ridge * self.w

    def _lacking(self) -> Array:
        scores = np.asarray(self.X @ self.w)
        return self.margins.lacking(scores, self.b) - self.threshold * self.length.t

    def _separating(self) -> tuple[float, float]:
        """What to multiply w with for margins that are large enough, and b then; 0 for a w that does not separate."""
        scores, side = np.asarray(self.X @ self.w), self.margins.sides
        above, below = float(scores[side > 0].min()), float(scores[side < 0].max())
        if above <= below:
            return 0.0, 0.0
        factor = 2.0 * self._least / (above - below) * (1.0 + 1e-14)
        return factor, -0.5 * factor * (above + below)

    @property
    def _least(self) -> float:
        return 0.5 * self.problem.program.comparisons.total(1.0, 1.0)

    def own_gap(self) -> float:
        """The relative gap of a separator as the shortest one, whatever the capacities of its multipliers."""
        length = self.whole.value(self._separating()[0] * self.w)
        dual = np.asarray(self.X.T @ self.margins.over_rows(self.q))
        bound = self.whole.dual_value(dual, 0.0, self._least * float(self.q.sum()))[0]
        return (length - bound) / length if length > 0 else np.inf

    def point(self) -> tuple[Array, float, Multipliers]:
        """W, b and the marginals; a separator is scaled until its margins are large enough."""
        coef, intercept, sample, program = self.w, self.b, self.problem.sample, self.problem.program
        if not self.bounded:
            factor, intercept = self._separating()
            coef = factor * coef
            if not self.costs:
                shrunk = (1.0 + program.threshold * self.regulariser.norm(coef)) / (1.0 + 1e-12)
                coef, intercept = (coef / shrunk, intercept / shrunk) if shrunk > 0 else (0.0 * coef, 0.0)
        pos, neg = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
        if self.bounded or self.costs:  # else the value is 0, which needs no proof
            pos[self.weighted[0]], neg[self.weighted[1]] = self.margins.marginals(self.q)
        return coef, intercept, (pos, neg)

    def step(self, wanted: float) -> float:
        """One predictor and corrector; `wanted` is the absolute gap at which to stop. Returns the shorter length."""
        p = self.margins.capacity - self.q if self.bounded else np.ones_like(self.q)
        lacks = self._lacking() - self.xi + self.r
        weight = 1.0 / ((self.xi / p if self.bounded else 0.0) + self.r / self.q)
        products = [self.r * self.q] + ([self.xi * p] if self.bounded else [])
        system = System(
            self.grams, self.margins, weight, self.length, self.w, squares=self.ridge,
            curvature=self.regulariser.curvature, threshold=self.threshold, proximal=self.proximal,
        )  # fmt: skip
        first = self._direction(system, p, lacks, 0.0, None)
        of_length = first.of_length
        total = float(sum(product.sum() for product in products))
        count = sum(product.size for product in products)
        if of_length is not None:
            total, count = total + float(of_length.slack @ of_length.dual), count + of_length.slack.size
        primal, dual = self._limits(first, p)
        after = float(((self.r + primal * first.r) * (self.q + dual * first.q)).sum())
        after += float(((self.xi + primal * first.xi) * (p - dual * first.q)).sum()) if self.bounded else 0.0
        if of_length is not None:
            slack = of_length.slack + primal * of_length.slack_step
            after += float(slack @ (of_length.dual + dual * of_length.dual_step))
        mu = max(min(1.0, after / total) ** 3 * total, LITTLE * wanted) / count
        second = self._direction(system, p, lacks, mu, first)
        primal, dual = self._limits(second, p)
        primal, dual = min(1.0, _SHARE * primal), min(1.0, _SHARE * dual)
        self.w, self.b = self.w + primal * second.w, self.b + primal * second.b
        self.q = self.q + dual * second.q
        self.r = self.r + primal * second.r
        if self.bounded:
            self.xi = self.xi + primal * second.xi
        self.length.move(self.w, second.border, second.of_length, primal, dual)
        return min(primal, dual)

    def _direction(self, system: System, p: Array, lacks: Array, mu: float, first: _Direction | None) -> _Direction:
        """The Newton direction to the point of complementarity μ; with the second-order term of a first direction."""
        aim_r = (mu - self.r * self.q - (0.0 if first is None else first.r * first.q)) / self.q
        aim_xi = (mu - self.xi * p + (0.0 if first is None else first.xi * first.q)) / p if self.bounded else 0.0
        wanted = system.weight * (lacks - aim_xi + aim_r)
        slope = self.regulariser.slope(self.length.t) - self.threshold * float(self.q.sum())
        second = None if first is None else first.of_length
        right = self.length.right(self.w, self._gradient(), slope, mu, second)
        w_step, b_step, border = system.solved(wanted, self.q, right)
        change = self.margins.change(np.asarray(self.X @ w_step), b_step)
        if self.length.size:
            change = change - self.threshold * float(border[0])
        q_step = system.weight * change + wanted
        r_step = aim_r - self.r / self.q * q_step
        xi_step = aim_xi + self.xi / p * q_step if self.bounded else np.zeros_like(r_step)
        gradient_step = np.asarray(self.X.T @ self.margins.over_rows(q_step)) - 2.0 * self.ridge * w_step
        of_length = self.length.steps(w_step, border, gradient_step)
        return _Direction(w_step, b_step, border, q_step, r_step, xi_step, of_length)

    def _limits(self, direction: _Direction, p: Array) -> tuple[float, float]:
        """The longest steps that keep primal and dual variables above 0; a common one with a curved norm."""
        primal = [(self.r, direction.r)] + ([(self.xi, direction.xi)] if self.bounded else [])
        dual = [(self.q, direction.q)] + ([(p, -direction.q)] if self.bounded else [])
        if direction.of_length is not None:
            primal.append((direction.of_length.slack, direction.of_length.slack_step))
            dual.append((direction.of_length.dual, direction.of_length.dual_step))
        limits = [min((_limit(*each) for each in side), default=1.0) for side in (primal, dual)]
        if self.regulariser.curvature or self.ridge:
            limits = [min(limits)] * 2
        return limits[0], limits[1]


def _limit(values: Array, step: Array) -> float:
    falls = step < 0
    return min(1.0, float((-values[falls] / step[falls]).min(initial=np.inf))) if falls.any() else 1.0


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
        if problem.program.comparisons.hardest or problem.program.comparisons.n_pairs(problem.sample) > MAX_PAIRS:
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
    if hard_only or (problem.program.comparisons.n_pairs(problem.sample) > MAX_PAIRS and not may_be_separated(problem)):
        return f"holds every pair, at most {MAX_PAIRS:,}, and none of the hardest negatives alone"
    norm, n_features = program.regulariser.norm, sample.n_features
    if norm.is_euclidean or norm.dual_box(n_features) is not None or top_factors(norm, n_features) is not None:
        return None
    return f"knows the norms l2, l1, linf and weighted ones, and not {norm.name}"


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
            before = best.gap
            idle = 0 if best.consider(coef, intercept, multipliers, shares) else idle + 1
            # Of a separator that is near, the gap is that of the steps, unless its multipliers do not fit.
            if idle and idle % PATIENCE == 0 and length < LITTLE:
                state.proximal *= 100.0
            # A gap far below the tolerance, where the next steps lead there, leaves room for `exact_zeros`.
            slow = best.gap > 0.5 * before
            if (
                (best.is_found and (slow or best.gap <= LITTLE * best.tolerance))
                or idle >= FEW_STEPS * PATIENCE
                or (share_neg and _NO_FIT * state.own_gap() < min(best.gap, ROUGH))
            ):
                return
    except (la.LinAlgError, ValueError, ZeroDivisionError, FloatingPointError):
        return  # rounding has left no system to solve: keep the best point so far
