"""Dual points of other losses than the hinge, and of ranked pairs: slopes at a scorer, multipliers of single pairs.

For a convex ℓ with conjugate ℓ* and any α_k in its domain, ``g = Σ q_k α_k d_k`` and ``S = Σ q_k α_k``, every w has at
least the objective ``S − Σ q_k ℓ*(α_k) − R*(g)`` (derivations 7.1, with Fenchel's inequality for ℓ; with a buffer, zS
is added to ‖g‖_*). The choice ``α_k = ℓ'(a_k)`` at a scorer makes all sums those of sorted scores, and ℓ* of a mean of
such choices is at most the mean of theirs. So a solver returns scorers with weights (or, for few margins, every α_k),
which need not be trusted: their scores in floating point define the α_k, and only the sums of these have rounding
errors.

A program without a penalty has the dual constraint ``Σ q d = 0`` or ``‖Σ q d‖_* ≤ −z Σ q``, which floating-point sums
satisfy only up to rounding, and the violation would lower the bound in proportion to ‖w‖. A few pairs whose weight is
neither 0 nor full have room on both sides: with their differences as the columns of D and B near ``D⁻¹``, weights
``δ`` with ``Dδ = −g`` exist and have ``|δ| ≤ |B||g| + ρ/(1 − ρ) max |B||g|`` if ``ρ = ‖I − BD‖ < 1`` (Neumann).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.forms import dense
from auclab._core.pieces import pair_piece_sums
from auclab.certificates.value import DOWN, UP, DualBound, Goal, Rounding, dual_value, lagrangian, moments, widened
from auclab.formulations.base import Program
from auclab.formulations.problem import Problem
from auclab.models.hard_margin import all_margins, marginals

#: Pairs that are examined for each column.
_PAIRS_A_COLUMN = 50
#: The fraction of its room that a weight may use.
_ROOM = 0.99


@dataclass(frozen=True)
class FreePairs:
    """Pairs whose weights may increase and decrease.

    `differences` (n_features, n_pairs): ``x_i − x_j``, rounded. `largest` (n_features,): of the moduli of the entries
    of the rows. `room` (n_pairs,): by how much each weight may change.
    """

    differences: Array
    largest: Array
    room: Array

    @classmethod
    def of(cls, problem: Problem, i: NDArray[np.integer], j: NDArray[np.integer], room: Array) -> FreePairs:
        """Those of pairs of rows with the most room, a limited number."""
        sample = problem.sample
        most = np.argsort(-room)[: _PAIRS_A_COLUMN * sample.n_features]
        upper, lower = sample.take(i[most], j[most])
        return cls(dense(upper - lower).astype(float).T, sample.peaks, _ROOM * room[most])

    @classmethod
    def in_band(cls, problem: Problem, coef: Array, half_width: float) -> FreePairs:
        """The pairs whose smoothed hinge at a scorer has a slope between 0 and 1."""
        program, sample = problem.program, problem.sample
        shift = 1.0 - program.threshold * program.regulariser.norm(coef)
        upper, lower = sample.sides(sample.scores(coef))
        none, no_slopes = np.zeros((2, 3)), np.zeros((2, 2))
        first, _, _ = pair_piece_sums(
            upper.scores, lower.scores, upper.share, lower.share, upper.starts, lower.starts, shift,
            np.array([-half_width, half_width]), none, no_slopes, none, np.zeros(2),
        )  # fmt: skip
        counts = first[1] - first[0]
        most = np.argsort(-counts, kind="stable")[: _PAIRS_A_COLUMN * sample.n_features]
        counts = np.minimum(counts[most], _PAIRS_A_COLUMN)
        above = np.repeat(most, counts)
        below = first[0][above] + np.arange(above.size) - np.repeat(np.cumsum(counts) - counts, counts)
        slope = 0.5 + 0.5 * (shift - upper.scores[above] + lower.scores[below]) / half_width
        room = np.maximum(np.minimum(slope, 1.0 - slope), 0.0) * upper.share[above] * lower.share[below]
        return cls.of(problem, upper.rows[above], lower.rows[below], room)

    def balancing(self, gradient: Array, error: Array) -> float | None:
        """An upper bound of ``Σ|δ|`` for changes that make ``Σ q d`` exactly 0; None if there is not enough room.

        `gradient`, `error` (n_features,): ``Σ q d`` is within `error` of `gradient`.
        """
        used = self.largest > 0  # constant columns have no differences
        chosen = self._independent(used)
        if chosen is None:
            return None
        D = self.differences[np.ix_(used, chosen)]
        try:
            B = np.linalg.inv(D)
        except np.linalg.LinAlgError:
            return None
        size, unit = D.shape[0], 2.0**-52
        apart = abs(np.eye(size) - B @ D) + (size + 2.0) * unit * (abs(B) @ abs(D))
        apart += abs(B) @ np.broadcast_to(unit * 2.0 * self.largest[used][:, None], D.shape)
        rho = float(apart.sum(axis=1).max()) * (1.0 + 2.0 * size * unit)
        if not rho < 0.5:
            return None
        most = abs(B @ gradient[used]) + abs(B) @ (error[used] + (size + 2.0) * unit * abs(gradient[used]))
        most = (most + rho / (1.0 - rho) * float(most.max())) * (1.0 + (size + 8.0) * unit)
        return float(most.sum()) * (1.0 + size * unit) if (most <= self.room[chosen]).all() else None

    def reducing(self, gradient: Array, part: float) -> Iterator[tuple[Array, Array, float]]:
        """A gradient from which about `part` is taken, its error, and ``Σ|δ|``: of all columns, and of the largest.

        Where the norm is a largest entry, the others need not fall.
        """
        used = (self.largest > 0) & (gradient != 0)
        size, D = abs(gradient[used]), self.differences[used]
        if not (size.size and self.room.size):
            return
        for weight in (np.ones_like(size), (size / size.max()) ** 4 + 1e-3):
            columns = weight[:, None] * D * self.room
            change = self.room * np.linalg.lstsq(columns, -part * weight * gradient[used], rcond=1e-9)[0]
            if (abs(change) <= self.room).all():
                total = float(abs(change).sum())
                left = gradient + self.differences @ change
                unit = 2.0**-52 * (change.size + 4.0)
                yield left, unit * (abs(gradient) + 2.0 * total * self.largest), total * (1.0 + unit)

    def _independent(self, used: NDArray[np.bool_]) -> NDArray[np.intp] | None:
        """As many pairs as columns, of independent differences and with room; None if there are none."""
        size = int(np.count_nonzero(used))
        if np.count_nonzero(self.room) < size:
            return None
        _, pivots = la.qr(self.differences[used] * self.room, mode="r", pivoting=True)
        return np.asarray(pivots[:size])


#: A dual point: weights ≥ 0 with a sum of at most 1, scorers (w, b), and the half-widths at which the loss is smoothed.
Scorers = Sequence[tuple[float, Array, float, float]]
#: The sums of ``q_k α_k`` of every observation, and ``Σ q ℓ*(α)``; error bounds of all sums together, and of the last.
_DualPoint = tuple[Array, Array, float, float, float]


def proves_by_slopes(program: Program) -> bool:
    """Whether dual points are slopes of the loss at scorers: marginals alone determine those of the hinge only."""
    return program.kind == "piecewise"


def scorer_bound(
    problem: Problem, coef: Array, scorers: Scorers, each: Array | None = None, goal: Goal | None = None
) -> DualBound:
    """The bound of the mean of the dual points at some scorers, or of one with a multiplier for every margin.

    `problem`: convex, in memory. `coef` (n_features,): the solution, whose length sets the least radius. `each`
    (n_margins,): the ``q_k α_k`` of every margin, in the order of `auclab.models.hard_margin.all_margins`, in place of
    scorers. `goal`: what a larger radius may cost.
    """
    sample, comparisons = problem.sample, problem.program.comparisons
    below = max(0.0, -float(problem.program.loss.table.breakpoints[0]))  # ℓ* ≥ −below·α
    pos, neg, conjugate, off, off_conjugate = dual_sums(problem, scorers, each)
    sums = [float(pos.sum()), float(neg.sum())]
    apart = comparisons.of_intercept(max(sums) - min(sums))
    if apart and min(sums) > 0:
        # Points: Σ q y = 0. One class is scaled down; as ℓ* ≥ −below·α, Σ q ℓ*(α) rises by at most below·apart.
        pos, neg = pos * (min(sums) / sums[0]), neg * (min(sums) / sums[1])
        off_conjugate += below * apart
    held = lagrangian(problem, coef, (pos, neg), without_norm=not problem.program.uses_norm)
    found = held.moments(moments(sample, pos, neg))
    # Marginals of pairs have equal sums; over points the difference is taken from one class.
    taken = comparisons.of_intercept(float(found.largest[-1]) + off)
    of_class = max(0.0, found.total - off - taken)
    margins = comparisons.total(of_class, of_class) * DOWN
    worth = margins - conjugate - (off_conjugate + below * taken) * UP - 2.0**-50 * (margins + abs(conjugate))
    price, left = held.remaining(found.value[:-1], found.error[:-1] + (off + taken) * sample.peaks)
    price = (held.price + price) + 2.0**-50 * (abs(held.price) + abs(price))
    if price:
        worth = (worth - price) - 2.0**-50 * (abs(worth) + abs(price))
    rounding = Rounding.charged(sample.n_features)
    bound = dual_value(problem, coef, (pos, neg), margins, worth, widened(*left), rounding, goal)
    if problem.constraints is not None:
        return replace(bound, constraints=held.in_order_of_rows(found.value[:-1]))
    if math.isinf(bound.radius) or not problem.program.loss.is_hinge or goal is None:
        return bound
    error = (found.error[:-1] + off * sample.peaks) * UP
    for between, moved in _repaired(problem, scorers, each, found.value[:-1], error, margins):
        other = dual_value(problem, coef, (pos, neg), margins - moved, worth - moved, between, rounding, goal)
        bound = other if goal.prefers(other, bound) else bound
    return bound


def _repaired(
    problem: Problem, scorers: Scorers, each: Array | None, value: Array, error: Array, margins: float
) -> Iterator[tuple[tuple[Array, Array], float]]:
    """What a ``Σ q d`` is between that small changes of the weights of a few pairs attain, and their sum.

    Empty if there are not enough pairs with a weight that is neither 0 nor full.
    """
    if each is not None:
        rows_pos, rows_neg, weights = problem.sample.pairs()
        room = np.minimum(each, weights - each)
        pairs = FreePairs.of(problem, rows_pos, rows_neg, np.maximum(room, 0.0))
    elif scorers[0][3] > 0:
        share, coef, _, half_width = scorers[0]
        pairs = FreePairs.in_band(problem, coef, half_width)
        pairs = replace(pairs, room=share * pairs.room)
    else:
        return
    program = problem.program
    if not program.uses_norm:
        moved = pairs.balancing(value, error)
        if moved is not None:
            yield (np.zeros_like(value), np.zeros_like(value)), moved
        return
    gradient, more = problem.enclosed(*widened(value - error, value + error))
    size = (program.regulariser.norm.dual(gradient) + more) * UP
    lacking = size + program.threshold * margins + 2.0**-40 * size
    if size > 0:
        for left, off, moved in pairs.reducing(value, 2.0 * lacking / size):
            yield widened(left - off - error, left + off + error), moved


def dual_sums(problem: Problem, scorers: Scorers, each: Array | None = None) -> _DualPoint:
    """The sums of `slopes_at` for the mean of the dual points at some scorers, or for a multiplier of every margin."""
    if each is not None:
        return _of_margins(problem, each)
    sample = problem.sample
    pos, neg, conjugate, off, off_conjugate = np.zeros(sample.n_pos), np.zeros(sample.n_neg), 0.0, 0.0, 0.0
    for weight, w, b, half_width in scorers:
        of_pos, of_neg, *rest = slopes_at(problem, w, b, half_width)
        pos, neg, conjugate = pos + weight * of_pos, neg + weight * of_neg, conjugate + weight * rest[0]
        off, off_conjugate = off + weight * rest[1], off_conjugate + weight * rest[2]
    rounding = (8.0 + len(scorers)) * 2.0**-52
    return pos, neg, conjugate, off + rounding * float(pos.sum() + neg.sum()), off_conjugate


def slopes_at(problem: Problem, w: Array, b: float, half_width: float) -> _DualPoint:
    """The sums of ``q_k α_k`` of every observation for the slopes ``α_k = ℓ'(a_k)`` at a scorer, and ``Σ q ℓ*(α)``.

    `half_width`: kinks of the loss are smoothed over this. Returned `off`, `off_conjugate`: error bounds of all sums
    together, and of the last one.
    """
    program, sample, table = problem.program, problem.sample, problem.program.loss.smoothed(half_width)
    shift = 1.0 - program.threshold * program.regulariser.norm(w)
    return program.comparisons.bounded_slopes(table, sample.scores(w), b, shift, sample)


def _of_margins(problem: Problem, each: Array) -> _DualPoint:
    """The sums for given multipliers, each clipped to the largest slope of the loss, where ℓ* becomes infinite."""
    weights, loss = all_margins(problem).capacity, problem.program.loss
    last = loss.table.coefficients[-1]
    alpha = np.maximum(each, 0.0) / np.where(weights > 0, weights, 1.0)
    alpha = np.where(weights > 0, alpha if last[2] > 0 else np.minimum(alpha, last[1]), 0.0)
    pos, neg = marginals(problem, weights * alpha)
    # ℓ*(α) is taken at the a with the slope α, the largest of which is beyond the last breakpoint.
    reach = abs(loss.table.breakpoints).max() + (alpha.max(initial=0.0) / last[2] if last[2] > 0 else 0.0)
    terms = float(abs(loss.table.coefficients).sum(axis=0) @ [1.0, reach, reach * reach])
    unit = (weights.size + 32.0) * 2.0**-52
    total = float(weights @ alpha)
    return pos, neg, float(weights @ loss.conjugate(alpha)), 2.0 * unit * total, unit * (total * reach + terms)
