"""Outer approximation of programs with limits on mean hinges: cuts from sorted scores, and a linear master.

The master (`auclab.models.limit_master`) replaces every mean hinge by the largest of its cuts: its optimum is a lower
bound. Kelley's next point, the minimiser of the master, lies far outside of the feasible set at first; cuts are taken
on the way from it to the best feasible point instead (Ben-Ameur & Neto 2007, "Acceleration of cutting-plane and column
generation algorithms": in-out separation), at no more than O(m log m) each, and feasible points on the way are the
next best. Limits may change between solves: a cut of a mean hinge is one for every limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.models.limit_master import Goal, LimitMaster, LimitPoint
from auclab.solvers.certificate import SMALL_OBJECTIVE
from auclab.solvers.feasible_point import satisfies
from auclab.solvers.guaranteed.lagrangian import WeightedPart, lagrangian_bound
from auclab.solvers.guaranteed.parts import Part
from auclab.solvers.monitor import Monitor
from auclab.types import Array, Status

#: Parts of the way from the master's minimiser to the best feasible point at which cuts are taken (measured).
_ON_THE_WAY = (0.3, 0.7)
#: Cuts that were slack in so many masters are dropped, as soon as the bound has risen (measured).
_SLACK_MASTERS = 5
#: The loop keeps so far inside of a limit that rounding of its sums does not matter.
_INSIDE = 1e-13
#: Masters at most, and without a better point or bound.
_MAX_MASTERS, _STALLED = 20_000, 1_000
#: Masters without a better point on the way to their minimisers until one is sought from the minimiser on.
_OUTSIDE = 8
#: Steps to the multiple of a point that keeps a limit, and by what factor each lengthens at most.
_LENGTHENINGS, _LONGEST = 6, 1.01
#: A relative change below this is no progress.
_PROGRESS = 1e-10
#: Programs without a cost are solved for all w up to this many times the largest coefficient of their starts, and their
#: bound is proved for so many times longer ones if that costs next to nothing: if no side of the box is in the way.
_NEAR, _FARTHER = 10.0, 100.0


@dataclass
class _StoredCut:
    """A cut: where it was taken, of which part and block, and for how many masters it has been slack."""

    point: Array
    part: int
    block: int
    slack: int = 0


@dataclass(frozen=True)
class Found:
    """The best feasible point, and what was proved.

    Attributes
    ----------
    coef : array of shape (n_features,) or None
        None if no feasible point was found.
    value, lower_bound : float
        Of what is minimised; the bound is the Lagrangian one.
    weights : tuple of WeightedPart
        What proves the bound, together with the row multipliers.
    row_multipliers : array of shape (n_rows,)
    radius : float
        The bound is for all w with ``|w_k| spread_k ≤ radius``.
    status : Status
        OPTIMAL, OPTIMAL_WITHIN, or why it ended before.
    iterations : int
        Masters that were solved.
    """

    coef: Array | None
    value: float
    lower_bound: float
    weights: tuple[WeightedPart, ...]
    row_multipliers: Array
    radius: float
    status: Status
    iterations: int

    @classmethod
    def nothing(cls, coef: Array | None, value: float, radius: float, n_rows: int) -> Found:
        """A point of which nothing is proved."""
        return cls(coef, value, -math.inf, (), np.zeros(n_rows), radius, Status.UNCERTIFIED, 0)

    @property
    def gap(self) -> float:
        """``(value − lower_bound) / max(|value|, 1e-3)``."""
        return (self.value - self.lower_bound) / max(abs(self.value), SMALL_OBJECTIVE)


class OuterApproximation:
    """The cuts of several parts, and solves with varying limits.

    Parameters
    ----------
    parts : sequence of Part
    limits : sequence of float
        c_g; of the first part ignored if `goal` is "hinge".
    goal : {"norm", "hinge", "excess"}
    cost : array of shape (n_features,)
        Positive for the goal "norm", zeros for the others.
    constraints : ColumnConstraints
        Convex.
    starts : sequence of arrays of shape (n_features,)
        Points where the first cuts are taken.

    See Also
    --------
    auclab.solvers.guaranteed.least_norm.least_norm, auclab.solvers.guaranteed.groups.with_groups : Use it.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        limits: Sequence[float],
        goal: Goal,
        cost: Array,
        constraints: ColumnConstraints,
        starts: Sequence[Array],
    ):
        self.parts, self.goal, self.cost = list(parts), goal, cost
        spread = np.max([part.sample.spread for part in parts], axis=0)
        self.constraints, self._spread, self.radius = constraints, spread, math.inf
        if goal != "norm":
            self.radius = _NEAR * max(1.0, *(float(abs(start * spread).max()) for start in starts))
            constraints = self._boxed(self.radius)
        blocks = [len(part.blocks) for part in self.parts]
        self._first_block = np.cumsum([0, *blocks])
        self.master = LimitMaster(goal, blocks, cost, 1.0 / spread, constraints)
        self.cuts: list[_StoredCut] = []
        self.set_limits(limits)
        for start in starts:
            self.evaluate(start)

    def set_limits(self, limits: Sequence[float]) -> None:
        """Other limits, for the cuts there are and those to come."""
        self.limits = np.array(limits, dtype=np.float64)
        if self.goal == "hinge":
            self.limits[0] = 0.0
        self.master.set_limits(
            np.array([self.limits[g] if g or self.goal != "hinge" else math.inf for g in range(len(self.parts))])
        )

    def evaluate(self, coef: Array) -> tuple[float, bool]:
        """The value at a point, cuts of it added, and whether the point keeps the limits."""
        losses = np.empty(len(self.parts))
        kept = True
        for g, part in enumerate(self.parts):
            constants, slopes = part.cuts(coef)
            losses[g] = float((constants - slopes @ coef).sum())
            if self._is_limited(g):
                if losses[g] <= self.limits[g] - _INSIDE:
                    continue
                kept = False
            blocks = np.arange(constants.size)
            self.cuts += [_StoredCut(coef, g, block) for block in range(constants.size)]
            self.master.add(self._first_block[g] + blocks, constants, slopes)
        if self.goal == "norm":
            return float(self.cost @ abs(coef)), kept
        return float(losses[0] if self.goal == "hinge" else (losses - self.limits).max()), kept

    def solve(self, start: Array | None, *, tolerance: float, monitor: Monitor, enough: float = -math.inf) -> Found:
        """Minimise to a proved relative gap, or until a value below `enough` is found.

        Parameters
        ----------
        start : array of shape (n_features,), optional
            A point within the constraints and, if possible, the limits.
        tolerance : float
            Relative gap.
        monitor : Monitor
        enough : float
        """
        best, value = self._first(start)
        allowed, lower, unchanged, outside = 0.5 * tolerance, -math.inf, 0, 0
        found = Found.nothing(best, value, self.radius, len(self.constraints.matrix))
        for iterations in range(1, _MAX_MASTERS + 1):
            point = self.master.minimise(monitor.call_limit)
            if point.status is Status.FAILED:  # once more, from a basis without rounding
                point = self.master.minimise(monitor.call_limit)
            if point.status is not Status.OPTIMAL:
                ended = monitor.stopped() or point.status
                return replace(found, coef=best, value=value, status=ended, iterations=iterations)
            rise = point.value - lower
            lower = max(lower, point.value)
            monitor.record(value, lower)
            scale = max(abs(value), SMALL_OBJECTIVE)
            reason = monitor.stopped() or (Status.ITERATION_LIMIT if unchanged >= _STALLED else None)
            impossible = self.goal == "excess" and lower > _INSIDE
            if reason or impossible or value < enough or value - lower <= allowed * scale:
                if self.goal == "norm" and best is not None:
                    best, value = self._sparse(point.coef, best, value, lower + tolerance * scale)
                found = self._proved(best, value, point, iterations, tolerance)
                done = found.status is not Status.UNCERTIFIED or (self.goal == "excess" and found.lower_bound > 0.0)
                if reason or done or value < enough or allowed < 1e-4 * tolerance:
                    return found if done or not reason else replace(found, status=reason)
                allowed *= 0.3  # rounding in the master: require more, from a basis without rounding
                self.master.restart()
            self._drop_slack(point, rise > _PROGRESS * scale)
            before = value
            best, value = self._step(point.coef, best, value)
            outside = 0 if value < before else outside + 1
            if outside >= _OUTSIDE and best is not None and start is not None:
                outside = 0
                best, value = self._from_outside(point.coef, start, best, value)
            progress = max(rise, before - value) > _PROGRESS * scale
            unchanged = 0 if progress else unchanged + 1
        return replace(found, coef=best, value=value, status=Status.ITERATION_LIMIT, iterations=_MAX_MASTERS)

    def _first(self, start: Array | None) -> tuple[Array | None, float]:
        if start is not None:
            value, kept = self.evaluate(start)
            if kept:
                return start, value
        return None, math.inf

    def _step(self, outer: Array, best: Array | None, value: float) -> tuple[Array | None, float]:
        """Cuts on the way from the master's minimiser to the best point; the best point afterwards."""
        for share in (0.0,) if best is None else _ON_THE_WAY:
            trial = outer if best is None else outer + share * (best - outer)
            at_trial, kept = self.evaluate(trial)
            if kept:
                return (trial, at_trial) if at_trial < value else (best, value)
        return best, value

    def _from_outside(self, outer: Array, inner: Array, best: Array, value: float) -> tuple[Array, float]:
        """The first point that keeps the limits beyond the master's minimiser: a longer one, or towards an inner point.

        Where the feasible set is round, points between a minimiser near it and the best point are all outside.
        """
        if self.goal == "norm":
            return self._sparse(outer, best, value, value)
        share = 0.0
        for _ in range(_LENGTHENINGS):
            trial = outer + share * (inner - outer)
            at_trial, kept = self.evaluate(trial)
            if kept:
                return (trial, at_trial) if at_trial < value else (best, value)
            step = 0.0
            for g, part in enumerate(self.parts):
                if not self._is_limited(g):
                    continue
                constants, slopes = part.cuts(trial)
                excess = float((constants - slopes @ trial).sum()) - (self.limits[g] - 2.0 * _INSIDE)
                slope = float((slopes @ (inner - outer)).sum())
                if excess > 0.0:  # Newton's step, from the side where a convex function is too large
                    step = max(step, excess / slope if slope > 0.0 else math.inf)
            share = share * (1.0 + 2.0**-50) + step
            if not share < 1.0:
                break
        return best, value

    def _sparse(self, outer: Array, best: Array, value: float, enough: float) -> tuple[Array, float]:
        """A point that uses the features of the master's minimiser alone, if its value is below `enough`.

        The best point is a mixture of many; the minimiser, a vertex, is as sparse as can be, and hardly too short.
        """
        candidates = []
        for coef in (outer, np.where(outer != 0.0, best, 0.0)):
            longer = self._lengthened(coef)
            if longer is not None and satisfies(self.constraints, longer):
                candidates.append((float(self.cost @ abs(longer)), longer))
        least, coef = min(candidates, key=lambda candidate: candidate[0], default=(math.inf, best))
        return (coef, least) if least <= enough else (best, value)

    def _lengthened(self, coef: Array) -> Array | None:
        """The shortest multiple from 1 on that keeps the limit of one part; None if there is none nearby."""
        if len(self.parts) > 1:
            return None
        part, limit, longer = self.parts[0], self.limits[0] - _INSIDE, coef
        for _ in range(_LENGTHENINGS):
            constants, slopes = part.cuts(longer)
            constant, slope = float(constants.sum()), float((slopes @ longer).sum())
            if constant - slope <= limit:
                return longer
            # Newton's step on a convex function from the side where it is too large; the last term is for rounding.
            factor = (constant - limit) / slope if slope > 0.0 else math.inf
            if not factor <= _LONGEST:
                return None
            longer = longer * (factor + 2.0**-50)
        return None

    def _drop_slack(self, point: LimitPoint, rose: bool) -> None:
        """Count the masters in which each cut was slack; drop old ones if the bound rose, so that nothing repeats."""
        for stored, weight in zip(self.cuts, point.cut_weights, strict=True):
            stored.slack = 0 if weight > 0.0 else stored.slack + 1
        if rose:
            dropped = np.array([k for k, stored in enumerate(self.cuts) if stored.slack > _SLACK_MASTERS], np.intp)
            if dropped.size > _SLACK_MASTERS:
                self.master.remove(dropped)
                self.cuts = [stored for stored in self.cuts if stored.slack <= _SLACK_MASTERS]

    def _proved(self, best: Array | None, value: float, point: LimitPoint, iterations: int, tolerance: float) -> Found:
        """The Lagrangian bound of the master's duals."""
        part_weights = point.part_weights
        if self.goal == "excess":
            part_weights = part_weights / math.fsum(part_weights)
        combined = tuple(self._combined(g, float(part_weights[g]), point) for g in range(len(self.parts)))
        found = Found(
            best, value, -math.inf, combined, point.row_multipliers, self.radius, Status.UNCERTIFIED, iterations
        )  # fmt: skip
        for radius in (_FARTHER * self.radius, self.radius):
            bound = lagrangian_bound(
                combined, self.cost, self._boxed(radius), point.row_multipliers, scalable=self.goal != "excess"
            )
            found = replace(found, lower_bound=bound, radius=radius)
            if self.goal == "excess" and bound > 0.0:
                return found
            if found.gap <= tolerance:
                return replace(found, status=Status.OPTIMAL if math.isinf(radius) else Status.OPTIMAL_WITHIN)
        return found

    def _boxed(self, radius: float) -> ColumnConstraints:
        """The constraints together with ``|w_k| spread_k ≤ radius``."""
        if math.isinf(radius):
            return self.constraints
        box, own = radius / self._spread, self.constraints
        return replace(own, lower=np.maximum(own.lower, -box), upper=np.minimum(own.upper, box))

    def _combined(self, g: int, weight: float, point: LimitPoint) -> WeightedPart:
        """The weights of the pairs of a part that the duals of its cuts combine to."""
        part = self.parts[g]
        pos, neg = np.zeros(part.sample.n_pos), np.zeros(part.sample.n_neg)
        shares: dict[int, Array] = {}  # of the blocks, for each point
        points: dict[int, Array] = {}
        for k in np.flatnonzero(point.cut_weights):
            stored = self.cuts[k]
            if stored.part == g and weight > 0.0:
                points[id(stored.point)] = stored.point
                own = shares.setdefault(id(stored.point), np.zeros(len(part.blocks)))
                own[stored.block] += point.cut_weights[k] / weight
        for key, coef in points.items():
            of_pos, of_neg = part.active(coef)
            for block, share in zip(part.blocks, shares[key], strict=True):
                pos[block] += share * of_pos[block]
            neg += shares[key] @ of_neg
        return WeightedPart.of(part, float(self.limits[g]), weight, pos, neg)

    def _is_limited(self, g: int) -> bool:
        """Whether the limit of a part is a constraint."""
        return self.goal == "norm" or (self.goal == "hinge" and g > 0)
