"""The objective at a point, between two rationals that are equal unless a Euclidean length is a root."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from auclab.check.data import Data, fractions
from auclab.check.program import Program
from auclab.check.transport import Integers, in_units


def objective(program: Program, data: Data, coef: NDArray[np.float64], intercept: float) -> tuple[Fraction, Fraction]:
    """Lower and upper bound of the value of `program` at ``(w, b)``."""
    scores, exponent = data.scores(coef)
    entries, offset = fractions(coef), Fraction(float(intercept))
    sizes = program.norm.of(entries) if program.threshold else (Fraction(0), Fraction(0))
    ends = [
        _loss(program, data, scores, exponent, 1 - program.threshold * size, offset) for size in dict.fromkeys(sizes)
    ]
    low, high = program.regulariser.value(entries)
    error = 2 * data.score_error(coef)  # of a margin, whose hinge changes by no more
    return max(Fraction(0), min(ends) - error) + low, max(ends) + error + high


def _loss(
    program: Program, data: Data, scores: Integers, exponent: int, start: Fraction, intercept: Fraction
) -> Fraction:
    """The mean of ``ℓ(start − m)``, monotone in `start`, whose denominator is a power of two as those of floats."""
    return program.comparison.mean(program.loss, data, *in_units(scores, exponent, start, intercept))
