"""The value of a program in twice the working precision, where its rounding error may exceed 1e-12."""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab.compiled.accurate import accurate_scores
from auclab.compiled.doubledouble import two_product, two_sum
from auclab.margins.margins import DoubleDouble
from auclab.precision import EQUAL, ROUNDING, SMALL_OBJECTIVE
from auclab.samples.memory import Sample
from auclab.types import Array


def accurate_objective(
    program: Any, coef: Array, intercept: float, sample: Sample, intercept_low: float = 0.0
) -> float:
    """The objective, computed again in twice the working precision where its rounding error may exceed 1e-12.

    The error of a score ``w·x`` is about ``n · 1e-16 · Σ|w_k x_k|``: with margins of 1e-9, w is of the order of 1e9,
    and a hinge of 1 would be known to 1e-7 only. Counts of pairs and samples in blocks keep their value. Other losses
    have sums of squares of scores over pairs, which cancel: they are computed again where that may lose digits.

    Where scores are so far apart that a hinge of 1 is below their rounding in twice the working precision as well, and
    a pair is nearer than that, a hinge is added, so that the value is not below that of the program.

    `intercept`, `intercept_low`: b, as ``high + low``.
    """
    plain = program.objective(coef, intercept, sample)
    if sample.in_blocks or program.kind not in ("hinge", "cvar", "piecewise"):
        return plain
    size = float(abs(coef) @ sample.peaks) + abs(intercept)
    if program.kind == "piecewise":
        if not EQUAL < 2.0**-52 * size**2 / max(plain, SMALL_OBJECTIVE) < np.inf:
            return plain
        shift = 1.0 - program.threshold * program.regulariser.norm(coef)
        mean = program.comparisons.accurate_mean(program.loss, sample.scores(coef), intercept, shift, sample)
        return float(mean + program.regulariser.value(coef))
    if program.threshold:
        size += abs(program.threshold) * program.regulariser.norm(coef)
    if not (sample.n_features + 4) * 2.0**-52 * size > ROUNDING:
        return plain
    scores = accurate_scores(sample.X_pos, coef), accurate_scores(sample.X_neg, coef)
    if not all(np.isfinite(part).all() for score in scores for part in score):
        return plain
    value = objective_at(program, coef, (intercept, intercept_low), sample, *scores)
    return value + _unknown(scores[0][0], scores[1][0], size)


def _unknown(pos: Array, neg: Array, size: float) -> float:
    """What the hinges of scores in twice the working precision may lack: 0 unless a hinge of 1 is below their rounding.

    `pos` (n_pos,), `neg` (n_neg,): scores, rounded. `size`: at least the largest of them. Pairs that are farther apart
    than the rounding have a hinge of 0, or one to which it does not matter.
    """
    if 2.0**-103 * size <= ROUNDING:
        return 0.0
    rounding = 2.0**-103 * float(np.ptp(np.r_[pos, neg]))
    ascending = np.sort(neg)
    places = np.searchsorted(ascending, pos)
    nearest = min(float(abs(pos - ascending[np.clip(places + side, 0, neg.size - 1)]).min()) for side in (-1, 0))
    return 1.0 + rounding if nearest <= rounding and rounding > ROUNDING else 0.0


def objective_at(
    program: Any,
    coef: Array,
    intercept: tuple[float, float],
    sample: Sample,
    scores_pos: DoubleDouble,
    scores_neg: DoubleDouble,
) -> float:
    """The objective of a mean of hinges where scores and b are given as ``high + low``."""
    size = program.regulariser.norm.accurate(coef)
    product, error = two_product(-program.threshold, size[0])
    high, rest = two_sum(1.0, product)
    shift = high, rest + error - program.threshold * size[1]
    hinge = program.comparisons.accurate_mean_hinge(intercept, sample, scores_pos, scores_neg, shift)
    return hinge + program.regulariser.value(coef)
