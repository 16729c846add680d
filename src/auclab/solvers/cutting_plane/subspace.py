"""The spaces in which the conic programs of the bundle method are stated: all features, or far fewer of many.

* `Whole`: every feature, with a metric over them.
* `Span`: the span of the slopes and the prox centre. If lengths are those of the l2 norm and every feature has one
  unit, master and projection have their solutions in it, and an orthonormal basis preserves lengths, so the programs do
  not change.
* `Sparse`: a working set of features. With a weighted l1 norm few features are used, and reduced costs show which
  (column generation): a feature enters if the slope of the weighted cuts exceeds the limit that the norm sets.

Points are θ = (x, b, t) and slopes belong to them; b and t are left as they are. Every space holds the slopes of the
bundle in its own coordinates, one in a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.problem import Problem
from auclab.precision import HALF_OF_DIGITS, ROUNDING
from auclab.regularisers import VectorNorm
from auclab.solvers.cutting_plane.cuts import score_metric
from auclab.types import Array

#: At most this many features enter at a time, or this part of the working set if that is more.
_MAX_ENTERING, _MAX_ENTERING_SHARE = 20, 0.1


class Space:
    """Base class of spaces, which also have `slopes`, `unit`, `metric`, `add`, `keep`, `narrow` and `widen`."""

    is_span = is_working_set = False

    def include(self, theta: Array) -> None:
        """Extend the space so that it holds a point."""

    def norm(self, norm: VectorNorm) -> VectorNorm:
        """A norm of w as a function of the points of the space."""
        return norm


class Whole(Space):
    """All features: `unit` of shape (n,), `metric` over (x, b) as a matrix or its diagonal."""

    def __init__(self, unit: Array, metric: Array):
        self.unit, self.metric = unit, metric
        self._slopes = _Rows(unit.size + 2)

    @property
    def slopes(self) -> Array:
        """The slopes of the bundle, shape (n_cuts, n + 2)."""
        return self._slopes.filled

    def add(self, slope: Array) -> None:
        """Append the slope of a cut, shape (n + 2,), in all features."""
        self._slopes.append(slope)

    def keep(self, which: NDArray[np.intp], center: Array) -> None:
        """Drop all slopes but some; the space still holds the prox centre."""
        self._slopes.keep(which)

    def narrow(self, theta: Array) -> Array:
        """The coordinates of a point."""
        return theta

    def widen(self, theta: Array) -> Array:
        """The point that has these coordinates."""
        return theta


class Span(Space):
    """The span of slopes and points, by an orthonormal basis that grows by Gram–Schmidt steps."""

    is_span = True

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
        """Append the slope of a cut, shape (n + 2,), in all features."""
        coordinates = np.r_[self._coordinates(slope[:-2]), slope[-2:]]
        missing = np.zeros((len(self.slopes), coordinates.size - self.slopes.shape[1]))
        self.slopes = np.vstack([np.c_[self.slopes[:, :-2], missing, self.slopes[:, -2:]], coordinates])

    def keep(self, which: NDArray[np.intp], center: Array) -> None:
        """Drop all slopes but some, and the dimensions that only the others needed."""
        slopes = self.slopes[which]
        directions, triangle = np.linalg.qr(np.c_[slopes[:, :-2].T, self.narrow(center)[:-2]])
        self._basis.replace(directions.T @ self._basis.filled)
        self.slopes = np.c_[triangle[:, :-1].T, slopes[:, -2:]]

    def include(self, theta: Array) -> None:
        """Extend the space so that it holds a point."""
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
        basis, residual = self._basis.filled, vector
        found = np.zeros(len(basis))
        for _ in range(2):  # the second pass restores orthogonality that the first loses to rounding
            part = basis @ residual
            found, residual = found + part, residual - part @ basis
        length = float(np.linalg.norm(residual))
        if length <= ROUNDING * float(np.linalg.norm(vector)):
            return found
        self._basis.append(residual / length)
        return np.r_[found, length]


class Sparse(Space):
    """The points that are 0 outside a working set of features."""

    is_working_set = True

    def __init__(self, unit: Array, box: Array):
        self._unit, self._box = unit, box
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
        """Append the slope of a cut, shape (n + 2,), in all features."""
        self._slopes.append(slope)

    def keep(self, which: NDArray[np.intp], center: Array) -> None:
        """Drop all slopes but some."""
        self._slopes.keep(which)

    def include(self, theta: Array) -> None:
        """Extend the space so that it holds a point."""
        self._used[:-2] |= theta[:-2] != 0

    def norm(self, norm: VectorNorm) -> VectorNorm:
        """A norm of w as one of the entries in the working set."""
        return norm.restricted(np.flatnonzero(self._used[:-2]))

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
        """Add the features of largest reduced cost to the working set; whether there were any.

        `slope` (n + 2,): that of the weighted cuts, in all features. `allowed`: the slope per unit of ‖w‖ that the
        penalty allows.
        """
        cost = np.where(self._used[:-2], 0.0, np.abs(slope[:-2] / (self._unit * self._box)))
        entering = np.flatnonzero(cost > allowed * (1.0 + HALF_OF_DIGITS))
        most = max(_MAX_ENTERING, int(_MAX_ENTERING_SHARE * self._used.sum()))
        if entering.size > most:
            entering = entering[np.argpartition(cost[entering], -most)[-most:]]
        self._used[entering] = True
        return bool(entering.size)


def space_for(problem: Problem, unit: Array, many: bool) -> Whole | Span | Sparse:
    """The space for the conic programs: a small one where there are `many` features and the norm allows it."""
    program, n = problem.program, unit.size
    if many and problem.constraints is not None:  # the solution may be anywhere
        return Whole(unit, np.ones(n + 1))
    if not many:
        return Whole(unit, score_metric(problem, unit))
    if not program.uses_norm or program.regulariser.norm.is_euclidean:
        return Span(n, float(unit[0]) if program.uses_norm else 1.0)
    box = program.regulariser.norm.dual_box(n)
    return Whole(unit, np.ones(n + 1)) if box is None else Sparse(unit, box)


class _Rows:
    """An array that grows by rows."""

    def __init__(self, width: int):
        self._buffer, self._size = np.empty((0, width)), 0

    @property
    def filled(self) -> Array:
        """The rows so far."""
        return self._buffer[: self._size]

    def append(self, row: Array) -> None:
        if self._size == len(self._buffer):
            self.replace(self._buffer, capacity=max(16, 2 * self._size))
        self._buffer[self._size] = row
        self._size += 1

    def keep(self, which: NDArray[np.intp]) -> None:
        self.replace(self.filled[which])

    def replace(self, rows: Array, capacity: int = 0) -> None:
        self._size = len(rows)
        self._buffer = np.empty((max(capacity, self._size), rows.shape[1]))
        self._buffer[: self._size] = rows
