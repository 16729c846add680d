"""The objective at a point, between two rationals that are equal unless a Euclidean length is a root."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.check.data import Data, fractions
from auclab.check.exact import Integers, aligned, norm
from auclab.check.program import Program


def objective(program: Program, data: Data, coef: NDArray[np.float64], intercept: float) -> tuple[Fraction, Fraction]:
    """Lower and upper bound of the value of `program` at ``(w, b)``.

    Examples
    --------
    Margins 3, 1, 1 and −1: three pairs have no hinge at w = 1, the wrong one has 2.

    >>> data = Data.of(np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([False, False, True, True]))
    >>> objective(Program.from_stored({"name": "bauc"}), data, np.array([1.0]), 0.0)
    (Fraction(1, 2), Fraction(1, 2))
    """
    scores, exponent = data.scores(coef)
    if program.kind == "count":
        value = _share_of_errors(data, scores)
        return value, value
    sizes = norm(fractions(coef), program.norm) if program.uses_norm else (Fraction(0), Fraction(0))
    ends = [_value(program, data, scores, exponent, Fraction(float(intercept)), size) for size in dict.fromkeys(sizes)]
    return min(ends), max(ends)


def _value(
    program: Program, data: Data, scores: Integers, exponent: int, intercept: Fraction, size: Fraction
) -> Fraction:
    """The value as a function of ‖w‖; for z ≤ 0 and λ ≥ 0 it rises with it, and for z > 0 the hinge falls."""
    shift = 1 - program.threshold * size
    penalty = program.penalty * (size * size if program.squared else size)
    # Numbers over powers of two: of the floats, and of `norm`.
    place = max(shift.denominator.bit_length(), intercept.denominator.bit_length()) - 1
    constants = np.array([int(shift * 2**place), int(intercept * 2**place)], dtype=object)
    (scores, constants), exponent = aligned([(scores, exponent), (constants, place)])
    start, offset = constants
    pos, neg = scores[data.positive], scores[~data.positive]
    weight_pos, weight_neg = data.weight[data.positive], data.weight[~data.positive]
    if program.kind == "points":
        hinges = [
            (np.maximum(start - (pos + offset), 0) * weight_pos).sum(),
            (np.maximum(start + (neg + offset), 0) * weight_neg).sum(),
        ]
        hinge = Fraction(int(sum(hinges)), int(data.weight.sum()))
    else:
        # Σ_j taken_j Σ_i weight_i [s + n_j − p_i]₊ / (Σ taken · Σ weight)
        taken = _hardest(neg, weight_neg, program.max_fpr)
        total = int(np.dot(_row_sums(pos, weight_pos, neg + start), taken))
        hinge = Fraction(total, int(taken.sum()) * int(weight_pos.sum()))
    return hinge * Fraction(1, 2**exponent) + penalty if exponent >= 0 else hinge * 2**-exponent + penalty


def _row_sums(pos: Integers, weight: Integers, levels: Integers) -> Integers:
    """``Σ_i weight_i [level − pos_i]₊`` for every level."""
    order = np.argsort(pos, kind="stable")
    pos, weight = pos[order], weight[order]
    zero = np.array([0], dtype=object)
    counts = np.concatenate([zero, np.cumsum(weight)])
    sums = np.concatenate([zero, np.cumsum(weight * pos)])
    below = np.searchsorted(pos, levels)
    return np.asarray(levels * counts[below] - sums[below])


def _hardest(scores: Integers, weight: Integers, share: Fraction) -> Integers:
    """Integers proportional to the part of every weight that is among the share α of the highest scores."""
    if share == 1:
        return weight
    weight = weight * share.denominator
    left = share.numerator * int(weight.sum()) // share.denominator
    taken = np.zeros(weight.size, dtype=np.int64).astype(object)
    for row in np.argsort(-scores, kind="stable"):
        if left == 0:
            break
        taken[row] = min(weight[row], left)
        left -= taken[row]
    return taken


def _share_of_errors(data: Data, scores: Integers) -> Fraction:
    """``P(p ≤ n)``, the weight of the pairs that are not in the right order."""
    pos, weight = scores[data.positive], data.weight[data.positive]
    order = np.argsort(pos, kind="stable")
    counts = np.concatenate([np.array([0], dtype=object), np.cumsum(weight[order])])
    wrong: Any = counts[np.searchsorted(pos[order], scores[~data.positive], side="right")]
    weight_neg = data.weight[~data.positive]
    return Fraction(int(np.dot(wrong, weight_neg)), int(weight.sum()) * int(weight_neg.sum()))
