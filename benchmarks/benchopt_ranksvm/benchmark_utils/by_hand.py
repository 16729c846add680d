"""The mean hinge of all pairs from sorted scores, in NumPy: no solver's own evaluation is used to compare them."""

from __future__ import annotations

from typing import Any

import numpy as np


def hinge_and_gradient(pos: Any, neg: Any, w: np.ndarray) -> tuple[float, np.ndarray]:
    """Value and a subgradient of ``mean_ij [1 − w·(x_i − x_j)]₊``, i over `pos` and j over `neg`, in O(m log m)."""
    p, n = pos @ w, neg @ w + 1.0
    above = len(n) - np.searchsorted(np.sort(n), p, side="right")
    below = np.searchsorted(np.sort(p), n, side="left")
    pairs = len(p) * len(n)
    return (below @ n - above @ p) / pairs, (neg.T @ below - pos.T @ above) / pairs


def hinge(pos: Any, neg: Any, w: np.ndarray) -> float:
    """The value alone, summed without cancellation: every observation's own mean over its violating pairs is ≥ 0."""
    p, n = pos @ w, np.sort(neg @ w) + 1.0
    sums = np.concatenate(([0.0], np.cumsum(n[::-1])))  # of the largest ones
    above = len(n) - np.searchsorted(n, p, side="right")
    return float(np.mean((sums[above] - above * p) / len(n)))
