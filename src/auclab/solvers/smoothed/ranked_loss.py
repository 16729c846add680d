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
from auclab.solvers.smoothed.pair_loss import PairLoss
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
        cross = None if sample.is_sparse else np.zeros((sample.n_pos, n))
        for band in evaluation.state:
            upper, lower = self.band_weights(band)
            weight += band.curvature * (upper + lower)
            to_norm += band.curvature * (upper - lower)
            total += band.curvature * float(upper.sum())
            pos, neg = band.pos, band.neg
            if cross is not None:
                add_window_rows(
                    sample.X_pos, pos.order, pos.share, neg.order, neg.share, pos.first, pos.last, band.curvature, cross
                )
                continue
            orders, shares = (pos.order, neg.order), (pos.share, neg.share)
            part = sparse_window_products(sample.X_pos, sample.X_pos, orders, shares, pos.first, pos.last)
            hessian[:n, :n] -= band.curvature * (part + part.T)
        if cross is None:
            hessian[:n, :n] += sample.gram(weight, np.zeros_like(weight))
        else:
            inside = weight > 0
            every = 2 * np.count_nonzero(inside) > inside.size
            rows, weight, cross = (
                (sample.X_pos, weight, cross) if every else (sample.X_pos[inside], weight[inside], cross[inside])
            )
            half = rows.T @ (0.5 * weight[:, None] * rows - cross)
            hessian[:n, :n] += half + half.T
        hessian[:n, -1] = hessian[-1, :n] = self.threshold * (sample.X_pos.T @ to_norm)
        hessian[-1, -1] = self.threshold**2 * total
        return hessian
