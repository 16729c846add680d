"""A law on the unit disc under which weighted AUCs of all linear scorers are known, and their plug-ins for ℓ a ramp.

Labels are even odds; positives are uniform on the disc of radius ρ around (c, 0), negatives around (−c, 0), c + ρ = 1.
A projection of a disc has the same law in every direction: ``w·x = ‖w‖ (±c cos θ + ρ S)``, θ the angle of w and S of
density ``(2/π) √(1 − s²)`` on [−1, 1]. So the classes' scores under w are S, scaled and moved, and the functional is an
integral in one variable. Pairs count ``ℓ(t) = min(max(t/κ, 0), 1)``, of slope 1/κ; κ = 0 is the step.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from auclab._core.base import Array
from auclab.datasets.records import Labels

CENTRE, RADIUS = 0.4, 0.6
#: ``E ‖x‖²``; by Jensen's inequality the Gaussian complexity of ``‖w‖₂ ≤ 1`` is at most ``√(n E ‖x‖²)``.
SQUARED_NORM = CENTRE**2 + 0.5 * RADIUS**2
Weight = Callable[[Array], Array]
#: Gauss–Legendre nodes on [−1, 1].
_NODES, _SHARES = np.polynomial.legendre.leggauss(120)


def ramp(low: float, high: float) -> Weight:
    """A weight that rises from 0 at `low` to 1 at `high`, in specificity."""
    return lambda s: np.clip((np.asarray(s) - low) / (high - low), 0.0, 1.0)


def draw(random: np.random.Generator, n: int) -> tuple[Array, Labels]:
    """Features of shape (n, 2) and labels 0/1."""
    y = random.integers(0, 2, n)
    distance, angle = RADIUS * np.sqrt(random.random(n)), 2.0 * np.pi * random.random(n)
    X = np.column_stack([distance * np.cos(angle) + CENTRE * (2 * y - 1), distance * np.sin(angle)])
    return X, y


def truth(weight: Weight, breakpoints: tuple[float, ...], length: float, angle: float, kappa: float) -> float:
    """``∫ G(q₀(s)) W(s) ds`` of the scorer w = length · (cos θ, sin θ), the same for both conventions (no atoms).

    Examples
    --------
    W ≡ 1 and the direction across the centres: the classes have the same scores, AUC is ½.

    >>> round(truth(lambda s: np.ones_like(s), (), 1.0, np.pi / 2, 0.0), 12)
    0.5
    """
    scale, apart = RADIUS * length, 2.0 * CENTRE * length * np.cos(angle)
    ends = np.arcsin([-1.0, *(_quantile(s) for s in breakpoints if 0.0 < s < 1.0), 1.0])
    total = 0.0
    for low, high in pairwise(ends):
        phi = 0.5 * (low + high) + 0.5 * (high - low) * _NODES
        s = np.sin(phi)
        density = (2.0 / np.pi) * np.cos(phi) ** 2 * 0.5 * (high - low) * _SHARES
        start = s - apart / scale
        if kappa > 0.0:
            rise = kappa / scale
            above = 1.0 - (_integral(start + rise) - _integral(start)) / rise
        else:
            above = 1.0 - _distribution(start)
        total += float(np.sum(density * weight(_distribution(s)) * above))
    return total


def plug_in(weights: Array, pos: Array, neg: Array, kappa: float) -> float:
    """``Σ_j weights_j mean_i ℓ(p_i − n_j)`` of sorted scores, without pairs; κ = 0 is the step.

    Examples
    --------
    Differences 1 and 3 at κ = 2 count ½ and 1; the weights are ½ each:

    >>> plug_in(np.array([0.5, 0.5]), np.array([3.0]), np.array([0.0, 2.0]), 2.0)
    0.75
    """
    if kappa == 0.0:
        return float(weights @ (1.0 - np.searchsorted(pos, neg, side="right") / pos.size))
    sums = np.concatenate([[0.0], np.cumsum(pos)])
    parts = []
    for cut in (neg, neg + kappa):  # Σ_i (p_i − cut)⁺
        below = np.searchsorted(pos, cut)
        parts.append(sums[-1] - sums[below] - (pos.size - below) * cut)
    return float(weights @ (parts[0] - parts[1])) / (kappa * pos.size)


def rank_weights(weight: Weight, integral: Weight, n_neg: int) -> dict[str, Array]:
    """The weight of the j-th negative from below: averaged over its step, or at the end of it; `integral` is ∫₀ˢ W."""
    ranks = np.arange(n_neg + 1) / n_neg
    return {"average": np.diff(integral(ranks)), "max_rank": weight(ranks[1:]) / n_neg}


def ramp_integral(low: float, high: float) -> Weight:
    """``∫₀ˢ W`` of `ramp`."""

    def integral(s: Array) -> Array:
        inside = np.clip(np.asarray(s), low, high) - low
        return 0.5 * inside**2 / (high - low) + np.maximum(np.asarray(s) - high, 0.0)

    return integral


def _distribution(z: Array) -> Array:
    """P(S ≤ z)."""
    inside = np.clip(z, -1.0, 1.0)
    return 0.5 + (inside * np.sqrt(1.0 - inside**2) + np.arcsin(inside)) / np.pi


def _integral(z: Array) -> Array:
    """``∫_{−∞}^z P(S ≤ u) du``."""
    inside = np.clip(z, -1.0, 1.0)
    root = np.sqrt(1.0 - inside**2)
    value = 0.5 * inside + (inside * np.arcsin(inside) + root - root**3 / 3.0) / np.pi
    return value + np.maximum(z - 1.0, 0.0)


def _quantile(share: float) -> float:
    return float(brentq(lambda z: float(_distribution(np.asarray(z))) - share, -1.0, 1.0, xtol=1e-15))
