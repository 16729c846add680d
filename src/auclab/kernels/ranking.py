"""Sweeps over the ranking errors ``ξ_ij = n_j − p_i`` of all pairs in O(m), without forming pairs.

Scores come sorted ascending, each list with its weights; an empty array of weights stands for ones. An error
is compared as the rounded difference ``fl(n_j − p_i)``; rounding is monotone, so the pairs with ``ξ > γ``
form a staircase for every level γ: the k_j smallest positives pair with ``n_j``, and k_j does not decrease in
j. Counts and sums over the first k positives are carried along, so a sweep reads every score once and stores
nothing. Sums of weights without fractions are exact up to 2⁵³.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from auclab.kernels.doubledouble import UNIT, add, multiply, two_product, two_sum
from auclab.types import Array


@njit(cache=True)
def total_weight(weight: Array, size: int) -> float:
    """Sum of the weights, to the last digit; the number of scores if there are none."""
    if not weight.size:
        return float(size)
    total = lost = 0.0
    for i in range(size):
        total, rounding = two_sum(total, weight[i])
        lost += rounding
    return total + lost


@njit(cache=True)
def concordance(pos: Array, neg: Array, weight_pos: Array, weight_neg: Array) -> tuple[float, float, float]:
    """Weight of the pairs with ``p_i > n_j``, of those with ``p_i = n_j``, and of all; scores may be ±∞."""
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


@njit(cache=True)
def partners_above(pos: Array, neg: Array, level: float) -> np.ndarray:
    """``k_j = #{i : fl(n_j − p_i) > level}`` for every negative: the k_j smallest positives."""
    partners = np.empty(neg.size, dtype=np.int64)
    k = 0
    for j in range(neg.size):
        while k < pos.size and neg[j] - pos[k] > level:
            k += 1
        partners[j] = k
    return partners


@njit(cache=True)
def tail_count(
    pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, level: float
) -> tuple[float, float, float]:
    """``C = Σ_ij w_i w_j 1{ξ_ij > level}``, the largest error ≤ level and the smallest error > level.

    Where no error lies on a side, that neighbour is −∞ or ∞.
    """
    count = lost = mass = 0.0
    nearest_below, nearest_above = -np.inf, np.inf
    k = 0
    for j in range(neg.size):
        # the comparison that a positive passes first, and the one where a negative stops, are the closest
        while k < pos.size:
            error = neg[j] - pos[k]
            if not error > level:
                nearest_below = max(nearest_below, error)
                break
            nearest_above = min(nearest_above, error)
            mass += weight_pos[k] if weight_pos.size else 1.0
            k += 1
        count, rounding = two_sum(count, (weight_neg[j] if weight_neg.size else 1.0) * mass)
        lost += rounding
    return count + lost, nearest_below, nearest_above


@njit(cache=True)
def tail_sum(
    pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, level: float, threshold: float
) -> tuple[float, float, float, float]:
    """``D = Σ_ij w_i w_j (ξ_ij − threshold) 1{ξ_ij > level}`` in doubles, with a bound on its error.

    Also the largest error ≤ level and the smallest error > level, as in `tail_count`.
    """
    total = lost = size = 0.0
    mass = lost_mass = moment = lost_moment = 0.0  # of the first k positives: Σ w_i and Σ w_i p_i
    nearest_below, nearest_above = -np.inf, np.inf
    k = 0
    for j in range(neg.size):
        while k < pos.size:
            error = neg[j] - pos[k]
            if not error > level:
                nearest_below = max(nearest_below, error)
                break
            nearest_above = min(nearest_above, error)
            if weight_pos.size:
                mass, rounding = two_sum(mass, weight_pos[k])
                lost_mass += rounding
                moment, rounding = two_sum(moment, weight_pos[k] * pos[k])
            else:
                mass += 1.0
                moment, rounding = two_sum(moment, pos[k])
            lost_moment += rounding
            k += 1
        weight = weight_neg[j] if weight_neg.size else 1.0
        if k > 0:
            lever = (mass + lost_mass) * (neg[j] - threshold)
            total, rounding = two_sum(total, weight * (lever - (moment + lost_moment)))
            lost += rounding
            # the products in the moment are rounded, each of them by no more than the largest one
            size += weight * (abs(lever) + mass * max(abs(pos[0]), abs(pos[k - 1])))
    return total + lost, 2.0**-50 * size, nearest_below, nearest_above


@njit(cache=True)
def tail_sum_exact(
    pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, level: float, threshold: float
) -> tuple[float, float, float, float, float]:
    """C and D of `tail_count` and `tail_sum` as double-doubles: C hi, lo, D hi, lo and D's error bound."""
    count_hi = count_lo = total_hi = total_lo = size = 0.0
    mass_hi = mass_lo = moment_hi = moment_lo = 0.0
    k = 0
    for j in range(neg.size):
        while k < pos.size and neg[j] - pos[k] > level:
            weight = weight_pos[k] if weight_pos.size else 1.0
            high, low = two_product(weight, pos[k])
            # running sums collect their rounding errors apart: a full double-double sum is four times slower
            mass_hi, rounding = two_sum(mass_hi, weight)
            mass_lo += rounding
            moment_hi, rounding = two_sum(moment_hi, high)
            moment_lo += rounding + low
            k += 1
        if k == 0:
            continue
        weight = weight_neg[j] if weight_neg.size else 1.0
        high, low = multiply(mass_hi, mass_lo, weight, 0.0)
        count_hi, rounding = two_sum(count_hi, high)
        count_lo += rounding + low
        excess_hi, excess_lo = two_sum(neg[j], -threshold)
        high, low = multiply(mass_hi, mass_lo, excess_hi, excess_lo)
        high, low = add(high, low, -moment_hi, -moment_lo)
        high, low = multiply(high, low, weight, 0.0)
        total_hi, rounding = two_sum(total_hi, high)
        total_lo += rounding + low
        largest = max(abs(pos[0]), abs(pos[k - 1]))  # of the scores that went into the moment
        size += weight * mass_hi * (abs(excess_hi) + largest)
    # the collected errors are rounded themselves, once for every term: u² · terms², u = 2⁻⁵³
    terms = float(pos.size + neg.size)
    total_hi, total_lo = two_sum(total_hi, total_lo)
    count_hi, count_lo = two_sum(count_hi, count_lo)
    return count_hi, count_lo, total_hi, total_lo, (terms + 4.0) ** 2 * UNIT * size
