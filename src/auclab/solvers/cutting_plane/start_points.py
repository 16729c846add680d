"""The points of the first cuts."""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.types import Array

#: Multiples of the difference of the class means (in units of the spread) among which the best is taken.
LENGTHS = (0.1, 0.3, 1.0, 3.0)


def start_points(problem: Problem, unit: Array, max_nonzero: int | None = None) -> list[Array]:
    """The points w = 0 and the scaled difference of the class means, as (x, b, 0) with ``w = x·unit``.

    `max_nonzero` is about the number of features kept of the second point, those of largest difference.
    """
    sample = problem.sample
    intercept = problem.null_intercept()
    direction = sample.mean_difference * unit**2
    if max_nonzero is not None:
        size = np.abs(direction / unit)
        direction = np.where(size >= np.sort(size)[-max_nonzero:][0], direction, 0.0)
    best = min(LENGTHS, key=lambda length: problem.objective(length * direction, intercept))
    return [np.r_[x, intercept, 0.0] for x in (np.zeros(sample.n_features), best * direction / unit)]
