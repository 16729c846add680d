"""Sweeps over the ranking errors ``ξ_ij = n_j − p_i`` of all pairs in O(m), without forming pairs.

Scores come sorted in ascending order, each class with its weights in the same order; an empty array of weights stands
for ones. An error is compared as the rounded difference ``fl(n_j − p_i)``. Rounding is monotone, so for every level γ
the pairs with ``ξ > γ`` are given by their rank counts ``k_j = #{i : ξ_ij > γ}``, one for every negative: they are the
pairs of n_j with the k_j smallest positives, and k_j does not decrease in j. Counts and sums over such a set of pairs
follow from running sums over the positives. Sums of whole weights are exact up to 2⁵³.
"""

from __future__ import annotations

import numpy as np

from auclab._core.accurate import UNIT, add, multiply, two_product, two_sum
from auclab._core.base import Array
from auclab._core.loop import loop


@loop()
def total_weight(weight: Array, size: int) -> float:
    """Sum of the first `size` weights, to the last digit; `size` itself if there are no weights; O(size)."""
    if not weight.size:
        return float(size)
    total = lost = 0.0
    for i in range(size):
        total, rounding = two_sum(total, weight[i])
        lost += rounding
    return total + lost


def concordance(pos: Array, neg: Array, weight_pos: Array, weight_neg: Array) -> tuple[float, float, float]:
    """Weight of the pairs with ``p_i > n_j``, of those with ``p_i = n_j``, and of all; O(n_pos + n_neg).

    `pos`, `neg` (n_pos,) and (n_neg,), ascending: ±∞ is allowed.
    """
    if not weight_pos.size and not weight_neg.size:
        right, pairs = _pairs_in_order(neg, pos), pos.size * neg.size
        return float(right), float(pairs - right - _pairs_in_order(pos, neg)), float(pairs)
    return _weighted_concordance(pos, neg, weight_pos, weight_neg)


@loop()
def _weighted_concordance(pos: Array, neg: Array, weight_pos: Array, weight_neg: Array) -> tuple[float, float, float]:
    """`concordance` where a class has weights."""
    below = equal = lost_below = lost_equal = 0.0  # with the rounding errors collected apart
    mass_below = mass_equal = lost_mass = 0.0
    first = last = 0  # neg[:first] < p_i, neg[first:last] == p_i
    for i in range(pos.size):
        if i == 0 or pos[i] > pos[i - 1]:
            mass_below, rounding = two_sum(mass_below, mass_equal)
            lost_mass += rounding
            mass_equal = 0.0
            first = last
            while first < neg.size and neg[first] < pos[i]:
                mass_below, rounding = two_sum(mass_below, weight_neg[first] if weight_neg.size else 1.0)
                lost_mass += rounding
                first += 1
            last = first
            while last < neg.size and neg[last] == pos[i]:
                mass_equal += weight_neg[last] if weight_neg.size else 1.0
                last += 1
        weight = weight_pos[i] if weight_pos.size else 1.0
        below, rounding = two_sum(below, weight * (mass_below + lost_mass))
        lost_below += rounding
        equal, rounding = two_sum(equal, weight * mass_equal)
        lost_equal += rounding
    pairs = total_weight(weight_pos, pos.size) * total_weight(weight_neg, neg.size)
    return below + lost_below, equal + lost_equal, pairs


@loop()
def _pairs_in_order(low: Array, high: Array) -> int:
    """Number of pairs with ``low_i < high_j`` of two ascending arrays; O(m).

    A merge from both ends at once, without a branch on the scores: the two chains of steps overlap in the processor,
    and no branch is mispredicted.
    """
    pairs = 0
    i, j, top, last = 0, 0, low.size, high.size - 1
    while j < last and i < low.size and top > 0:
        up = low[i] < high[j]
        pairs += 0 if up else i
        i += up
        j += 1 - up
        done = low[top - 1] < high[last]
        pairs += top if done else 0
        last -= done
        top -= 1 - done
    while j <= last:
        while i < low.size and low[i] < high[j]:
            i += 1
        pairs += i
        j += 1
    return pairs


@loop()
def running_sums(values: Array, weight: Array) -> Array:
    """``Σ_{i<k} w_i x_i`` for k = 0 … m as double-doubles (high and low parts), shape (2, m + 1); O(m).

    `values` (m,): x. `weight` (m,), or empty for ones: w.
    """
    sums = np.empty((2, values.size + 1))
    sums[0, 0] = sums[1, 0] = total = lost = 0.0
    for k in range(values.size):
        high, low = two_product(weight[k], values[k]) if weight.size else (values[k], 0.0)
        # rounding errors are collected apart: a full double-double sum is four times slower
        total, rounding = two_sum(total, high)
        lost += rounding + low
        sums[0, k + 1], sums[1, k + 1] = two_sum(total, lost)
    return sums


@loop()
def rank_counts_above(pos: Array, neg: Array, level: float) -> np.ndarray:
    """The rank counts ``k_j = #{i : fl(n_j − p_i) > level}`` of the pairs above a level; O(n_pos + n_neg).

    `pos`, `neg` (n_pos,) and (n_neg,), ascending. `level`: may be ±∞. Returns: from 0 to n_pos: the pairs above the
    level are those of n_j with the k_j smallest positives.

    Notes
    -----
    A merge from both ends at once, as in `_pairs_in_order`.
    """
    counts = np.empty(neg.size, dtype=np.int64)
    k, j = 0, 0
    top, last = pos.size, neg.size - 1
    while j < last and k < pos.size and top > 0:
        up = neg[j] - pos[k] > level
        counts[j] = k
        k += up
        j += 1 - up
        done = neg[last] - pos[top - 1] > level
        counts[last] = top
        last -= done
        top -= 1 - done
    while j <= last:
        while k < pos.size and neg[j] - pos[k] > level:
            k += 1
        counts[j] = k
        j += 1
    return counts


