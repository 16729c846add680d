"""Chebyshev sums ``Σ_i w_i T_k(x_i)`` of many points, k = 0 … degree, in O(m · degree)."""

from __future__ import annotations

import numpy as np

from auclab.compiled.accurate import CHUNK
from auclab.compiled.loop import loop
from auclab.types import Array

_LANES = 8


@loop()
def chebyshev_sums(x: Array, weight: Array, degree: int) -> Array:
    """``Σ_i w_i T_k(x_i)`` for k = 0 … degree; O(m · degree).

    `x` (m,): in [−1, 1], in any order. `weight` (m,), or (0,): empty for ones. `degree` ≥ 0.

    Notes
    -----
    The recurrence ``T_{k+1} = 2x T_k − T_{k−1}`` runs in eight points at once, which the compiler turns into
    vector instructions.
    """
    total = np.zeros(degree + 1)
    partial = np.empty((degree + 1, _LANES))
    points, low, high = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    for chunk in range(0, x.size, CHUNK):
        partial[:] = 0.0
        stop = min(chunk + CHUNK, x.size)
        for base in range(chunk, stop, _LANES):
            for lane in range(_LANES):
                present = base + lane < stop
                i = base + lane if present else base
                w = (weight[i] if weight.size else 1.0) if present else 0.0
                # w·T_k satisfies the recurrence of T_k
                points[lane], low[lane], high[lane] = 2.0 * x[i], w * x[i], w
            for k in range(degree + 1):
                row = partial[k]
                for lane in range(_LANES):
                    value = high[lane]
                    row[lane] += value
                    high[lane] = points[lane] * value - low[lane]
                    low[lane] = value
        for k in range(degree + 1):
            total[k] += partial[k].sum()
    return total
