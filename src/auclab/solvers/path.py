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
from auclab._core.tolerances import HALF_OF_DIGITS, SMALL_OBJECTIVE, TOLERANCE
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints, constraints_on_columns
from auclab.formulations.problem import Problem, Ranking
from auclab.formulations.programs import as_formulation
from auclab.kernels.kernel import Kernel
from auclab.models.timings import Clock
from auclab.solvers.budget import DENSE_FEATURES
from auclab.solvers.certificate import certify
from auclab.solvers.dispatch import check_limits, solve_problem
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.minimise import DampedNewton, Iterate
from auclab.solvers.path_parameters import along, simplest_first
from auclab.solvers.portfolio import select_solver
from auclab.solvers.registry import PARTS, find_solver
from auclab.solvers.smoothed import compile_smoothed, smooth_loss
from auclab.solvers.smoothed.losses import Evaluation, SmoothedLoss
from auclab.solvers.solution import Solution

if TYPE_CHECKING:
    from auclab.solvers.kernel.training import KernelMatrix


#: The predicted reduction, of the smoothing gap, at which steps at one width stop; the next width refines them.
WIDTH_TOLERANCE = 1e-2
#: Smoothing widths, in units of the margins.
WIDTHS = tuple(np.geomspace(0.2, 2e-6, 11).tolist())
#: How far a minimum may be below the value of w = 0, of the smoothing gap, if that may be the optimum.
_NEAR_NULL = 5e-2


@dataclass(frozen=True)
class Minimum:
    """The minimum of the smoothed program at one value and half-width.

    `theta` (n_features + 2,): ``(w, b, ‖w‖)``. `gap`: the relative gap of primal and dual value that smoothing leaves,
    as in a certificate. `is_separated`: whether no margin is at or below the curved part of the loss; then no error is
    left, and a smaller λ has the same scorer. `is_null`: whether its multipliers prove that w = 0 is the optimum
    without smoothing.
    """

    theta: Array
    gap: float
    width: float
    is_separated: bool
    is_null: bool


