"""Many values of λ or z on one sample: solved, or only as accurately as a choice among them needs.

`SmoothedPath` does it where it can; elsewhere every value is solved, first to a wide gap and then to narrower ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError, GroupWeights, Status
from auclab._core.compiling import compile_loops
from auclab._core.tolerances import TOLERANCE
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints, constraints_on_columns
from auclab.formulations.problem import Problem
from auclab.formulations.programs import as_formulation
from auclab.formulations.ranked import Ranking
from auclab.kernels.kernel import Kernel
from auclab.models.timings import Clock
from auclab.solvers.dispatch import check_limits, solve_problem
from auclab.solvers.path_parameters import along, simplest_first
from auclab.solvers.portfolio import select_solver
from auclab.solvers.registry import find_solver
from auclab.solvers.smoothed.smoothed_loss import compile_smoothed
from auclab.solvers.smoothed_path import WIDTHS, Minimum, SmoothedPath, is_smooth_path
from auclab.solvers.solution import Solution

if TYPE_CHECKING:
    from auclab.solvers.kernel.training import KernelMatrix

#: The part of a gap, or of a step, that does not count.
LITTLE = 0.1
#: The gap of a first, rough solve, which others refine.
ROUGH = 1e-2


def solve_path(
    formulation: str | Program,
    X: Any,
    y: ArrayLike,
    values: Sequence[float],
    *,
    parameter: str = "penalty",
    solver: str = "auto",
    tolerance: float | None = None,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    constraints: Constraints | ColumnConstraints | None = None,
    kernel: str | Kernel | None = None,
    kernel_matrix: KernelMatrix | None = None,
    **options: Any,
) -> tuple[Solution, ...]:
    """Solve a formulation at each of `values`, from the shortest w to the longest, each with its own certificate.

    A solver with a `start` gets the optimum at the previous value; the others start cold. The sample is checked and
    split once. With a kernel every solve begins with the previous landmarks, the kernel matrix is computed once, and
    the tolerance is also relative to the improvement of the objective over a constant scorer.

    Parameters
    ----------
    formulation : str or Program
        Its own value of `parameter` is not used.
    X, y, solver, tolerance, sample_weight, pos_label, constraints, kernel, **options
        As in `auclab.solve`.
    values : sequence of float
        In any order.
    parameter : {"penalty", "threshold"}
        λ or z.
    time_limit : float, optional
        Seconds for every value.
    kernel_matrix : KernelMatrix, optional
        With a kernel, its matrix for the rows of `X` if it has been computed; the kernel of the matrix is then used.

    Returns
    -------
    tuple of Solution
        In the order of `values`.

    Raises
    ------
    AuclabError
        A formulation without the parameter, no values or one that is not finite, and what `auclab.solve` raises.
    KeyboardInterrupt
        Ctrl-C stopped a solve, and with it the path.

    See Also
    --------
    auclab.solve : One value.
    auclab.estimators.AUCClassifier.fit_path : The same as scikit-learn estimators.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> path = solve_path(RankSVM(1.0), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], [0.1, 0.5, 2.0])
    >>> [round(solution.objective, 5) for solution in path]   # w = 1, ⅓, 0: margins w, −w, 3w, w
    [0.6, 0.83333, 1.0]
    """
    if kernel is not None:
        from auclab.solvers.kernel.solve import (
            KERNEL_TOLERANCE,
            solve_kernel_path,  # takes a second of the start-up
        )

        check_limits(KERNEL_TOLERANCE if tolerance is None else tolerance, time_limit)

        return solve_kernel_path(
            as_formulation(formulation), X, y, kernel, values, parameter=parameter, solver=solver, tolerance=tolerance,
            time_limit=time_limit, sample_weight=sample_weight, pos_label=pos_label, constraints=constraints,
            matrix=kernel_matrix, **options,
        )  # fmt: skip
    if kernel_matrix is not None:
        raise AuclabError("kernel_matrix needs a kernel; give kernel=… too")
    tolerance = TOLERANCE if tolerance is None else tolerance
    check_limits(tolerance, time_limit)
    programs = along(as_formulation(formulation), parameter, values)
    sample = programs[0].comparisons.sample(X, y, sample_weight, pos_label)
    stated = constraints_on_columns(constraints, sample)
    found: dict[int, Solution] = {}
    last: tuple[Array, float] | None = None
    for k in simplest_first(parameter, values):
        problem = Problem(programs[k], sample, stated)
        found[k] = following_solution(problem, last, solver, tolerance=tolerance, clock=Clock(time_limit), **options)
        if found[k].coef.any():  # w = 0 has no direction to continue with
            last = found[k].coef, found[k].intercept
    return tuple(found[k] for k in range(len(programs)))


def following_solution(
    problem: Problem,
    last: tuple[Array, float] | None,
    solver: str,
    *,
    tolerance: float,
    clock: Clock,
    **options: Any,
) -> Solution:
    """The solution of a program on a path, from the scorer before it where the solver takes a start."""
    name = select_solver(problem)[0] if solver == "auto" else solver
    if last is not None and find_solver(name).takes_start:
        options["start"] = last
    solution = solve_problem(problem, solver, tolerance=tolerance, clock=clock, **options)
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


#: Relative gaps of the first solves where every value is solved.
_GAPS = (ROUGH, LITTLE * ROUGH)


@dataclass(frozen=True)
class Point:
    """A scorer on the way to its optimum.

    `formulation`: with the value of the parameter. `gap`: relative, as in a certificate; that of a minimum over a band
    is what the smoothing leaves open. `minima`: the last two where it is a minimum over a band. `iterations`: of a
    solve.
    """

    formulation: Program
    coef: Array
    intercept: float
    gap: float
    level: int
    minima: tuple[Minimum, ...] = ()
    iterations: int = 0


class InnerPath:
    """Scorers along a path on one sample.

    `program`: its own value of `parameter` is not used. `X`, `y`, `sample_weight`, `constraints`: as in `auclab.solve`.
    `solver`: as in `auclab.solve`; a band is used with "auto" and "newton". `tolerance`: relative gap beyond which no
    scorer is improved. `time_limit`: seconds for every solve. `groups`, `ordered`, `event`, `group_weights`: which rows
    are compared, as in `auclab.solve`. `**options`: of the solver.
    """

    def __init__(
        self,
        program: Program,
        X: Any,
        y: ArrayLike,
        values: Sequence[float],
        *,
        parameter: str = "penalty",
        solver: str = "auto",
        tolerance: float | None = None,
        time_limit: float | None = None,
        sample_weight: ArrayLike | None = None,
        constraints: Constraints | ColumnConstraints | None = None,
        groups: ArrayLike | None = None,
        ordered: bool = False,
        event: ArrayLike | None = None,
        group_weights: GroupWeights = "pairs",
        **options: Any,
    ):
        self._tolerance = TOLERANCE if tolerance is None else tolerance
        check_limits(self._tolerance, time_limit)
        programs = along(program, parameter, values)
        ranking = Ranking(groups, ordered, event, group_weights)
        _, sample = ranking.problem_parts(programs[0], X, y, sample_weight)
        programs = [ranking.program(each) for each in programs]
        stated = constraints_on_columns(constraints, sample)
        self._problems = [Problem(each, sample, stated) for each in programs]
        self._solving, self._time_limit = {"solver": solver, **options}, time_limit
        self.order = simplest_first(parameter, values)
        self.compiling = compile_loops(*self._problems[0].program.comparisons.loops["values"])
        self._smoothed: SmoothedPath | None = None
        if solver in ("auto", "newton") and not options and is_smooth_path(self._problems):
            self.compiling += compile_smoothed(self._problems[0])
            self._smoothed = SmoothedPath(self._problems, self._tolerance)
        self._points: dict[int, Point] = {}

    def refined(self, k: int) -> Point:
        """The scorer of value number `k`, one level closer to its optimum than before."""
        last = self._points.get(k)
        if last is not None and last.gap <= self._tolerance:
            return last
        found = self._minimum(k, last) or self._solved(k, last)
        self._points[k] = found
        return found

    def point(self, k: int) -> Point:
        """The scorer of value number `k` as it is."""
        return self._points[k]

    def is_final(self, k: int) -> bool:
        """Whether `refined` cannot improve the scorer."""
        point = self._points[k]
        return point.gap <= self._tolerance or point.level >= len(WIDTHS if point.minima else _GAPS)

    def _simpler(self, k: int) -> int | None:
        """The value before, with a shorter w."""
        place = self.order.index(k)
        return self.order[place - 1] if place else None

    def _minimum(self, k: int, last: Point | None) -> Point | None:
        """The minimum, started from that over the wider band, or else from that of the next simpler scorer."""
        level = 0 if last is None else last.level + 1
        if self._smoothed is None or level >= len(WIDTHS) or (last is not None and not last.minima):
            return None
        place = self._simpler(k)
        simpler = None if place is None else self._points.get(place)
        minima = () if last is None else last.minima
        if simpler is not None and simpler.minima and simpler.level >= level and simpler.minima[-1].is_separated:
            found: Minimum | None = simpler.minima[-1]  # no hinge is left that a smaller λ could reduce
        else:
            near = minima[-1] if minima else (simpler.minima[-1] if simpler is not None and simpler.minima else None)
            found = self._smoothed.minimum(k, level, near, minima[0] if len(minima) == 2 else None)
        if found is None:
            return None
        problem, kept = self._problems[k], (*minima[-1:], found)
        if found.is_null:
            coef = np.zeros(problem.sample.n_features)
            return Point(problem.program, coef, problem.null_intercept(), 0.0, level, kept)
        return Point(problem.program, found.theta[:-2], float(found.theta[-2]), found.gap, level, kept)

    def _solved(self, k: int, last: Point | None) -> Point:
        level = 0 if last is None else last.level + 1
        only = self._smoothed is not None or level >= len(_GAPS)
        gap = self._tolerance if only else max(self._tolerance, _GAPS[level])
        place = self._simpler(k)
        near = last or (None if place is None else self._points.get(place))
        start = None if near is None or not near.coef.any() else (near.coef, near.intercept)
        solution = following_solution(
            self._problems[k], start, tolerance=gap, clock=Clock(self._time_limit), **self._solving
        )
        if solution.status is Status.FAILED:
            raise AuclabError(
                f"{solution.solver} found no usable point of {solution.formulation!r}: leave this value out, scale the "
                "features, or choose another solver"
            )
        final = len(_GAPS) if only else level
        self.compiling += solution.timings.compile
        return Point(
            solution.formulation, solution.coef, solution.intercept, solution.gap, final, iterations=solution.iterations
        )
