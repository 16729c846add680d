"""Mean hinges over pairs from sorted scores, and the transport condition of their multipliers.

A score is rounded down to one of 2^k equal cells of the range, and cell and row number are packed into one integer of
62 bits: sorting integers takes a quarter of the time of an argsort. A pass of insertions then orders the few scores
that share a cell.

With ``p_i`` the positive and ``n_j`` the negative scores, a pair is active when its hinge argument
``shift − (p_i − n_j)`` is positive. Both functions decide that on the rounded difference,
``fl(n_j − p_i) > −shift``: rounding is monotone, so the number of active positives does not decrease from one sorted
negative to the next, as the sweeps require, and the value and its subgradient belong to the same pairs.

Marginals α, β of equal sums belong to some ``0 ≤ q_ij ≤ σ_i s_j`` iff for every set I of positives (Gale–Ryser)

    Σ_{i∈I} α_i ≤ φ(Σ_{i∈I} σ_i),      φ(c) = Σ_j min(β_j, c s_j),

and as φ is concave it suffices to look at the sets with the largest densities α_i/σ_i.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from auclab._core.accurate import add, multiply, two_product, two_sum
from auclab._core.base import Array
from auclab._core.loop import loop
from auclab._core.threads import LARGE, in_parallel

#: Fewer scores are sorted faster by `numpy.argsort`.
FEW = 1024
#: Bits of a cell and a row number together: the sign and a last cell that rounding may add are left out.
_BITS = 62
#: Insertions for each score beyond which the scores are too uneven for equal cells.
_MOST_MOVES = 4


def ascending(values: Array) -> tuple[NDArray[np.int32], Array]:
    """The row numbers in ascending order of `values` (m,), without NaN, and the sorted values; O(m log m).

    Examples
    --------
    >>> order, values = ascending(np.array([0.5, -1.0, 2.0]))
    >>> order.tolist(), values.tolist()
    ([1, 0, 2], [-1.0, 0.5, 2.0])
    """
    if values.size >= FEW:
        bits = int(values.size - 1).bit_length()
        keys = _packed(values, bits)
        keys.sort()
        order, found = _unpacked(keys, values, bits)
        if order.size:
            return order, found
    order = np.argsort(values, kind="stable").astype(np.int32)
    return order, values[order]


@loop(nogil=True)
def _packed(values: Array, bits: int) -> NDArray[np.int64]:
    """Cell and row number of every value; one cell alone if the range has no usable width."""
    low = high = values[0]
    for value in values:
        low = min(low, value)
        high = max(high, value)
    rate = 2.0 ** (_BITS - bits) / (high - low) if high > low else 0.0
    if not (0.0 < rate < np.inf):
        rate = 0.0
    keys = np.empty(values.size, np.int64)
    for i in range(values.size):
        keys[i] = (np.int64((values[i] - low) * rate) << bits) | i
    return keys


@loop(nogil=True)
def _unpacked(keys: NDArray[np.int64], values: Array, bits: int) -> tuple[NDArray[np.int32], Array]:
    """Row numbers and values in order; empty where too many values share a cell."""
    mask = (1 << bits) - 1
    order, found = np.empty(keys.size, np.int32), np.empty(keys.size)
    left = _MOST_MOVES * keys.size
    for k in range(keys.size):
        row = keys[k] & mask
        value, place = values[row], k
        while place > 0 and found[place - 1] > value:
            found[place], order[place] = found[place - 1], order[place - 1]
            place -= 1
        left -= k - place
        if left < 0:
            return order[:0], found[:0]
        found[place], order[place] = value, row
    return order, found


def pair_hinge_value(
    scores_pos: Array,
    scores_neg: Array,
    shift: float,
    weight_pos: Array | None = None,
    weight_neg: Array | None = None,
) -> float:
    """Mean pairwise hinge ``(1/(UV)) Σ_i Σ_j u_i v_j [shift − (p_i − n_j)]₊``; O(m log m).

    The identity ``Σ_ij (b_j − a_i)₊ = Σ_k (v_{k+1} − v_k) · #{a ≤ v_k} · #{b ≥ v_{k+1}}`` over the sorted
    union of ``a = p`` and ``b = n + shift`` has terms ≥ 0 only, so nothing cancels. The gap between a
    positive and a negative is taken as ``(n_j − p_i) + shift``: a common offset of the scores costs no
    digits.

    `shift`: 1 for the plain hinge, ``1 − z‖w‖`` for bAUC_z. `weight_pos`, `weight_neg`: weights u and v, ≥ 0 with
    positive sums; None stands for ones. ``U = Σ u``, ``V = Σ v``.
    """
    (pos, mass_pos), (neg, above) = in_parallel(
        lambda sort, scores, weight: sort(scores, weight),
        (_sorted_with_mass, scores_pos, weight_pos),
        (_sorted_with_mass_above, scores_neg, weight_neg),
        threads=min(scores_pos.size, scores_neg.size) >= LARGE,
    )
    # In two parts where the arrays are long, whatever the number of threads.
    large = min(pos.size, neg.size) >= LARGE
    ends = [0, neg.size // 2, neg.size] if large else [0, neg.size]
    parts = [(pos, neg, mass_pos, above, float(shift), begin, end) for begin, end in pairwise(ends)]
    return float(sum(in_parallel(_gap_sum, *parts, threads=large)) / (mass_pos[-1] * above[0]))


def pair_hinge_active(
    scores_pos: Array,
    scores_neg: Array,
    shift: float,
    weight_pos: Array | None = None,
    weight_neg: Array | None = None,
) -> tuple[Array, Array]:
    """The weight of the active pairs of every observation, the marginals of the hinge's subgradient; O(m log m).

    ``active_pos[i] = (u_i/(UV)) Σ_j v_j 1{shift − (p_i − n_j) > 0}`` and ``active_neg[j]`` likewise, so that
    ``−X_posᵀ active_pos + X_negᵀ active_neg`` is a subgradient of the mean hinge in w, and the derivative in
    `shift` is the common sum of either vector.

    `scores_pos`, `scores_neg`, `shift`, `weight_pos`, `weight_neg`: as in `pair_hinge_value`. Returned `active_pos`,
    `active_neg`: entries in ``[0, u_i/U]`` and ``[0, v_j/V]``; a pair exactly at the kink is not active.
    """
    order_pos, order_neg = np.argsort(scores_pos), np.argsort(scores_neg)
    mass_pos = _mass(scores_pos.size, weight_pos, order_pos)
    mass_neg = _mass(scores_neg.size, weight_neg, order_neg)
    opposite_pos, opposite_neg = _active_opposite(
        scores_pos[order_pos], scores_neg[order_neg], mass_pos, mass_neg, -float(shift)
    )
    pairs = mass_pos[-1] * mass_neg[-1]
    active_pos, active_neg = np.empty(scores_pos.size), np.empty(scores_neg.size)
    active_pos[order_pos] = opposite_pos / pairs
    active_neg[order_neg] = opposite_neg / pairs
    if weight_pos is not None:
        active_pos *= weight_pos
    if weight_neg is not None:
        active_neg *= weight_neg
    return active_pos, active_neg


def _sorted_with_mass(scores: Array, weight: Array | None) -> tuple[Array, Array]:
    """Scores in ascending order and their cumulative weights; no argsort without weights."""
    if weight is None:
        return np.sort(scores), _mass(scores.size)
    order = np.argsort(scores)
    return scores[order], _mass(scores.size, weight, order)


def _mass(size: int, weight: Array | None = None, order: np.ndarray | None = None) -> Array:
    """Total weight of the first k sorted scores, k = 0 … size, shape (size + 1,); counts without weights."""
    if weight is None:
        return np.arange(size + 1, dtype=np.float64)
    mass = np.zeros(size + 1)
    np.cumsum(weight[order], out=mass[1:])
    return mass


def _sorted_with_mass_above(scores: Array, weight: Array | None) -> tuple[Array, Array]:
    """Scores in ascending order and the weight from each on, summed from the end, so that small weights count."""
    if weight is None:
        return np.sort(scores), np.arange(scores.size, -1, -1, dtype=np.float64)
    order = np.argsort(scores)
    above = np.zeros(scores.size + 1)
    above[:-1] = np.cumsum(weight[order][::-1])[::-1]
    return scores[order], above


@loop(nogil=True)
def _gap_sum(pos: Array, neg: Array, mass_pos: Array, above_neg: Array, shift: float, begin: int, end: int) -> float:
    """``Σ_ij u_i v_j [n_j + shift − p_i]₊`` by one merge of `pos` with ``neg + shift``, both ascending; O(m).

    Of the merged values those from ``neg[begin − 1]`` to ``neg[end − 1]``. `mass_pos` and `above_neg`, of shapes (n_pos
    + 1,) and (n_neg + 1,), are the weights below and from an index on.
    """
    total = 0.0
    i, j = 0, begin
    if begin > 0:  # the positives before the negative where the part begins, by bisection
        high = pos.size
        while i < high:
            middle = (i + high) // 2
            if neg[begin - 1] - pos[middle] > -shift:
                i = middle + 1
            else:
                high = middle
    previous_is_pos = False  # which list the last merged value came from
    while j < end:
        take_pos = i < pos.size and neg[j] - pos[i] > -shift
        if i > 0:  # before the first positive there is nothing below the gap
            if take_pos:
                gap = pos[i] - pos[i - 1] if previous_is_pos else (pos[i] - neg[j - 1]) - shift
            else:
                gap = (neg[j] - pos[i - 1]) + shift if previous_is_pos else neg[j] - neg[j - 1]
            total += gap * mass_pos[i] * above_neg[j]
        if take_pos:
            i += 1
        else:
            j += 1
        previous_is_pos = take_pos
    return total


@loop()
def _active_opposite(pos: Array, neg: Array, mass_pos: Array, mass_neg: Array, cutoff: float) -> tuple[Array, Array]:
    """Weight of the opposite class with ``fl(n_j − p_i) > cutoff`` for every positive and negative, ascending; O(m).

    `mass_pos` and `mass_neg`, of shapes (n_pos + 1,) and (n_neg + 1,), are the cumulative weights.
    """
    total_neg = mass_neg[neg.size]
    opposite_pos, opposite_neg = np.empty(pos.size), np.empty(neg.size)
    j = 0
    for i in range(pos.size):
        while j < neg.size and not neg[j] - pos[i] > cutoff:
            j += 1
        opposite_pos[i] = total_neg - mass_neg[j]
    i = 0
    for j in range(neg.size):
        while i < pos.size and neg[j] - pos[i] > cutoff:
            i += 1
        opposite_neg[j] = mass_pos[i]
    return opposite_pos, opposite_neg


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


def transport_factor(pos: Array, neg: Array, share_pos: Array, share_neg: Array) -> float:
    """The largest τ ≤ 1 for which τ·(pos, neg) are the marginals of some ``0 ≤ q_ij ≤ share_pos_i share_neg_j``.

    By max-flow/min-cut it suffices that every set I of positives fits: ``τ Σ_I pos ≤ Σ_j min(τ neg_j, share_neg_j
    share_pos(I))``; with φ(c) = Σ_j min(neg_j, c·share_neg_j), which is concave, the binding sets are those of
    the largest ratios pos_i/share_pos_i, and the condition is ``τ ≤ share_pos(I)/φ⁻¹(Σ_I pos)``.
    """
    threads = min(pos.size, neg.size) >= LARGE
    (levels, values), (capacity, demand) = in_parallel(
        lambda sums, *marginals: sums(*_ascending_densities(*marginals)),
        (_kinks, neg, share_neg),
        (_largest_sums, pos, share_pos),
        threads=threads,
    )

    def least_ratio(part: slice) -> float:
        wanted = demand[part]
        first = int(np.searchsorted(values, wanted[0], side="right")) - 1 if wanted.size else 0
        return float(least_capacity_ratio(wanted, capacity[part], levels, values, max(first, 0)))

    half = demand.size // 2
    return min(in_parallel(least_ratio, (slice(half),), (slice(half, None),), threads=threads))


def _kinks(levels: Array, share: Array, marginals: Array) -> tuple[Array, Array]:
    """The kinks c of φ, and its values there: full sums below, c times the remaining share above."""
    values = np.zeros(levels.size + 1)
    np.cumsum(marginals[:-1], out=values[2:])
    above = np.cumsum(share[::-1])[::-1]
    above *= levels  # in place, as the arrays are long
    values[1:] += above
    return np.concatenate(([0.0], levels)), values


def _largest_sums(_: Array, share: Array, marginals: Array) -> tuple[Array, Array]:
    """The shares and marginals of the sets of the largest densities."""
    return np.cumsum(share[::-1]), np.cumsum(marginals[::-1])


def _ascending_densities(multipliers: Array, share: Array) -> tuple[Array, Array, Array]:
    """``multipliers / share``, ascending, with share and multipliers in the same order; shares of 0 left out."""
    if share[0] > 0 and (share == share[0]).all():
        # Equal shares need no permutation, and a plain sort is several times faster.
        ascending = np.sort(multipliers)
        return ascending / share[0], share, ascending
    multipliers, share = multipliers[share > 0], share[share > 0]
    density = multipliers / share
    order = np.argsort(density)
    return density[order], share[order], multipliers[order]


class SortedMarginals:
    """Marginals α and β, sorted once for several factors.

    `pos`, `neg` (n_pos,) and (n_neg,), ≥ 0: α and β. `share_pos`, `share_neg`: σ and s, positive wherever the marginals
    are.
    """

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
        """``max_I [factor Σ_I α_i − Σ_j min(factor β_j, s_j Σ_I σ_i)]``, an upper bound of it; −∞ where α is 0.

        Sets whose ``Σ_I σ_i`` is above every density factor·β_j/s_j are left out: they fit because the sums are equal.
        By max-flow/min-cut, some pair weighting within the capacities has marginals that lack no more than this excess.

        `factor` in (0, 1]. `change`: by how much, relatively, the marginals may differ from those given when "above
        every density" is decided.
        """
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
