"""Rising curves in the unit square, and their distance along one direction.

A displacement ``(−a, +b)`` moves a rising curve up and to the left. In the coordinates

    s = x/a + y/b,       w = (y/b − x/a)/2,

it leaves s alone and adds 1 to w, and a rising curve, steps included, is the graph of a function w(s). So the distance
of two curves along the displacement is the largest difference of two piecewise linear functions, which is at a vertex
of either.
"""

from __future__ import annotations

import numpy as np

from auclab.types import Array

Curve = tuple[Array, Array]

#: The curves of a scorer that ranks nothing right, and of one that ranks everything right.
WORST: Curve = (np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0]))
BEST: Curve = WORST[::-1]


def displacement_between(first: Curve, second: Curve, step: tuple[float, float]) -> float:
    """The smallest c so that `second` lies between `first` moved by ``c (−a, +b)`` and by ``c (+a, −b)``.

    `first`, `second` (n_vertices,): vertices x and y from (0, 0) to (1, 1), neither of which falls. `step` > 0: a and
    b.
    """
    (s, w), (t, v) = (_turned(curve, step) for curve in (first, second))
    ahead, behind = np.abs(v - np.interp(t, s, w)), np.abs(w - np.interp(s, t, v))
    return float(max(ahead.max(), behind.max()))


def displaced(curve: Curve, dx: float, dy: float) -> Curve:
    """The part of the curve, moved by ``(dx, dy)``, that lies in the unit square, from (0, 0) to (1, 1)."""
    x, y = curve[0] + dx, curve[1] + dy
    where = np.arange(x.size, dtype=float)
    # where the curve enters and leaves the square; on either side of these, clipping changes one coordinate alone
    crossings = [np.interp(end, values, where) for values in (x, y) for end in (0.0, 1.0)]
    place = np.unique(np.concatenate((where, crossings)))
    points = [np.clip(np.interp(place, where, values), 0.0, 1.0) for values in (x, y)]
    points = [np.concatenate(([0.0], values, [1.0])) for values in points]
    moved = (np.diff(points[0]) != 0.0) | (np.diff(points[1]) != 0.0)
    keep = np.concatenate(([True], moved))
    return points[0][keep], points[1][keep]


def height_at(curve: Curve, x: Array, *, top: bool = True) -> Array:
    """The curve at `x`; on a vertical edge its upper end, or its lower end."""
    xs, ys = curve
    if top:
        return _at(xs, ys, x)
    return 1.0 - _at(1.0 - xs[::-1], 1.0 - ys[::-1], 1.0 - x)


def _at(xs: Array, ys: Array, x: Array) -> Array:
    after = np.searchsorted(xs, x, side="right")
    low, high = np.maximum(after - 1, 0), np.minimum(after, xs.size - 1)
    run = xs[high] - xs[low]
    share = np.divide(x - xs[low], run, out=np.zeros_like(x), where=run > 0.0)
    return np.asarray(ys[low] + share * (ys[high] - ys[low]))


def _turned(curve: Curve, step: tuple[float, float]) -> Curve:
    x, y = curve[0] / step[0], curve[1] / step[1]
    return x + y, 0.5 * (y - x)
