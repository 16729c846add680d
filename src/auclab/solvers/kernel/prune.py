"""A scorer on fewer landmarks, whose gap is certified again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.precision import LITTLE, SMALL_OBJECTIVE, TOLERANCE
from auclab.solvers.kernel.bound import DualPoint
from auclab.solvers.kernel.dual_points import from_multipliers
from auclab.solvers.kernel.landmarks import superfluous
from auclab.solvers.kernel.result import Found, verified
from auclab.solvers.kernel.solution import KernelSolution
from auclab.solvers.kernel.span import Span
from auclab.solvers.kernel.training import Training, training_problem
from auclab.solvers.kernel.verification import evaluate
from auclab.solvers.newton.solver import solve as solve_newton
from auclab.solvers.threads import one_thread_each
from auclab.solvers.verified.scorers import proves_by_slopes
from auclab.types import Array, AuclabError, Status

#: Numbers of landmarks that are tried, and by what the allowed change of h is multiplied or divided in between.
_TRIALS, _FACTOR = 7, 3.0


def prune(
    solution: KernelSolution,
    X: Any,
    y: ArrayLike,
    *,
    tolerance: float,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    memory_gb: float = 2.0,
) -> KernelSolution:
    """Remove landmarks as long as the gap stays within the tolerance, and solve again on the others.

    Removing landmark l moves h by at least ``|c_l|/√((K_LL⁻¹)_ll)``; landmarks that move it least are removed first,
    and the program is solved in the span of the others. The lower bound is proved again from the multipliers of
    `solution`.

    Parameters
    ----------
    solution : KernelSolution
    X, y, sample_weight, pos_label
        The training sample.
    tolerance : float
        Relative gap, at least that of `solution`.
    memory_gb : float
        As in `auclab.solve`.

    Returns
    -------
    KernelSolution
        `solution` itself if no landmark can be removed.

    Raises
    ------
    AuclabError
        A tolerance below the gap, a sample on which the objective differs, or a program whose multipliers do not prove
        its bound: over groups, grades or times, or with another loss than the hinge.

    See Also
    --------
    auclab.solvers.kernel.solution.KernelSolution : The solution to prune.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> from auclab.kernels import RBF
    >>> from auclab.solvers.kernel.solve import solve_kernel
    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> solution = solve_kernel(RankSVM(0.01, squared=True), x, abs(x[:, 0]) < 0.5, RBF(1.0), tolerance=1e-4)
    >>> fewer = prune(solution, x, abs(x[:, 0]) < 0.5, tolerance=0.1)
    >>> fewer.n_landmarks < solution.n_landmarks, fewer.gap <= 0.1
    (True, True)
    """
    if not solution.gap <= tolerance:
        raise AuclabError(f"tolerance={tolerance:g} is below the gap of the solution, {solution.gap:.3g}")
    if proves_by_slopes(solution.formulation):
        raise AuclabError(
            "prune takes the hinge over two classes, whose multipliers prove the bound again; set max_landmarks in "
            "auclab.solve for fewer landmarks"
        )
    training = training_problem(
        solution.formulation,
        X,
        y,
        solution.kernel,
        sample_weight=sample_weight,
        pos_label=pos_label,
        memory=1e9 * memory_gb,
    )
    with one_thread_each():
        return _pruned(solution, training, tolerance)


def _pruned(solution: KernelSolution, training: Training, tolerance: float) -> KernelSolution:
    span, coef, objective = _span_of(solution, training)
    dual = _dual_of(solution, training)
    bound = dual.value(training.program) if solution.space == "whole" else solution.lower_bound
    slack = tolerance * max(objective, SMALL_OBJECTIVE) - (objective - bound)
    # To first order the objective rises by ‖g‖/(2‖h‖) times the square of what h moves by.
    allowed = slack * 2.0 * max(solution.length, 1e-300) / max(dual.length, 1e-300)
    best, fitted = solution, set[bool]()
    for _ in range(_TRIALS):
        found = _solved(solution, training, span, coef, allowed, dual, bound, tolerance)
        fits = found is None or found.gap <= tolerance
        if found is not None and fits and found.n_landmarks < best.n_landmarks:
            best = found
        fitted.add(fits)
        if len(fitted) == 2:  # more is too much, or less is enough
            break
        allowed = allowed * _FACTOR if fits else allowed / _FACTOR
    return best


def _span_of(solution: KernelSolution, training: Training) -> tuple[Span, Array, float]:
    """The span of the landmarks, the scorer in it, and its objective on the sample."""
    if solution.landmarks.size and int(solution.landmarks.max()) >= training.matrix.size:
        raise AuclabError("the sample has fewer rows than the one that was solved; pass the training sample")
    place = np.empty(training.matrix.size, dtype=np.intp)
    place[training.order] = np.arange(training.matrix.size)
    landmarks = place[solution.landmarks]
    objective = evaluate(training, landmarks, solution.dual_coef, solution.intercept).objective
    if abs(objective - solution.objective) > TOLERANCE * max(solution.objective, SMALL_OBJECTIVE) + solution.rounding:
        raise AuclabError(
            f"the objective on this sample is {objective:.6g}, that of the solution {solution.objective:.6g}; pass the "
            "training sample with its weights"
        )
    span = Span.empty(training.matrix)
    if landmarks.size:
        span = span.extended(training.matrix, landmarks)
    return span, span.triangle @ solution.dual_coef, objective


def _dual_of(solution: KernelSolution, training: Training) -> DualPoint:
    """The dual point of the solution's multipliers, from all of K again."""
    if solution.multipliers is None:
        raise AuclabError("the solution has no multipliers, so a pruned one cannot be certified")
    labels = training.labels
    pos, neg = solution.multipliers[labels.positive], solution.multipliers[~labels.positive]
    return from_multipliers(training, pos, neg, solution.shares_neg)


def _solved(
    solution: KernelSolution,
    training: Training,
    span: Span,
    coef: Array,
    allowed: float,
    dual: DualPoint,
    bound: float,
    tolerance: float,
) -> KernelSolution | None:
    """The program in the span without what it may lose; None where that is nothing."""
    kept = superfluous(span, coef, allowed, span.size - 1) if span.size > 1 else np.ones(span.size, dtype=bool)
    if kept.all():
        return None
    smaller, Q = span.reduced(training.matrix, kept)
    problem = training.in_features(smaller.features)
    raw = solve_newton(problem, tolerance=LITTLE * tolerance, start=(Q.T @ coef, solution.intercept))
    note = f"pruned from {solution.n_landmarks} to {smaller.size} landmarks"
    found = Found(
        landmarks=smaller.landmarks,
        coefficients=smaller.coefficients(raw.coef),
        intercept=raw.intercept,
        status=Status.OPTIMAL,
        dual=dual,
        bound=bound,
        iterations=solution.iterations + raw.iterations,
        stages=solution.stages,
        history=solution.history,
        seconds=solution.timings.solve + raw.timings.solve,
        notes=(*solution.notes, note),
        space=solution.space,
        norm_bound=solution.certificate.norm_bound,
    )
    return verified(training, found, tolerance, solution.solver)
