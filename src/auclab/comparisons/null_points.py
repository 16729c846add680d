"""The level at which w = 0 becomes optimal: closed form over pairs, a nearest-point program over points (derived).

The programs themselves are in `auclab.projection`; comparisons run no solver of their own.
"""

from __future__ import annotations

import numpy as np

from auclab.projection.nearest_mean import nearest_mean
from auclab.regularisers import VectorNorm
from auclab.samples.memory import Sample
from auclab.types import Array


def point_null_level(sample: Sample, norm: VectorNorm) -> float:
    """The smallest ``‖Σ_k q_k y_k x_k‖_*`` of any dual point that proves w = 0 optimal.

    All of the minority class has its full weight, the majority class any weights ``0 ≤ q_k ≤ weight_k`` with the
    same sum; the dual of C-SVM (NU (28)) then has the value 2·min(class shares), which is that of w = 0.

    Raises
    ------
    AuclabError
        The nearest-point program was not solved.
    """
    return norm.dual(sample.combine(*point_null_multipliers(sample, norm)))


def point_null_multipliers(sample: Sample, norm: VectorNorm) -> tuple[Array, Array]:
    """The weights `(q_pos, q_neg)` of positives and negatives that attain `point_null_level`.

    See Also
    --------
    auclab.projection.nearest_mean.nearest_mean : The program behind it.
    """
    weight_pos, weight_neg = sample.point_weights
    minority_positive = weight_pos.sum() <= weight_neg.sum()
    if minority_positive:
        fixed, minority, capacity, majority = weight_pos, sample.X_pos, weight_neg, sample.X_neg
    else:
        fixed, minority, capacity, majority = weight_neg, sample.X_neg, weight_pos, sample.X_pos
    target = np.asarray(minority.T @ fixed, dtype=float)
    free = nearest_mean(majority, capacity, float(fixed.sum()), target, norm)
    return (fixed, free) if minority_positive else (free, fixed)
