"""The proximal Newton step for the norms l1 and linf, by an active-set method on the faces of the norm's cone.

With ``v = (w, [b,] t)`` the new point, the model is a quadratic function of v plus the penalty. A face is a set of
points with ``t = ‖w‖`` on which t is linear in w, so that the model is quadratic there (`auclab.regularisers.faces`):

* l1: the features with w_k ≠ 0 and their signs s, ``t = Σ s_k w_k``; all other w_k are 0;
* linf: the features with ``w_k = s_k t``; all others are free within ±t.

Each change of the face costs one Cholesky factorisation of the free entries. If the minimum on the linear hull of a
face is outside the face, the best corner of the segment towards it is taken, or its projection where that is lower
(many entries reach their bound at once; Bertsekas 1982, "Projected Newton methods"), and the face there is smaller. If
it is on the face, the multipliers show which features extend the face: all of them at once if the model then decreases,
else the worst half, and so on to the worst one, for which it must decrease. The model decreases with every minimum and
no face is minimised twice, so the method terminates. For l1 this is the feature-sign search of Lee, Battle, Raina & Ng
(2007), with blocks of features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq
from scipy.linalg.lapack import dposv

from auclab._core.base import Array
from auclab._core.rows import Check, never
from auclab._core.tolerances import HALF_OF_DIGITS, ROUNDING
from auclab.formulations.base import Program
from auclab.regularisers.faces import Face, L1Face

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5


def active_set_step(
    program: Program, hessian: Array, negative_gradient: Array, theta: Array, check: Check = never
) -> Array | None:
    """The minimiser of the model in `auclab.solvers.newton.steps`, in the free variables (w, [b,] t).

    `program`: gives λ and the norm, l1 or linf. `hessian` (size, size): positive definite. `negative_gradient`, `theta`
    (size,): with the intercept where the program is over points: ``size`` is n + 2 there, else n + 1. `check`: called
    between changes of the face. Returns: None for a norm without faces, and where the method does not end at a point
    that satisfies the optimality conditions.
    """
    n, norm = theta.size - (2 if program.comparisons.name == "points" else 1), program.regulariser.norm
    box = norm.dual_box(n)
    if norm.face is None and box is None:
        return None
    # ``Σ c_k abs(w_k)`` is the norm l1 of c∘w.
    unit = np.ones(theta.size) if box is None else np.r_[1.0 / box, np.ones(theta.size - n)]
    theta = theta / unit
    hessian = hessian * unit[:, None] * unit[None, :]
    model = _Model(program, hessian, unit * negative_gradient + hessian @ theta, n)
    point = theta.copy()
    point[-1] = model.face.norms(point[:n])
    place = _Place(point, model.face.at(point, n), False)
    for _ in range(FEW_STEPS * theta.size):
        check()
        following = model.extended(place) if place.is_minimum else model.towards_minimum(place)
        if following is None:
            step = model.minimum_if_optimal(place)
            return None if step is None else unit * (step - theta)
        place = following
    return None


@dataclass(frozen=True)
class _Place:
    """A point, the face it is on or that the next step is to use, and whether it is the minimum on that face."""

    point: Array
    face: Face
    is_minimum: bool


class _Model:
    """``½ vᵀHv − c·v + λ t`` (or ``λ t²``) on ``t = ‖w‖``."""

    def __init__(self, program: Program, hessian: Array, linear: Array, n: int):
        self.n = n
        self.face: type[Face] = program.regulariser.norm.face or L1Face
        self.hessian, self.linear = hessian.copy(), linear.copy()
        self.hessian[-1, -1] += program.regulariser.curvature
        self.linear[-1] -= program.regulariser.slope(0.0)
        self.moduli = np.abs(self.hessian)

    def gradient(self, point: Array) -> Array:
        """That of the quadratic function and the penalty, in v."""
        return np.asarray(self.hessian @ point - self.linear)

    def rounding(self, point: Array) -> Array:
        """The size of the terms of `gradient`."""
        return np.asarray(self.moduli @ np.abs(point) + np.abs(self.linear))

    def change(self, point: Array, other: Array) -> float:
        """Increase of the model from one point to another."""
        step = other - point
        return float(step @ (self.gradient(point) + 0.5 * (self.hessian @ step)))

    def minimum_on(self, face: Face) -> Array:
        """The minimiser on the linear hull of a face."""
        return face.expanded(solve_positive_definite(*face.reduced(self.hessian, self.linear)))

    def towards_minimum(self, place: _Place) -> _Place | None:
        """The minimum on the face, or a lower point on a smaller one; None where numbers are not finite."""
        target = self.minimum_on(place.face)
        if not np.isfinite(target).all():
            return None
        if place.face.contains(target):
            return _Place(target, place.face, True)
        return self._smaller(place.face, place.point, target)

    def _smaller(self, face: Face, point: Array, target: Array) -> _Place:
        """The best corner of the segment to a target outside the face, or the projection of the target if lower."""
        lengths, step = face.corners(point, target), target - point
        # The model on the segment is quadratic in the length and in t, and t is the norm.
        norms = face.norms(point[: self.n] + lengths[:, None] * step[: self.n])
        in_t, slope, curvature = norms - point[-1], self.gradient(point), self.hessian[:-1] @ np.r_[step[:-1], 0.0]
        changes = lengths * (slope[:-1] @ step[:-1]) + 0.5 * lengths**2 * (step[:-1] @ curvature)
        changes += in_t * (slope[-1] + lengths * (self.hessian[-1, :-1] @ step[:-1]))
        changes += 0.5 * self.hessian[-1, -1] * in_t**2
        best = int(np.argmin(changes))
        lower = face.projected(target)
        if not self.change(point, lower) <= changes[best]:
            lower = face.cornered(point, target, float(lengths[best]))
        return _Place(lower, self.face.at(lower, self.n), False)

    def extended(self, place: _Place) -> _Place | None:
        """A lower point than the minimum on a face, by extending that; None if there is none."""
        point, gradient = place.point, self.gradient(place.point)
        if gradient[-1] < 0 and self._unbounded_by_norm() is not None:
            return None
        excess = place.face.violations(gradient)
        violated = np.flatnonzero(excess > ROUNDING * self.rounding(point)[: self.n])
        violated = violated[np.argsort(-excess[violated])]
        while violated.size:
            following = self.towards_minimum(_Place(point, place.face.extended(violated, gradient), False))
            if following is not None and self.change(point, following.point) < 0:
                return following
            violated = violated[: violated.size // 2]
        return None

    def _unbounded_by_norm(self) -> Array | None:
        """The minimum without ``‖w‖ ≤ t``, if it satisfies that."""
        free = solve_positive_definite(self.hessian, self.linear)
        return free if self.face.norms(free[: self.n]) <= free[-1] else None

    def minimum_if_optimal(self, place: _Place) -> Array | None:
        """The final point, or the minimum without a norm; None if it is not a minimum."""
        if not place.is_minimum:
            return None
        gradient, terms = self.gradient(place.point), self.rounding(place.point)
        if gradient[-1] < -ROUNDING * terms[-1]:
            return self._unbounded_by_norm()
        excess = place.face.violations(gradient)
        # No further step reduces the residual.
        return None if (excess > HALF_OF_DIGITS * terms[: self.n]).any() else place.point


def solve_positive_definite(matrix: Array, right: Array) -> Array:
    """The solution, by Cholesky or else least squares; NaN where the numbers are not finite.

    `matrix` (size, size): symmetric, positive definite or nearly so.

    Examples
    --------
    >>> solve_positive_definite(np.array([[4.0, 0.0], [0.0, 1.0]]), np.array([2.0, 3.0])).tolist()
    [0.5, 3.0]
    """
    # Scaled to unit diagonal: features may differ in scale by many orders.
    unit = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    scaled, scaled_right = matrix * unit[:, None] * unit[None, :], unit * right
    if not (np.isfinite(scaled).all() and np.isfinite(scaled_right).all()):
        return np.full(right.size, np.nan)
    if right.size == 0:
        return right
    _, found, not_positive = dposv(scaled, scaled_right)
    if not_positive:
        found = lstsq(scaled, scaled_right, lapack_driver="gelsy", check_finite=False)[0]
    return np.asarray(unit * found)
