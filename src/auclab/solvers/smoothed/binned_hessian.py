"""The Hessian of the smoothed pair loss from binned scores: two passes over the rows, without sorting them.

The exact Hessian needs for every observation the sum of the opposite class's rows in its band, which lie in other
blocks. With scores binned much more finely than the band is wide, the sums of rows per bin suffice. The result is the
Hessian of a loss whose scores are moved by less than half a bin: good enough for steps, and no certificate depends on
it. With more bins than rows, as where outliers stretch the range of the scores, only the bins with rows are kept.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab.solvers.budget import BLOCK_BYTES

#: Bins per smoothing width.
BINS_PER_WIDTH = 16


def binned_hessian(sample: Any, theta: Array, smoothing_width: float, threshold: float) -> Array:
    """``Σ q φ'' D Dᵀ`` over the pairs whose binned margins are in the band, shape (n_features + 2, n_features + 2).

    `sample`: in blocks or in memory. `theta` (n_features + 2,): ``(w, b, ‖w‖)``. `smoothing_width`: that of the band.
    `threshold`: z; a pair's direction is ``D = (x_i⁺ − x_j⁻, 0, z)``.
    """
    pos, neg = sample.scores(theta[:-2])
    shift = 1.0 - threshold * theta[-1]
    pos -= shift  # a pair is in the band where |n_j − p_i| < h
    start, end = min(pos.min(), neg.min()), max(pos.max(), neg.max())
    max_bins, n_rows = max(2, BLOCK_BYTES // (8 * sample.n_features)), pos.size + neg.size
    most = max_bins if n_rows > max_bins else 1.0 / np.finfo(float).eps  # numbers of bins are exact as floats
    width = max(smoothing_width / BINS_PER_WIDTH, (end - start) / (most - 1))
    n_bins = int((end - start) / width) + 1
    kind = np.int32 if n_bins <= max_bins else np.int64
    bins_pos, bins_neg = (((scores - start) / width).astype(kind) for scores in (pos, neg))
    del pos, neg
    reach = max(0, math.ceil(smoothing_width / width) - 1)
    if n_bins > n_rows:
        occupied, places = np.unique(np.concatenate([bins_pos, bins_neg]), return_inverse=True)
        bins_pos, bins_neg = np.split(places.astype(np.int32), [bins_pos.size])
        n_bins = occupied.size
    else:
        occupied = np.arange(n_bins)
    within = np.searchsorted(occupied, occupied - reach), np.searchsorted(occupied, occupied + reach, side="right")
    binned_pos, binned_neg = (
        np.bincount(bins, weights=share, minlength=n_bins)
        for bins, share in ((bins_pos, sample.share_pos), (bins_neg, sample.share_neg))
    )
    weight_pos = sample.share_pos * _sums_within(binned_neg, *within)[bins_pos]
    weight_neg = sample.share_neg * _sums_within(binned_pos, *within)[bins_neg]
    square = sample.gram(weight_pos, weight_neg)
    sums_pos, sums_neg = sample.bin_sums(bins_pos, bins_neg, n_bins)
    cross = sums_pos.T @ _sums_within(sums_neg, *within)
    n = sample.n_features
    hessian = np.zeros((n + 2, n + 2))
    hessian[:n, :n] = square - cross - cross.T
    hessian[:n, -1] = hessian[-1, :n] = threshold * sample.combine(weight_pos, weight_neg)
    hessian[-1, -1] = threshold**2 * weight_pos.sum()
    return hessian / (2.0 * smoothing_width)


def _sums_within(binned: NDArray[Any], first: NDArray[np.intp], last: NDArray[np.intp]) -> Array:
    """Sums over the bins from `first` to `last` (exclusive) along the first axis.

    Examples
    --------
    >>> _sums_within(np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 0, 1, 2]), np.array([2, 3, 4, 4])).tolist()
    [3.0, 7.0, 14.0, 12.0]
    """
    prefix = np.concatenate([np.zeros((1, *binned.shape[1:])), np.cumsum(binned, axis=0)])
    return np.asarray(prefix[last] - prefix[first])
