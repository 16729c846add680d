"""Pairs of rows of different levels as bicliques: levels are halved, and both halves keep any order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auclab.compiled.smooth import Index
from auclab.types import Array


@njit(cache=True, nogil=True)
def sizes_of_bicliques(
    blocks: NDArray[np.int64], ends: NDArray[np.int64], wins: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of both sides of every biclique, and its group; `wins` counts the winners before each place."""
    n_levels = blocks[-1]
    sizes, owners = np.empty((n_levels, 2), np.int64), np.empty(n_levels, np.int64)  # a cut for every level but one
    stack, found = np.empty((128, 2), np.int64), 0
    for g in range(blocks.size - 1):
        stack[0, 0], stack[0, 1] = blocks[g], blocks[g + 1]
        depth = 1
        while depth:
            depth -= 1
            a, b = stack[depth, 0], stack[depth, 1]
            if b - a < 2:
                continue
            middle = (a + b) // 2
            above = wins[ends[b]] - wins[ends[middle]]
            if above:
                sizes[found, 0], sizes[found, 1], owners[found] = above, ends[middle] - ends[a], g
                found += 1
            stack[depth, 0], stack[depth, 1] = a, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = middle, b
            depth += 2
    return sizes[:found].copy(), owners[:found].copy()


@njit(cache=True, nogil=True)
def sides_in_order(
    order: NDArray[np.int64],
    scores: Array,
    places: NDArray[Any],
    blocks: NDArray[np.int64],
    ends: NDArray[np.int64],
    winners: NDArray[np.bool_],
    n_upper: int,
    n_lower: int,
) -> tuple[Index, Array, Index, Array]:
    """The sides with their rows in a given order: every half keeps the order of the whole, as in a merge sort."""
    rows, values = np.empty(ends[-1], np.int32), np.empty(ends[-1])
    if blocks.size == 2:
        k = 0
        for r in order:
            if places[r] >= 0:
                rows[k], values[k] = r, scores[r]
                k += 1
    else:
        block_of, fill = np.empty(ends[-1], np.int32), np.empty(blocks.size - 1, np.int64)
        for g in range(blocks.size - 1):
            fill[g] = ends[blocks[g]]
            for p in range(ends[blocks[g]], ends[blocks[g + 1]]):
                block_of[p] = g
        for r in order:
            if places[r] >= 0:
                g = block_of[places[r]]
                rows[fill[g]], values[fill[g]] = r, scores[r]
                fill[g] += 1
    rows_upper, upper = np.empty(n_upper, np.int32), np.empty(n_upper)
    rows_lower, lower = np.empty(n_lower, np.int32), np.empty(n_lower)
    spare_rows, spare_values = np.empty(ends[-1], np.int32), np.empty(ends[-1])
    stack, at_upper, at_lower = np.empty((128, 2), np.int64), 0, 0
    for g in range(blocks.size - 1):
        stack[0, 0], stack[0, 1] = blocks[g], blocks[g + 1]
        depth = 1
        while depth:
            depth -= 1
            a, b = stack[depth, 0], stack[depth, 1]
            if b - a < 2:
                continue
            middle = (a + b) // 2
            cut, low, high, before = ends[middle], ends[a], 0, at_upper
            for p in range(ends[a], ends[b]):
                row, value = rows[p], values[p]
                if places[row] < cut:
                    rows[low], values[low] = row, value
                    low += 1
                else:
                    spare_rows[high], spare_values[high] = row, value
                    high += 1
                    if winners[row]:
                        rows_upper[at_upper], upper[at_upper] = row, value
                        at_upper += 1
            for p in range(high):
                rows[low + p], values[low + p] = spare_rows[p], spare_values[p]
            if at_upper > before:
                centre = 0.5 * (values[ends[a]] + values[cut - 1])  # without it sums over a biclique would lose digits
                for p in range(before, at_upper):
                    upper[p] -= centre
                for p in range(ends[a], cut):
                    rows_lower[at_lower], lower[at_lower] = rows[p], values[p] - centre
                    at_lower += 1
            stack[depth, 0], stack[depth, 1] = a, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = middle, b
            depth += 2
    return rows_upper, upper, rows_lower, lower
