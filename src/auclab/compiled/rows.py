"""Row sums ``Σ_j v_j w(x_i − y_j)`` over the opposite class, one for every score, in O(m) on sorted scores.

The counterparts of the pair sums in `differences` and `sigmoid`, with one number for each point instead of one in all.
`points` x, shape (m,), and `opposite` y, shape (n,), come in ascending order, `weight` v in the order of y or empty for
ones. Sums over the pairs of one negative are those of the points ``−n`` with the opposite scores ``−p``.
"""

from __future__ import annotations

import numpy as np

from auclab.compiled.differences import cell_moments, window_moments
from auclab.compiled.doubledouble import two_sum
from auclab.compiled.loop import loop
from auclab.compiled.sigmoid import LAGRANGE, LENGTH, NODE_POSITIONS, NODES, SATURATED, score_cells
from auclab.types import Array


@loop()
def positive_part_rows(points: Array, opposite: Array, weight: Array) -> Array:
    """``Σ_j v_j (x_i − y_j)₊`` for every point, shape (m,), by the recurrence of `positive_part_sum`; O(m + n)."""
    rows = np.empty(points.size)
    below = lost_below = area = lost_area = 0.0
    j = 0
    for i in range(points.size):
        if i > 0 and below > 0.0:
            area, rounding = two_sum(area, (points[i] - points[i - 1]) * (below + lost_below))
            lost_area += rounding
        while j < opposite.size and opposite[j] < points[i]:
            share = weight[j] if weight.size else 1.0
            area, rounding = two_sum(area, (points[i] - opposite[j]) * share)
            lost_area += rounding
            below, rounding = two_sum(below, share)
            lost_below += rounding
            j += 1
        rows[i] = area + lost_area
    return rows


@loop(error_model="numpy")
def quadratic_window_rows(
    points: Array, opposite: Array, weight: Array, half_width: float, reach: float, linear: float, square: float
) -> Array:
    """``Σ_j v_j w(x_i − y_j)`` for every point, shape (m,), w the modifier of `quadratic_window_sum`; O(m + n)."""
    start, mass, moment, second = cell_moments(opposite, weight, half_width)
    rows = np.empty(points.size)
    below = lost_below = 0.0
    one = mid = end = 0
    for i in range(points.size):
        while one < opposite.size and points[i] - opposite[one] >= reach:
            below, rounding = two_sum(below, weight[one] if weight.size else 1.0)
            lost_below += rounding
            one += 1
        while mid < opposite.size and opposite[mid] <= points[i]:
            mid += 1
        while end < opposite.size and points[i] - opposite[end] > -reach:
            end += 1
        m0, m1, m2 = window_moments(points[i], opposite, start, mass, moment, second, half_width, one, mid)
        value = below + lost_below + 0.5 * m0 + linear * m1 + square * m2
        m0, m1, m2 = window_moments(points[i], opposite, start, mass, moment, second, half_width, mid, end)
        rows[i] = value + 0.5 * m0 + m1 + 0.5 * m2
    return rows


@loop(error_model="numpy")
def sigmoid_rows(points: Array, opposite: Array, weight: Array, beta: float) -> Array:
    """``Σ_j v_j / (1 + exp(−β (x_i − y_j)))`` for every point, shape (m,), to 14 digits of the total weight, β > 0.

    The row sum is as smooth as the sigmoid: in a cell of length ``4/β`` with more points than nodes it is computed
    at the Chebyshev nodes and interpolated: O(m + n) apart from cells that are near one another.
    """
    start, first, factor, share = score_cells(opposite, weight, beta, 1.0)
    rows, at_nodes = np.empty(points.size), np.exp(-NODE_POSITIONS)
    potential, series = np.empty(NODES), np.empty(NODES)
    below = lost_below = 0.0
    low = high = begin = 0
    while begin < points.size:
        stop = begin + 1
        while stop < points.size and beta * (points[stop] - points[begin]) <= LENGTH:
            stop += 1
        while low < start.size and beta * (points[begin] - start[low]) >= SATURATED + LENGTH:
            for j in range(first[low], first[low + 1]):
                below, rounding = two_sum(below, share[j])
                lost_below += rounding
            low += 1
        while high < start.size and beta * (points[begin] - start[high]) > -SATURATED - LENGTH:
            high += 1
        gathered = stop - begin > NODES
        size = NODES if gathered else stop - begin
        for k in range(size):
            position = at_nodes[k] if gathered else np.exp(-beta * (points[begin + k] - points[begin]))
            near = 0.0
            for b in range(low, high):
                shift = np.exp(-beta * (points[begin] - start[b])) * position
                for j in range(first[b], first[b + 1]):
                    near += share[j] / (1.0 + shift * factor[j])
            potential[k] = near
        if gathered:
            for n in range(NODES):
                series[n] = 0.0
                for k in range(NODES):
                    series[n] += LAGRANGE[k, n] * potential[k]
        for i in range(begin, stop):
            if gathered:
                near = _series(series, (beta * (points[i] - points[begin])) * (2.0 / LENGTH) - 1.0)
            else:
                near = potential[i - begin]
            rows[i] = near + (below + lost_below)
        begin = stop
    return rows


@loop()
def _series(coefficients: Array, x: float) -> float:
    """``Σ_k c_k T_k(x)`` by Clenshaw's recurrence."""
    high = higher = 0.0
    for k in range(coefficients.size - 1, 0, -1):
        high, higher = 2.0 * x * high - higher + coefficients[k], high
    return x * high - higher + coefficients[0]
