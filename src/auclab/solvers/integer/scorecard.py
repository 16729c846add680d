"""Integer scorecards by lattice cutting planes: one tree for each margin, all of them with one best card.

With v = w/γ the objective is the mean hinge of bAUC, so that the same oracle supplies the cuts of all margins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError, Status
from auclab._core.hinge import pair_hinge_active
from auclab._core.scorecards import improved_points
from auclab._core.words import counted
from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.solvers.budget import seconds_allowed
from auclab.solvers.integer.region import Limit, Region, numbered_groups
from auclab.solvers.integer.relaxation import Relaxation, Rows
from auclab.solvers.integer.tree import Incumbent, Objective, Tree, bound_of, grow
from auclab.solvers.monitor import Monitor
from auclab.solvers.solution import RawSolution

if TYPE_CHECKING:
    from auclab.formulations.scorecard import Scorecard

#: Random cards from which local searches start, and the share of regions whose point is rounded and improved.
_STARTS, _EVERY = 20, 20
#: Entries of the items above which pairs of points are not changed together.
_PAIRS_UP_TO = 4_000_000


def solve_scorecard(problem: Problem, monitor: Monitor) -> RawSolution:
    """Solve `Scorecard`; the bound is that of the trees of all margins.

    Parameters
    ----------
    problem : Problem
        Its constraints may have bounds, rows and a number of features.
    monitor : Monitor
        Has the relative gap, and the time; 600 s where it has no limit.
    """
    clock, tolerance = monitor.clock.until(seconds_allowed(monitor.clock.left)), monitor.tolerance
    monitor, begin = monitor.part(tolerance, clock), clock.seconds
    card = _Cards(problem)
    trees, starts = [], []
    rng = np.random.default_rng(0)
    for start in card.starts(rng):
        card.search(start, pairs=True)
        if monitor.stopped() is not None:
            break
    built = clock.seconds
    for margin in card.program.margins:
        relaxation = Relaxation(card.lower, card.upper, card.limits, card.rows)
        root = Region(card.lower, card.upper, tuple(limit.at_first() for limit in card.limits))
        objective = Objective(card.cut(margin), card.improve, card.rounding(margin), True)
        parts = card.parts(margin, root)
        trees.append(Tree(objective, relaxation, root, card.limits, card.best, tolerance, parts))
        starts.append([np.zeros(card.lower.size), *([card.best.coef] if card.best.coef.size else [])])
    status = grow(trees, card.best, monitor, tolerance, starts)
    history = tuple(monitor.history)
    if not card.best.coef.size:
        if status is Status.OPTIMAL:
            raise AuclabError("no card satisfies the constraints: all cards were searched; allow more points or items")
        raise AuclabError(
            f"no card that satisfies the constraints was found ({status}); raise time_limit, or loosen them"
        )
    card.shorten()
    bound = bound_of(trees, card.best)
    regions = sum(tree.regions for tree in trees)
    note = f"branch and bound: {regions:,} region{'s' if regions != 1 else ''} over {counted(len(trees), 'margin')}"
    note += f", γ = {card.program.margin(card.best.coef, problem.sample)} is the best"
    timings = Timings(build=built - begin, solve=clock.seconds - built)
    return RawSolution(card.best.coef, 0.0, status, None, regions, timings, (note,), history, bound=bound)


class _Cards:
    """The cards of a problem, the best one so far, and the search for others."""

    def __init__(self, problem: Problem) -> None:
        sample = problem.sample
        self.program: Scorecard = problem.program  # type: ignore[assignment]
        self.problem, n = problem, sample.n_features
        self.lower, self.upper = self.program.bounds(n)
        self.rows: Rows | None = None
        self.group = np.arange(n) if self.program.features is None else np.array(self.program.features, np.intp)
        if self.group.size != n:
            raise AuclabError(f"features names the feature of {self.group.size} columns, but the sample has {n}")
        max_features = self.program.max_features
        forced: tuple[int, ...] = ()
        if (given := problem.constraints) is not None:
            self.lower, self.upper = np.maximum(self.lower, given.lower), np.minimum(self.upper, given.upper)
            self.lower, self.upper = np.ceil(self.lower), np.floor(self.upper)
            if len(given.limit):
                self.rows = Rows(given.matrix, given.limit, given.equal)
            if given.max_features is not None:
                if max_features is not None:
                    raise AuclabError("max_features is given in the formulation and in the constraints; give it once")
                max_features = given.max_features
                self.group, forced = numbered_groups(given, max_features)
            if (self.lower > self.upper).any():
                raise AuclabError("the constraints leave no whole number of points for some item")
        self.group = np.unique(self.group, return_inverse=True)[1]
        most = [(np.arange(n), self.program.max_items), (self.group, max_features)]
        limits = [
            Limit(group, int(k), int(group.max()) + 1, always)
            for (group, k), always in zip(most, ((), forced), strict=True)
            if k is not None and k <= group.max()
        ]
        self.limits: tuple[Limit, ...] = tuple(limits)
        self._most = tuple(int(group.max()) + 1 if k is None else int(k) for group, k in most)
        X_pos, X_neg = self.X_pos, self.X_neg = sample.uncentred().arrays()
        (self._distinct_pos, self._share_pos), (self._distinct_neg, self._share_neg) = (
            _distinct(X_pos, sample.share_pos),
            _distinct(X_neg, sample.share_neg),
        )
        self.whole_items = all(bool((np.rint(X) == X).all() and abs(X).max() < 1e6) for X in (X_pos, X_neg))
        whole = (self._distinct_pos, self._distinct_neg) if self.whole_items else (np.zeros((0, n)), np.zeros((0, n)))
        self._items = tuple(np.ascontiguousarray(X.T.astype(np.int64)) for X in whole)
        self._peaks = np.maximum(abs(X_pos).max(axis=0), abs(X_neg).max(axis=0))
        self.best = Incumbent()
        self._calls = 0
        null = np.zeros(n)
        if self._allowed(null):
            self.best.look(1.0, null)

    def parts(self, margin: int, root: Region) -> list[Region]:
        """The regions of the cards that have no equal with another margin, divided by an item with many points.

        A card with all points c times as large and the margin cγ is the same card. If cγ is in the grid, cards of γ
        whose c-fold is in the range are not searched: in the others, some item has more than 1/c of the range.
        """
        factor = next((c for c in range(2, max(self.program.margins) + 1) if c * margin in self.program.margins), 0)
        scalable = self.rows is None or not self.rows.limit.any()
        if not factor or not scalable or (self.lower > 0).any() or (self.upper < 0).any():
            return []
        found = []
        for column in range(self.lower.size):
            low, high = np.ceil(self.lower[column] / factor) - 1, np.floor(self.upper[column] / factor) + 1
            if high <= self.upper[column]:
                lower = root.lower.copy()
                lower[column] = high
                found.append(Region(lower, root.upper, root.states))
            if low >= self.lower[column]:
                upper = root.upper.copy()
                upper[column] = low
                found.append(Region(root.lower, upper, root.states))
        return found

    def rounding(self, margin: int) -> float:
        """Bound on the error of a cut from sums in floating point, for all w within their bounds."""
        size = 1.0 + float(np.maximum(abs(self.lower), abs(self.upper)) @ self._peaks) / margin
        count = self._share_pos.size + self._share_neg.size + self.lower.size + 16
        return 2.0**-52 * count * size

    def cut(self, margin: int) -> Callable[[Array], tuple[float, float, Array]]:
        """The oracle of a margin: from w to the value, and the constant and slope of the cut there."""

        def at(coef: Array) -> tuple[float, float, Array]:
            scaled = coef / margin
            pos, neg = self._distinct_pos @ scaled, self._distinct_neg @ scaled
            active = pair_hinge_active(pos, neg, 1.0, self._share_pos, self._share_neg)
            slope = self._distinct_pos.T @ active[0] - self._distinct_neg.T @ active[1]
            constant = float(active[0].sum())
            return constant - float(slope @ scaled), constant, slope / margin

        return at

    def starts(self, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Cards to begin with: without points, and at random."""
        n = self.lower.size
        cards = [np.zeros(n, np.int64)]
        for _ in range(_STARTS):
            card = np.zeros(n, np.int64)
            chosen = rng.permutation(n)[: min(self._most)]
            card[chosen] = rng.integers(self.lower[chosen].astype(int), self.upper[chosen].astype(int) + 1)
            cards.append(card)
        return cards

    def improve(self, coef: Array, bound: float) -> list[tuple[float, Array]]:
        """The point of a region, rounded to a card and improved; of most regions nothing."""
        self._calls += 1
        if self._calls % _EVERY != 1:
            return []
        rounded = np.clip(np.rint(coef), self.lower, self.upper)
        for limit in self.limits:
            size = np.bincount(limit.group, weights=abs(rounded), minlength=limit.n_groups)
            kept = np.zeros(limit.n_groups, bool)
            kept[np.argsort(-size, kind="stable")[: limit.most]] = True
            rounded = np.where(kept[limit.group], rounded, 0.0)
        self.search(rounded.astype(np.int64), pairs=False)
        return []

    def search(self, card: NDArray[np.int64], *, pairs: bool) -> None:
        """Improve a card by changes of few points, and keep it if it is the best so far."""
        if self.whole_items:
            pairs = pairs and self._items[0].size + self._items[1].size <= _PAIRS_UP_TO
            improved_points(
                *self._items,
                *(self._share_pos, self._share_neg, np.array(self.program.margins, np.int64), card),
                *(self.lower.astype(np.int64), self.upper.astype(np.int64), self.group.astype(np.int64)),
                *self._most,
                pairs,
            )
        coef = card.astype(float)
        if self._allowed(coef):
            self.best.look(self.problem.objective(coef, 0.0), coef)

    def shorten(self) -> None:
        """Divide all points by a common divisor if the value does not change: 1 point with γ = 1 is 5 with γ = 5."""
        divisor = int(np.gcd.reduce(self.best.coef.astype(np.int64)))
        for by in (each for each in range(divisor, 1, -1) if divisor % each == 0):
            shorter = self.best.coef / by
            value = self.problem.objective(shorter, 0.0)
            if value <= self.best.value + 1e-12 and self._allowed(shorter):
                self.best.value, self.best.coef = min(value, self.best.value), shorter
                return

    def _allowed(self, coef: Array) -> bool:
        """Whether a card satisfies every limit and constraint."""
        inside = bool((coef >= self.lower).all() and (coef <= self.upper).all())
        few = all(limit.n_used(coef) <= limit.most for limit in self.limits)
        if not (inside and few) or self.rows is None:
            return inside and few
        off = self.rows.matrix @ coef - self.rows.limit
        return bool((np.where(self.rows.equal, abs(off), off) <= 1e-9 * (1.0 + abs(self.rows.limit))).all())


def _distinct(X: Array, share: Array) -> tuple[Array, Array]:
    """The distinct rows, and the weight of each: with items, many observations are equal."""
    rows, index = np.unique(X, axis=0, return_inverse=True)
    return rows, np.asarray(np.bincount(np.ravel(index), weights=share, minlength=len(rows)), dtype=float)
