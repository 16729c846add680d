"""The nearest weighted mean in the Euclidean norm, by Newton's method on its smoothed dual.

    min_q ½‖target − Xᵀq‖²  =  − min_{v,β}  ½‖v‖² − target·v + total·β + Σ_k capacity_k [x_k·v − β]₊
    over 0 ≤ q ≤ capacity, Σq = total

The hinge is smoothed over a band of half-width h that is made narrower step by step; β is eliminated exactly. The
slopes of the hinges are admissible weights q with ``v = target − Xᵀq`` at the minimum. O(m n + band n²) a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from auclab.precision import MOST_STEPS, SMALLEST, SOLVED
from auclab.types import Array


def nearest_mean_euclidean(X: Any, capacity: Array, total: float, target: Array) -> Array:
    """Argmin of ``‖target − Xᵀq‖₂`` over ``0 ≤ q ≤ capacity``, ``Σ q = total``.

    `capacity` (n_points,): largest weights, ≥ 0. `total`: sum of the weights, > 0 and less than that of the capacities.
    `target` (n_features,): in the units of ``Xᵀq``. Returns: the best weights of all half-widths; their sum is `total`
    to rounding.

    Examples
    --------
    >>> X, capacity = np.array([[0.0], [4.0]]), np.array([0.75, 0.75])
    >>> nearest_mean_euclidean(X, capacity, 1.0, np.array([-1.0])).round(9).tolist()
    [0.75, 0.25]
    """
    largest = max(float(abs(X).max()), float(np.abs(target).max()))
    if largest > 0 and not 1e-60 <= largest <= 1e60:  # squares stay within the range of floats
        X, target = X / largest, target / largest
    dual = _Dual(X, capacity, total, target)
    best = capacity * (total / capacity.sum())
    v = target - X.T @ best
    half_width = 0.1 * float(np.ptp(X @ v))
    if half_width < SMALLEST:
        half_width = 1.0
    primal, lower = 0.5 * float(v @ v), -np.inf
    path: list[_Point] = []
    for _ in range(25):  # widths, each a tenth of the last
        start = _extrapolated(path, "v", half_width) if len(path) > 1 else v
        try:
            point = dual.minimised(start, half_width, path[-1].beta if path else None)
        except np.linalg.LinAlgError:  # a narrow band: the unit matrix is lost in rounding next to its covariance
            break
        path, v, found = [*path[-1:], point], point.v, [point.weights]
        if len(path) > 1:
            # Between changes of the band v and q are affine in the half-width: at 0 they are the optimum.
            found.append(_extrapolated(path, "weights", 0.0))
        for weights in (dual.balanced(each) for each in found):
            rest = target - X.T @ weights
            lower = max(lower, dual.lower_bound(rest))
            if 0.5 * float(rest @ rest) < primal:
                best, primal = weights, 0.5 * float(rest @ rest)
        if primal - lower <= max(SOLVED * primal, SOLVED**2 * float(target @ target)):
            return best
        half_width *= 0.1
    # Where the values agree to six digits only, a small program goes to an interior point method.
    few = capacity.size * target.size <= 50_000
    if few and primal - lower > max(1e-6 * primal, SOLVED**2 * float(target @ target)):
        other = _by_quadratic_program(X, capacity, total, target)
        if other is not None:
            other = dual.balanced(other)
            rest = target - X.T @ other
            best = other if 0.5 * float(rest @ rest) < primal else best
    return best


def _by_quadratic_program(X: Any, capacity: Array, total: float, target: Array) -> Array | None:
    """The same by an interior-point method, if large numbers in the rows make the dual steps too inaccurate.

    q and ``v = target − Xᵀq`` are the variables, in units of the largest number.
    """
    from auclab.projection.quadratic import solve_quadratic  # imports Clarabel, which few programs need

    n_points, n_features = X.shape
    unit = max(float(abs(X).max()), float(np.abs(target).max()) / total)
    quadratic = sp.block_diag([sp.csc_array((n_points, n_points)), sp.eye_array(n_features)], format="csc")
    shares, units = capacity / total, sp.eye_array(n_points, n_features + n_points, format="csc")
    means = sp.hstack([sp.csc_array(X.T / unit), sp.eye_array(n_features)])
    sums = sp.csc_array(np.r_[np.ones(n_points), np.zeros(n_features)][None, :])
    equal = (sp.vstack([means, sums]), np.r_[target / (unit * total), 1.0])
    at_most = (sp.vstack([units, -units]), np.r_[shares, np.zeros(n_points)])
    found = solve_quadratic(quadratic, np.zeros(n_points + n_features), equal, at_most)
    return None if found is None else found[:n_points] * total


@dataclass(frozen=True)
class _Point:
    """A minimum of the smoothed dual, or a point on the way to it.

    `beta`: the best β at v. `weights` (n_points,): q, the slopes of the hinges. `value`, `smoothing_gap`: of the
    smoothed dual, and what the smoothing adds to it.
    """

    half_width: float
    v: Array
    beta: float
    weights: Array
    in_band: NDArray[np.bool_]
    value: float
    smoothing_gap: float


def _extrapolated(path: list[_Point], name: str, half_width: float) -> Array:
    """The point at another half-width on the line through the last two points."""
    first, second = path[-2:]
    along = (half_width - second.half_width) / (second.half_width - first.half_width)
    before, after = getattr(first, name), getattr(second, name)
    return np.asarray(after + along * (after - before))


@dataclass(frozen=True)
class _Dual:
    """The smoothed dual as a function of v."""

    X: Any
    capacity: Array
    total: float
    target: Array

    def at(self, v: Array, half_width: float, beta: float | None = None) -> _Point:
        """The function at v, with the β at which the weights have their sum; `beta` is near it."""
        scores = self.X @ v
        beta = self._balance(scores, half_width, beta)
        slopes = _slopes(scores - beta, half_width)
        weights = self.capacity * slopes
        squares = float(weights @ slopes)
        # With slope t a smoothed hinge is h t², and above the band also what exceeds h.
        hinges = half_width * squares + float(self.capacity @ np.maximum(scores - (beta + half_width), 0.0))
        value = float(0.5 * v @ v - self.target @ v + self.total * beta) + hinges
        added = half_width * (float(weights.sum()) - squares)
        return _Point(half_width, v, beta, weights, (slopes > 0) & (slopes < 1), value, added)

    def _balance(self, scores: Array, half_width: float, beta: float | None) -> float:
        """The root of a falling piecewise linear function, by Newton steps or else halves of a bracket.

        Rows that are above or below the band for every β of the bracket are left out of the next steps.
        """
        capacity, above = self.capacity, 0.0
        low, high = float(scores.min()) - half_width, float(scores.max()) + half_width
        beta = 0.5 * (low + high) if beta is None or not low < beta < high else beta
        for _ in range(MOST_STEPS):
            shares = _slopes(scores - beta, half_width)
            excess = above + float(capacity @ shares) - self.total
            if abs(excess) <= 2.0**-50 * self.total:
                break
            low, high = (beta, high) if excess > 0 else (low, beta)
            slope = float(capacity @ ((shares > 0) & (shares < 1))) / (2.0 * half_width)
            following = beta + excess / slope if slope > 0 else low
            beta, before = following if low < following < high else 0.5 * (low + high), beta
            if beta == before:
                break
            counted = scores >= high + half_width
            undecided = ~counted & (scores > low - half_width)
            if 2 * np.count_nonzero(undecided) < scores.size:
                above += float(capacity[counted].sum())
                scores, capacity = scores[undecided], capacity[undecided]
        return beta

    def minimised(self, v: Array, half_width: float, beta: float | None) -> _Point:
        """The minimum, by Newton steps from v."""
        point = self.at(v, half_width, beta)
        for _ in range(30):
            mean = self.X.T @ point.weights
            negative_gradient = self.target - mean - point.v
            step = self._direction(point, negative_gradient)
            slope, length = float(negative_gradient @ step), 1.0
            size, rounding = (float(np.linalg.norm(part)) for part in (negative_gradient, np.r_[self.target, mean]))
            # Until the next step lowers the value by a negligible part of what the smoothing adds to it, at a short
            # gradient.
            is_small = size <= max(1e-6 * float(np.linalg.norm(point.v)), 1e-14 * rounding)
            if is_small and slope <= 1e-8 * point.smoothing_gap:
                break
            following = self.at(point.v + step, half_width, point.beta)
            rounding = 1e-15 * (abs(point.value) + abs(self.total * point.beta))
            while following.value > point.value - 1e-4 * length * slope + rounding and length > 1e-6:
                length *= 0.5
                following = self.at(point.v + length * step, half_width, point.beta)
            if not following.value < point.value + rounding:
                break
            point = following
        return point

    def _direction(self, point: _Point, right: Array) -> Array:
        """The Hessian, 1 plus the weighted covariance of the rows in the band, applied inversely to `right`."""
        rows, weights = self.X[point.in_band], self.capacity[point.in_band] / (2.0 * point.half_width)
        mean = rows.T @ weights / weights.sum() if weights.any() else np.zeros(right.size)
        if right.size > 2_000:  # a Hessian would take longer than conjugate gradients

            def product(step: Array) -> Array:
                moved = rows @ step - mean @ step
                return np.asarray(step + rows.T @ (weights * moved) - mean * (weights @ moved))

            operator = LinearOperator((right.size, right.size), matvec=product, dtype=np.float64)
            return np.asarray(cg(operator, right, rtol=1e-10, atol=0.0, maxiter=500)[0])
        dense = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows) - mean
        hessian = np.eye(right.size) + (dense * weights[:, None]).T @ dense
        return np.asarray(cho_solve(cho_factor(hessian), right))

    def balanced(self, weights: Array) -> Array:
        """Weights within the capacities and with their sum, next to given ones."""
        weights = np.clip(weights, 0.0, self.capacity)
        missing = self.total - float(weights.sum())
        left = self.capacity - weights if missing > 0 else weights
        return np.asarray(weights + missing * left / left.sum()) if left.sum() > 0 else weights

    def lower_bound(self, v: Array) -> float:
        """The value of the dual itself at v with the best β, with the sign of the primal value."""
        scores = self.X @ v
        order = np.argsort(-scores)
        filled = int(np.searchsorted(np.cumsum(self.capacity[order]), self.total))
        beta = float(scores[order[min(filled, order.size - 1)]])
        hinges = self.capacity @ np.maximum(scores - beta, 0.0)
        return float(self.target @ v - 0.5 * v @ v - self.total * beta - hinges)


def _slopes(arguments: Array, half_width: float) -> Array:
    return np.asarray(np.clip((arguments + half_width) / (2.0 * half_width), 0.0, 1.0))
