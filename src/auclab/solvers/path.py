"""A path: one formulation at many values of λ or z on one sample, each solve started from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints, constraints_on_columns
from auclab.formulations.named import as_formulation
from auclab.formulations.problem import Problem
from auclab.kernels.kernel import Kernel
from auclab.models.timings import Clock
from auclab.precision import TOLERANCE
from auclab.solvers.dispatch import check_limits, solve_problem
from auclab.solvers.path_parameters import along, simplest_first
from auclab.solvers.registry import find_solver
from auclab.solvers.selection import select_solver
from auclab.solvers.solution import Solution
from auclab.types import Array, AuclabError, Status

if TYPE_CHECKING:
    from auclab.solvers.kernel.matrix import KernelMatrix


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
    >>> [round(solution.objective, 6) for solution in path]   # w = 1, ⅓, 0: margins w, −w, 3w, w
    [0.6, 0.833333, 1.0]
    """
    if kernel is not None:
        from auclab.solvers.kernel.path import solve_kernel_path  # takes a second of the start-up
        from auclab.solvers.kernel.solve import KERNEL_TOLERANCE

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
