"""The smoothed loss over the pairs of bicliques: that of `PairLoss`, where a row has an entry for each biclique.

With C_i the sum over the pairs of row i in the band of the opposite rows, weighted, and W_i their weight, the Hessian
of one curvature is ``Xᵀ(W∘X − C) − CᵀX``, one product for any number of bicliques.
"""

from __future__ import annotations

import numpy as np

from auclab.compiled.bicliques import add_window_rows
from auclab.compiled.smooth import Index
from auclab.compiled.sparse_rows import sparse_window_products
from auclab.samples.ranked import RankedSample
from auclab.solvers.smoothed.evaluation import Evaluation
from auclab.solvers.smoothed.pair_loss import Band, PairLoss
from auclab.types import Array


class RankedLoss(PairLoss):
    """The smoothed loss over the pairs of a `RankedSample`."""

    sample: RankedSample

    def _of_rows(self, values: Array, rows: Index) -> Array:
        """The sums over the entries of every row."""
        return np.bincount(rows, values, self.sample.n_pos).astype(float, copy=False)

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
        products = self._sparse_products if sample.is_sparse else self._dense_products
        hessian[:n, :n] = products(evaluation.state, weight)
        hessian[:n, -1] = hessian[-1, :n] = self.threshold * (sample.X_pos.T @ to_norm)
        hessian[-1, -1] = self.threshold**2 * total
        return hessian

    def _dense_products(self, bands: tuple[Band, ...], weight: Array) -> Array:
        """``Xᵀ(W∘X − C) − CᵀX`` over the rows with a pair in a band, which are few if it is narrow."""
        inside = np.flatnonzero(weight > 0)
        places = np.zeros(weight.size, np.int32)
        places[inside] = np.arange(inside.size)
        X, cross = self.sample.X_pos, np.zeros((inside.size, self.sample.n_features))
        for band in bands:
            pos, neg = band.pos, band.neg
            windows = pos.first, pos.last
            add_window_rows(X, pos.order, pos.share, neg.order, neg.share, *windows, band.curvature, places, cross)
        rows = X if inside.size == weight.size else X[inside]
        half = rows.T @ (0.5 * weight[inside, None] * rows - cross)
        return np.asarray(half + half.T)

    def _sparse_products(self, bands: tuple[Band, ...], weight: Array) -> Array:
        """The same for CSR rows, without copying them."""
        X, products = self.sample.X_pos, self.sample.gram(weight, np.zeros_like(weight))
        for band in bands:
            orders, shares = (band.pos.order, band.neg.order), (band.pos.share, band.neg.share)
            part = sparse_window_products(X, X, orders, shares, band.pos.first, band.pos.last)
            products -= band.curvature * (part + part.T)
        return products