class SmoothedPath:
    """Minima of one sample at several values of λ or z, at smoothing widths that fall level by level.

    A choice among many λ or z needs every scorer roughly and only the close ones well. The minimum at one smoothing
    width is that of `auclab.solvers.newton.minimise`; from the minimum at a neighbouring value or at the last width it
    takes one or two steps, with the Hessian of the last minimum as long as steps converge fast with it: one costs as
    much as ten evaluations (83,000 rows × 58 columns). Between changes of the margins near the kinks the minimum is
    affine in the width, by which the next level is started (`auclab.solvers.newton.continuation`). Minima are not
    certified: the smoothing gap estimates the distance of the value from the optimum, and the solve at the chosen value
    has a certificate. That w = 0 is optimal is proved by the multipliers of the minimum: their dual value is that of
    w = 0.

    `problems`: one for each value, with `is_smooth_path`. `tolerance`: relative gap at which w = 0 counts as the
    optimum.
    """

    def __init__(self, problems: Sequence[Problem], tolerance: float):
        self.problems, self.tolerance, problem = problems, tolerance, problems[0]
        self._losses: dict[float, SmoothedLoss] = {}
        self._hessian: Array | None = None  # the last one, of the loss alone
        difference = problem.sample.mean_difference
        coef = difference / max(float(difference @ difference), 1e-300)
        self._first = np.r_[coef, problem.null_intercept(), np.linalg.norm(coef)]

    def minimum(self, k: int, level: int, near: Minimum | None, before: Minimum | None) -> Minimum | None:
        """The minimum at the value number `k` and a smoothing width.

        `k`, `level`: positions among the problems and in `WIDTHS`. `near`: at a neighbouring value, or at this one
        and the last level. `before`: at this value, two levels before. Returns: None where the steps did not converge,
        and where z < 0 and no hinge is left, so that there are many minima.
        """
        width, loss, problem = WIDTHS[level], self._loss(k), self.problems[k]
        start = self._first if near is None else near.theta
        method = DampedNewton(problem.program, problem.sample.spread, Monitor())
        evaluation = loss.evaluate(start, width)
        if near is not None and before is not None:
            along = (width - near.width) / (near.width - before.width)
            predicted = method.on_cone(near.theta + along * (near.theta - before.theta))
            evaluation = min(evaluation, loss.evaluate(predicted, width), key=lambda each: self._value(k, each))
        iterate = self._minimised(k, method, evaluation)
        is_null = iterate.theta[-1] <= TOLERANCE * self._first[-1]
        return self._found(k, iterate.evaluation, iterate.step) if iterate.converged and not is_null else None

    def _minimised(self, k: int, method: DampedNewton, evaluation: Evaluation) -> Iterate:
        """Steps with the last Hessian, then with the sample's own where that is too far off or w = 0 may be optimal."""
        loss = self._loss(k)
        if self._hessian is not None:
            # The predicted reduction with a Hessian of another point has to be smaller.
            iterate = method.minimise(loss, evaluation, self._hessian, relative_tolerance=0.1 * WIDTH_TOLERANCE)
            evaluation = iterate.evaluation
            if iterate.converged and not self._is_near_null(k, self._value(k, evaluation), evaluation):
                return iterate
        iterate = method.minimise(loss, evaluation, relative_tolerance=WIDTH_TOLERANCE)
        if self._is_near_null(k, self._value(k, iterate.evaluation), iterate.evaluation):
            # Multipliers prove w = 0 after a step with the Hessian of their point, which is the minimum.
            iterate = method.minimise(loss, iterate.evaluation, relative_tolerance=HALF_OF_DIGITS)
        assert isinstance(iterate.hessian, np.ndarray)
        self._hessian = iterate.hessian if loss.lends_hessian else None
        return iterate

    def _loss(self, k: int) -> SmoothedLoss:
        """The smoothed loss of a problem; losses differ only in z."""
        problem = self.problems[k]
        threshold = problem.program.threshold
        if threshold not in self._losses:
            self._losses[threshold] = smooth_loss(problem, problem.sample)
        return self._losses[threshold]

    def _value(self, k: int, evaluation: Evaluation) -> float:
        return evaluation.value + self.problems[k].program.regulariser.value(evaluation.theta[:-2])

    def _found(self, k: int, evaluation: Evaluation, step: Array) -> Minimum | None:
        """The minimum at a point, given the next step there."""
        problem, theta, width, value = self.problems[k], evaluation.theta, evaluation.width, self._value(k, evaluation)
        program, loss = problem.program, problem.program.loss
        pos, neg = problem.sample.scores(theta[:-2])
        b = theta[-2]
        least = pos.min() - neg.max() if problem.over_pairs else min((pos + b).min(), -(neg + b).max())
        gap = evaluation.smoothing_gap / max(value, SMALL_OBJECTIVE)
        errors_from = min(float(loss.table.breakpoints[0]), 0.0) + (0.0 if loss.is_smooth else width)
        separated = bool(1.0 - least - program.threshold * theta[-1] < errors_from)
        if separated and program.threshold < 0:
            return None
        return Minimum(theta, gap, width, separated, self._is_null(k, value, evaluation, step))

    def _is_near_null(self, k: int, value: float, evaluation: Evaluation) -> bool:
        """Whether the dual value at the minimum, which is at most that of w = 0, may be as large."""
        problem, gap = self.problems[k], evaluation.smoothing_gap
        program = problem.program
        null = program.null.value(problem.sample)
        of_hinges = program.loss.is_hinge and program.comparisons.by_marginals
        return of_hinges and value - (1.0 - _NEAR_NULL) * gap >= null

    def _is_null(self, k: int, value: float, evaluation: Evaluation, step: Array) -> bool:
        """Whether the multipliers after a step, which satisfy the dual constraint, have the dual value of w = 0."""
        if not self._is_near_null(k, value, evaluation):
            return False
        problem, loss = self.problems[k], self._loss(k)
        null = problem.program.null.value(problem.sample)
        step[-1] = float(evaluation.theta[:-2] @ step[:-2]) / evaluation.theta[-1]
        pos, neg, *shares = loss.linearised(evaluation, step)
        dual = problem.dual_problem(shares[0] if shares else None, neg)
        coef = np.zeros(problem.sample.n_features)
        return certify(dual, coef, problem.null_intercept(), (pos, neg), null)[0].gap <= self.tolerance


def is_smooth_path(problems: Sequence[Problem]) -> bool:
    """Whether the method applies: λ > 0 or z < 0, the norm l2, and rows in memory."""
    program, sample = problems[0].program, problems[0].sample
    return (
        all(PARTS["smoothed path"].takes(each) for each in problems)
        and program.used_norm.is_euclidean
        and sample.n_features <= DENSE_FEATURES
        and bool(sample.mean_difference.any())
    )


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
