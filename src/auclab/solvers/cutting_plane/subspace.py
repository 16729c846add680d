"""The spaces in which the conic programs of a bundle method are stated: all features, or far fewer of many.

* `Whole`: every feature, with a metric of its own.
* `Span`: master and projection have their solutions in the span of the slopes and the centre if lengths are those of
  the l2 norm and every feature has one unit. An orthonormal basis keeps lengths, so the programs stay the same.
* `Sparse`: with the l1 norm few features are used, and which ones is told by prices (column generation): a feature may
  enter where the slope of the weighted cuts exceeds what the norm allows.

Points are θ = (x, b, t) and slopes belong to them; b and t are left as they are. Every space holds the slopes of the
bundle in its own coordinates, one in a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.types import Array

#: What is left of a vector outside a span, relative to its length, if it belongs to it.
_DEPENDENT = 1e-12
#: Features that enter at a time: so many, or this part of those that are there.
_ENTER, _ENTER_PART = 20, 0.1
#: A price this much above what is allowed is rounding.
_ROUNDING = 1e-7


class Whole:
    """All features: `unit` of shape (n,), `metric` over (x, b) as a matrix or its diagonal."""

    def __init__(self, unit: Array, metric: Array):
        self.unit, self.metric = unit, metric
        self._slopes = _Rows(unit.size + 2)

    @property
    def slopes(self) -> Array:
        """The slopes of the bundle, shape (n_cuts, n + 2)."""
        return self._slopes.filled

    def add(self, slope: Array) -> None:
        """One more cut."""
        self._slopes.append(slope)

    def keep(self, which: NDArray[np.intp], center: Array) -> None:
        """Forget all cuts but some; the space still holds the centre."""
        self._slopes.keep(which)

    def include(self, theta: Array) -> None:
        """Make room for a point."""

    def narrow(self, theta: Array) -> Array:
        """The coordinates of a point."""
        return theta

    def widen(self, theta: Array) -> Array:
        """The point that has these coordinates."""
        return theta


class Span:
    """The span of slopes and points, by an orthonormal basis; coordinates of slopes are those of Gram and Schmidt."""

    def __init__(self, n_features: int, unit: float):
        self._unit = unit
        self._basis = _Rows(n_features)
        self.slopes = np.zeros((0, 2))

    @property
    def size(self) -> int:
        """Number of dimensions."""
        return len(self._basis.filled)

    @property
    def unit(self) -> Array:
        """One unit for all."""
        return np.full(self.size, self._unit)

    @property
    def metric(self) -> Array:
        """Lengths in features of their unit."""
        return np.ones(self.size + 1)

    def add(self, slope: Array) -> None:
        """One more cut."""
        coordinates = np.r_[self._coordinates(slope[:-2]), slope[-2:]]
        missing = np.zeros((len(self.slopes), coordinates.size - self.slopes.shape[1]))
        self.slopes = np.vstack([np.c_[self.slopes[:, :-2], missing, self.slopes[:, -2:]], coordinates])

    def keep(self, which: NDArray[np.intp], center: Array) -> None:
        """Forget all cuts but some, and the dimensions that only the others needed."""
        slopes = self.slopes[which]
        directions, triangle = np.linalg.qr(np.c_[slopes[:, :-2].T, self.narrow(center)[:-2]])
        self._basis.replace(directions.T @ self._basis.filled)
        self.slopes = np.c_[triangle[:, :-1].T, slopes[:, -2:]]

    def include(self, theta: Array) -> None:
        """Make room for a point."""
        missing = self._coordinates(theta[:-2]).size + 2 - self.slopes.shape[1]
        self.slopes = np.c_[self.slopes[:, :-2], np.zeros((len(self.slopes), missing)), self.slopes[:, -2:]]

    def narrow(self, theta: Array) -> Array:
        """The coordinates of a point."""
        return np.r_[self._basis.filled @ theta[:-2], theta[-2:]]

    def widen(self, theta: Array) -> Array:
        """The point that has these coordinates."""
        return np.r_[theta[:-2] @ self._basis.filled, theta[-2:]]

    def _coordinates(self, vector: Array) -> Array:
        """The coordinates of a vector, after adding a dimension for it unless it has one."""
        basis, rest = self._basis.filled, vector
        found = np.zeros(len(basis))
        for _ in range(2):  # once more, for the digits that the first round loses
            part = basis @ rest
            found, rest = found + part, rest - part @ basis
        length = float(np.linalg.norm(rest))
        if length <= _DEPENDENT * float(np.linalg.norm(vector)):
            return found
        self._basis.append(rest / length)
        return np.r_[found, length]


class Sparse:
    """The points that are 0 outside a working set of features."""

    def __init__(self, unit: Array):
        self._unit = unit
        self._slopes = _Rows(unit.size + 2)
        self._used = np.zeros(unit.size + 2, dtype=bool)
        self._used[-2:] = True

    @property
    def unit(self) -> Array:
        """The units of the working set."""
        return self._unit[self._used[:-2]]

    @property
    def metric(self) -> Array:
        """Lengths in scaled features."""
        return np.ones(int(self._used.sum()) - 1)

    @property
    def slopes(self) -> Array:
        """The slopes of the bundle in the features of the working set."""
        return self._slopes.filled[:, self._used]

    def add(self, slope: Array) -> None:
        """One more cut."""
        self._slopes.append(slope)

    def keep(self, which: NDArray[np.intp], center: Array) -> None:
        """Forget all cuts but some."""
        self._slopes.keep(which)

    def include(self, theta: Array) -> None:
        """Make room for a point."""
        self._used[:-2] |= theta[:-2] != 0

    def narrow(self, theta: Array) -> Array:
        """The coordinates of a point."""
        return theta[self._used]

    def widen(self, theta: Array) -> Array:
        """The point that has these coordinates."""
        point = np.zeros(self._used.size)
        point[self._used] = theta
        return point

    def combine(self, weights: Array) -> Array:
        """The weighted sum of the slopes in all features."""
        return np.asarray(weights @ self._slopes.filled)

    def enter(self, slope: Array, allowed: float) -> bool:
        """Let the features in whose prices exceed what is allowed, the highest first; whether there were any."""
        price = np.where(self._used[:-2], 0.0, np.abs(slope[:-2] / self._unit))
        dear = np.flatnonzero(price > allowed * (1.0 + _ROUNDING))
        most = max(_ENTER, int(_ENTER_PART * self._used.sum()))
        if dear.size > most:
            dear = dear[np.argpartition(price[dear], -most)[-most:]]
        self._used[dear] = True
        return bool(dear.size)


Space = Whole | Span | Sparse


class _Rows:
    """An array that grows by rows."""

    def __init__(self, width: int):
        self._room, self._size = np.empty((0, width)), 0

    @property
    def filled(self) -> Array:
        """The rows so far."""
        return self._room[: self._size]

    def append(self, row: Array) -> None:
        if self._size == len(self._room):
            self.replace(self._room, room=max(16, 2 * self._size))
        self._room[self._size] = row
        self._size += 1

    def keep(self, which: NDArray[np.intp]) -> None:
        self.replace(self.filled[which])

    def replace(self, rows: Array, room: int = 0) -> None:
        self._size = len(rows)
        self._room = np.empty((max(room, self._size), rows.shape[1]))
        self._room[: self._size] = rows
