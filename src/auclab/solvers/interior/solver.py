"""A primal-dual interior-point method for programs over few rows with many columns: systems of the size of the rows.

The hinge terms have slack variables and multipliers of their own, one a margin; w has the block of its norm
(`lengths`), which is a diagonal D but for one to three columns. With the weights W of the margins and ``B = PᵀWP``, P
the derivatives of the margins by the scores, a Newton step solves

    (D + XᵀBX) Δw + F β = r,

by ``Δw = D⁻¹(r + XᵀΔv)`` and ``(I + BG) Δv = …`` with ``G = X D⁻¹ Xᵀ``, of the size of the rows, whatever the number of
columns. Predictor and corrector are Mehrotra's; multipliers follow the dual vector, so that they prove a bound after
every step. Where the classes are separable, the hard-margin separator in the norm of the program comes first: it has a
margin a row and not a pair, and its multipliers prove it where they fit.

Wright (1997), Primal-Dual Interior-Point Methods; the normal equations of few rows: Ferris & Munson (2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.regularisers import Regulariser
from auclab.samples.rotated import MAX_ROWS
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify, relative_gap
from auclab.solvers.interior.lengths import Box, Euclidean, Free, Length, Steps, Top, top_factors
from auclab.solvers.interior.margins import Margins, PairMargins, PointMargins
from auclab.solvers.monitor import Monitor, monitored
from auclab.solvers.raw import RawSolution
from auclab.solvers.scaling import in_own_units
from auclab.solvers.separation import may_be_separated, separates, shares_of
from auclab.solvers.threads import one_thread_each
from auclab.solvers.working_columns import on_working_columns
from auclab.types import Array, AuclabError, Status

Multipliers = tuple[Array, Array]

#: Pairs that are held one by one: a step takes some tens of passes over them.
MAX_PAIRS = 1_000_000
#: Steps at most, and steps without a smaller gap.
_MAX_STEPS, _IDLE = 80, 12
#: Where the own gap of a separator is below the first number and this often in the certified one, no hinge-free optimum
#: is taken to be there.
_NEAR, _NO_FIT = 0.01, 5.0
#: Of the way to the boundary.
_SHARE = 0.995
#: Of the wanted gap: where the complementarity does not need to be less, which costs digits.
_FLOOR = 0.2
#: Of the largest curvature: what is added to that of columns that nearly have none.
_PROXIMAL = 1e-11
#: After so many steps without progress it is raised.
_RETRY = 4
#: Corrections of the solution of a system by its residual.
_REFINEMENTS = 2
#: Of the capacities, and of the dual limit: the first multipliers.
_FIRST_SHARE, _INSIDE = 0.5, 0.9


@in_own_units
@on_working_columns
def solve(problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None) -> RawSolution:
    """Solve a convex hinge program with a norm over at most 4,000 points, or a million pairs.

    Parameters
    ----------
    problem : Problem
        Over pairs or points, with a penalty or a threshold z < 0, in memory; over the hardest negatives (partial AUC)
        where no hinge is left.
    tolerance : float > 0
        Relative gap at which to stop.
    time_limit : float > 0, optional
        Seconds.

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
    with one_thread_each(), monitored(tolerance, time_limit) as monitor, np.errstate(all="ignore"):
        euclidean = problem.program.regulariser.norm.is_euclidean
        found = separates(problem, tolerance, monitor.stopped) if euclidean else None
        if found is not None:
            return found
        best = _Best(problem, tolerance, monitor)
        if may_be_separated(problem) and not euclidean:
            _followed(best, _hard(problem), share_neg=True)
        if (
            not best.is_found
            and not best.is_late
            and not problem.program.comparisons.hardest
            and _n_pairs(problem) <= MAX_PAIRS
        ):
            _followed(best, _soft(problem))
        return best.solution()


