"""Linear equations with integer coefficients, solved exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from auclab.check.transport import Integers


def solve_exactly(matrix: Integers, right: Integers) -> list[Fraction] | None:
    """A rational solution of ``matrix x = right``, None if there is none; free unknowns are 0.

    Fraction-free elimination (Bareiss 1968): every entry is a minor of the matrix, so that divisions leave no rest.
    """
    rows, columns = matrix.shape
    work = np.concatenate([matrix, right[:, None]], axis=1)
    previous, done = 1, 0
    pivots: list[int] = []
    for column in range(columns):
        candidates = np.flatnonzero(work[done:, column] != 0)
        if not candidates.size:
            continue
        row = done + int(min(candidates, key=lambda k: abs(work[done + k, column])))
        work[[done, row]] = work[[row, done]]
        pivot = work[done, column]
        below = work[done + 1 :, column:]
        work[done + 1 :, column:] = (below * pivot - np.outer(below[:, 0], work[done, column:])) // previous
        previous, done = pivot, done + 1
        pivots.append(column)
        if done == rows:
            break
    if (work[done:, -1] != 0).any():
        return None
    solution = [Fraction(0)] * columns
    for row in range(done - 1, -1, -1):
        known = sum((int(work[row, k]) * solution[k] for k in pivots[row + 1 :]), Fraction(0))
        solution[pivots[row]] = (int(work[row, -1]) - known) / int(work[row, pivots[row]])
    return solution
