"""Best-first branch and bound over regions, each with the bound of its cuts.

A single tree: cuts are added in every region, where they are needed, and stay for all others, since they hold
everywhere. Masters that HiGHS solves as mixed-integer programs, one after the other, are 3 to 10 times slower here
(measured): their trees have the cuts of their root alone.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from auclab._core.base import Array, Status
from auclab._core.tolerances import EQUAL, SMALL_OBJECTIVE, SOLVED
from auclab.solvers.integer.region import UNDECIDED, Limit, Region, least, tightened
from auclab.solvers.integer.relaxation import LinearPoint, Relaxation
from auclab.solvers.monitor import Monitor

#: Rounds of cuts in a region whose point is not one of the program, and those at the root and at points that are.
_ROUNDS, MANY_ROUNDS = 6, 500
#: A region is divided where its bound rose by less in a round, relatively, or is so near the value at its point.
_LITTLE, _NEAR = 1e-3, 3e-3
#: The history has a row each time the bound rose by this part of the gap, or this number of seconds passed.
_RISE, _PAUSE = 0.02, 1.0


@dataclass
class Incumbent:
    """The best point of all trees so far."""

    value: float = math.inf
    coef: Array = field(default_factory=lambda: np.zeros(0))

    def look(self, value: float, coef: Array) -> bool:
        """Keep a point if it is the best so far."""
        if not value < self.value:
            return False
        self.value, self.coef = value, coef.copy()
        return True


@dataclass(frozen=True)
class Objective:
    """The objective of a tree, as oracles of cuts.

    `cut`: from w to the value there, and the constant and slope of the supporting cut of the loss. `penalty`: from w
    and the z of the first limit (0 to 1) to slope and charge of a cut of the penalty. `improve`: from the point of a
    region to points of the program nearby, as (value, w). `rounding`: by how much the constant and slope of a cut may
    be off over the whole region, in values. `whole`: whether w is integer.
    """

    cut: Callable[[Array], tuple[float, float, Array]]
    improve: Callable[[Array, float], list[tuple[float, Array]]]
    rounding: float
    whole: bool
    penalty: Callable[[Array, Array | None], tuple[Array, Array]] | None = None


class Tree:
    """The open regions of one program, and the least bound of all that were closed before it was reached.

    `incumbent`: shared by trees whose values compete. `tolerance`: relative gap within which regions are closed.
    `parts`: regions of the root outside of which nothing needs to be looked for; none stands for the root.
    """

    def __init__(
        self,
        objective: Objective,
        relaxation: Relaxation,
        root: Region,
        limits: tuple[Limit, ...],
        incumbent: Incumbent,
        tolerance: float,
        parts: Sequence[Region] = (),
    ) -> None:
        self._parts = [part.closed(limits) for part in parts]
        self._objective, self._relaxation, self._limits = objective, relaxation, limits
        self._incumbent, self._tolerance = incumbent, tolerance
        self._order = itertools.count()
        self._heap: list[tuple[float, int, Region, LinearPoint]] = []
        self._closed = math.inf
        self._size = float(np.maximum(abs(root.lower), abs(root.upper)).max(initial=0.0))
        self._root = root.closed(limits)
        self.regions = 0
        self.begun = False

    @property
    def bound(self) -> float:
        """A proven lower bound of the values of all w; never above the best value."""
        open_bound = self._heap[0][0] if self._heap else (math.inf if self.begun else 0.0)
        return max(0.0, min(self._closed, open_bound) - self._objective.rounding)

    @property
    def is_closed(self) -> bool:
        """Whether no open region can contain a better point."""
        return self.begun and (not self._heap or self._heap[0][0] >= self._wanted)

    def begin(self, monitor: Monitor, starts: list[Array]) -> None:
        """Bound the root."""
        for coef in starts:
            self._cut_at(coef, None)
        self.begun = True
        self._look_into(self._root, 0.0, monitor, rounds=MANY_ROUNDS)
        if not (self._parts and self._heap):
            return
        bound, _, _, point = self._heap.pop()
        for part in self._parts:
            if monitor.stopped() is None:
                self._look_into(part, bound, monitor, rounds=_ROUNDS)
            else:
                heapq.heappush(self._heap, (bound, next(self._order), part, point))

    def step(self, monitor: Monitor) -> None:
        """Divide the region with the least bound."""
        bound, _, region, point = heapq.heappop(self._heap)
        if bound >= self._wanted:
            self._close(bound)
            return
        parts = self._divided(region, point)
        if not parts:  # HiGHS and the oracle differ by less than the accuracy of either
            self._close(bound)
        for number, part in enumerate(parts):
            if monitor.stopped() is not None:
                # What was not looked into keeps the bound of the whole.
                for rest in parts[number:]:
                    heapq.heappush(self._heap, (bound, next(self._order), rest, point))
                return
            self._look_into(part, bound, monitor, rounds=_ROUNDS)

    @property
    def _wanted(self) -> float:
        """The value below which a point is better than the best by more than the tolerance."""
        best = self._incumbent.value
        if not math.isfinite(best):
            return math.inf
        return best - 0.9 * self._tolerance * max(abs(best), SMALL_OBJECTIVE)

    def _close(self, bound: float) -> None:
        self._closed = min(self._closed, bound)

    def _look_into(self, region: Region, bound: float, monitor: Monitor, *, rounds: int) -> None:
        """Bound a region by cuts; keep it if it may hold a better point."""
        if region.is_empty(self._limits):
            return
        self.regions += 1
        relaxation = self._relaxation
        point = relaxation.solve(region, monitor.remaining)
        last, count = -math.inf, 0
        while True:
            if point is None:
                if relaxation.failed:  # a limit, or numbers that HiGHS cannot work with
                    self._close(bound)
                return
            bound = max(bound, least(point.plane, region, self._limits))
            if bound >= self._wanted:
                self._close(bound)
                return
            smaller = tightened(point.plane, region, self._limits, self._wanted, whole=self._objective.whole)
            if smaller is None:
                self._close(max(bound, min(self._wanted, self._incumbent.value)))
                return
            if smaller is not region:  # what was cut away has no smaller value than this
                self._close(max(bound, min(self._wanted, self._incumbent.value)))
            moved = smaller is not region and not self._holds(smaller, point)
            region = smaller
            coef = self._cleaned(point.coef)
            whole = not self._objective.whole or bool((coef == np.rint(coef)).all())
            is_point = whole and all(limit.n_used(coef) <= limit.most for limit in self._limits)
            value = self._cut_at(coef, point)
            if is_point:
                self._incumbent.look(value, coef)
            count += 1
            if monitor.stopped() is not None or count >= (MANY_ROUNDS if is_point else rounds):
                break
            little = count > 2 and point.value - last <= _LITTLE * abs(point.value)
            if not moved and self._is_settled(value, point, is_point, little=little):
                break
            last = point.value
            point = relaxation.solve(region, monitor.remaining) if moved else relaxation.again(monitor.remaining)
        for found, other in self._objective.improve(coef, bound):
            if self._incumbent.look(found, other):
                self._cut_at(other, None)
        if bound >= self._wanted:
            self._close(bound)
            return
        heapq.heappush(self._heap, (bound, next(self._order), region, point))

    def _is_settled(self, value: float, point: LinearPoint, is_point: bool, *, little: bool) -> bool:
        """Whether dividing a region would help more than further cuts at its point."""
        off = value - point.value
        if off <= SOLVED * max(abs(value), SMALL_OBJECTIVE):
            return True
        return not is_point and (off <= _NEAR * value or little)

    def _cut_at(self, coef: Array, point: LinearPoint | None) -> float:
        """Add the cuts at a point; the objective there."""
        value, constant, slope = self._objective.cut(coef)
        self._relaxation.add(constant, slope)
        if self._objective.penalty is not None:
            used = point.used[0] if point is not None and point.used else None
            self._relaxation.add_penalty(*self._objective.penalty(coef, used))
        return value

    def _cleaned(self, coef: Array) -> Array:
        """The point with coefficients that are 0, or whole numbers, up to the accuracy of HiGHS rounded to these."""
        nearest = np.rint(coef) if self._objective.whole else np.zeros_like(coef)
        return np.where(abs(coef - nearest) <= max(EQUAL, EQUAL * self._size), nearest, coef)

    def _holds(self, region: Region, point: LinearPoint) -> bool:
        """Whether a point is still in a region that became smaller."""
        inside = ((point.coef >= region.lower - 1e-9) & (point.coef <= region.upper + 1e-9)).all()
        states = all(
            bool(((used <= 1e-9) | (state >= 0)).all() and ((used >= 1 - 1e-9) | (state <= 0)).all())
            for used, state in zip(point.used, region.states, strict=True)
        )
        return bool(inside) and states

    def _divided(self, region: Region, point: LinearPoint) -> list[Region]:
        """The parts of a region, divided by whether a group is used, or at a coefficient that is not whole."""
        coef = self._cleaned(point.coef)
        for level, (limit, state) in enumerate(zip(self._limits, region.states, strict=True)):
            if limit.n_used(coef) <= limit.most and not self._objective.whole:
                continue
            open_size = np.bincount(limit.group, weights=abs(coef), minlength=limit.n_groups)
            open_size[state != UNDECIDED] = 0.0
            if limit.n_used(coef) > limit.most and open_size.any():
                group = int(open_size.argmax())
                return [region.with_state(self._limits, level, group, used) for used in (-1, 1)]
        if self._objective.whole:
            off = abs(coef - np.rint(coef))
            column = int(off.argmax())
            if off[column] > 0:
                down, up = region.upper.copy(), region.lower.copy()
                down[column], up[column] = math.floor(coef[column]), math.ceil(coef[column])
                parts = Region(region.lower, down, region.states), Region(up, region.upper, region.states)
                return [part.closed(self._limits) for part in parts]
        return []


def grow(
    trees: list[Tree], incumbent: Incumbent, monitor: Monitor, tolerance: float, starts: list[list[Array]]
) -> Status:
    """Divide regions of all trees, that with the least bound first, until the gap is closed or the time is over.

    The lower bound is the least of the trees' bounds, and the best value where that is less.
    """
    for tree, first in zip(trees, starts, strict=True):
        if (stopped := monitor.stopped()) is not None:
            return stopped
        tree.begin(monitor, first)
    shown, when = -math.inf, -math.inf
    while True:
        bound = bound_of(trees, incumbent)
        gap = (incumbent.value - bound) / max(abs(incumbent.value), SMALL_OBJECTIVE)
        done = gap <= tolerance or all(tree.is_closed for tree in trees)
        stopped = monitor.stopped()
        now = monitor.seconds
        if done or stopped or now - when >= _PAUSE or bound - shown > _RISE * (incumbent.value - shown):
            monitor.record(incumbent.value, bound)
            shown, when = bound, now
        if done:
            return Status.OPTIMAL
        if stopped is not None:
            return stopped
        min((tree for tree in trees if not tree.is_closed), key=lambda tree: tree.bound).step(monitor)


def bound_of(trees: list[Tree], incumbent: Incumbent) -> float:
    """The least of the trees' bounds; the best value where that is less."""
    return min(incumbent.value, *(tree.bound for tree in trees))