def why_not(problem: Problem) -> str | None:
    """Why the method does not take a problem; None where it does.

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


@dataclass(frozen=True)
class _Setting:
    """Rows, their margins, where the rows were, what w costs, and z."""

    rows: Any
    margins: Margins
    weighted: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    regulariser: Regulariser
    threshold: float


def _rows(problem: Problem) -> tuple[Any, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    sample = problem.sample
    weighted = sample.share_pos > 0, sample.share_neg > 0
    return sample.stack([sample.X_pos[weighted[0]], sample.X_neg[weighted[1]]]), weighted


def _hard(problem: Problem) -> _Setting:
    rows, weighted = _rows(problem)
    sides = np.r_[np.ones(np.count_nonzero(weighted[0])), -np.ones(np.count_nonzero(weighted[1]))]
    least = 0.5 if problem.over_pairs else 1.0
    regulariser = problem.program.regulariser
    if not regulariser.weight and not regulariser.ridge:  # any weight: w is shortened to margins of 1 − z‖w‖
        regulariser = regulariser.with_weight(1.0)
    return _Setting(rows, PointMargins(sides, np.full(sides.size, np.inf), least), weighted, regulariser, 0.0)


def _soft(problem: Problem) -> _Setting:
    rows, weighted = _rows(problem)
    sample, program = problem.sample, problem.program
    if problem.over_pairs:
        shares = sample.share_pos[weighted[0]], sample.share_neg[weighted[1]]
        return _Setting(rows, PairMargins(*shares), weighted, program.regulariser, program.threshold)
    pos, neg = (part[used] for part, used in zip(sample.point_weights, weighted, strict=True))
    sides = np.r_[np.ones(pos.size), -np.ones(neg.size)]
    return _Setting(rows, PointMargins(sides, np.r_[pos, neg]), weighted, program.regulariser, program.threshold)


class _Best:
    """The best point and the best multipliers, which may belong to different steps."""

    def __init__(self, problem: Problem, tolerance: float, monitor: Monitor):
        self.problem, self.tolerance, self.monitor = problem, tolerance, monitor
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
        """Whether it is small enough, with a little to spare for what the verification charges."""
        return self.gap <= 0.9 * self.tolerance

    def consider(self, coef: Array, intercept: float, multipliers: Multipliers, share_neg: Array | None) -> bool:
        """Take what is better; whether anything was."""
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
        """As it is to be verified."""
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


def _followed(best: _Best, setting: _Setting, share_neg: bool = False) -> None:
    """Steps until the gap is reached, or none makes it smaller."""
    problem, idle = best.problem, 0
    try:
        state, longest = _State(problem, setting), 0.0
        for _ in range(_MAX_STEPS):
            remaining = best.monitor.remaining
            best.is_late = remaining is not None and remaining < longest
            if best.is_late or best.monitor.stopped() is not None:
                return
            begin = perf_counter()
            state.step(best.tolerance * max(best.objective, SMALL_OBJECTIVE))
            longest = max(longest, perf_counter() - begin)
            best.steps += 1
            coef, intercept, multipliers = state.point()
            shares = shares_of(problem, multipliers[1]) if share_neg else None
            idle = 0 if best.consider(coef, intercept, multipliers, shares) else idle + 1
            # Of a separator that is near, the gap is that of the steps, unless its multipliers do not fit.
            if idle and idle % _RETRY == 0:
                state.proximal *= 100.0
            if best.is_found or idle >= _IDLE or (share_neg and _NO_FIT * state.own_gap() < min(best.gap, _NEAR)):
                return
    except (la.LinAlgError, ValueError, ZeroDivisionError, FloatingPointError):
        return  # rounding has left no system to solve: the best so far stands


class _State:
    """A point, its slack variables, and the dual point."""

    def __init__(self, problem: Problem, setting: _Setting):
        self.problem, self.X, self.margins, self.weighted = problem, setting.rows, setting.margins, setting.weighted
        self.threshold, self.whole = setting.threshold, setting.regulariser
        self.ridge, self.regulariser = self.whole.split()
        given = problem.program.regulariser
        self.costs = bool(given.weight or given.ridge)
        self.bounded = bool(np.isfinite(self.margins.capacity).all())
        n, unit = self.X.shape[1], float(problem.sample.spread.mean())
        self.w, self.b = np.zeros(n), 0.0
        norm, box = self.regulariser.norm, self.regulariser.norm.dual_box(n)
        mean = problem.sample.mean_difference
        free = not self.threshold and not self.regulariser.weight
        if norm.is_euclidean and not free:
            self.w = mean * (0.1 / (unit * max(float(np.linalg.norm(mean)), 1e-300)))
        first_t = max(norm(self.w), 0.1 / unit)
        slope = self.regulariser.slope(first_t)
        weights = self.margins.capacity if self.bounded else self._balanced()
        total, size = float(weights.sum()), norm.dual(self.X.T @ self.margins.over_rows(weights))
        room = size + self.threshold * total
        share = min(_FIRST_SHARE, _INSIDE * slope / room) if room > 0 and slope > 0 else _FIRST_SHARE
        self.q = (share if self.bounded or not slope else _INSIDE * slope / size) * weights
        gradient, tau = self._gradient(), slope - self.threshold * float(self.q.sum())
        self.length: Length
        if free:
            self.length = Free()
        elif norm.is_euclidean:
            self.length = Euclidean(self.w, tau)
        elif box is not None:
            self.length = Box(box, self.w, gradient, unit, tau)
        else:
            factors = top_factors(norm, n)
            assert factors is not None
            self.length = Top(factors, self.w, gradient, unit, tau)
        lacking = self._lacking()
        self.xi = np.maximum(lacking, 0.0) + 1.0
        self.r = self.xi - lacking
        if not self.bounded:
            self.xi = np.zeros_like(lacking)
            self.r = np.maximum(-lacking, 0.0) + 1.0
        self.proximal = _PROXIMAL
        self._squares = self._entry_squares()
        self._gram: Array | None = None

    def _balanced(self) -> Array:
        """Weights with one sum in either class."""
        sides = self.margins.sides
        return np.where(sides > 0, 1.0 / np.count_nonzero(sides > 0), 1.0 / np.count_nonzero(sides < 0))

    def _entry_squares(self) -> Any:
        return self.X.multiply(self.X).tocsr() if hasattr(self.X, "multiply") else self.X * self.X

    def _gradient(self) -> Array:
        """``Σ q d`` less the derivative of the squares: what the norm has to answer for."""
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
        return 0.5 if self.problem.over_pairs else 1.0

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

    def step(self, wanted: float) -> None:
        """One predictor and corrector; `wanted` is the absolute gap at which to stop."""
        p = self.margins.capacity - self.q if self.bounded else np.ones_like(self.q)
        lacks = self._lacking() - self.xi + self.r
        weight = 1.0 / ((self.xi / p if self.bounded else 0.0) + self.r / self.q)
        products = [self.r * self.q] + ([self.xi * p] if self.bounded else [])
        system = _System(self, weight)
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
        mu = max(min(1.0, after / total) ** 3 * total, _FLOOR * wanted) / count
        second = self._direction(system, p, lacks, mu, first)
        primal, dual = self._limits(second, p)
        primal, dual = min(1.0, _SHARE * primal), min(1.0, _SHARE * dual)
        self.w, self.b = self.w + primal * second.w, self.b + primal * second.b
        self.q = self.q + dual * second.q
        self.r = self.r + primal * second.r
        if self.bounded:
            self.xi = self.xi + primal * second.xi
        self.length.move(self.w, second.border, second.of_length, primal, dual)

    def _direction(self, system: _System, p: Array, lacks: Array, mu: float, first: _Direction | None) -> _Direction:
        """The Newton direction to the point of complementarity μ; with the second-order term of a first direction."""
        aim_r = (mu - self.r * self.q - (0.0 if first is None else first.r * first.q)) / self.q
        aim_xi = (mu - self.xi * p + (0.0 if first is None else first.xi * first.q)) / p if self.bounded else 0.0
        wanted = system.weight * (lacks - aim_xi + aim_r)
        w_step, b_step, border = system.solved(wanted, mu, None if first is None else first.of_length)
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
        """The longest steps of primal and dual variables that leave all above 0; one of both with a curved norm."""
        primal = [(self.r, direction.r)] + ([(self.xi, direction.xi)] if self.bounded else [])
        dual = [(self.q, direction.q)] + ([(p, -direction.q)] if self.bounded else [])
        if direction.of_length is not None:
            primal.append((direction.of_length.slack, direction.of_length.slack_step))
            dual.append((direction.of_length.dual, direction.of_length.dual_step))
        limits = [min((_limit(*each) for each in side), default=1.0) for side in (primal, dual)]
        if self.regulariser.norm.is_euclidean or self.regulariser.curvature or self.ridge:
            limits = [min(limits)] * 2
        return limits[0], limits[1]


@dataclass(frozen=True)
class _Direction:
    w: Array
    b: float
    border: Array
    q: Array
    r: Array
    xi: Array
    of_length: Steps | None


def _limit(values: Array, step: Array) -> float:
    falls = step < 0
    return min(1.0, float((-values[falls] / step[falls]).min(initial=np.inf))) if falls.any() else 1.0


class _System:
    """The Newton system at a point, factorised."""

    def __init__(self, state: _State, weight: Array):
        self.state, self.weight, margins, X = state, weight, state.margins, state.X
        of_rows = weight if weight.ndim == 1 else np.r_[weight.sum(axis=1), weight.sum(axis=0)]
        diagonal = state.length.diagonal(state.w) + 2.0 * state.ridge
        if isinstance(state.length, (Free, Euclidean)):
            self.diagonal = diagonal
            if state._gram is None:
                state._gram = _outer(X, np.ones(X.shape[1]))
            gram = state._gram / float(diagonal[0])
        else:
            largest = float(np.asarray(state._squares.T @ of_rows).max())
            self.diagonal = diagonal + state.proximal * largest
            gram = _outer(X, 1.0 / self.diagonal)
        self.solve_rows, self.product = margins.system(weight, gram)
        columns, corner = state.length.border(state.w)
        k = corner.shape[0] + int(margins.has_intercept)
        self.columns, self.corner = np.zeros((X.shape[1], k)), np.zeros((k, k))
        self.columns[:, : corner.shape[0]], self.corner[: corner.shape[0], : corner.shape[0]] = columns, corner
        z, of_ones = state.threshold, margins.over_rows(weight)
        if corner.shape[0]:
            self.corner[0, 0] += state.regulariser.curvature + z * z * float(weight.sum())
            if z:
                self.columns[:, 0] += z * np.asarray(X.T @ of_ones)
        if margins.has_intercept:
            self.columns[:, -1] += np.asarray(X.T @ of_rows)
            self.corner[-1, -1] += float(weight.sum())
            if z:
                self.corner[0, -1] += z * float(of_ones.sum())
                self.corner[-1, 0] += z * float(of_ones.sum())
        if k:
            self.of_columns = self._block(self.columns)
            self.schur = self.corner - self.columns.T @ self.of_columns

    def solved(self, wanted: Array, mu: float, second: Steps | None) -> tuple[Array, float, Array]:
        """The steps of w, b and the border."""
        state, margins = self.state, self.state.margins
        gradient, total = state._gradient(), float(state.q.sum())
        slope = state.regulariser.slope(state.length.t) - state.threshold * total
        of_w, of_border = state.length.right(state.w, gradient, slope, mu, second)
        if of_border.size and state.threshold:
            of_border = of_border.copy()
            of_border[0] += state.threshold * float(wanted.sum())
        if margins.has_intercept:
            balance = float(margins.over_rows(state.q + wanted).sum())
            of_border = np.r_[of_border, balance]
        w_step = self._block(of_w, margins.over_rows(wanted))
        if not of_border.size:
            return w_step, 0.0, of_border
        border = np.asarray(np.linalg.solve(self.schur, of_border - self.columns.T @ w_step), dtype=float)
        w_step = w_step - self.of_columns @ border
        if margins.has_intercept:
            return w_step, float(border[-1]), border[:-1]
        return w_step, 0.0, border

    def _block(self, right: Array, of_rows: Array | float = 0.0) -> Array:
        """``(D + XᵀBX)⁻¹ (right + Xᵀ of_rows)``, with some corrections by the residual."""
        X = self.state.X

        def scaled(v: Array) -> Array:
            return np.asarray((v.T / self.diagonal).T)

        def once(right: Array, of_rows: Array | float) -> Array:
            change = self.solve_rows(of_rows - self.product(np.asarray(X @ scaled(right))))
            return scaled(right + np.asarray(X.T @ change))

        found = once(right, of_rows)
        for _ in range(_REFINEMENTS):
            of_found = np.asarray((self.diagonal * found.T).T)
            rest = right + np.asarray(X.T @ (of_rows - self.product(np.asarray(X @ found)))) - of_found
            found = found + once(rest, 0.0)
        return found


def _outer(X: Any, weights: Array) -> Array:
    """``X diag(weights) Xᵀ``, shape (n_rows, n_rows)."""
    if hasattr(X, "multiply"):
        scaled = X.multiply(np.sqrt(weights)[None, :]).tocsr()
        return np.asarray((scaled @ scaled.T).toarray())
    scaled = X * np.sqrt(weights)
    return np.asarray(scaled @ scaled.T)
