"""The shortest scorer with a required buffered AUC, and the frontier of such scorers, by a root on the path of λ.

    minimise  ‖w‖     subject to     h(w) = mean_ij [1 − w·d_ij]₊ ≤ c = 1 − α,     d_ij = x_i⁺ − x_j⁻

As ``bAUC(w) = 1 − min_{a ≥ 0} h(a w)`` (the bPOE of the ranking errors at 0; Norton & Uryasev 2018, Def. 3 and eq. 23),
and the minimum is attained, ``bAUC(w) ≥ α`` iff some multiple of w keeps the limit. The length of w is free, so no
direction is lost. Where constraints fix the length, such as ``Σ w_k = 1``, the limit holds at the length of w itself,
which is sufficient for ``bAUC(w) ≥ α``, not necessary.

RankSVM minimises the Lagrangian: with L(λ) a certified lower bound of ``min_w h(w) + λ‖w‖``, every w that keeps the
limit has

    ‖w‖ ≥ (L(λ) − h(w)) / λ ≥ (L(λ) − c) / λ.                                                             (1)

The least norm v(c) is convex and decreasing, and RankSVM's optima are points of its graph, at which its slope is −1/λ.
Take one whose hinge is above c and one below. A mixture of both keeps the limit and is at most as long as the chord
between them (2). RankSVM at the λ of the chord's slope has an optimum below the chord, which replaces one of the two,
or its bound (1) meets the chord. This is the search for all extreme points of a problem with two objectives of Cohon
(1978, "Multiobjective programming and planning", NISE), towards one level. Its points and bounds serve every level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError, Norm, Status
from auclab._core.forms import row_scores
from auclab.formulations.constraints import ColumnConstraints, Constraints, constraints_on_columns
from auclab.formulations.problem import Problem
from auclab.formulations.programs import BufferedAUC, RankSVM
from auclab.models.timings import Clock
from auclab.regularisers import norm_named
from auclab.samples.as_sample import as_sample
from auclab.samples.tables import new_rows
from auclab.solvers.dispatch import check_limits
from auclab.solvers.path import following_solution
from auclab.solvers.solution import Certificate, Solution, coef_in_words

#: The highest default level, as a share of the largest bAUC, at which there would be nothing left to minimise.
_HIGHEST = 0.999
#: Solves of RankSVM for one level at most, of which ten are usual, and those that do not reach their gap.
_MOST_SOLVES, _MOST_UNPROVED = 60, 2
#: Shares of the tolerance and of the present gap that RankSVM may use, and the smallest gap that it gets.
_SHARE_OF_BOUND, _SHARE_OF_GAP, _SMALLEST_GAP = 0.3, 0.03, 1e-10
#: Amounts by which a mixture may have to stay below the limit, because it is rounded.
_ROUNDINGS = (0.0, 2.0**-52, 2.0**-49, 2.0**-46)
#: Growth of λ while every scorer that was found has the level.
_FARTHER = 100.0


@dataclass(frozen=True, repr=False)
class ShortestScorer:
    """A linear scorer with a required bAUC and the least norm.

    Attributes
    ----------
    coef : array of shape (n_features,)
    at_least : float
        The required bAUC α.
    mean_hinge : float
        ``mean_ij [1 − w·d_ij]₊``, re-evaluated in twice the working precision: at most ``1 − at_least``.
    bauc : float
        The buffered AUC of the scores: at least ``1 − mean_hinge``.
    certificate : Certificate
        The norm of w as its objective, and a lower bound of the norm of every w that keeps the limit and constraints.
    status : Status
        OPTIMAL: the gap is within the tolerance.
    proof : Solution, optional
        RankSVM at the λ that proves the bound: no norm is below ``(proof.lower_bound − 1 + at_least) / λ``.
    solves : int
        Solves of RankSVM for this level.
    seconds : float
    notes : tuple of str
        What is guaranteed, and for which quantity.
    columns : tuple of str, optional
        Names of the columns of the training rows.

    See Also
    --------
    auclab.solvers.least_norm : Returns it.

    Examples
    --------
    >>> from auclab.solvers import least_norm
    >>> found = least_norm([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], 0.4)
    >>> bool(found.bauc >= 0.4), found.gap <= 1e-6
    (True, True)
    """

    coef: Array
    at_least: float
    mean_hinge: float
    bauc: float
    certificate: Certificate
    status: Status
    proof: Solution | None
    solves: int
    seconds: float
    notes: tuple[str, ...]
    columns: tuple[str, ...] | None

    def __repr__(self) -> str:
        """One line."""
        values = f"norm={self.norm:.6g}, bauc={self.bauc:.6g}, at_least={self.at_least:.6g}"
        proved = f"lower_bound={self.lower_bound:.6g}, gap={self.gap:.2g}, status={self.status!s}"
        return f"ShortestScorer(coef={coef_in_words(self.coef)}, {values}, {proved}, seconds={self.seconds:.3g})"

    @property
    def norm(self) -> float:
        """‖w‖."""
        return self.certificate.objective

    @property
    def lower_bound(self) -> float:
        """No w that keeps the limit and the constraints has a smaller norm."""
        return self.certificate.lower_bound

    @property
    def gap(self) -> float:
        """``(norm − lower_bound) / norm``."""
        return self.certificate.gap

    @property
    def multiplier(self) -> float:
        """1/λ ≥ 0, the increase of the least norm per unit of the level; NaN without a proof."""
        return math.nan if self.proof is None else 1.0 / self.proof.penalty

    @property
    def n_used(self) -> int:
        """Coefficients that are not 0."""
        return int(np.count_nonzero(self.coef))

    def decision_function(self, X: Any) -> Array:
        """Scores ``X @ coef``, shape (n_samples,)."""
        return row_scores(new_rows(X, self.coef.size, self.columns), self.coef)


@dataclass(frozen=True)
class Frontier:
    """The least norm for several levels of bAUC, in ascending order of the levels.

    Attributes
    ----------
    points : tuple of ShortestScorer
    best_bauc : float
        The largest bAUC that was found.
    best_bauc_bound : float
        No linear scorer, within the constraints, has a larger one.
    seconds : float
        Total time, including the search for the largest bAUC.

    See Also
    --------
    auclab.solvers.frontier : Returns it.

    Examples
    --------
    >>> from auclab.solvers import frontier
    >>> found = frontier([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], [0.3, 0.4])
    >>> bool(found.norms[0] <= found.norms[1]), found.levels.tolist()
    (True, [0.3, 0.4])
    """

    points: tuple[ShortestScorer, ...]
    best_bauc: float
    best_bauc_bound: float
    seconds: float

    @property
    def levels(self) -> Array:
        """The levels, shape (n_points,)."""
        return np.array([point.at_least for point in self.points])

    @property
    def norms(self) -> Array:
        """The least norms, shape (n_points,)."""
        return np.array([point.norm for point in self.points])

    def table(self) -> list[dict[str, Any]]:
        """A row for each point: level, norm, its bound, multiplier, bAUC and features used, for a csv file."""
        return [
            {
                "at_least": point.at_least,
                "norm": point.norm,
                "norm_lower_bound": point.lower_bound,
                "gap": point.gap,
                "status": str(point.status),
                "mean_hinge": point.mean_hinge,
                "bauc": point.bauc,
                "features_used": point.n_used,
                "multiplier": point.multiplier,
                "seconds": point.seconds,
            }
            for point in self.points
        ]


def least_norm(
    X: Any,
    y: ArrayLike,
    bauc: float,
    *,
    norm: Norm = "l1",
    constraints: Constraints | ColumnConstraints | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> ShortestScorer:
    """The scorer with the least norm among those with a buffered AUC of at least `bauc`, certified.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans, of which the larger is positive, or any two values with `pos_label`.
    bauc : float in (0, 1)
        The level α.
    norm : {"l1", "l2", "linf"}
        Norms depend on the units of the features: scale them, or divide each by the price of a unit of its coefficient.
    constraints : Constraints or ColumnConstraints, optional
        On w, without `max_features`.
    tolerance : float
        Relative gap, > 0.
    time_limit : float, optional
        Seconds, > 0.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; equal to repeating observations.
    pos_label : optional
        The label of the positive class.

    Raises
    ------
    AuclabError
        No linear scorer has that level (with the largest bAUC that is possible, proved), and what `auclab.solve`
        refuses.
    KeyboardInterrupt
        Ctrl-C stopped a solve.

    See Also
    --------
    auclab.solvers.frontier : For many levels.

    Examples
    --------
    Margins 3, 1, 1 and −1 times w. For w ≤ ⅓ all hinges are on: ``1 − w``; the least w with ``1 − w ≤ 0.7`` is 0.3.

    >>> found = least_norm([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], 0.3)
    >>> found.coef.round(6).tolist(), round(found.multiplier, 6), str(found.status)
    ([0.3], 1.0, 'optimal')

    The direction itself has more: with the length that is best for it, 1, its mean hinge is 0.5.

    >>> round(found.bauc, 6)
    0.5
    """
    found = frontier(
        X, y, [bauc], norm=norm, constraints=constraints, tolerance=tolerance, time_limit=time_limit,
        sample_weight=sample_weight, pos_label=pos_label,
    )  # fmt: skip
    return found.points[0]


def frontier(
    X: Any,
    y: ArrayLike,
    levels: Sequence[float] | None = None,
    *,
    n_points: int = 10,
    norm: Norm = "l1",
    constraints: Constraints | ColumnConstraints | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Frontier:
    """The least norm for several levels of buffered AUC, each certified by itself.

    Parameters
    ----------
    X, y, norm, constraints, sample_weight, pos_label
        As in `auclab.solvers.least_norm`.
    levels : sequence of float in (0, 1), optional
        In any order.
    n_points : int ≥ 1
        Without `levels`: number of levels, equally spaced from 0 to 99.9 % of the largest bAUC.
    tolerance : float
        Relative gap of each, > 0.
    time_limit : float, optional
        Seconds for all of it, > 0.

    Raises
    ------
    AuclabError
        A level that no scorer has, and what `least_norm` refuses.
    KeyboardInterrupt
        Ctrl-C stopped a solve.

    See Also
    --------
    auclab.solvers.least_norm : One level.

    Examples
    --------
    Margins 3, 1, 1 and −1 times w: the mean hinge is ``1 − w`` up to ⅓, then ``¾ − w/4`` up to 1, where it is least.

    >>> found = frontier([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], [0.2, 0.4])
    >>> found.norms.round(6).tolist(), round(found.best_bauc, 6)
    ([0.2, 0.6], 0.5)
    """
    check_limits(tolerance, time_limit)
    if n_points < 1:
        raise AuclabError(f"n_points must be at least 1, got {n_points}")
    if levels is not None and len(levels) == 0:
        raise AuclabError("levels is empty; give numbers between 0 and 1, or leave it out")
    for level in levels if levels is not None else ():
        _check_level(level)
    clock = Clock(time_limit)
    sample = as_sample(X, y, sample_weight, pos_label=pos_label)
    if sample.in_blocks:
        raise AuclabError("a required bAUC needs the rows in memory; take a part of them, or fewer columns")
    stated = constraints_on_columns(constraints, sample)
    if stated is not None and not stated.is_convex:
        raise AuclabError(
            f"max_features={stated.max_features} makes the problem not convex, which is not solved together with a "
            "required bAUC; leave it out: a least norm l1 uses few features already"
        )
    search = _Search(Problem(BufferedAUC(), sample, stated), norm, tolerance, clock)
    best = 1.0 - search.best.objective
    if levels is None and best <= 0.0:
        raise AuclabError("no linear scorer has a bAUC above 0 here: there is no frontier")
    chosen = np.linspace(0.0, _HIGHEST * best, n_points + 1)[1:] if levels is None else np.unique(levels)
    points = tuple(search.at(float(level)) for level in chosen)
    return Frontier(points, best, 1.0 - search.best.lower_bound, clock.seconds)


@dataclass(frozen=True)
class _Point:
    """A point of the plane of norms and mean hinges, and its scorer."""

    coef: Array
    norm: float
    hinge: float


def _length_of_chord(shorter: _Point, longer: _Point, limit: float) -> float:
    """The norm on the chord (2) where the hinge is the limit."""
    share = (shorter.hinge - limit) / (shorter.hinge - longer.hinge)
    return shorter.norm + share * (longer.norm - shorter.norm)


class _Search:
    """Points and bounds of the frontier of a sample. `problem`: bAUC, with the constraints."""

    def __init__(self, problem: Problem, norm: Norm, tolerance: float, clock: Clock) -> None:
        self.problem, self.norm, self.length_of = problem, norm, norm_named(norm)
        self.tolerance, self.clock = tolerance, clock
        n_features = problem.sample.n_features
        self.allowed = problem.constraints or ColumnConstraints.of(n_features)
        self.best = self._solve(problem, None, tolerance)
        self.proofs: list[Solution] = []
        self.points = [self._point(self.best.coef)]
        if self.allowed.allows_null:
            self.points.append(_Point(np.zeros(n_features), 0.0, 1.0))

    def at(self, level: float) -> ShortestScorer:
        """The shortest scorer of a level."""
        begin = self.clock.seconds
        limit = math.nextafter(1.0 - level, -math.inf)
        if self.best.objective >= limit:
            raise AuclabError(_out_of_reach(level, limit, self.best, self.problem.constraints is not None))
        tried: list[Solution] = []
        while True:
            shorter, longer = self._nearest(limit)
            point = longer if shorter is None else self._mixture(shorter, longer, limit)
            bound, proof = self._largest_bound(level)
            gap = (point.norm - bound) / point.norm
            penalty = self._next_penalty(shorter, longer, limit)
            # An error of L(λ) is one of L/λ in the bound (1): it has to be small relative to λ‖w‖, and to what is left.
            share = penalty * point.norm / (point.hinge + penalty * point.norm)
            accuracy = max(share * max(_SHARE_OF_BOUND * self.tolerance, _SHARE_OF_GAP * gap), _SMALLEST_GAP)
            status = self._status(gap, penalty, accuracy, tried)
            if status is not None:
                break
            ranksvm = Problem(RankSVM(penalty, self.norm), self.problem.sample, self.problem.constraints)
            solution = self._solve(ranksvm, point.coef, accuracy)
            tried.append(solution)
            self.proofs.append(solution)
            self.points.append(self._point(solution.coef))
        return self._scorer(level, point, bound, proof, status, len(tried), self.clock.seconds - begin)

    def _status(self, gap: float, penalty: float, accuracy: float, tried: Sequence[Solution]) -> Status | None:
        """Why the search for a level ends before RankSVM is solved at a λ to an accuracy; None if it does not end."""
        if gap <= self.tolerance:
            return Status.OPTIMAL
        if self.clock.is_over:
            return Status.TIME_LIMIT
        unproved = sum(solution.status is not Status.OPTIMAL for solution in tried)
        known = any(proof.penalty == penalty and proof.gap <= accuracy for proof in self.proofs)
        if known or unproved == _MOST_UNPROVED or len(tried) == _MOST_SOLVES:
            return Status.ITERATION_LIMIT
        return None

    def _solve(self, problem: Problem, start: Array | None, tolerance: float) -> Solution:
        last = None if start is None else (start, 0.0)
        return following_solution(problem, last, "auto", tolerance=tolerance, clock=self.clock)

    def _point(self, coef: Array) -> _Point:
        return _Point(coef, float(self.length_of(coef)), self.problem.accurate_objective(coef, 0.0))

    def _nearest(self, limit: float) -> tuple[_Point | None, _Point]:
        """A point above and one below the limit, whose chord is the lowest there; none above it where all keep it."""
        below = [point for point in self.points if point.hinge <= limit]
        above = [point for point in self.points if point.hinge > limit]
        pairs = [(p, q) for p in above for q in below if p.norm < q.norm]
        if not pairs:
            return None, min(below, key=lambda point: point.norm)
        return min(pairs, key=lambda pair: _length_of_chord(pair[0], pair[1], limit))

    def _mixture(self, shorter: _Point, longer: _Point, limit: float) -> _Point:
        """The mixture (2): the chord keeps the limit, and its own hinge is smaller still, up to rounding."""
        for rounding in _ROUNDINGS:
            share = (shorter.hinge - limit + rounding) / (shorter.hinge - longer.hinge)
            if share >= 1.0:
                break
            point = self._point(shorter.coef + share * (longer.coef - shorter.coef))
            if point.hinge <= limit:
                return point
        return longer

    def _next_penalty(self, shorter: _Point | None, longer: _Point, limit: float) -> float:
        """The λ of the chord; without a shorter point a larger one than before, towards the least norm of all."""
        if shorter is None:
            largest = max((proof.penalty for proof in self.proofs), default=limit / longer.norm)
            return _FARTHER * largest
        return (shorter.hinge - longer.hinge) / (longer.norm - shorter.norm)

    def _largest_bound(self, level: float) -> tuple[float, Solution | None]:
        """The largest bound (1), rounded down, and the solution that proves it."""
        limit = math.nextafter(1.0 - level, math.inf)
        largest, best = 0.0, None
        for proof in self.proofs:
            bound = (proof.lower_bound - limit) / proof.penalty
            bound = min(bound - 2.0**-50 * abs(bound), proof.certificate.norm_bound)
            if bound > largest:
                largest, best = bound, proof
        return largest, best

    def _scorer(
        self,
        level: float,
        point: _Point,
        bound: float,
        proof: Solution | None,
        status: Status,
        solves: int,
        seconds: float,
    ) -> ShortestScorer:
        from auclab.metrics import bauc_score  # forty modules, which a solve does not need

        allowed, sample = self.allowed, self.problem.sample
        pos, neg = sample.scores(point.coef)
        labels = np.r_[np.ones(pos.size), np.zeros(neg.size)]
        weight = np.r_[sample.share_pos, sample.share_neg] if sample.weighted else None
        notes = [f"bAUC ≥ {level:.6g} is guaranteed for these data: the mean hinge of w is {point.hinge:.6g}"]
        if not allowed.is_cone:
            notes.append(
                "the constraints fix lengths: the bound is for scorers whose mean hinge is at most "
                f"{1 - level:.6g} at their own length; others with the same bAUC may be shorter"
            )
        absolute_gap = point.norm - bound
        return ShortestScorer(
            coef=point.coef,
            at_least=level,
            mean_hinge=point.hinge,
            bauc=bauc_score(labels, np.r_[pos, neg], sample_weight=weight),
            certificate=Certificate(
                point.norm,
                bound,
                absolute_gap,
                absolute_gap / point.norm,
                0.0,
                violation=allowed.violation(point.coef),
            ),
            status=status,
            proof=proof,
            solves=solves,
            seconds=seconds,
            notes=tuple(notes),
            columns=sample.columns,
        )


def _check_level(level: Any) -> None:
    """Raise `AuclabError` unless a level of bAUC is between 0 and 1."""
    if not (isinstance(level, Real) and 0.0 < float(level) < 1.0):
        raise AuclabError(
            f"a required bAUC must be a number above 0 and below 1, got {level!r}; every scorer has a bAUC of at least "
            "0, and 1 needs separable classes"
        )


def _out_of_reach(level: float, limit: float, best: Solution, constrained: bool) -> str:
    bound, reach = 1.0 - best.lower_bound, best.certificate.norm_bound
    for_all = best.status is Status.OPTIMAL or math.isinf(reach)
    scorers = "no linear scorer" if for_all else f"no linear scorer up to the length {reach:.3g}"
    within = " within the constraints" if constrained else ""
    verdict = "impossible" if for_all and limit < best.lower_bound else "out of reach"
    return (
        f"bAUC ≥ {level:.9g} is {verdict}: {scorers}{within} has more than {bound:.9g} on these data "
        f"(proved), and the best that was found has {1 - best.objective:.9g}; lower the level"
    )
