"""A path over the space of a kernel: one formulation at many values of λ or z on one sample, which share its matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from auclab.formulations.base import Program
from auclab.kernels.kernel import Kernel, as_kernel
from auclab.models.timings import Clock
from auclab.solvers.kernel.matrix import KernelMatrix
from auclab.solvers.kernel.solve import KERNEL_TOLERANCE, Choices, check_kernel_choices, solve_training
from auclab.solvers.kernel.training import check_program, training_problem
from auclab.solvers.path_parameters import PARAMETERS, along
from auclab.solvers.solution import Solution
from auclab.types import Status


def solve_kernel_path(
    program: Program,
    X: Any,
    y: ArrayLike,
    kernel: str | Kernel,
    values: Sequence[float],
    *,
    parameter: str = "penalty",
    solver: str = "auto",
    tolerance: float | None = None,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    constraints: Any = None,
    matrix: KernelMatrix | None = None,
    **options: Any,
) -> tuple[Solution, ...]:
    """Solve a formulation over a kernel's space at every one of `values`, each certified by itself.

    From the simplest scorer to the longest: every solve begins with the landmarks, the scorer and the dual point of the
    one before. The kernel matrix is computed once.

    Parameters
    ----------
    program : Program
        Its own value of `parameter` is not used.
    X, y, kernel, solver, sample_weight, pos_label, constraints, **options
        As in `auclab.solvers.kernel.solve.solve_kernel`.
    tolerance : float, optional
        Relative gap, > 0, `KERNEL_TOLERANCE` if left out; also relative to what the objective gains over
        that of a constant scorer, which with a large λ would be within any tolerance.
    values : sequence of float
        In any order.
    parameter : {"penalty", "threshold"}
        λ or z.
    time_limit : float, optional
        Seconds for every value.
    matrix : KernelMatrix, optional
        That of the rows of `X`, in their order, where there is one; its kernel is then taken.

    Returns
    -------
    tuple of Solution
        In the order of `values`.

    Raises
    ------
    AuclabError
        As `solve_kernel` and `auclab.solvers.path.solve_path`.
    KeyboardInterrupt
        A solve was stopped by Ctrl-C, and with it the path.

    See Also
    --------
    auclab.estimators.AUCClassifier.fit_path : The same as scikit-learn estimators.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> from auclab.kernels import RBF
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> path = solve_kernel_path(RankSVM(1.0, squared=True), X, y, RBF(1.0), [0.01, 10.0], tolerance=1e-8)
    >>> [round(float(solution.decision_function(X)[2]), 3) for solution in path]   # margins 1, and (1 − 1/e)²/20
    [0.5, 0.01]
    """
    check_kernel_choices(solver, constraints, options)
    choices = Choices(KERNEL_TOLERANCE if tolerance is None else tolerance, **options)
    programs = along(program, parameter, values)
    for each in programs:
        check_program(each)
    training = training_problem(
        programs[0],
        X,
        y,
        as_kernel(kernel),
        sample_weight=sample_weight,
        pos_label=pos_label,
        memory=choices.memory,
        matrix=matrix,
    )
    found: dict[int, Solution] = {}
    last = None
    for k in sorted(range(len(programs)), key=lambda k: -PARAMETERS[parameter] * float(values[k])):
        at_value = replace(training, program=programs[k])
        found[k], last = solve_training(at_value, choices, Clock(time_limit), start=last, of_gain=True)
        if found[k].status is Status.INTERRUPTED:
            raise KeyboardInterrupt
    return tuple(found[k] for k in range(len(programs)))
