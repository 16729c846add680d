"""The mean hinge over all pairs as a user would write it with NumPy and SciPy; no solver's own evaluation is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize
from scipy.optimize import OptimizeResult


def minimise(
    pos: Any, neg: Any, penalty: float = 0.0, callback: Callable[[OptimizeResult], None] | None = None
) -> OptimizeResult:
    """``mean_ij [1 − w·(x_i − x_j)]₊ + λ‖w‖²`` by sort, searchsorted, subgradient and L-BFGS-B, from w = 0."""
    pairs = pos.shape[0] * neg.shape[0]

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        p, n = pos @ w, neg @ w + 1.0
        above = len(n) - np.searchsorted(np.sort(n), p, side="right")
        below = np.searchsorted(np.sort(p), n, side="left")
        value = (below @ n - above @ p) / pairs + penalty * w @ w
        return value, (neg.T @ below - pos.T @ above) / pairs + 2 * penalty * w

    minimize: Any = optimize.minimize  # its types do not know that `fun` returns a tuple with jac=True and a callback
    return minimize(objective, np.zeros(pos.shape[1]), jac=True, method="L-BFGS-B", callback=callback)


def hinge(pos: Any, neg: Any, w: np.ndarray) -> float:
    """The hinge alone, in O(m log m): every positive's mean over its violating pairs, none of which is negative."""
    p, n = pos @ w, np.sort(neg @ w) + 1.0
    largest = np.concatenate(([0.0], np.cumsum(n[::-1])))
    above = len(n) - np.searchsorted(n, p, side="right")
    return float(np.mean((largest[above] - above * p) / len(n)))
