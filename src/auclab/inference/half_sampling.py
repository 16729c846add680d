"""Half-samples: standard error and optimism of metrics that choose among thresholds, such as VOROS.

The best of many thresholds on a sample looks better than it is. Where the choice is from a continuum, the chosen
threshold errs by ``m^(−⅓)`` and the optimism is of order ``m^(−⅔)`` (Kim & Pollard 1990): hardly below the standard
error, and the bootstrap does not reproduce it, since it resamples a distribution with atoms (Abrevaya & Huang 2005).
Samples of half the size, drawn without replacement, are samples of the true distribution (Politis & Romano 1994). With
``r = m/m_half`` and optimism ``b m^(−ρ)``,

    E[V_half] − V = b m^(−ρ) (r^ρ − 1),        Var(V_half | sample) = (r − 1) Var(V)

to first order (for a mean the second is exact), which gives the optimism and the standard error. Halves of fewer than
10 observations hardly show the optimism: `estimate` then takes Student's quantile, and for VOROS the lower limit of AUC
where that is lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from auclab.inference.bootstrap import Resampled, number_of_resamples, standard_deviation
from auclab.inference.components import FLAT

Rows = NDArray[np.intp]


def half_sampling(
    statistic: Callable[[Rows], float],
    value: float,
    classes: tuple[Rows, Rows],
    *,
    rate: float,
    halves: int | None,
    seed: int,
) -> Resampled:
    """Draw half of either class, and then the other half, `halves` times in all.

    `statistic`: from an array of row numbers to a float. `value`: the statistic on all rows. `classes`: row numbers of
    the positives and of the negatives, two at least of either. `rate`: ρ, the order ``m^(−ρ)`` of the bias: ⅔ for the
    best of a continuum of thresholds, 1 for smooth statistics. `halves`: number of half-samples, at least 50; 200 by
    default. `seed`: the same seed gives the same numbers.
    """
    halves = number_of_resamples(halves, 50, 200)
    sizes = [rows.size // 2 for rows in classes]
    rng = np.random.default_rng(seed)
    values: list[float] = []
    while len(values) < halves:
        orders = [rng.permutation(rows) for rows in classes]
        values.append(statistic(np.concatenate([order[:n] for order, n in zip(orders, sizes, strict=True)])))
        values.append(statistic(np.concatenate([order[-n:] for order, n in zip(orders, sizes, strict=True)])))
    ratio = min(rows.size for rows in classes) / min(sizes)
    if np.ptp([*values, value]) <= FLAT * abs(value):
        return Resampled(0.0)
    bias = (float(np.mean(values)) - value) / (ratio**rate - 1.0)
    return Resampled(standard_deviation(values) / math.sqrt(ratio - 1.0), bias=bias)
