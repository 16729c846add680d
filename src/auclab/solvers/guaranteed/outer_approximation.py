"""Outer approximation of programs with limits on mean hinges: cuts from sorted scores, and a linear master.

The master (`auclab.models.limit_master`) replaces every mean hinge by the largest of its cuts: its optimum is a lower
bound. Kelley's next point, the minimiser of the master, lies far outside of the feasible set at first; cuts are taken
on the way from it to the best feasible point instead (Ben-Ameur & Neto 2007, "Acceleration of cutting-plane and column
generation algorithms": in-out separation), at no more than O(m log m) each, and feasible points on the way are the
next best. Limits may change between solves: a cut of a mean hinge is one for every limit.

Several limits have several multipliers, and their Lagrangian is a mean hinge with weights that differ between the pairs
of the groups, which no solver of one program takes. A single limit has one, so it could be searched for with RankSVM at
one λ after the other; on small samples that takes several times as long, as every λ is a program of its own, where cuts
stay (measured: 5 times on ionosphere, and half as long with 10⁴ rows a class).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.models.limit_master import LimitMaster, LimitPoint
from auclab.precision import EQUAL, FARTHER, FEW_STEPS, ROUNDING, SMALL_OBJECTIVE, SOLVED
from auclab.solvers.feasible_point import satisfies
from auclab.solvers.guaranteed.lagrangian import WeightedPart, lagrangian_bound
from auclab.solvers.guaranteed.parts import Part
from auclab.solvers.monitor import Monitor
from auclab.types import Array, Status

#: Parts of the way from the master's minimiser to the best feasible point at which cuts are taken (measured).
_ON_THE_WAY = (0.3, 0.7)
#: Masters at most, and without a better point or bound.
_MAX_MASTERS, _STALLED = 20_000, 1_000
#: Masters without a better point on the way to their minimisers until one is sought from the minimiser on, and by what
#: factor a step to it lengthens at most.
_OUTSIDE, _LONGEST = 8, 1.01


@dataclass
class _StoredCut:
    """A cut: where it was taken, of which part and block, and for how many masters it has been slack."""

    point: Array
    part: int
    block: int
    slack: int = 0


@dataclass(frozen=True)
class Found:
    """The best point and its proof.

    `value`, `lower_bound`: of what is minimised; the bound is the Lagrangian one. `weights`: what proves the bound,
    together with multipliers of the constraints. `radius`: the bound is for all w with ``|w_k| spread_k ≤ radius``.
    `status`: OPTIMAL, OPTIMAL_WITHIN, or why it ended before. `iterations`: masters that were solved.
    """

    coef: Array
    value: float
    lower_bound: float
    weights: tuple[WeightedPart, ...]
    radius: float
    status: Status
    iterations: int

    @property
    def gap(self) -> float:
        """``(value − lower_bound) / max(|value|, 1e-3)``."""
        return (self.value - self.lower_bound) / max(abs(self.value), SMALL_OBJECTIVE)


class OuterApproximation:
    """The cuts of several parts, and solves with varying limits.

    `limits`: ∞ for a part that is minimised. `cost` (n_features,): of the moduli of w, which are minimised too;
    positive, or zeros. `constraints`: convex. `starts` (n_features,): points where the first cuts are taken.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        limits: Sequence[float],
        cost: Array,
        constraints: ColumnConstraints,
        starts: Sequence[Array],
    ):
        self.parts, self.limits, self.cost, self.constraints = list(parts), np.array(limits), cost, constraints
        self._spread = np.max([part.sample.spread for part in parts], axis=0)
        self.radius = math.inf
        if not cost.all():
            self.radius = FARTHER * max(1.0, *(float(abs(start * self._spread).max()) for start in starts))
        blocks = [len(part.blocks) for part in self.parts]
        self._first_block = np.cumsum([0, *blocks])
        self._excess, self._cuts = False, list[_StoredCut]()
        self._master = LimitMaster(blocks, self.limits, cost, 1.0 / self._spread, self._boxed(self.radius))
        for start in starts:
            self._evaluate(start)

    def set_limits(self, limits: Sequence[float]) -> None:
        """Set other limits, for present and future cuts."""
        self.limits = np.array(limits)
        self._master.set_limits(self.limits)

    def interior(self, start: Array, tolerance: float, monitor: Monitor) -> Found:
        """A strictly feasible point, with a negative largest excess; or the least excess, proved to be positive."""
        return self._minimise(start, tolerance, monitor, excess=True)

    def solve(self, interior: Array, tolerance: float, monitor: Monitor) -> Found:
        """The least cost and mean hinge within the limits, from a point inside."""
        return self._minimise(interior, tolerance, monitor, excess=False)

    def _minimise(self, best: Array, tolerance: float, monitor: Monitor, *, excess: bool) -> Found:
        """To a proved relative gap; an excess until its sign is known."""
        self._excess = excess
        self._master.minimise_excess(excess)
        enough = -EQUAL * float(self.limits[np.isfinite(self.limits)].max())
        value, _ = self._evaluate(best)
        allowed, lower, unchanged, outside = 0.5 * tolerance, -math.inf, 0, 0
        found = Found(best, value, -math.inf, (), self.radius, Status.ITERATION_LIMIT, 0)
        for iterations in range(1, _MAX_MASTERS + 1):
            point = self._master.minimise(monitor.call_limit)
            if point.status is Status.FAILED:  # once more, from a basis without rounding
                point = self._master.minimise(monitor.call_limit)
            if point.status is not Status.OPTIMAL:
                ended = monitor.stopped() or point.status
                return replace(found, coef=best, value=value, status=ended, iterations=iterations)
            rise, lower = point.value - lower, max(lower, point.value)
            monitor.record(value, lower)
            scale = max(abs(value), SMALL_OBJECTIVE)
            reason = monitor.stopped() or (Status.ITERATION_LIMIT if unchanged >= _STALLED else None)
            decided = self._excess and (lower > ROUNDING or value < enough)
            if reason or decided or value - lower <= allowed * scale:
                best, value = self._sparse(point.coef, best, value, lower + tolerance * scale)
                found = self._proved(best, value, point, iterations, tolerance)
                done = found.status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN)
                if done or reason or decided or allowed < 1e-4 * tolerance:
                    return found if done or not reason else replace(found, status=reason)
                allowed *= 0.3  # rounding in the master: require more, from a basis without rounding
                self._master.restart()
            self._drop_slack(point, rise > SOLVED * scale)
            before = value
            for share in _ON_THE_WAY:
                trial = point.coef + share * (best - point.coef)
                at_trial, kept = self._evaluate(trial)
                if kept:
                    best, value = (trial, at_trial) if at_trial < value else (best, value)
                    break
            outside = 0 if value < before else outside + 1
            if outside >= _OUTSIDE:  # where the feasible set is round, all points between are outside
                outside = 0
                best, value = self._sparse(point.coef, best, value, value)
            unchanged = 0 if max(rise, before - value) > SOLVED * scale else unchanged + 1
        return replace(found, coef=best, value=value, iterations=_MAX_MASTERS)

    def _evaluate(self, coef: Array) -> tuple[float, bool]:
        """The value at a point, and whether it keeps the limits; cuts are added of all that is not kept."""
        losses = np.empty(len(self.parts))
        for g, part in enumerate(self.parts):
            constants, slopes = part.cuts(coef)
            losses[g] = float((constants - slopes @ coef).sum())
            if self._excess or math.isinf(self.limits[g]) or losses[g] > self.limits[g] - ROUNDING:
                self._cuts += [_StoredCut(coef, g, block) for block in range(constants.size)]
                self._master.add(self._first_block[g] + np.arange(constants.size), constants, slopes)
        excess = float((losses - self.limits).max())
        if self._excess:
            return excess, True
        return float(self.cost @ abs(coef)) + float(losses[np.isinf(self.limits)].sum()), excess <= -ROUNDING

    def _sparse(self, outer: Array, best: Array, value: float, enough: float) -> tuple[Array, float]:
        """For programs with a cost, a point with only the features of the master's minimiser, if it is short enough.

        The best point is a mixture of many; the minimiser is a sparse vertex, and only slightly too short.
        """
        for coef in (outer, np.where(outer != 0.0, best, 0.0)) if self.cost.all() else ():
            longer = self._lengthened(coef)
            if longer is not None and satisfies(self.constraints, longer):
                length = float(self.cost @ abs(longer))
                if length <= enough:
                    best, value, enough = longer, length, length
        return best, value

    def _lengthened(self, coef: Array) -> Array | None:
        """The shortest multiple from 1 on that keeps the limit of the one part; None if there is none nearby."""
        part, limit, longer = self.parts[0], self.limits[0] - ROUNDING, coef
        for _ in range(FEW_STEPS):
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
        for stored, weight in zip(self._cuts, point.cut_weights, strict=True):
            stored.slack = 0 if weight > 0.0 else stored.slack + 1
        dropped = np.array([k for k, stored in enumerate(self._cuts) if stored.slack > FEW_STEPS], np.intp)
        if rose and dropped.size > FEW_STEPS:
            self._master.remove(dropped)
            self._cuts = [stored for stored in self._cuts if stored.slack <= FEW_STEPS]

    def _proved(self, best: Array, value: float, point: LimitPoint, iterations: int, tolerance: float) -> Found:
        """The Lagrangian bound of the master's duals."""
        weights = point.part_weights / (math.fsum(point.part_weights) if self._excess else 1.0)
        combined = tuple(self._combined(g, float(weight), point) for g, weight in enumerate(weights))
        found = Found(best, value, -math.inf, combined, self.radius, Status.ITERATION_LIMIT, iterations)
        # Proved for longer ones if that costs next to nothing: if no side of the box is in the way.
        for radius in (FARTHER**2 * self.radius, self.radius):
            bound = lagrangian_bound(
                combined, self.cost, self._boxed(radius), point.row_multipliers, scalable=not self._excess
            )
            found = replace(found, lower_bound=bound, radius=radius)
            if self._excess and bound > 0.0:
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
        """The weights of the pairs of a part, combined from those of its cuts by their duals."""
        part = self.parts[g]
        pos, neg = np.zeros(part.sample.n_pos), np.zeros(part.sample.n_neg)
        shares: dict[int, tuple[Array, Array]] = {}  # the point of a cut, and the weights of its blocks
        for k in np.flatnonzero(point.cut_weights):
            stored = self._cuts[k]
            if stored.part == g and weight > 0.0:
                _, own = shares.setdefault(id(stored.point), (stored.point, np.zeros(len(part.blocks))))
                own[stored.block] += point.cut_weights[k] / weight
        for coef, own in shares.values():
            of_pos, of_neg = part.active(coef)
            for block, share in zip(part.blocks, own, strict=True):
                pos[block] += share * of_pos[block]
            neg += own @ of_neg
        limit = float(self.limits[g])
        return WeightedPart.of(part, limit if math.isfinite(limit) else 0.0, weight, pos, neg)
