"""The margins and the block of a norm in an interior-point method, and its Newton system of the size of the rows.

With ``t = ‖w‖`` and its multiplier τ, the border holds t and what else the norm needs. Every class keeps its point
and its dual point, says the block, and turns the step in w and the border into a step of its own variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as la

from auclab._core.base import Array
from auclab._core.forms import dense
from auclab._core.threads import in_parallel
from auclab._core.tolerances import ROUNDING
from auclab.models.timings import Clock
from auclab.regularisers import VectorNorm

#: From a vector, or several, over rows to one: ``(I + B G)⁻¹``, and B.
RowSystem = tuple[Callable[[Array], Array], Callable[[Array], Array]]


class PointMargins:
    """``side_k (s_k + b)``, at least `least`, with at most `capacity` charged for each; infinite for a hard margin."""

    has_intercept = True

    def __init__(self, sides: Array, capacity: Array, least: float = 1.0):
        self.sides, self.capacity, self.least = sides, capacity, least

    @classmethod
    def of_weights(cls, pos: Array, neg: Array) -> PointMargins:
        """Of positives and negatives with these weights."""
        return cls(np.r_[np.ones(pos.size), -np.ones(neg.size)], np.r_[pos, neg])

    def lacking(self, scores: Array, intercept: float) -> Array:
        """The shortfalls of the margins."""
        return self.least - self.sides * (scores + intercept)

    def change(self, scores: Array, intercept: float) -> Array:
        """By how much they lack more where scores and intercept change by this."""
        return -self.sides * (scores + intercept)

    def over_rows(self, multipliers: Array) -> Array:
        """``Σ_k q_k ∂m_k/∂s``, shape (n_rows,)."""
        return self.sides * multipliers

    def marginals(self, multipliers: Array) -> tuple[Array, Array]:
        """The multipliers of positives and negatives."""
        return multipliers[self.sides > 0], multipliers[self.sides < 0]

    def system(self, weight: Array, gram: Array) -> RowSystem:
        """For ``B = diag(weight)``."""
        # (I + BG)⁻¹ = (B⁻¹ + G)⁻¹ B⁻¹ for the diagonal B.
        factor = la.cho_factor(gram + np.diag(1.0 / weight), lower=True, overwrite_a=True, check_finite=False)

        def product(v: Array) -> Array:
            return np.asarray((weight * v.T).T)

        def solve(v: Array) -> Array:
            return np.asarray(la.cho_solve(factor, (v.T / weight).T, check_finite=False))

        return solve, product


class PairMargins:
    """``s_i − s_j`` of every positive i and negative j, at least 1."""

    has_intercept = False

    def __init__(self, share_pos: Array, share_neg: Array):
        self.capacity = np.outer(share_pos, share_neg)
        self.n_pos, self.sides = share_pos.size, np.ones((1, 1))

    def lacking(self, scores: Array, intercept: float) -> Array:
        """What the margins lack."""
        return 1.0 - scores[: self.n_pos, None] + scores[None, self.n_pos :]

    def change(self, scores: Array, intercept: float) -> Array:
        """By how much they lack more where scores change by this."""
        return scores[None, self.n_pos :] - scores[: self.n_pos, None]

    def over_rows(self, multipliers: Array) -> Array:
        """``Σ_k q_k ∂m_k/∂s``, shape (n_rows,)."""
        return np.r_[multipliers.sum(axis=1), -multipliers.sum(axis=0)]

    def marginals(self, multipliers: Array) -> tuple[Array, Array]:
        """The sums of the multipliers of every row."""
        return multipliers.sum(axis=1), multipliers.sum(axis=0)

    def system(self, weight: Array, gram: Array) -> RowSystem:
        """For the Laplacian B of the pairs, by its Cholesky factor: ``(I + BG)⁻¹ = C (I + CᵀGC)⁻¹ C⁻¹``."""
        laplacian = np.zeros_like(gram)
        # B = PᵀWP: −W_ij between the rows of a pair, the sums of their weights on the diagonal.
        laplacian[: self.n_pos, self.n_pos :] = -weight
        laplacian[self.n_pos :, : self.n_pos] = -weight.T
        diagonal = np.diag_indices_from(laplacian)
        laplacian[diagonal] = np.r_[weight.sum(axis=1), weight.sum(axis=0)]
        ridged = laplacian.copy()
        ridged[diagonal] *= 1.0 + ROUNDING
        lower = la.cholesky(ridged, lower=True, overwrite_a=True, check_finite=False)
        inner = la.blas.dtrmm(1.0, lower, gram, side=1, lower=1)
        inner = la.blas.dtrmm(1.0, lower, inner, lower=1, trans_a=1, overwrite_b=1)
        inner[diagonal] += 1.0
        factor = la.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

        def product(v: Array) -> Array:
            return np.asarray(laplacian @ v)

        def solve(v: Array) -> Array:
            first = la.solve_triangular(lower, v, lower=True, check_finite=False)
            return np.asarray(lower @ la.cho_solve(factor, first, check_finite=False))

        return solve, product


Margins = PointMargins | PairMargins


#: The first length of w, in units in which scores differ by about 1, over the root of the number of columns.
_FIRST = 0.1
#: Largest fractions of the limit of a dual vector for the first dual vector, and for its multipliers.
INSIDE = 0.9


class Border(NamedTuple):
    """Columns F, shape (n, k), and the corner, shape (k, k), of the bordered system; the first column is that of t."""

    columns: Array
    corner: Array


class Steps(NamedTuple):
    """Slack variables and multipliers with their steps."""

    slack: Array
    slack_step: Array
    dual: Array
    dual_step: Array


class Free:
    """No norm, only the squares of a regulariser."""

    t = 0.0
    size = 0
    is_uniform = True

    def diagonal(self, w: Array) -> Array:
        """That of the block."""
        return np.zeros(w.size)

    def border(self, w: Array) -> Border:
        """None."""
        return Border(np.zeros((w.size, 0)), np.zeros((0, 0)))

    def right(self, w: Array, gradient: Array, slope: float, mu: float, second: Steps | None) -> tuple[Array, Array]:
        """The right-hand sides."""
        return gradient, np.zeros(0)

    def steps(self, w_step: Array, border: Array, gradient_step: Array) -> Steps | None:
        """No slack variables."""
        return None

    def move(self, w: Array, border: Array, steps: Steps | None, primal: float, dual: float) -> None:
        """Nothing to move."""


class _TwoSided:
    """Norms with a slack variable and a multiplier on either side of every column."""

    is_uniform = False
    slack: tuple[Array, Array]
    dual: tuple[Array, Array]

    @property
    def _rates(self) -> tuple[Array, Array]:
        return self.dual[0] / self.slack[0], self.dual[1] / self.slack[1]

    def _aims(self, mu: float, second: Steps | None) -> tuple[Array, Array]:
        """``(μ − s·y)/s`` of either side, minus the second-order term of the predictor."""
        slack, dual = np.concatenate(self.slack), np.concatenate(self.dual)
        # Mehrotra's corrector aims at s·y = μ − Δs·Δy, Δ of the predictor (Nocedal & Wright, section 14.2).
        product = 0.0 if second is None else second.slack_step * second.dual_step
        above, below = np.split((mu - slack * dual - product) / slack, 2)
        return above, below

    def _both(self, slack_steps: tuple[Array, Array], dual_steps: tuple[Array, Array]) -> Steps:
        return Steps(*map(np.concatenate, (self.slack, slack_steps, self.dual, dual_steps)))

    def _moved(self, steps: Steps | None, primal: float, dual: float) -> None:
        assert steps is not None
        above, below = np.split(steps.slack + primal * steps.slack_step, 2)
        self.slack = above, below
        above, below = np.split(steps.dual + dual * steps.dual_step, 2)
        self.dual = above, below


class Box(_TwoSided):
    """``t = Σ c_k u_k`` with ``abs(w_k) ≤ u_k``: norms whose dual ball is the box ``abs(g_k) ≤ τ c_k``."""

    size = 2

    def __init__(self, limits: Array, w: Array, gradient: Array, unit: float, tau: float):
        self.limits, self.tau = limits, tau
        self.u = np.abs(w) + _FIRST / (unit * np.sqrt(w.size))
        self.slack = self.u - w, self.u + w
        self.t = float(limits @ self.u)
        g = gradient * min(1.0, INSIDE * tau / max(float((abs(gradient) / limits).max()), 1e-300))
        self.dual = 0.5 * (tau * limits + g), 0.5 * (tau * limits - g)

    def diagonal(self, w: Array) -> Array:
        """Of w, once u is eliminated."""
        above, below = self._rates
        # The Schur complement of u: (a + b) − (a − b)²/(a + b) = 4ab/(a + b) with the rates a and b.
        return 4.0 * above * (below / (above + below))

    def border(self, w: Array) -> Border:
        """T and τ."""
        above, below = self._rates
        of_tau = (above - below) / (above + below) * self.limits
        corner = -float(self.limits @ (self.limits / (above + below)))
        return Border(np.c_[np.zeros(w.size), of_tau], np.array([[0.0, -1.0], [-1.0, corner]]))

    def right(self, w: Array, gradient: Array, slope: float, mu: float, second: Steps | None) -> tuple[Array, Array]:
        """The right-hand sides."""
        rate_above, rate_below = self._rates
        above, below = self._aims(mu, second)
        self._lacks = self.tau * self.limits - self.dual[0] - self.dual[1]
        self._residual = gradient - (self.dual[0] - self.dual[1])
        self._free = (above + below - self._lacks) / (rate_above + rate_below)
        of_w = self._residual - above + below - (rate_below - rate_above) * self._free
        missing = self.t - float(self.limits @ self.u)
        return of_w, np.array([self.tau - slope, missing - float(self.limits @ self._free)])

    def steps(self, w_step: Array, border: Array, gradient_step: Array) -> Steps:
        """The multipliers follow the dual vector, with ``α + β = τc`` and ``α − β = g``."""
        above, below = self._rates
        self._u_step = self._free + ((above - below) * w_step - self.limits * border[1]) / (above + below)
        total, difference = self._lacks + self.limits * border[1], gradient_step + self._residual
        slack_steps = self._u_step - w_step, self._u_step + w_step
        return self._both(slack_steps, (0.5 * (total + difference), 0.5 * (total - difference)))

    def move(self, w: Array, border: Array, steps: Steps | None, primal: float, dual: float) -> None:
        """Along the step."""
        self.u = self.u + primal * self._u_step
        self.t, self.tau = self.t + primal * float(border[0]), self.tau + dual * float(border[1])
        self._moved(steps, primal, dual)


class Top(_TwoSided):
    """``t ≥ c_k abs(w_k)`` for every column: norms whose ball is a box."""

    size = 1

    def __init__(self, factors: Array, w: Array, gradient: Array, unit: float, tau: float):
        self.factors = factors
        self.t = float((factors * np.abs(w)).max()) + _FIRST / unit
        self.slack = self.t - factors * w, self.t + factors * w
        size = float((abs(gradient) / factors).sum())
        g = gradient / factors * min(1.0, INSIDE * tau / max(size, 1e-300))
        rest = 0.5 * (tau - float(abs(g).sum())) / w.size
        self.dual = np.maximum(g, 0.0) + rest, np.maximum(-g, 0.0) + rest

    def diagonal(self, w: Array) -> Array:
        """The rates of both sides."""
        above, below = self._rates
        return self.factors**2 * (above + below)

    def border(self, w: Array) -> Border:
        """T alone."""
        above, below = self._rates
        return Border((self.factors * (below - above))[:, None], np.array([[float((above + below).sum())]]))

    def right(self, w: Array, gradient: Array, slope: float, mu: float, second: Steps | None) -> tuple[Array, Array]:
        """The right-hand sides."""
        self._aim = above, below = self._aims(mu, second)
        self._residual = gradient - self.factors * (self.dual[0] - self.dual[1])
        total = float((self.dual[0] + self.dual[1] + above + below).sum())
        return self._residual - self.factors * (above - below), np.array([total - slope])

    def steps(self, w_step: Array, border: Array, gradient_step: Array) -> Steps:
        """Of the side with more room by its rate, of the other by the dual vector, which has more digits."""
        slack_steps = border[0] - self.factors * w_step, border[0] + self.factors * w_step
        above, below = (aim - rate * step for aim, rate, step in zip(self._aim, self._rates, slack_steps, strict=True))
        difference = (gradient_step + self._residual) / self.factors
        has_room = self.slack[0] > self.slack[1]
        dual_steps = np.where(has_room, above, below + difference), np.where(has_room, above - difference, below)
        return self._both(slack_steps, dual_steps)

    def move(self, w: Array, border: Array, steps: Steps | None, primal: float, dual: float) -> None:
        """Along the step."""
        self.t += primal * float(border[0])
        self._moved(steps, primal, dual)


Length = Free | Box | Top


def length_at(norm: VectorNorm | None, w: Array, gradient: Array, unit: float, tau: float) -> Length:
    """The block of a norm, or of none, at a first point w with the multiplier τ and the dual vector `gradient`.

    `unit` > 0: by which scores of a w of length 1 differ. `tau` > 0.
    """
    if norm is None:
        return Free()
    if (box := norm.dual_box(w.size)) is not None:
        return Box(box, w, gradient, unit, tau)
    factors = top_factors(norm, w.size)
    assert factors is not None  # the solver refuses other norms
    return Top(factors, w, gradient, unit, tau)


def top_factors(norm: VectorNorm, n_features: int) -> Array | None:
    """The c of a norm ``max_k c_k abs(w_k)``, read from its epigraph; None of others."""
    rows = norm.epigraph(np.ones(n_features))
    if len(rows.sizes) or rows.n_parts(n_features) or rows.linear.shape[0] != 2 * n_features:
        return None
    of_w, of_t = rows.linear[:, :n_features].tocsr(), rows.linear[:, [n_features]].toarray()
    factors = of_w[:n_features].diagonal()
    other = abs(of_w).sum() - 2.0 * factors.sum() + abs(of_w[:n_features] + of_w[n_features:]).sum()
    return factors if (factors > 0).all() and other == 0 and (of_t == -1).all() else None


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
        return dense(product)

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
            # The Schur complement of D + XᵀBX in the bordered system: corner − Fᵀ(D + XᵀBX)⁻¹F.
            self.schur = self.corner - self.columns.T @ self.of_columns

    def solved(self, wanted: Array, multipliers: Array, right: tuple[Array, Array]) -> tuple[Array, float, Array]:
        """The steps of w, b and the border, for the changes `wanted` of the multipliers and a right-hand side."""
        of_w, of_border = right
        if of_border.size:
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
            # Woodbury: (D + XᵀBX)⁻¹r = D⁻¹(r − Xᵀ(I + BG)⁻¹BXD⁻¹r) with G = XD⁻¹Xᵀ.
            change = self.solve_rows(of_rows - self.product(np.asarray(self.X @ scaled(right))))
            return scaled(right + np.asarray(self.X.T @ change))

        found = once(right, of_rows)
        for _ in range(_REFINEMENTS):
            of_found = np.asarray((self.diagonal * found.T).T)
            rest = right + np.asarray(self.X.T @ (of_rows - self.product(np.asarray(self.X @ found)))) - of_found
            found = found + once(rest, 0.0)
        return found
