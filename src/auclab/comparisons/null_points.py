"""The level at which w = 0 becomes optimal: closed form over pairs, a nearest-point program over points (derived).

The programs themselves are in `auclab.projection`; comparisons run no solver of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab.projection.common_mean import weights_of_mean
from auclab.projection.nearest_mean import nearest_mean
from auclab.regularisers import VectorNorm
from auclab.samples.memory import Sample
from auclab.types import Array


def point_null_level(sample: Sample, norm: VectorNorm) -> float:
    """The smallest ``‖Σ_k q_k y_k x_k‖_*`` over the dual points that prove w = 0 optimal.

    The minority class has its full weights, the majority class any weights ``0 ≤ q_k ≤ weight_k`` with the same sum;
    the dual of C-SVM (NU (28)) then has the value 2·min(class shares), which is that of w = 0.
    """
    return norm.dual(sample.combine(*point_null_multipliers(sample, norm)))


def point_null_multipliers(sample: Sample, norm: VectorNorm) -> tuple[Array, Array]:
    """The weights `(q_pos, q_neg)` of positives and negatives that attain `point_null_level`."""
    fixed, program, minority_positive = _program(sample)
    free = nearest_mean(*program, norm)
    return (fixed, free) if minority_positive else (free, fixed)


def vanishing_point_multipliers(sample: Sample) -> tuple[Array, Array] | None:
    """Weights as those of `point_null_multipliers` for which the level is 0 in every norm; None if none were found."""
    fixed, program, minority_positive = _program(sample)
    free = weights_of_mean(*program)
    if free is None:
        return None
    return (fixed, free) if minority_positive else (free, fixed)


def _program(sample: Sample) -> tuple[Array, tuple[Any, Array, float, Array], bool]:
    """The full weights of the minority class, the program for those of the other class, and which class it is."""
    weight_pos, weight_neg = sample.point_weights
    minority_positive = bool(weight_pos.sum() <= weight_neg.sum())
    if minority_positive:
        fixed, minority, capacity, majority = weight_pos, sample.X_pos, weight_neg, sample.X_neg
    else:
        fixed, minority, capacity, majority = weight_neg, sample.X_neg, weight_pos, sample.X_pos
    target = np.asarray(minority.T @ fixed, dtype=float)
    return fixed, (majority, capacity, float(fixed.sum()), target), minority_positive
