"""`auclab.solve` with a kernel, and many values of λ or z."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import AuclabError, Status
from auclab._core.compiling import compile_loops
from auclab.formulations.base import Program
from auclab.formulations.problem import Ranking
from auclab.kernels.kernel import Kernel, as_kernel
from auclab.models.timings import Clock
from auclab.solvers.budget import NEWTON_FEATURES
from auclab.solvers.kernel.solution import KernelSolution, verified
from auclab.solvers.kernel.stages import LandmarkSolve, solve_without_norm
from auclab.solvers.kernel.training import KernelMatrix, Training, check_program, training_problem
from auclab.solvers.monitor import Monitor, one_thread_each, stop_on_interrupt
from auclab.solvers.path_parameters import PARAMETERS, along
from auclab.solvers.solution import Solution

#: What `auclab.solve` passes on.
OPTIONS = ("max_landmarks", "memory_gb")
_OF_SAMPLES = ("pos_label", "sample_weight")
#: Relative gap where none is given: smaller ones take many more landmarks and seldom rank better.
KERNEL_TOLERANCE = 1e-3
#: Where none are given: the number of landmarks of programs without a norm, which use all of them; the others use at
#: most as many as newton has a matrix of rows and columns for.
_WITHOUT_NORM = 200
#: Bytes an entry of the features: the functions of the span, their copy by rows, and two in the solve.
_BYTES_PER_ENTRY = 32.0


def solve_kernel(
    program: Program,
    X: Any,
    y: ArrayLike | None,
    kernel: str | Kernel,
    *,
    tolerance: float = KERNEL_TOLERANCE,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    max_landmarks: int | None = None,
    memory_gb: float = 2.0,
    ranking: Ranking | None = None,
) -> KernelSolution:
    """Solve a formulation over the space of a kernel and certify the solution for the whole space.

        min_h  mean_k [1 − m_k(h) − z‖h‖_H]₊ + λ‖h‖_H   (or λ‖h‖_H²),     h(x) = Σ_k c_k κ(x_k, x)

    Norton & Uryasev 2018, the remark on reproducing kernels; derivations 7.6 have the bound for the whole space.

    Parameters
    ----------
    program : Program
        Convex, with the norm l2; counts of pairs have no kernel form. A program without a norm (z = 0, λ = 0) depends
        on the span alone, in which it is then certified.
    X : array, table or sparse matrix of shape (n_samples, n_features)
        For `Precomputed` the kernel matrix, of shape (n_samples, n_samples).
    y, sample_weight, pos_label
        As in `auclab.solve`.
    kernel : str or Kernel
    tolerance : float
        Relative gap, > 0, to the optimum over the whole space.
    time_limit : float, optional
        Seconds, > 0.
    max_landmarks : int, optional
        2,000 if left out, and 200 for a program without a norm, which uses all of them. Fewer where the memory holds
        no more.
    memory_gb : float
        For kernel values and features. The kernel matrix is kept where it takes at most half of it.
    ranking : Ranking, optional
        Which rows are compared: within groups, by grades, by times; two classes if left out.

    Returns
    -------
    KernelSolution

    Raises
    ------
    AuclabError
        Bad input, or a choice that cannot be worked with; the message says what works.

    See Also
    --------
    auclab.solve : With ``kernel=…`` calls this.

    Examples
    --------
    An exclusive or, which no linear scorer ranks:

    >>> from auclab.formulations import RankSVM
    >>> from auclab.kernels import RBF
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> solution = solve_kernel(RankSVM(0.01, squared=True), X, y, RBF(1.0), tolerance=1e-8)
    >>> solution.decision_function(X).round(3).tolist()   # h = w on the positives, −w on the negatives: margins 2w = 1
    [-0.5, -0.5, 0.5, 0.5]
    """
    clock = Clock(time_limit)
    choices = Choices(tolerance, max_landmarks, memory_gb)
    training = training_problem(
        program,
        X,
        y,
        as_kernel(kernel),
        sample_weight=sample_weight,
        pos_label=pos_label,
        memory=choices.memory,
        ranking=ranking,
    )
    return solve_training(training, choices, clock)[0]


@dataclass(frozen=True)
class Choices:
    """How the space of a kernel is searched; the parameters of `solve_kernel`, checked.

    See Also
    --------
    auclab.solvers.kernel.solve.solve_kernel : Has their meaning.
    """

    tolerance: float = KERNEL_TOLERANCE
    max_landmarks: int | None = None
    memory_gb: float = 2.0

    def __post_init__(self) -> None:
        _check(self.max_landmarks, self.memory_gb, self.tolerance)

    @property
    def memory(self) -> float:
        """Bytes."""
        return 1e9 * self.memory_gb


def solve_training(
    training: Training,
    choices: Choices,
    clock: Clock,
    *,
    start: LandmarkSolve | None = None,
    of_gain: bool = False,
) -> tuple[KernelSolution, LandmarkSolve | None]:
    """Solve a program on a sample that was checked before, from where another λ or z ended.

    Parameters
    ----------
    training : Training
    choices : Choices
    clock : Clock
        Of the solve.
    start : LandmarkSolve, optional
        What was returned for another λ or z on the same sample.
    of_gain : bool
        Whether the tolerance is also relative to what the objective gains over a constant scorer.

    Returns
    -------
    KernelSolution, LandmarkSolve or None
        The second where another solve can begin at it.
    """
    program, tolerance = training.program, choices.tolerance
    compiling = compile_loops(*program.comparisons.loops["values"], *program.comparisons.loops["steps"])
    given = choices.max_landmarks or (NEWTON_FEATURES if program.uses_norm else _WITHOUT_NORM)
    # The landmarks that fit in memory together with K.
    m, left = training.matrix.size, choices.memory - training.matrix.held
    most, ended = max(1, min(int(given), m, int(left / (_BYTES_PER_ENTRY * m)))), None
    # Without a norm a w may become as long as floats are before its span is wide enough.
    monitor = Monitor(tolerance, clock)
    with one_thread_each(), np.errstate(over="ignore"), stop_on_interrupt(monitor.interrupted):
        if training.matrix.largest == 0:
            found = LandmarkSolve(training, tolerance, most, monitor).found(Status.OPTIMAL, "all kernel values are 0")
        elif not program.uses_norm:
            found = solve_without_norm(training, tolerance, most, monitor)
        else:
            ended = LandmarkSolve(training, tolerance, most, monitor, start=start, of_gain=of_gain)
            found = ended.solve()
        solution = verified(training, found, tolerance)
    timings = replace(solution.timings, compile=compiling, solve=monitor.seconds)
    notes = (*solution.notes, *_memory_note(most, given, training, choices.memory_gb))
    return replace(solution, timings=timings, notes=notes), ended


def check_kernel_choices(solver: str, constraints: Any, options: Mapping[str, Any]) -> None:
    """Raise `AuclabError` for choices of `auclab.solve` that have no meaning with a kernel.

    Parameters
    ----------
    solver : str
        "auto" or "newton", which solves in the span of the landmarks.
    constraints
        None.
    options : mapping
        Those of `solve_kernel`.
    """
    if solver not in ("auto", "newton"):
        raise AuclabError(
            f"solver={solver} supports linear scorers only; with a kernel keep solver=auto, which is newton"
        )
    if constraints is not None:
        raise AuclabError("constraints are on the coefficients of columns, but a kernel has none; leave one out")
    if unknown := sorted(set(options) - {*OPTIONS, *_OF_SAMPLES}):
        raise AuclabError(f"a kernel has no option {', '.join(unknown)}; options are {', '.join(OPTIONS)}")


def _check(max_landmarks: int | None, memory_gb: float, tolerance: float) -> None:
    whole = isinstance(max_landmarks, int | float | np.number) and not isinstance(max_landmarks, bool)
    if max_landmarks is not None and not (whole and max_landmarks >= 1 and max_landmarks % 1 == 0):
        raise AuclabError(f"max_landmarks must be a whole number ≥ 1 or None, got {max_landmarks!r}")
    if not 0 < memory_gb < math.inf:
        raise AuclabError(f"memory_gb must be a finite number > 0, got {memory_gb}")
    if not 0 < tolerance < math.inf:
        raise AuclabError(f"tolerance must be a positive number, got {tolerance}")


def _memory_note(most: int, given: int, training: Training, memory_gb: float) -> tuple[str, ...]:
    if most >= min(given, training.matrix.size):
        return ()
    return (f"memory_gb = {memory_gb:g} holds the features of {most} landmarks, not of {given}",)


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
