"""At most k features, and whole points; and the value for every number of features.

Groups of columns, such as those of a nominal feature, count as one. The lower bound is that of the tree: for each
region, the minimum of a plane below the objective (`auclab.solvers.integer.region.least`). A tree needs bounds of the
coefficients: with a penalty those of every w that is no worse than the best one known, without one a box, and the bound
is for the w up to the length that is within it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError, Status
from auclab._core.tolerances import EQUAL
from auclab.formulations import Program, RankSVM, as_formulation
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.formulations.programs import row_with
from auclab.models.timings import Clock, Timings
from auclab.samples.as_sample import as_sample
from auclab.samples.features import moved_intercept
from auclab.solvers.budget import seconds_allowed
from auclab.solvers.dispatch import solve_problem
from auclab.solvers.integer.region import EXCLUDED, USED, ConvexOracle, Limit, Region, numbered_groups
from auclab.solvers.integer.relaxation import Relaxation, Rows
from auclab.solvers.integer.scorecard import solve_scorecard
from auclab.solvers.integer.tree import MANY_ROUNDS, Incumbent, Objective, Tree, bound_of, grow
from auclab.solvers.monitor import Monitor
from auclab.solvers.path import solve_path
from auclab.solvers.solution import RawSolution, Solution

#: Coefficients without a bound are in a box of this many times the largest one that is known, at least 1; in scores at
#: unit spread.
_BOX = 10.0
#: Choices of features with which a point that satisfies the constraints is sought.
_TRIALS = 50


def solve_max_features(problem: Problem, monitor: Monitor) -> RawSolution:
    """Minimise a convex program over the w with at most k features, and prove it.

    Parameters
    ----------
    problem : Problem
        With constraints that have `max_features`; their bounds and rows hold as well.
    monitor : Monitor
        Has the relative gap, and the time; 600 s where it has no limit.

    Returns
    -------
    RawSolution
        Its bound is that of the tree, for every w with at most k features; without a penalty up to `norm_bound`.

    Raises
    ------
    AuclabError
        A program that is not convex, or constraints that no w satisfies.

    See Also
    --------
    auclab.solvers.integer.solver.feature_path : For every number of features.
    """
    constraints = problem.constraints
    if constraints is None or constraints.max_features is None:
        raise AuclabError("the problem has no constraints with max_features")
    clock, tolerance = monitor.clock.until(seconds_allowed(monitor.clock.left)), monitor.tolerance
    monitor, begin = monitor.part(tolerance, clock), clock.seconds
    search = _Search(problem, constraints)
    search.start(monitor)
    if search.best.value <= 0.0:  # no value is less than 0
        monitor.record(0.0, 0.0)
        return search.solution(Status.OPTIMAL, 0.0, begin, begin, monitor, 0)
    lower, upper, radius = search.bounds()
    tree = search.tree(lower, upper, tolerance)
    built = clock.seconds
    search.improve_supports(tree, monitor)
    starts = [np.zeros(lower.size), search.best.coef][: 1 + bool(search.best.coef.size)]  # where a point is known
    status = grow([tree], search.best, monitor, tolerance, [starts])
    if not search.best.coef.size:
        if status is Status.OPTIMAL:
            raise AuclabError("no w satisfies the constraints with so few features; allow more features")
        search.best.look(math.inf, np.zeros(lower.size))
    proved = bound_of([tree], search.best)
    if search.convex_bound >= proved:  # which is for every w
        proved, radius = search.convex_bound, math.inf
    found = search.solution(status, min(search.best.value, proved), begin, built, monitor, tree.regions)
    return replace(found, norm_bound=radius)


class _Search:
    """A problem in the columns of its oracle, and the best point so far."""

    def __init__(self, problem: Problem, constraints: ColumnConstraints) -> None:
        self.problem, self.constraints = problem, constraints
        n_groups = np.unique(constraints.groups).size
        most = min(int(constraints.max_features or n_groups), n_groups)
        of_columns, forced = numbered_groups(constraints, most)
        # One more group, of the intercept if there is one, is always used.
        columns = np.r_[of_columns, n_groups] if problem.program.comparisons.name == "points" else of_columns
        self.limit = Limit(columns, most + 1, n_groups + 1, (*forced, n_groups))
        self.oracle = ConvexOracle(problem, self.limit)
        state = self.limit.at_first()
        self.state, self.most, self.n_groups = state, most, n_groups
        self._of_columns, self._tried = self.limit.group[: self.oracle.n], set[bytes]()
        unit = self.oracle.unit
        free = [math.inf] if self.oracle.has_intercept else []
        self.lower = np.r_[constraints.lower * unit, np.negative(free)]
        self.upper = np.r_[constraints.upper * unit, free]
        padding = np.zeros((len(constraints.limit), len(free)))
        rows = Rows(np.c_[constraints.matrix / unit, padding], constraints.limit, constraints.equal)
        self.rows = rows if len(rows.limit) else None
        self.best = Incumbent()
        self.convex_bound = 0.0

    def start(self, monitor: Monitor) -> None:
        """The point w = 0 where it is allowed, and the largest coefficients of the program without the limit."""
        self._look(np.zeros(self.lower.size))
        if np.isfinite(np.r_[self.lower, self.upper]).any() or self.rows:
            if not self.best.coef.size:
                self._start_within(monitor)
            return
        solution, size = self._convex(None, 1e-4, monitor)
        if solution.status is Status.OPTIMAL:
            self.convex_bound = solution.lower_bound
        self._look_on(None, size, monitor)

    def _start_within(self, monitor: Monitor) -> None:
        """A point with few features that satisfies the constraints, if w = 0 does not.

        Features are tried in the order of their size in the convex program, those that must not be 0 first, and then at
        random.
        """
        convex = replace(self.constraints, max_features=None, forced=())
        _, size = self._convex(convex, 1e-3, monitor)
        size[np.bincount(self._of_columns, (convex.lower > 0) | (convex.upper < 0), size.size) > 0] = math.inf
        rng = np.random.default_rng(0)
        for trial in range(_TRIALS):
            drawn = size if trial == 0 else np.where(np.isinf(size), size, rng.random(size.size))
            with suppress(AuclabError):  # no w satisfies the constraints with these features
                self._look_on(convex, drawn, monitor)
            if self.best.coef.size or monitor.stopped() is not None:
                return

    def _convex(
        self, constraints: ColumnConstraints | None, tolerance: float, monitor: Monitor
    ) -> tuple[Solution, Array]:
        """The program without a limit on the features, and how large each of them is in it; ∞ for those always used."""
        from auclab.solvers.dispatch import solve_problem

        plain = Problem(self.problem.program, self.problem.sample, constraints)
        solution = solve_problem(plain, "auto", tolerance=tolerance, clock=monitor.clock)
        size = np.bincount(self._of_columns, abs(solution.coef) * self.oracle.unit, self.n_groups + 1)
        return solution, np.where(self.state == USED, math.inf, size)

    def _look_on(self, constraints: ColumnConstraints | None, size: Array, monitor: Monitor) -> None:
        """Solve the program on the largest features, and keep its point if it is the best so far."""
        from auclab.solvers.dispatch import solve_problem

        kept = np.flatnonzero(np.isin(self._of_columns, np.argsort(-size, kind="stable")[: self.most + 1]))
        if constraints is not None:
            rest = np.setdiff1d(np.arange(self.oracle.n), kept)
            if (constraints.lower[rest] > 0).any() or (constraints.upper[rest] < 0).any():
                return  # a column that would be left out must not be 0
        small = _on_columns(Problem(self.problem.program, self.problem.sample, constraints), kept)
        solution = solve_problem(small, "auto", tolerance=1e-6, clock=monitor.clock)
        x = np.zeros(self.lower.size)
        x[kept] = solution.coef * self.oracle.unit[kept]
        if self.oracle.has_intercept:
            x[-1] = moved_intercept(solution.intercept, solution.coef, small.sample.offset, 1.0)
        self._look(x)

    def bounds(self) -> tuple[Array, Array, float]:
        """Bounds of every column, and the length of w up to which they leave none out, ∞ where that is none as good."""
        lower, upper, n, unit = self.lower.copy(), self.upper.copy(), self.oracle.n, self.oracle.unit
        weight, squared = self.problem.program.regulariser.weight, self.problem.program.regulariser.squared
        if weight > 0 and math.isfinite(self.best.value):
            # λΩ(w) is at most the value of the best point known.
            length = self.best.value * (1.0 + 1e-12) / weight
            largest = (math.sqrt(length) if squared else length) * unit * (1.0 + 1e-12)
            lower[:n], upper[:n] = np.maximum(lower[:n], -largest), np.minimum(upper[:n], largest)
        stated, radius = np.r_[lower[:n], upper[:n]], math.inf
        free = np.isinf(lower[:n]) | np.isinf(upper[:n])
        if free.any():
            known = np.r_[1.0, abs(self.best.coef[:n]), abs(stated[np.isfinite(stated)])]
            box = _BOX * float(known.max())
            lower[:n] = np.where(np.isinf(lower[:n]), -box, lower[:n])
            upper[:n] = np.where(np.isinf(upper[:n]), box, upper[:n])
            radius = box / float((unit[free] * self._largest()[free]).max()) * (1.0 - 1e-12)
        if self.oracle.has_intercept and not (math.isfinite(lower[-1]) and math.isfinite(upper[-1])):
            # Beyond all kinks ±1 − w·x the loss does not fall.
            size = np.maximum(abs(lower[:n]), abs(upper[:n])) / unit
            farthest = 1.0 + float(size @ self.problem.sample.peaks)
            farthest += abs(self.problem.program.threshold) * float(size.sum())
            lower, upper = np.r_[lower[:n], -farthest], np.r_[upper[:n], farthest]
        return lower, upper, radius

    def _largest(self) -> Array:
        """The largest ``abs(w_k)`` of a w of length 1, in the norm of `Certificate.norm_bound`."""
        return np.array([self.problem.lengths.dual(each) for each in np.eye(self.oracle.n)])

    def tree(self, lower: Array, upper: Array, tolerance: float) -> Tree:
        """The tree over the groups."""
        penalised = self.problem.program.regulariser.weight > 0
        self.relaxation = Relaxation(lower, upper, (self.limit,), self.rows, penalised=penalised)
        self.root = Region(lower, upper, (self.state,))
        objective = Objective(
            self.oracle.cut,
            self._improve,
            self.oracle.rounding(lower, upper),
            False,
            self.oracle.penalty if penalised else None,
        )
        return Tree(objective, self.relaxation, self.root, (self.limit,), self.best, tolerance)

    def improve_supports(self, tree: Tree, monitor: Monitor) -> None:
        """Exchange one feature for another as long as that helps."""
        x = self.best.coef
        if not x.size:
            return
        while monitor.stopped() is None:
            value, used = self.best.value, np.isin(np.arange(self.n_groups), self.limit.group[x != 0])
            used |= self.state[: self.n_groups] == USED
            _, _, slope = self.oracle.cut(x)
            wanted = np.bincount(self.limit.group, abs(slope), self.n_groups + 1)[: self.n_groups]
            wanted[used] = -1.0
            for group in np.argsort(-wanted)[:3]:
                for out in [*np.flatnonzero(used), -1][: self.most + 1]:
                    if wanted[group] < 0 or (out >= 0 and self.state[out] == USED):
                        continue
                    chosen = used.copy()
                    chosen[group] = True
                    if out >= 0:
                        chosen[out] = False
                    if chosen.sum() <= self.most and monitor.stopped() is None:
                        self._solve_on(chosen, monitor.remaining)
            if not self.best.value < value * (1.0 - 1e-6):
                return
            x = self.best.coef

    def solution(
        self, status: Status, bound: float, begin: float, built: float, monitor: Monitor, regions: int
    ) -> RawSolution:
        """The best point with the bound."""
        x = self.best.coef
        timings = Timings(build=built - begin, solve=monitor.clock.seconds - built)
        note = f"branch and bound over {self.n_groups} features: {regions:,} region{'s' if regions != 1 else ''}"
        history = tuple(monitor.history)
        return RawSolution(
            *(self.oracle.coef(x), self.oracle.intercept(x), status, None, regions, timings, (note,), history),
            bound=bound,
        )

    def _improve(self, x: Array, bound: float) -> list[tuple[float, Array]]:
        """The program on the features that are largest at a point."""
        size = np.bincount(self.limit.group, abs(x), self.n_groups + 1)[: self.n_groups]
        size[self.state[: self.n_groups] == USED] = math.inf
        chosen = np.zeros(self.n_groups, bool)
        chosen[np.argsort(-size, kind="stable")[: self.most]] = True
        found = self._solve_on(chosen, None)
        return [] if found is None else [found]

    def _solve_on(self, chosen: NDArray[np.bool_], seconds: float | None) -> tuple[float, Array] | None:
        """The program on some features, and those that are forced, by cuts; each choice once."""
        chosen = chosen | (self.state[: self.n_groups] == USED)
        if chosen.sum() > self.most or chosen.tobytes() in self._tried:
            return None
        self._tried.add(chosen.tobytes())
        state = np.where(np.r_[chosen, True], USED, EXCLUDED).astype(np.int8)
        region = replace(self.root, states=(state,)).closed((self.limit,))
        point = self.relaxation.solve(region, seconds)
        best: tuple[float, Array] | None = None
        for _ in range(MANY_ROUNDS):
            if point is None or point.value >= self.best.value:
                break
            value, constant, slope = self.oracle.cut(point.coef)
            if best is None or value < best[0]:
                best = value, point.coef
            if value - point.value <= EQUAL * max(value, 1e-3):
                break
            self.relaxation.add(constant, slope)
            if self.problem.program.regulariser.weight > 0:
                self.relaxation.add_penalty(*self.oracle.penalty(point.coef, point.used[0]))
            point = self.relaxation.again(seconds)
        if best is not None:
            self.best.look(*best)
        return best

    def _look(self, x: Array) -> None:
        """Keep a point if it satisfies the constraints and is the best so far."""
        coef = self.oracle.coef(x)
        if self.constraints.violation(coef) <= 1e-9:
            value = self.problem.objective(coef, self.oracle.intercept(x))
            self.best.look(value, x)


def _on_columns(problem: Problem, columns: NDArray[np.intp]) -> Problem:
    """The problem on some of its columns."""
    sample = problem.sample
    parts = {name: getattr(sample, name)[:, columns] for name in ("X_pos", "X_neg")}
    offset = None if sample.offset is None else sample.offset[columns]
    smaller = replace(sample, **parts, offset=offset)
    program = row_with(problem.program, regulariser=problem.program.regulariser.restricted(columns))
    stated = problem.constraints
    if stated is None:
        return Problem(program, smaller)
    limited = replace(
        stated,
        lower=stated.lower[columns],
        upper=stated.upper[columns],
        matrix=stated.matrix[:, columns],
        groups=stated.groups[columns],
    )
    return Problem(program, smaller, limited)


def solve(problem: Problem, monitor: Monitor) -> RawSolution:
    """Branch and bound over linear programs of cuts (docs/scorecards.md).

    Parameters
    ----------
    problem : Problem
        A scorecard, or a convex program with constraints that have `max_features`.
    monitor : Monitor
        Has the relative gap, and the time; 600 s where it has no limit.
    """
    run = {"integer": solve_scorecard}.get(problem.program.kind, solve_max_features)
    return run(problem, monitor)


@dataclass(frozen=True)
class FeaturePath:
    """Solutions with at most 1, 2, … features.

    `counts`: numbers of features k. `solutions`: with at most the number of features in `counts` each; their lower
    bounds hold for all choices of features, without a penalty up to `Certificate.norm_bound`. `l1`: of RankSVM with an
    l1 penalty, along its path: features that are used, and the value of the program once it is solved on these features
    without the penalty of the path.
    """

    counts: tuple[int, ...]
    solutions: tuple[Solution, ...]
    l1: tuple[tuple[int, float], ...]


def feature_path(
    formulation: str | Program,
    X: Any,
    y: ArrayLike,
    counts: Sequence[int],
    *,
    constraints: ColumnConstraints | None = None,
    tolerance: float = 1e-4,
    time_limit: float | None = 60.0,
    penalties: int = 20,
) -> FeaturePath:
    """Solve a convex formulation with at most k features, for several k.

    Parameters
    ----------
    formulation : str or Program
        Convex.
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    counts : sequence of int
        Numbers of features, ≥ 1.
    constraints : ColumnConstraints, optional
        Bounds, rows, groups; its `max_features` is ignored.
    tolerance, time_limit : float
        Tolerance and time limit of each solve.
    penalties : int
        Penalties on the l1 path, ≥ 1.

    See Also
    --------
    auclab.displays.coefficients.draw_feature_path : Draws it.
    auclab.solve : A single limit `max_features`.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [3.0, 1.0]])
    >>> path = feature_path(RankSVM(0.1, "l1"), X, [0, 0, 1, 1], [1, 2])
    >>> path.solutions[1].objective <= path.solutions[0].objective + 1e-6
    True
    """
    program, sample = as_formulation(formulation), as_sample(X, y)
    n = sample.n_features
    given = ColumnConstraints.of(n) if constraints is None else constraints
    solutions = [
        solve_problem(
            Problem(program, sample, replace(given, max_features=int(count))),
            "auto",
            tolerance=tolerance,
            clock=Clock(time_limit),
        )
        for count in counts
    ]
    largest = RankSVM(1.0, "l1").null_penalty(X, y)
    values = np.geomspace(0.7 * largest, 1e-3 * largest, penalties)
    found: dict[int, float] = {}
    for each in solve_path(RankSVM(1.0, "l1"), X, y, values.tolist(), parameter="penalty", tolerance=1e-4):
        used = np.isin(given.groups, given.groups[np.abs(each.coef) * sample.spread > 1e-6])
        count = int(np.unique(given.groups[used]).size)
        if not 0 < count <= max(counts):
            continue
        lower, upper = np.where(used, given.lower, 0.0), np.where(used, given.upper, 0.0)
        only = replace(given, lower=lower, upper=upper, max_features=None)
        value = solve_problem(Problem(program, sample, only), "auto", tolerance=tolerance, clock=Clock(time_limit))
        found[count] = min(found.get(count, np.inf), value.objective)
    return FeaturePath(tuple(int(count) for count in counts), tuple(solutions), tuple(sorted(found.items())))
