"""Whether marginals belong to a pair weighting within its capacities, in double-double arithmetic.

Marginals α, β of equal sums belong to some ``0 ≤ q_ij ≤ σ_i s_j`` iff for every set I of positives (Gale–Ryser)

    Σ_{i∈I} α_i ≤ φ(Σ_{i∈I} σ_i),      φ(c) = Σ_j min(β_j, c s_j),

and as φ is concave it suffices to look at the sets with the largest densities α_i/σ_i.
"""

from __future__ import annotations

import math

import numpy as np

from auclab.compiled.doubledouble import add, multiply, two_product, two_sum
from auclab.compiled.loop import loop
from auclab.compiled.threads import LARGE, in_parallel
from auclab.types import Array

#: Differences of rounded products above this, relative to the products, have the sign of the exact ones.
_CLEAR = 2.0**-20


def by_density(marginals: Array, shares: Array) -> tuple[Array, Array]:
    """The positive marginals and their shares, in ascending order of ``marginals / shares`` to 30 digits."""
    if shares.size and (shares == shares[0]).all():
        values = np.sort(marginals)
        values = values[np.searchsorted(values, 0.0, side="right") :]
        return values, np.full(values.size, shares[0])
    used = np.flatnonzero(marginals > 0)
    values, weights = marginals[used], shares[used]
    high, low = _densities(values, weights)
    order = np.lexsort((low, high))
    return values[order], weights[order]


def largest_excess(
    pos: Array, neg: Array, share_pos: Array, share_neg: Array, factor: float, change: float = 0.0
) -> float:
    """``max_I [factor Σ_I α_i − Σ_j min(factor β_j, s_j Σ_I σ_i)]``, an upper bound of it; −∞ where α is 0.

    Sets whose ``Σ_I σ_i`` is above every density factor·β_j/s_j are left out: they fit because the sums are equal. By
    max-flow/min-cut, some pair weighting within the capacities has marginals that lack no more than this excess.

    `pos`, `neg` (n_pos,) and (n_neg,), ≥ 0: marginals α and β. `share_pos`, `share_neg`: σ and s, positive wherever the
    marginals are. `factor` in (0, 1]. `change`: by how much, relatively, the marginals may differ from those given when
    "above every density" is decided.
    """
    return SortedMarginals(pos, neg, share_pos, share_neg).largest_excess(factor, change)


@loop(nogil=True)
def least_capacity_ratio(demand: Array, capacity: Array, levels: Array, values: Array, first: int) -> float:
    """``min(1, min_k capacity_k / φ⁻¹(demand_k))`` by one merge of ascending demands with the kinks of φ; O(m).

    `demand`, `capacity` (n_pos,): Σ_I α and Σ_I σ of the sets of the largest densities. `levels`, `values` (n_kinks,):
    the kinks c and φ(c), ascending, the first 0. `first`: a kink whose φ(c) is not above the first demand; the
    last such one saves time. Rounding may put a demand above the largest value of φ; it then counts as that value.
    """
    least, last, k = 1.0, values.size - 1, first
    for i in range(demand.size):
        while k < last and values[k + 1] <= demand[i]:
            k += 1
        needed = levels[k]
        if k < last and demand[i] > values[k]:
            needed += (levels[k + 1] - levels[k]) / (values[k + 1] - values[k]) * (demand[i] - values[k])
        if needed > 0.0:
            least = min(least, capacity[i] / needed)
    return least


class SortedMarginals:
    """Marginals sorted once, for several factors; the parameters are those of `largest_excess`."""

    def __init__(self, pos: Array, neg: Array, share_pos: Array, share_neg: Array) -> None:
        of_pos, (self.neg, self.share_neg) = in_parallel(
            by_density, (pos, share_pos), (neg, share_neg), threads=min(pos.size, neg.size) >= LARGE
        )
        # Loops are compiled once for each layout.
        self.pos, self.share_pos = (np.ascontiguousarray(part[::-1]) for part in of_pos)
        count = pos.size + neg.size
        relative = count * 2.0**-99 + (count * 2.0**-52) ** 2
        self.error = relative * float(self.pos.sum() + self.neg.sum())

    def largest_excess(self, factor: float, change: float = 0.0) -> float:
        """`auclab.compiled.transport.largest_excess` of these marginals."""
        parts = self.pos, self.share_pos, self.neg, self.share_neg
        return float(_largest_excess(*parts, factor, change)) + self.error


@loop()
def _densities(values: Array, weights: Array) -> tuple[Array, Array]:
    """``values / weights`` as ``high + low``."""
    high, low = np.empty(values.size), np.empty(values.size)
    for k in range(values.size):
        quotient = values[k] / weights[k]
        product, error = two_product(quotient, weights[k])
        high[k], low[k] = two_sum(quotient, ((values[k] - product) - error) / weights[k])
    return high, low


@loop()
def _largest_excess(pos: Array, share_pos: Array, neg: Array, share_neg: Array, factor: float, change: float) -> float:
    """`pos` by descending, `neg` by ascending density.

    Running sums are kept as a rounded sum and the sum of its errors, which is faster than double-doubles. Products are
    computed to twice the precision only where rounded ones do not decide.
    """
    n_neg = neg.size
    if pos.size == 0 or n_neg == 0:
        return -math.inf
    total, total_lo = 0.0, 0.0
    for j in range(n_neg):
        total, rest = two_sum(total, share_neg[j])
        total_lo += rest
    last = factor * neg[n_neg - 1] / share_neg[n_neg - 1] * (1.0 + change + 2.0**-49)
    full, full_lo = 0.0, 0.0  # Σ min over the negatives that are below c s_j
    demand, demand_lo, level, level_lo = 0.0, 0.0, 0.0, 0.0
    largest = -math.inf
    j = 0
    for i in range(pos.size):
        demand, rest = two_sum(demand, pos[i])
        demand_lo += rest
        level, rest = two_sum(level, share_pos[i])
        level_lo += rest
        if level >= last:
            break
        while j < n_neg:
            room, need = level * share_neg[j], factor * neg[j]
            left = (room - need) + level_lo * share_neg[j]
            if abs(left) <= _CLEAR * (room + need):
                room, lost = two_product(level, share_neg[j])
                need, rest = two_product(factor, neg[j])
                left = (room - need) + (lost - rest + level_lo * share_neg[j])
            if left < 0.0:
                break
            full, rest = two_sum(full, neg[j])
            full_lo += rest
            total, rest = two_sum(total, -share_neg[j])
            total_lo += rest
            j += 1
        over = factor * ((demand - full) + (demand_lo - full_lo)) - (level * (total + total_lo) + level_lo * total)
        if over < largest - _CLEAR * (demand + full + level * total):
            continue
        need, need_lo = add(demand, demand_lo, -full, -full_lo)
        need, need_lo = multiply(need, need_lo, factor, 0.0)
        room, room_lo = multiply(level, level_lo, total, total_lo)
        over, over_lo = add(need, need_lo, -room, -room_lo)
        if over + over_lo > largest:
            largest = over + over_lo
    return largest