@loop()
def rank_counts_between(pos: Array, neg: Array, level: float, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The rank counts of `rank_counts_above` where bounds ``first_j ≤ k_j ≤ last_j`` are available.

    `first` and `last` are int arrays of shape (n_neg,); O(n_neg + number of pairs between them).
    """
    counts = first.copy()
    for j in range(neg.size):
        while counts[j] < last[j] and neg[j] - pos[counts[j]] > level:
            counts[j] += 1
    return counts


@loop()
def nearest_errors(pos: Array, neg: Array, counts: np.ndarray) -> tuple[float, float]:
    """The largest error among the pairs outside the rank counts, and the smallest among those inside; O(n_neg).

    −∞ and ∞ where there is no such pair. `counts` is an int array of shape (n_neg,) as of `rank_counts_above`.
    """
    below, above = -np.inf, np.inf
    for j in range(neg.size):
        k = counts[j]
        error = neg[j] - pos[k] if k < pos.size else -np.inf
        below = error if error > below else below
        error = neg[j] - pos[k - 1] if k > 0 else np.inf
        above = error if error < above else above
    return below, above


@loop()
def tail_sums(
    neg: Array, weight_neg: Array, masses: Array, moments: Array, counts: np.ndarray, threshold: float
) -> tuple[float, float, float]:
    """``C = Σ u_i v_j`` and ``D = Σ u_i v_j (ξ_ij − threshold)`` over the pairs of rank counts; O(n_neg).

    `neg`, `weight_neg` (n_neg,), ascending scores and their weights v (empty for ones). `masses`, `moments` (2, n_pos +
    1): the `running_sums` of the weights u and of the scores of the positives. Without weights `masses` has one column
    and is not read: the masses are k. `counts` (n_neg,): as of `rank_counts_above`. Returned `error`: a bound on the
    rounding error of D.
    """
    count = lost_count = total = lost = size = 0.0
    for j in range(neg.size):
        k = counts[j]
        mass, moment = (masses[0, k] if masses.shape[1] > 1 else float(k)), moments[0, k]
        weight = weight_neg[j] if weight_neg.size else 1.0
        lever = mass * (neg[j] - threshold)
        total, rounding = two_sum(total, weight * (lever - moment))
        lost += rounding
        count, rounding = two_sum(count, weight * mass)
        lost_count += rounding
        size += weight * (abs(lever) + abs(moment))
    return count + lost_count, total + lost, 2.0**-50 * size


@loop()
def tail_sums_exact(
    pos: Array,
    neg: Array,
    weight_neg: Array,
    masses: Array,
    moments: Array,
    first: np.ndarray,
    last: np.ndarray,
    threshold: float,
) -> tuple[float, float, float, float, float]:
    """C and D of `tail_sums` over the pairs ``first_j ≤ i < last_j``, as double-doubles; O(n_neg).

    `pos` (n_pos,), ascending: read for the error bound only. `neg`, `weight_neg`, `masses`, `moments`, `threshold`: as
    in `tail_sums`. `first`, `last` (n_neg,): rank counts with ``first_j ≤ last_j``. Returned `error`: a bound on the
    rounding error of D.
    """
    count_hi = count_lo = total_hi = total_lo = 0.0
    for j in range(neg.size):
        a, b = first[j], last[j]
        if a == b:
            continue
        mass_hi, mass_lo = float(b - a), 0.0
        moment_hi, moment_lo = moments[0, b], moments[1, b]
        if a > 0:
            moment_hi, moment_lo = add(moment_hi, moment_lo, -moments[0, a], -moments[1, a])
        if masses.shape[1] > 1:
            mass_hi, mass_lo = add(masses[0, b], masses[1, b], -masses[0, a], -masses[1, a])
        if weight_neg.size:
            mass_hi, mass_lo = multiply(mass_hi, mass_lo, weight_neg[j], 0.0)
            moment_hi, moment_lo = multiply(moment_hi, moment_lo, weight_neg[j], 0.0)
        count_hi, rounding = two_sum(count_hi, mass_hi)
        count_lo += rounding + mass_lo
        high, low = two_product(mass_hi, neg[j])
        total_hi, rounding = two_sum(total_hi, high)
        total_lo += rounding + (low + mass_lo * neg[j])
        total_hi, rounding = two_sum(total_hi, -moment_hi)
        total_lo += rounding - moment_lo
    count_hi, count_lo = two_sum(count_hi, count_lo)
    total_hi, total_lo = two_sum(total_hi, total_lo)
    high, low = multiply(count_hi, count_lo, -threshold, 0.0)
    total_hi, total_lo = add(total_hi, total_lo, high, low)
    # the collected errors are rounded themselves, once for every term: u² · terms², u = 2⁻⁵³
    terms = 2.0 * float(pos.size + neg.size)
    # of the scores that enter: no other one adds to the error
    start, end = 0, neg.size - 1
    while start < end and first[start] == last[start]:
        start += 1
    while start < end and first[end] == last[end]:
        end -= 1
    largest = max(abs(pos[0]), abs(pos[max(last[end] - 1, 0)])) + max(abs(neg[start]), abs(neg[end])) + abs(threshold)
    return count_hi, count_lo, total_hi, total_lo, (terms + 4.0) ** 2 * UNIT * count_hi * largest
