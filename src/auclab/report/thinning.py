"""Smaller figures: curves without invisible vertices, and numbers with few digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from auclab.types import Array

#: Less than a pixel in a figure of 400 pixels.
UNSEEN = 0.002

#: Coordinates in [0, 1] are written as multiples of 1 over this number.
STEPS = 10_000


def thinned(x: Array, y: Array, tolerance: float = UNSEEN) -> tuple[Array, Array]:
    """Vertices of a polyline without those that move it by at most `tolerance` (Ramer 1972, Douglas & Peucker 1973).

    `tolerance` ≥ 0: distance in the units of `x` and `y`.
    """
    keep = np.zeros(x.size, dtype=bool)
    keep[[0, -1]] = True
    pieces = [(0, x.size - 1)]
    while pieces:
        first, last = pieces.pop()
        if last - first < 2:
            continue
        away = _distances(x[first : last + 1], y[first : last + 1])
        farthest = int(away.argmax())
        if away[farthest] > tolerance:
            keep[first + farthest] = True
            pieces += [(first, first + farthest), (first + farthest, last)]
    return x[keep], y[keep]


def _distances(x: Array, y: Array) -> Array:
    """Distances of vertices from the segment between the first and the last."""
    along_x, along_y = x[-1] - x[0], y[-1] - y[0]
    length = along_x**2 + along_y**2
    share = ((x - x[0]) * along_x + (y - y[0]) * along_y) / length if length > 0.0 else np.zeros_like(x)
    share = np.clip(share, 0.0, 1.0)
    return np.asarray(np.hypot(x - x[0] - share * along_x, y - y[0] - share * along_y))


def steps(values: ArrayLike) -> list[int]:
    """Numbers of [0, 1] in units of 1/10,000.

    Examples
    --------
    >>> steps([0.0, 0.12345, 1.0])
    [0, 1234, 10000]
    """
    return [int(value) for value in np.rint(np.asarray(values, dtype=float) * STEPS)]


def short(values: ArrayLike, digits: int = 4) -> list[float]:
    """Numbers with `digits` significant digits.

    Examples
    --------
    >>> short([0.123456, 123456.0, 0.0])
    [0.1235, 123500.0, 0.0]
    """
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=float)]
