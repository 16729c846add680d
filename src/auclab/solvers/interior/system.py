"""The Newton system of an interior-point method, by systems of the size of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab.compiled.threads import in_parallel
from auclab.models.timings import Clock
from auclab.solvers.interior.lengths import Length, Margins
from auclab.types import Array

#: Corrections of the solution of a system by its residual.
_REFINEMENTS = 2
#: Multiplications of a matrix from which two threads are faster: 10 ms of one thread.
_LARGE = 1e8
#: Rows whose product with all rows is timed.
_FEW_ROWS = 32


class GramMatrices:
    """``X D⁻¹ Xᵀ`` for diagonals D, with what stays the same from step to step."""

    def __init__(self, X: Any):
        self.X = X
        self._plain: Array | None = None
        self._squares: Any = None

    def of_diagonal(self, diagonal: Array) -> Array:
        """``X diag(diagonal)⁻¹ Xᵀ``, shape (n_rows, n_rows)."""
        scale, half = 1.0 / np.sqrt(diagonal), diagonal.size // 2
        large = float(self.X.shape[0]) ** 2 * diagonal.size >= _LARGE
        # In two parts whatever the number of threads: the digits are the same.
        parts = (slice(0, half), slice(half, None)) if large else (slice(None),)
        products = in_parallel(self._product, *((scale, part) for part in parts), threads=large)
        return sum(products[1:], start=products[0])

    def least_seconds(self, clock: Clock) -> float:
        """What a product takes at least, by that of a few rows with all; 0 if it is small."""
        rows, columns = self.X.shape
        if float(rows) ** 2 * columns < _LARGE:
            return 0.0
        begin = clock.seconds
        _ = self.X[:_FEW_ROWS] @ self.X.T
        return 0.5 * (clock.seconds - begin) * rows / min(rows, _FEW_ROWS)

    def _product(self, scale: Array, part: slice) -> Array:
        """The contribution of some columns to the matrix."""
        X = self.X[:, part]
        scaled = X.multiply(scale[None, part]).tocsr() if hasattr(X, "multiply") else X * scale[part]
        product = scaled @ scaled.T
        return np.asarray(product.toarray() if hasattr(product, "toarray") else product)

    def of_constant(self, value: float) -> Array:
        """The same for a diagonal of one value; the product is made once."""
        if self._plain is None:
            self._plain = self.of_diagonal(np.ones(self.X.shape[1]))
        return self._plain / value

    def largest_curvature(self, of_rows: Array) -> float:
        """The largest ``Σ_i of_rows_i X_ik²`` of a column k."""
        if self._squares is None:
            self._squares = self.X.multiply(self.X).tocsr() if hasattr(self.X, "multiply") else self.X * self.X
        return float(np.asarray(self._squares.T @ of_rows).max())


class System:
    """``D + XᵀBX`` with the border of the norm, of z and of the intercept, factorised.

    `weight`: their weights W; ``B = PᵀWP``. `length`: the norm at this point. `squares`, `curvature`: second
    derivatives: of the squares of w, half of it, and of the cost of the length. `threshold`: z. `proximal`: part of the
    largest curvature that is added to the diagonal.
    """

    def __init__(
        self,
        grams: GramMatrices,
        margins: Margins,
        weight: Array,
        length: Length,
        w: Array,
        *,
        squares: float,
        curvature: float,
        threshold: float,
        proximal: float,
    ):
        self.X, self.margins, self.weight, self.threshold = grams.X, margins, weight, threshold
        of_rows = weight if weight.ndim == 1 else np.r_[weight.sum(axis=1), weight.sum(axis=0)]
        self.diagonal = length.diagonal(w) + 2.0 * squares
        if length.is_uniform:
            gram = grams.of_constant(float(self.diagonal[0]))
        else:
            self.diagonal = self.diagonal + proximal * grams.largest_curvature(of_rows)
            gram = grams.of_diagonal(self.diagonal)
        self.solve_rows, self.product = margins.system(weight, gram)
        columns, corner = length.border(w)
        k = corner.shape[0] + int(margins.has_intercept)
        self.columns, self.corner = np.zeros((self.X.shape[1], k)), np.zeros((k, k))
        self.columns[:, : corner.shape[0]], self.corner[: corner.shape[0], : corner.shape[0]] = columns, corner
        z, of_ones = threshold, margins.over_rows(weight)
        if corner.shape[0]:
            self.corner[0, 0] += curvature + z * z * float(weight.sum())
            if z:
                self.columns[:, 0] += z * np.asarray(self.X.T @ of_ones)
        if margins.has_intercept:
            self.columns[:, -1] += np.asarray(self.X.T @ of_rows)
            self.corner[-1, -1] += float(weight.sum())
            if z:
                self.corner[0, -1] += z * float(of_ones.sum())
                self.corner[-1, 0] += z * float(of_ones.sum())
        if k:
            self.of_columns = self._block(self.columns)
            self.schur = self.corner - self.columns.T @ self.of_columns

    def solved(self, wanted: Array, multipliers: Array, right: tuple[Array, Array]) -> tuple[Array, float, Array]:
        """The steps of w, b and the border, for the changes `wanted` of the multipliers and a right-hand side."""
        of_w, of_border = right
        if of_border.size and self.threshold:
            of_border = of_border.copy()
            of_border[0] += self.threshold * float(wanted.sum())
        if self.margins.has_intercept:
            balance = float(self.margins.over_rows(multipliers + wanted).sum())
            of_border = np.r_[of_border, balance]
        w_step = self._block(of_w, self.margins.over_rows(wanted))
        if not of_border.size:
            return w_step, 0.0, of_border
        border = np.asarray(np.linalg.solve(self.schur, of_border - self.columns.T @ w_step), dtype=float)
        w_step = w_step - self.of_columns @ border
        if self.margins.has_intercept:
            return w_step, float(border[-1]), border[:-1]
        return w_step, 0.0, border

    def _block(self, right: Array, of_rows: Array | float = 0.0) -> Array:
        """``(D + XᵀBX)⁻¹ (right + Xᵀ of_rows)``, with some corrections by the residual."""

        def scaled(v: Array) -> Array:
            return np.asarray((v.T / self.diagonal).T)

        def once(right: Array, of_rows: Array | float) -> Array:
            change = self.solve_rows(of_rows - self.product(np.asarray(self.X @ scaled(right))))
            return scaled(right + np.asarray(self.X.T @ change))

        found = once(right, of_rows)
        for _ in range(_REFINEMENTS):
            of_found = np.asarray((self.diagonal * found.T).T)
            rest = right + np.asarray(self.X.T @ (of_rows - self.product(np.asarray(self.X @ found)))) - of_found
            found = found + once(rest, 0.0)
        return found
