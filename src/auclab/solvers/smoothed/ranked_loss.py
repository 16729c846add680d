"""The smoothed loss over the pairs of bicliques: that of `PairLoss`, where a row has an entry for each biclique.

With C_i the sum over the pairs of row i in the band of the opposite rows, weighted, and W_i their weight, the Hessian
of one curvature is ``Xᵀ(W∘X − C) − CᵀX``, one product for any number of bicliques.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from auclab.compiled.bicliques import add_window_rows
from auclab.compiled.smooth import Index
from auclab.compiled.sparse_rows import sparse_window_products
from auclab.samples.blocks.ranked_blocks import RankedBlockSample
from auclab.samples.ranked import RankedSample
from auclab.solvers.smoothed.evaluation import Evaluation
from auclab.solvers.smoothed.pair_loss import Band, PairLoss
from auclab.types import Array

#: The second derivative of a band; rows, weights and windows of its upper entries; rows and weights of the lower ones.
_Entries = tuple[float, Index, Array, Index, Index, Index, Array]
#: The weight of every row in all bands, and the entries of every band.
_Part = tuple[Array, list[_Entries]]


class RankedLoss(PairLoss):
    """The smoothed loss over the pairs of a `RankedSample`."""

    sample: RankedSample

    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ q φ'' D Dᵀ`` over the band, shape (n_features + 2, n_features + 2)."""
        sample, n = self.sample, self.sample.n_features
        hessian = np.zeros((n + 2, n + 2))
        weight, to_norm, total = np.zeros(sample.n_pos), np.zeros(sample.n_pos), 0.0
        for band in evaluation.state:
            upper, lower = self.band_weights(band)
            weight += band.curvature * (upper + lower)
            to_norm += band.curvature * (upper - lower)
            total += band.curvature * float(upper.sum())
        hessian[:n, :n] = self._products(evaluation.state, weight)
        if self.threshold != 0:
            hessian[:n, -1] = hessian[-1, :n] = self.threshold * sample.combine(to_norm, np.zeros_like(to_norm))
        hessian[-1, -1] = self.threshold**2 * total
        return hessian

    def _products(self, bands: tuple[Band, ...], weight: Array) -> Array:
        """``Xᵀ(W∘X − C) − CᵀX``."""
        sample = self.sample
        if sample.in_blocks:
            in_blocks = cast(RankedBlockSample, sample)
            return in_blocks.sum_over_parts(band_products, _by_part(in_blocks, bands, weight))
        if sample.is_sparse:
            return self._sparse_products(bands, weight)
        return band_products(sample.X_pos, (weight, [_entries(band) for band in bands]))

    def _sparse_products(self, bands: tuple[Band, ...], weight: Array) -> Array:
        """The same for CSR rows, without copying them."""
        X, products = self.sample.X_pos, self.sample.gram(weight, np.zeros_like(weight))
        for band in bands:
            orders, shares = (band.pos.order, band.neg.order), (band.pos.share, band.neg.share)
            part = sparse_window_products(X, X, orders, shares, band.pos.first, band.pos.last)
            products -= band.curvature * (part + part.T)
        return products


def band_products(rows: Any, part: _Part) -> Array:
    """``Xᵀ(W∘X − C) − CᵀX`` over the rows with a pair in a band, which are few if it is narrow.

    `part`: W of every row, and the entries of every band.
    """
    weight, bands = part
    inside = np.flatnonzero(weight > 0)
    places = np.zeros(weight.size, np.int32)
    places[inside] = np.arange(inside.size)
    X, cross = np.asarray(rows), np.zeros((inside.size, rows.shape[1]))
    for factor, order, share, first, last, of_opposite, share_opposite in bands:
        add_window_rows(X, order, share, of_opposite, share_opposite, first, last, factor, places, cross)
    used = X if inside.size == weight.size else X[inside]
    half = used.T @ (0.5 * weight[inside, None] * used - cross)
    return np.asarray(half + half.T)


def _entries(band: Band) -> _Entries:
    pos, neg = band.pos, band.neg
    return band.curvature, pos.order, pos.share, pos.first, pos.last, neg.order, neg.share


def _by_part(sample: RankedBlockSample, bands: tuple[Band, ...], weight: Array) -> Iterator[_Part]:
    """The weights and the entries of the rows of every part, numbered within it."""
    owner, parts = sample.part_of_row, sample.parts
    cuts = [
        [np.searchsorted(owner[order], np.arange(len(parts) + 1)) for order in (band.pos.order, band.neg.order)]
        for band in bands
    ]
    for number, rows in enumerate(parts):
        found = []
        for band, (upper, lower) in zip(bands, cuts, strict=True):
            pos, neg = slice(*upper[number : number + 2]), slice(*lower[number : number + 2])
            above, below = (
                np.searchsorted(rows, order).astype(np.int32) for order in (band.pos.order[pos], band.neg.order[neg])
            )
            first, last = (each[pos] - np.int32(neg.start) for each in (band.pos.first, band.pos.last))
            found.append((band.curvature, above, band.pos.share[pos], first, last, below, band.neg.share[neg]))
        yield np.where(owner[rows] == number, weight[rows], 0.0), found
