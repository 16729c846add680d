"""The Hessian of the smoothed pair loss from bins of scores: two passes over the rows, and no sorted rows.

Exact, it needs for every observation the sum of its partners' rows in the band, which lie in other blocks. With scores
put into bins much narrower than the band, the sums of rows per bin do. What comes out is the Hessian of a loss whose
scores are moved by less than half a bin: good enough for steps, and nothing that is certified depends on it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.samples.blocks.sample import BlockSample
from auclab.types import Array

#: Bins in half a band, and the memory that the sums per bin of one class may take.
PER_HALF_WIDTH, MOST_BYTES = 16, 100_000_000


def binned_curvature(sample: BlockSample, theta: Array, half_width: float, threshold: float) -> Array:
    """``Σ q φ'' D Dᵀ`` over the pairs whose binned margins are in the band, shape (n_features + 2, n_features + 2).

    Parameters
    ----------
    theta : array of shape (n_features + 2,)
        ``(w, b, ‖w‖)``.
    half_width : float
        That of the band.
    threshold : float
        z: a pair's direction is ``D = (x_i⁺ − x_j⁻, 0, z)``.
    """
    pos, neg = sample.scores(theta[:-2])
    shift = 1.0 - threshold * theta[-1]
    pos -= shift  # a pair is in the band where |n_j − p_i| < h
    start, end = min(pos.min(), neg.min()), max(pos.max(), neg.max())
    most = max(2, MOST_BYTES // (8 * sample.n_features))
    width = max(half_width / PER_HALF_WIDTH, (end - start) / (most - 1))
    n_bins = int((end - start) / width) + 1
    bins_pos, bins_neg = (((scores - start) / width).astype(np.int32) for scores in (pos, neg))
    del pos, neg
    reach = max(0, math.ceil(half_width / width) - 1)
    held_pos, held_neg = (
        np.bincount(bins, weights=share, minlength=n_bins)
        for bins, share in ((bins_pos, sample.share_pos), (bins_neg, sample.share_neg))
    )
    mass_pos = sample.share_pos * _around(held_neg, reach)[bins_pos]
    mass_neg = sample.share_neg * _around(held_pos, reach)[bins_neg]
    square = sample.gram(mass_pos, mass_neg)
    sums_pos, sums_neg = sample.bin_sums(bins_pos, bins_neg, n_bins)
    cross = sums_pos.T @ _around(sums_neg, reach)
    n = sample.n_features
    hessian = np.zeros((n + 2, n + 2))
    hessian[:n, :n] = square - cross - cross.T
    hessian[:n, -1] = hessian[-1, :n] = threshold * sample.combine(mass_pos, mass_neg)
    hessian[-1, -1] = threshold**2 * mass_pos.sum()
    return hessian / (2.0 * half_width)


def _around(held: NDArray[Any], reach: int) -> Array:
    """Sums over the bins within `reach` of each, along the first axis.

    Examples
    --------
    >>> _around(np.array([1.0, 2.0, 4.0, 8.0]), 1).tolist()
    [3.0, 7.0, 14.0, 12.0]
    """
    total = np.concatenate([np.zeros((1, *held.shape[1:])), np.cumsum(held, axis=0)])
    places: NDArray[np.intp] = np.arange(len(held))
    return np.asarray(total[np.minimum(places + reach + 1, len(held))] - total[np.maximum(places - reach, 0)])
