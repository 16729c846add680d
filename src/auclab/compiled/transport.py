"""Whether marginals belong to a pair weighting within its capacities, in double-double arithmetic.

Marginals α, β of equal sums belong to some ``0 ≤ q_ij ≤ σ_i s_j`` iff for every set I of positives (Gale–Ryser)

    Σ_{i∈I} α_i ≤ φ(Σ_{i∈I} σ_i),      φ(c) = Σ_j min(β_j, c s_j),

and as φ is concave it suffices to look at the sets with the largest densities α_i/σ_i.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auclab.compiled.doubledouble import add, multiply, two_product, two_sum
from auclab.types import Array


def descending_density(marginals: Array, shares: Array) -> NDArray[np.intp]:
    """Row numbers with ``marginals > 0`` by ``marginals / shares``, largest first, in 30 digits.

    Examples
    --------
    >>> descending_density(np.array([0.2, 0.0, 0.3]), np.array([0.2, 0.5, 0.3 + 1e-16])).tolist()
    [0, 2]
    """
    used = np.flatnonzero(marginals > 0)
    values, weights = marginals[used], shares[used]
    if weights.size == 0 or (weights == weights[0]).all():
        return used[np.argsort(-values, kind="stable")]
    high, low = _densities(values, weights)
    return used[np.lexsort((-low, -high))]


def largest_excess(
    pos: Array, neg: Array, share_pos: Array, share_neg: Array, factor: float, change: float = 0.0
) -> float:
    """``max_I [factor Σ_I α_i − Σ_j min(factor β_j, s_j Σ_I σ_i)]``, an upper bound of it; −∞ where α is 0.

    Sets whose ``Σ_I σ_i`` is above every density factor·β_j/s_j are left out: they fit because the sums are equal. By
    max-flow/min-cut, some pair weighting within the capacities has marginals that lack no more than this excess.

    Parameters
    ----------
    pos, neg : arrays of shapes (n_pos,) and (n_neg,), ≥ 0
        Marginals α and β.
    share_pos, share_neg : arrays of the same shapes
        σ and s, positive wherever the marginals are.
    factor : float in (0, 1]
    change : float
        By how much, relatively, the marginals may differ from those given when "above every density" is decided.

    Examples
    --------
    A row sum of 1 of a row whose capacity is ½:

    >>> half = np.array([0.5, 0.5])
    >>> round(largest_excess(np.array([1.0, 0.0]), half, half, half, 1.0), 12)
    0.5
    """
    order_pos, order_neg = descending_density(pos, share_pos), descending_density(neg, share_neg)[::-1]
    sorted_pos, sorted_neg = pos[order_pos], neg[order_neg]
    excess = _largest_excess(sorted_pos, share_pos[order_pos], sorted_neg, share_neg[order_neg], factor, change)
    return excess + 2.0**-99 * (pos.size + neg.size) * float(sorted_pos.sum() + sorted_neg.sum())


@njit(cache=True)
def _densities(values: Array, weights: Array) -> tuple[Array, Array]:
    """``values / weights`` as ``high + low``."""
    high, low = np.empty(values.size), np.empty(values.size)
    for k in range(values.size):
        quotient = values[k] / weights[k]
        product, error = two_product(quotient, weights[k])
        high[k], low[k] = two_sum(quotient, ((values[k] - product) - error) / weights[k])
    return high, low


@njit(cache=True)
def _largest_excess(pos: Array, share_pos: Array, neg: Array, share_neg: Array, factor: float, change: float) -> float:
    """`pos` by descending, `neg` by ascending density."""
    n_neg = neg.size
    if pos.size == 0 or n_neg == 0:
        return -math.inf
    total_hi, total_lo = 0.0, 0.0
    for j in range(n_neg):
        total_hi, total_lo = add(total_hi, total_lo, share_neg[j], 0.0)
    last = factor * neg[n_neg - 1] / share_neg[n_neg - 1] * (1.0 + change + 2.0**-49)
    full_hi, full_lo = 0.0, 0.0  # Σ min over the negatives that are below c s_j
    demand_hi, demand_lo, level_hi, level_lo = 0.0, 0.0, 0.0, 0.0
    largest = -math.inf
    j = 0
    for i in range(pos.size):
        demand_hi, demand_lo = add(demand_hi, demand_lo, pos[i], 0.0)
        level_hi, level_lo = add(level_hi, level_lo, share_pos[i], 0.0)
        if level_hi >= last:
            break
        while j < n_neg:
            room_hi, room_lo = multiply(level_hi, level_lo, share_neg[j], 0.0)
            need_hi, need_lo = two_product(-factor, neg[j])
            room_hi, room_lo = add(room_hi, room_lo, need_hi, need_lo)
            if room_hi < 0.0:
                break
            full_hi, full_lo = add(full_hi, full_lo, neg[j], 0.0)
            total_hi, total_lo = add(total_hi, total_lo, -share_neg[j], 0.0)
            j += 1
        rest_hi, rest_lo = multiply(level_hi, level_lo, total_hi, total_lo)
        need_hi, need_lo = add(demand_hi, demand_lo, -full_hi, -full_lo)
        need_hi, need_lo = multiply(need_hi, need_lo, factor, 0.0)
        over_hi, over_lo = add(need_hi, need_lo, -rest_hi, -rest_lo)
        if over_hi + over_lo > largest:
            largest = over_hi + over_lo
    return largest
