"""Counting pairs: branch and bound over boxes of directions, with HiGHS's mixed-integer programs in the small ones.

AUC does not see the length of w, so v runs over the surface of a cube: 2n faces. A box decides many pairs, the
relaxation over the others is a lower bound on what is wrong in it, and the box with the least bound is cut in two until
few pairs are open; then HiGHS finishes it. The bAUC solution is the first point.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auclab._core.base import Array, AuclabError, Status
from auclab.formulations.problem import Problem
from auclab.models.exact_auc_mip import MARGIN, Box, Directions, pair_directions, solve_box, widest
from auclab.models.timings import Clock, Timings
from auclab.solvers.budget import SMALL_MARGINS, finite_or_none, seconds_allowed
from auclab.solvers.monitor import Monitor
from auclab.solvers.solution import RawSolution

#: From this number of open directions on a mixed-integer program is faster than two boxes (measured).
FEW = 40


def solve_exact_auc(problem: Problem, start: Callable[[], Array], monitor: Monitor) -> RawSolution:
    """Solve `ExactAUC`; the bound is that of the tree, for all w that separate the pairs they count by ε.

    Parameters
    ----------
    problem : Problem
    start : callable
        Returns the w to begin with, shape (n_features,); called once the size of the problem is checked.
    monitor : Monitor
        Has the relative gap at which to stop where the counts are not whole numbers, and the time; 600 s where it has
        no limit.

    Returns
    -------
    RawSolution
        UNCERTIFIED where the solution separates pairs by less than ε, without a bound, or where pairs differ by less
        in some feature, with the bound that equal rows leave.

    Raises
    ------
    AuclabError
        More than 10,000 pairs.
    """
    program: Any = problem.program  # an ExactAUC
    sample = problem.sample
    if problem.n_margins > SMALL_MARGINS:
        raise AuclabError(
            f"exact_auc has one 0/1 variable per pair, and there are {sample.n_pos} × {sample.n_neg} = "
            f"{problem.n_margins:,} pairs (at most {SMALL_MARGINS:,}); use fewer observations, or formulation=bauc, "
            "the lower bound of AUC that is a linear program"
        )
    clock = monitor.clock.until(seconds_allowed(monitor.clock.left))
    begin = clock.seconds
    pairs = pair_directions(problem)
    if not len(pairs.rows):
        return RawSolution(np.zeros(sample.n_features), 0.0, Status.OPTIMAL, bound=1.0)
    tree = _Tree(pairs, monitor.tolerance, clock)
    tree.look(_on_cube(start(), problem))
    built = clock.seconds
    status = tree.grow(begin)
    coef = min(
        (program.of_length(v / sample.spread) for v in (widest(pairs, tree.point), tree.point)),
        key=lambda w: problem.objective(w, 0.0),
    )
    timings = Timings(build=built - begin, solve=clock.seconds - built)
    notes: tuple[str, ...] = (
        f"branch and bound: {tree.boxes:,} boxes of directions, {tree.programs:,} mixed-integer programs",
    )
    bound = pairs.equal + pairs.unit * tree.bound
    objective = problem.objective(coef, 0.0)
    if objective >= bound * (1 - 1e-12):
        bound = min(bound, objective)
    else:
        status, bound = Status.UNCERTIFIED, math.nan
        notes += (
            f"the solution separates pairs by less than {MARGIN:g} of their length, for which the bound does not hold",
        )
    if pairs.thin and objective > pairs.equal and not math.isnan(bound):
        # Only equal rows are ranked wrongly by every w.
        status, bound = Status.UNCERTIFIED if status is Status.OPTIMAL else status, pairs.equal
        notes += (
            f"some pairs differ by less than {MARGIN:g} of their length in a feature or a combination of features, or "
            "are nearly but not exactly opposite: a w that uses it may rank more of them, so the bound is that of "
            "equal rows",
        )
    return RawSolution(coef, 0.0, status, None, tree.boxes, timings, notes, tuple(tree.history), bound=bound)


@dataclass
class _Tree:
    """The best v so far, the boxes that may hold a better one, and the least of their bounds; in counts."""

    pairs: Directions
    tolerance: float
    clock: Clock
    point: Array = field(default_factory=lambda: np.zeros(0))
    best: float = math.inf
    bound: float = 0.0
    boxes: int = 0
    programs: int = 0
    history: list[tuple[float, float, float]] = field(default_factory=list)

    def look(self, point: Array) -> None:
        """Keep `point` if it is the best so far."""
        wrong = self.pairs.wrong(point)
        if wrong < self.best:
            self.best, self.point = wrong, point

    def grow(self, begin: float) -> Status:
        """Cut boxes until none can hold a better point, or the time is over."""
        order = itertools.count()
        heap = [(box.lost, next(order), box) for box in _faces(self.pairs)]
        heapq.heapify(heap)
        while heap and heap[0][0] <= self._wanted():
            # The least bound of all boxes; that of the best point may already be closed.
            rise = heap[0][0] > self.bound
            self.bound = min(heap[0][0], self.best)
            if rise or not self.history:
                best, bound = (self.pairs.equal + self.pairs.unit * count for count in (self.best, self.bound))
                self.history.append((self.clock.seconds - begin, best, bound))
            if self.clock.is_over:
                return Status.TIME_LIMIT
            bound, _, box = heapq.heappop(heap)
            for part in self._open(box, bound):
                heapq.heappush(heap, (part[0], next(order), part[1]))
        self.bound = min(heap[0][0], self.best) if heap else self.best
        return Status.OPTIMAL

    def _open(self, box: Box, bound: float) -> Iterator[tuple[float, Box]]:
        """Search a box; yields the remaining boxes with their bounds."""
        self.boxes += 1
        few = box.open.size <= FEW
        self.programs += few
        found = solve_box(box, self._wanted(), finite_or_none(seconds_allowed(self.clock.left)), integer=few)
        self.look(found.point)
        bound = max(bound, self._rounded(found.bound))
        if bound > self._wanted():
            return
        if few and found.status is Status.OPTIMAL:
            # Its best count is that of `found`, up to rounding in HiGHS: that box stays as it is.
            return
        if found.status is Status.TIME_LIMIT:
            yield bound, box
            return
        for half in box.halves():
            yield max(bound, half.lost), half

    def _wanted(self) -> float:
        """The largest count that would be better than the best by more than the tolerance."""
        return self.best - 1.0 if self.pairs.whole else self.best * (1.0 - 0.1 * self.tolerance) - 1e-12

    def _rounded(self, bound: float) -> float:
        """The bound, rounded up to a whole number if counts are whole."""
        return math.ceil(bound - 1e-6) if self.pairs.whole and math.isfinite(bound) else bound


def _faces(pairs: Directions) -> Iterator[Box]:
    """The faces of the cube ``−1 ≤ v ≤ 1``."""
    n_features = pairs.rows.shape[1]
    for k, side in itertools.product(range(n_features), (1.0, -1.0)):
        low, high = np.full(n_features, -1.0), np.ones(n_features)
        low[k] = high[k] = side
        yield Box(low, high, pairs)


def _on_cube(coef: Array, problem: Problem) -> Array:
    """W as a v on the cube; the difference of the means where w is 0 or not finite."""
    spread = problem.sample.spread
    if not (np.isfinite(coef).all() and coef.any()):
        coef = problem.sample.mean_difference / spread**2
    point = coef * spread
    if not point.any():
        point = np.ones_like(point)
    return np.asarray(point / np.abs(point).max())
