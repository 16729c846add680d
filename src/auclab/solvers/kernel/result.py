"""The verified solution of a solve over a reproducing-kernel space."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auclab.models.timings import Timings
from auclab.precision import TOLERANCE
from auclab.solvers.certificate import relative_gap
from auclab.solvers.kernel.bound import DualPoint, Functions
from auclab.solvers.kernel.solution import KernelSolution, Stage
from auclab.solvers.kernel.training import Training
from auclab.solvers.kernel.verification import evaluate
from auclab.solvers.solution import Certificate
from auclab.types import Array, Status


@dataclass(frozen=True)
class Found:
    """A scorer on landmarks and a dual point, not verified yet.

    `landmarks` (n,): numbers of observations in `Training.order`. `bound`: its lower bound, or that of a solve in the
    span. `space`: for which functions the bound is.
    """

    landmarks: NDArray[np.intp]
    coefficients: Array
    intercept: float
    status: Status
    dual: DualPoint
    bound: float
    iterations: int = 0
    stages: tuple[Stage, ...] = ()
    history: tuple[tuple[float, float, float], ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    space: Literal["whole", "span"] = "whole"
    norm_bound: float = field(default=math.inf)


def verified(training: Training, found: Found, tolerance: float) -> KernelSolution:
    """The solution with its objective evaluated again from the coefficients, and its certificate."""
    program, labels = training.program, training.labels
    landmarks, coefficients, intercept, notes = found.landmarks, found.coefficients, found.intercept, found.notes
    used = coefficients != 0
    landmarks, coefficients = landmarks[used], coefficients[used]
    value = evaluate(training, landmarks, coefficients, intercept)
    if not value.objective < program.null.value(labels):
        landmarks, coefficients = landmarks[:0], coefficients[:0]
        intercept = program.null.intercept(labels)
        value = evaluate(training, landmarks, coefficients, intercept)
        notes = (*notes, "h = 0 is optimal within the tolerance") if found.status is Status.OPTIMAL else notes
    # Rounding of the objective lowers the bound.
    bound = max(0.0, found.bound - value.rounding)
    certificate = Certificate(
        objective=value.objective,
        lower_bound=bound,
        absolute_gap=value.objective - bound,
        gap=relative_gap(value.objective, bound),
        dual_residual=0.0,
        norm_bound=found.norm_bound,
    )
    status = found.status
    if found.bound > value.objective + value.rounding + 1e-9 * max(1.0, value.objective):
        # Only if γᵀKγ is too small, because a large precomputed matrix is not positive semidefinite.
        certificate = Certificate(value.objective, math.nan, math.nan, math.nan, math.nan)
        status = Status.UNCERTIFIED
        notes = (*notes, "the bound exceeds the objective: the matrix of kernel values is not positive semidefinite")
    if status is Status.OPTIMAL and found.space == "span":
        status = Status.OPTIMAL_WITHIN
    if status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN) and certificate.gap > (1.0 + TOLERANCE) * tolerance:
        status = Status.ITERATION_LIMIT
        notes = (*notes, f"rounding of kernel values may change the objective by {value.rounding:.1g}")
    scale = found.dual.scaled(program)[1]
    multipliers = training.multipliers(scale * found.dual.dual)
    return KernelSolution(
        coef=None,  # type: ignore[arg-type]
        intercept=intercept,
        formulation=program,
        certificate=certificate,
        status=status,
        solver="landmarks",
        timings=Timings(solve=found.seconds),
        iterations=found.iterations,
        history=found.history or ((found.seconds, value.objective, bound),),
        multipliers=multipliers,
        notes=notes,
        shares_neg=found.dual.share_neg,
        columns=training.labels.columns,
        kernel=training.kernel,
        landmarks=training.order[landmarks],
        rows=training.rows_of(landmarks),
        offset=training.offset,
        dual_coef=coefficients,
        length=value.length,
        space=found.space,
        rounding=value.rounding,
        stages=found.stages,
        dual_functions=_in_data_order(training, found.dual) if found.space == "whole" else (),
    )


def _in_data_order(training: Training, dual: DualPoint) -> Functions:
    """The scorers of a dual point over ranked pairs, of rows in the order of the data."""
    if training.labels.is_of_classes or dual.scorers is None:
        return ()
    place = np.argsort(training.order)
    most = sum(weight for weight, *_ in dual.scorers) * (1.0 + 2.0**-50)  # rounded sums are at most 1, exactly
    return tuple((weight / max(1.0, most), coef[place], width, start) for weight, coef, width, start in dual.scorers)
