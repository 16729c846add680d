"""Faces of the cones ``‖w‖₁ ≤ t`` and ``‖w‖_∞ ≤ t``, on which t is a linear function of the free entries of w.

Points are ``v = (w, [b,] t)``. For either norm a face provides `active_set_step` with the quadratic model in the free
entries, whether a point of the linear hull belongs to the face, where a segment leaves it, and which features would
extend it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.tolerances import ROUNDING

Features = NDArray[np.intp]


@dataclass(frozen=True)
class L1Face:
    """The points with ``sign(w) = signs`` or 0, and ``t = Σ signs_k w_k``.

    `signs` (n,): −1, 1, or 0 for an entry that is 0. `size`: that of v.
    """

    signs: Array
    size: int

    @staticmethod
    def norms(w: Array) -> Array:
        """‖w‖₁ of every row."""
        return np.asarray(np.abs(w).sum(axis=-1))

    @classmethod
    def at(cls, point: Array, n: int) -> L1Face:
        """The smallest face that a point is on."""
        return cls(np.sign(point[:n]), point.size)

    @cached_property
    def _free(self) -> Features:
        return np.concatenate((np.flatnonzero(self.signs), np.arange(self.signs.size, self.size - 1)))

    @cached_property
    def _norm_row(self) -> Array:
        """The norm t as a function of the free entries."""
        row = np.zeros(self.size - 1)
        row[: self.signs.size] = self.signs
        return row[self._free]

    def reduced(self, hessian: Array, linear: Array) -> tuple[Array, Array]:
        """Hessian and linear term of ``½ vᵀHv − c·v`` in the free entries."""
        free, row = self._free, self._norm_row
        cross = np.outer(row, hessian[-1, free])
        matrix = hessian[np.ix_(free, free)] + cross + cross.T + hessian[-1, -1] * np.outer(row, row)
        return matrix, linear[free] + linear[-1] * row

    def expanded(self, reduced: Array) -> Array:
        """The point with the given free entries."""
        point = np.zeros(self.size)
        point[self._free] = reduced
        point[-1] = self._norm_row @ reduced
        return point

    def contains(self, point: Array) -> bool:
        """Whether a point of the linear hull is on the face."""
        return bool((point[: self.signs.size] * self.signs >= 0).all())

    def corners(self, point: Array, target: Array) -> Array:
        """The lengths in (0, 1] of the segment to `target` at which an entry of w becomes 0, and 1."""
        before, after = point[: self.signs.size], target[: self.signs.size]
        crossing = np.sign(before) * np.sign(after) < 0
        return np.append(np.unique(before[crossing] / (before[crossing] - after[crossing])), 1.0)

    def cornered(self, point: Array, target: Array, length: float) -> Array:
        """The point at a corner of the segment, with exact zeros."""
        n = self.signs.size
        corner = point + length * (target - point)
        before, after = point[:n], target[:n]
        crossing = np.sign(before) * np.sign(after) < 0
        corner[:n][crossing] *= before[crossing] / (before[crossing] - after[crossing]) != length
        corner[-1] = self.norms(corner[:n])
        return corner

    def projected(self, target: Array) -> Array:
        """A point of the linear hull with the entries of the wrong sign set to 0."""
        n = self.signs.size
        projection = target.copy()
        projection[:n][target[:n] * self.signs < 0] = 0.0
        projection[-1] = self.norms(projection[:n])
        return projection

    def violations(self, gradient: Array) -> Array:
        """By how much each feature violates ``|gradient_k| ≤ gradient_t`` where w_k = 0; 0 elsewhere."""
        excess = np.abs(gradient[: self.signs.size]) - gradient[-1]
        return np.where(self.signs == 0, np.maximum(excess, 0.0), 0.0)

    def extended(self, features: Features, gradient: Array) -> L1Face:
        """The face with further features, each with the sign for which the model decreases."""
        signs = self.signs.copy()
        signs[features] = np.where(gradient[features] > 0, -1.0, 1.0)
        return L1Face(signs, self.size)


@dataclass(frozen=True)
class LinfFace:
    """The points with ``w_k = signs_k t`` where signs_k ≠ 0, the other w_k within ±t; or w = 0, t = 0.

    Attributes
    ----------
    signs : array of shape (n,)
        −1 or 1 at the bound, 0 for a free entry.
    size : int
        That of v.
    is_apex : bool
        Whether the face is w = 0, t = 0; `signs` is then without meaning.
    """

    signs: Array
    size: int
    is_apex: bool = False

    @staticmethod
    def norms(w: Array) -> Array:
        """‖w‖_∞ of every row."""
        return np.asarray(np.abs(w).max(axis=-1))

    @classmethod
    def at(cls, point: Array, n: int) -> LinfFace:
        """The smallest face that a point is on."""
        w = point[:n]
        largest = float(np.abs(w).max())
        return cls(np.where(np.abs(w) >= (1.0 - ROUNDING) * largest, np.sign(w), 0.0), point.size, largest == 0)

    @cached_property
    def _free(self) -> Features:
        """The free entries of w, and b."""
        n = self.signs.size
        in_w = np.array([], dtype=np.intp) if self.is_apex else np.flatnonzero(self.signs == 0)
        return np.concatenate((in_w, np.arange(n, self.size - 1)))

    def reduced(self, hessian: Array, linear: Array) -> tuple[Array, Array]:
        """Hessian and linear term of ``½ vᵀHv − c·v`` in the free entries, then t unless it is 0."""
        free, bound = self._free, np.flatnonzero(self.signs)
        if self.is_apex:
            return hessian[np.ix_(free, free)], linear[free]
        signs = self.signs[bound]
        along = hessian[:, bound] @ signs + hessian[:, -1]
        matrix = np.empty((free.size + 1, free.size + 1))
        matrix[:-1, :-1] = hessian[np.ix_(free, free)]
        matrix[-1, :-1] = matrix[:-1, -1] = along[free]
        matrix[-1, -1] = signs @ along[bound] + along[-1]
        return matrix, np.append(linear[free], signs @ linear[bound] + linear[-1])

    def expanded(self, reduced: Array) -> Array:
        """The point with the given free entries and t."""
        point = np.zeros(self.size)
        if self.is_apex:
            point[self._free] = reduced
            return point
        t = reduced[-1]
        point[: self.signs.size] = self.signs * t
        point[self._free] = reduced[:-1]
        point[-1] = t
        return point

    def contains(self, point: Array) -> bool:
        """Whether a point of the linear hull is on the face."""
        return bool(self.norms(point[: self.signs.size]) <= (1.0 + ROUNDING) * point[-1])

    def corners(self, point: Array, target: Array) -> Array:
        """The lengths in (0, 1] of the segment to `target` at which an entry reaches ±t, and 1."""
        n = self.signs.size
        before, after = point[:n], target[:n]
        lengths = [np.ones(1)]
        for sign in (-1.0, 1.0):
            room = point[-1] - sign * before
            closing = sign * (after - before) - (target[-1] - point[-1])
            reaching = (self.signs == 0) & (closing > room)
            lengths.append(np.maximum(room[reaching], 0.0) / closing[reaching])
        if target[-1] < 0:
            lengths.append(np.array([point[-1] / (point[-1] - target[-1])]))
        return np.unique(np.concatenate(lengths))

    def cornered(self, point: Array, target: Array, length: float) -> Array:
        """The point at a corner of the segment, exactly w = 0 where t becomes 0."""
        corner = point + length * (target - point)
        n = self.signs.size
        if self.norms(corner[:n]) <= ROUNDING * point[-1]:
            corner[:n] = 0.0
        corner[-1] = self.norms(corner[:n])
        return corner

    def projected(self, target: Array) -> Array:
        """A point of the linear hull with its entries cut off at ±t; w = 0 where t would be negative."""
        n, t = self.signs.size, max(float(target[-1]), 0.0)
        projection = target.copy()
        projection[:n] = np.clip(target[:n], -t, t)
        projection[-1] = t
        return projection

    def violations(self, gradient: Array) -> Array:
        """Negative multipliers ``−signs_k gradient_k`` of the bounds, as moduli; at w = 0 that of t, shared equally."""
        slope = gradient[: self.signs.size]
        if self.is_apex:
            return np.full(slope.size, max(float(np.abs(slope).sum() - gradient[-1]), 0.0) / slope.size)
        return np.maximum(self.signs * slope, 0.0)

    def extended(self, features: Features, gradient: Array) -> LinfFace:
        """The face with features off their bound; w = 0 becomes the edge along which the model decreases most."""
        if self.is_apex:
            return LinfFace(np.where(gradient[: self.signs.size] > 0, -1.0, 1.0), self.size)
        signs = self.signs.copy()
        signs[features] = 0.0
        return LinfFace(signs, self.size)


Face = L1Face | LinfFace
