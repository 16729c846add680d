"""The smoothed loss at one point: value, multipliers, and what its Hessian needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab.compiled.smooth import Index
from auclab.types import Array


@dataclass
class Evaluation:
    """The smoothed loss at a point.

    Attributes
    ----------
    half_width : float
        h of the band ``|a| < h`` in which the hinge is quadratic, in units of the margins.
    value : float
        The smoothed mean.
    multipliers : pair of arrays of shapes (n_pos,) and (n_neg,)
        The marginals of ``q α`` with ``α = φ'(a)``; over the hardest negatives also their weights r.
    smoothing_gap : float
        ``mean(φ(a) − α a)`` ≥ 0: the difference of primal and dual value that the smoothing leaves at its minimum.
    band_share : float in [0, 1]
        Share of the margins in the band.
    state : object
        What the Hessian needs besides; None once it has been released.
    theta : array of shape (n_features + 2,)
        The point ``(w, b, ‖w‖)``.
    """

    half_width: float
    value: float
    multipliers: tuple[Array, ...]
    smoothing_gap: float
    band_share: float
    state: Any
    theta: Array

    def release(self) -> None:
        """Drop what only the Hessian needs: at 10⁷ observations it is most of the memory."""
        self.state = None


def in_sample_order(values: Array, order: Index, size: int | None = None) -> Array:
    """Values of sorted observations in the order of the sample; 0 for the others of `size` where not all are sorted.

    Examples
    --------
    >>> in_sample_order(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1], dtype=np.int32)).tolist()
    [2.0, 3.0, 1.0]
    """
    original = np.empty_like(values) if size is None else np.zeros(size)
    original[order] = values
    return original


def entrywise_square(X: Any) -> Any:
    """``X * X`` of an array or a CSR matrix."""
    return X.multiply(X).tocsr() if hasattr(X, "toarray") else X * X
