"""The objective of a scorer on landmarks, evaluated again from its coefficients, with an error bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.accurate import CHUNK
from auclab.formulations.accurate import objective_at
from auclab.kernels.kernel import ROUNDING
from auclab.solvers.kernel.training import Training
from auclab.solvers.verified.scorers import proves_by_slopes
from auclab.types import Array


@dataclass(frozen=True)
class Evaluation:
    """A scorer ``Σ_k c_k κ(x_k, ·) + b`` at the training sample.

    `objective`: of the program in the space, from sorted scores. `length`: ``‖h‖_H``. `rounding`: bound on the
    rounding error of the objective.
    """

    objective: float
    length: float
    rounding: float


def evaluate(training: Training, landmarks: NDArray[np.intp], coefficients: Array, intercept: float) -> Evaluation:
    """The objective at ``h = Σ_k c_k κ(x_k, ·) + b`` with ``‖h‖² = cᵀ K_LL c``, without pairs.

    `landmarks` (n,): numbers of observations in `training.order`.
    """
    program, matrix, labels = training.program, training.matrix, training.labels
    scores = np.empty(matrix.size)
    for begin in range(0, matrix.size, CHUNK):
        part = slice(begin, min(begin + CHUNK, matrix.size))
        scores[part] = matrix.block(part, landmarks) @ coefficients
    square = math.fsum((coefficients * scores[landmarks]).tolist())
    length = math.sqrt(max(0.0, square))
    pos, neg = labels.of_rows(scores[:, None]).scores(np.ones(1))
    if proves_by_slopes(program):
        shift = 1.0 - program.threshold * length
        objective = program.comparisons.mean(program.loss, (pos, neg), intercept, shift, labels)
        objective += program.regulariser.of_size(length)
        steepest = float(program.loss.slope(shift + float(np.ptp(scores))))
    else:
        scored = (pos, np.zeros_like(pos)), (neg, np.zeros_like(neg))
        objective = objective_at(program, np.array([length]), (intercept, 0.0), labels, *scored)
        steepest = 1.0
    weight = float(abs(coefficients).sum())
    of_score = weight * (matrix.error + (landmarks.size + 2) * ROUNDING * matrix.largest)
    of_square = weight * of_score
    of_length = of_square / length if length > 0 else math.sqrt(of_square)
    rounding = steepest * (2.0 * of_score + abs(program.threshold) * of_length)
    rounding += program.regulariser.weight * (of_square if program.regulariser.squared else of_length)
    return Evaluation(objective, length, rounding)
