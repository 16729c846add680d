"""Dual points of losses other than the hinge, described by scorers: a lower bound with every rounding charged.

For a convex ℓ with conjugate ℓ* and any α_k in its domain, ``g = Σ q_k α_k d_k`` and ``S = Σ q_k α_k``, every w has at
least the objective ``S − Σ q_k ℓ*(α_k) − R*(g)`` (derivations 7.1, with Fenchel's inequality for ℓ; with a buffer, zS
is added to ‖g‖_*). The choice ``α_k = ℓ'(a_k)`` at a scorer makes all sums those of sorted scores, and ℓ* of a mean of
such choices is at most the mean of theirs. So a solver returns scorers with weights (or, of few margins, every α_k),
and nothing of them is taken on trust: their scores in floating point define the α_k, of which the sums are off by
rounding alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.problem import Problem
from auclab.models.margins import all_margins, marginals
from auclab.samples.memory import Sample
from auclab.solvers.verified.moments import moments
from auclab.solvers.verified.value import DOWN, UP, DualBound, Goal, Rounding, dual_value
from auclab.types import Array

#: A dual point: weights ≥ 0 with a sum of at most 1, and scorers (w, b).
Scorers = Sequence[tuple[float, Array, float]]
#: The sums of ``q_k α_k`` of every observation, and ``Σ q ℓ*(α)``; by how much all of the sums, and the last one, may
#: be off.
_DualPoint = tuple[Array, Array, float, float, float]


def scorer_bound(
    problem: Problem, coef: Array, scorers: Scorers, each: Array | None = None, goal: Goal | None = None
) -> DualBound:
    """The bound of the mean of the dual points at some scorers, or of one with a multiplier for every margin.

    Parameters
    ----------
    problem : Problem
        Convex, without constraints on w, in memory.
    coef : array of shape (n_features,)
        The solution, whose length sets the least radius.
    scorers : sequence of (weight, w, b)
    each : array of shape (n_margins,), optional
        The ``q_k α_k`` of every margin, in the order of `auclab.models.margins.all_margins`, in place of scorers.
    goal : Goal, optional
        What a larger radius may cost.

    See Also
    --------
    auclab.solvers.verified.bound.proved_bound : For the hinge, by marginals alone.
    """
    sample, over_pairs = problem.sample, problem.over_pairs
    below = max(0.0, -float(problem.program.loss.table.breakpoints[0]))  # ℓ* ≥ −below·α
    dual = _of_scorers(problem, scorers) if each is None else _of_margins(problem, each)
    pos, neg, conjugate, off, off_conjugate = dual
    sums = [float(pos.sum()), float(neg.sum())]
    if not over_pairs and min(sums) > 0:
        # Σ q y = 0 for b: a class has its α scaled down, by which Σ q ℓ*(α) rises at most as ℓ* may be below 0.
        pos, neg = pos * (min(sums) / sums[0]), neg * (min(sums) / sums[1])
        off_conjugate += below * (max(sums) - min(sums))
    found = moments(sample, pos, neg)
    # Marginals of pairs have one sum; what those of points lack of it is taken from one class.
    taken = 0.0 if over_pairs else float(found.largest[-1]) + off
    margins = max(0.0, found.total - off - taken) * (1.0 if over_pairs else 2.0) * DOWN
    worth = margins - conjugate - (off_conjugate + below * taken) * UP - 2.0**-50 * (margins + abs(conjugate))
    gradient = (found.largest[:-1] + (off + taken) * sample.peaks) * UP
    return dual_value(problem, coef, (pos, neg), margins, worth, gradient, Rounding.charged(gradient.size), goal)


def _of_scorers(problem: Problem, scorers: Scorers) -> _DualPoint:
    program, sample = problem.program, problem.sample
    pos, neg, conjugate, off, off_conjugate = np.zeros(sample.n_pos), np.zeros(sample.n_neg), 0.0, 0.0, 0.0
    for weight, w, b in scorers:
        scores, shift = sample.scores(w), 1.0 - program.threshold * program.regulariser.norm(w)
        if problem.over_pairs:
            (of_pos, of_neg), cost = _pair_sums(problem, scores, shift)
        else:
            (of_pos, of_neg), _, cost = program.comparisons.slopes(program.loss, scores, b, shift, sample)
        pos, neg, conjugate = pos + weight * of_pos, neg + weight * of_neg, conjugate + weight * cost
        errors = _errors(problem, scores, shift, b)
        off, off_conjugate = off + weight * errors[0], off_conjugate + weight * errors[1]
    rounding = (8.0 + len(scorers)) * 2.0**-52
    return pos, neg, conjugate, off + rounding * float(pos.sum() + neg.sum()), off_conjugate


def _pair_sums(problem: Problem, scores: tuple[Array, Array], shift: float) -> tuple[tuple[Array, Array], float]:
    """`Comparison.slopes` in extended precision where the machine has it: running sums over many rows lose digits."""
    sample, table = problem.sample, problem.program.loss.table
    centre = 0.5 * (float(scores[1].min()) + float(scores[1].max()))
    pos, neg = scores[0] - centre, scores[1] - centre
    slopes = np.c_[table.slopes, np.zeros(len(table.slopes))]
    of_pos, of_each = _piece_sums(shift - pos, neg, sample.share_neg, table.breakpoints, (slopes, table.conjugates))
    (of_neg,) = _piece_sums(shift + neg, -pos, sample.share_pos, table.breakpoints, (slopes,))
    multipliers = (sample.share_pos * of_pos).astype(float), (sample.share_neg * of_neg).astype(float)
    return multipliers, float((sample.share_pos * of_each).sum())


def _piece_sums(
    levels: Array, terms: Array, weight: Array, breakpoints: Array, polynomials: Sequence[Array]
) -> list[NDArray[np.longdouble]]:
    """``Σ_t weight_t p(level + t)`` for every level and each table p of polynomials, one for a piece."""
    order = np.argsort(terms)
    t, long_levels = terms[order].astype(np.longdouble), levels.astype(np.longdouble)
    masses = weight[order] * np.stack([np.ones_like(t), t, t * t])
    above = np.concatenate([np.cumsum(masses[:, ::-1], axis=1)[:, ::-1], np.zeros((3, 1), np.longdouble)], axis=1)
    starts = [np.searchsorted(terms[order], b - levels, "right") for b in breakpoints]
    found = [np.zeros(levels.size, np.longdouble) for _ in polynomials]
    for s, start in enumerate(starts):
        end = starts[s + 1] if s + 1 < len(starts) else np.full(levels.size, t.size)
        b0, m1, m2 = above[:, start] - above[:, end]
        b1, b2 = m1 + long_levels * b0, m2 + long_levels * (2.0 * m1 + long_levels * b0)
        for total, table in zip(found, polynomials, strict=True):
            total += table[s, 0] * b0 + table[s, 1] * b1 + table[s, 2] * b2
    return found


def _of_margins(problem: Problem, each: Array) -> _DualPoint:
    """Every α is cut off at the largest slope of the loss, where its conjugate ends."""
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


def _errors(problem: Problem, scores: tuple[Array, Array], shift: float, b: float) -> tuple[float, float]:
    """By how much the sums of α over pos. and over neg. may be off, taken together, and ``Σ q ℓ*(α)``.

    Running sums of n terms are off by n units of rounding, and a piece is the difference of two.
    Rounding may put a pair on either side of a breakpoint. That matters where the slope jumps: its two observations may
    then disagree on α.
    """
    sample, table, over_pairs = problem.sample, problem.program.loss.table, problem.over_pairs
    centre = 0.5 * (float(scores[1].min()) + float(scores[1].max())) if over_pairs else -b
    longest = max(float(abs(part - centre).max()) for part in scores)
    reach = 2.0 * (longest + abs(shift) + float(abs(table.breakpoints).max())) + 2.0**-50 * abs(centre)
    slope = float((abs(table.slopes) @ [1.0, reach]).sum())
    conjugate = float((abs(table.conjugates) @ [1.0, reach, reach * reach]).sum())
    # Coefficients are floats: neighbouring pieces do not quite meet, and the slope may fall by rounding.
    at, change = table.breakpoints, np.diff(table.coefficients, axis=0, prepend=0.0)
    turns = change[:, 1] + 2.0 * at * change[:, 2]
    apart = float(abs(change[:, 0] + at * (change[:, 1] + at * change[:, 2])).sum())
    apart += float(np.maximum(-turns, 0.0).sum()) * reach
    if not over_pairs:
        return 2.0**-47 * slope, (
            2.0**-52 * (sample.n_pos + sample.n_neg) * conjugate + 2.0**-47 * slope * reach + apart
        )
    unit = (sample.n_pos + sample.n_neg + 64.0) * 2.0 * float(np.finfo(np.longdouble).eps)
    off, near = unit * slope, 2.0**-48 * (reach + abs(centre))
    for k in np.flatnonzero(turns > 0):
        off += 2.0 * float(turns[k]) * _weight_near(sample, scores, shift - float(at[k]), near)
    return off * UP, (unit * (conjugate + slope * reach) + 2.0**-50 * conjugate + apart) * UP


def _weight_near(sample: Sample, scores: tuple[Array, Array], level: float, near: float) -> float:
    """The weight of the pairs with ``|p_i − n_j − level| ≤ near``, rounded up."""
    order = np.argsort(scores[1])
    neg, mass = scores[1][order], np.r_[0.0, np.cumsum(sample.share_neg[order])]
    first = np.searchsorted(neg, scores[0] - level - near, "left")
    last = np.searchsorted(neg, scores[0] - level + near, "right")
    found = np.where(last > first, mass[last] - mass[first] + 2.0**-50 * neg.size, 0.0)
    return float(sample.share_pos @ found) * UP
