"""The norms ‖w‖₁, ‖w‖₂ and ‖w‖∞."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab.compiled.accurate import accurate_norm
from auclab.precision import SMALLEST, TOLERANCE
from auclab.regularisers.epigraph import Epigraph, minus_ones
from auclab.regularisers.faces import LinfFace
from auclab.regularisers.vector_norm import VectorNorm
from auclab.types import Array
from auclab.validation import check_choice


class _LpNorm(VectorNorm):
    """A norm of order p: the dual one is that of order q with 1/p + 1/q = 1."""

    order: float
    dual_order: float
    is_absolute = True

    def __call__(self, w: Array) -> float:
        """‖w‖; 0 for an empty vector."""
        return _lp(w, self.order)

    def dual(self, g: Array) -> float:
        """‖g‖_*, the norm of the dual order."""
        return _lp(g, self.dual_order)

    def restricted(self, columns: NDArray[np.integer]) -> VectorNorm:
        """Itself: all columns are alike."""
        return self

    def dual_rows(self, X: Array) -> Array:
        """‖x_i‖_* of every row."""
        return np.asarray(np.linalg.norm(X, self.dual_order, axis=1))

    def accurate(self, w: Array) -> tuple[float, float]:
        """‖w‖ as ``high + low``, with about 30 digits."""
        return accurate_norm(w, self.order)


class L1(_LpNorm):
    """``‖w‖₁ = Σ abs(w_k)``; its dual is the largest modulus.

    See Also
    --------
    auclab.regularisers.L2 : Euclidean length.
    auclab.regularisers.Linf : Largest modulus.
    auclab.regularisers.VectorNorm : The base class of norms.

    Examples
    --------
    >>> L1()(np.array([3.0, -4.0])), L1().dual(np.array([3.0, -4.0]))
    (7.0, 4.0)
    """

    name, symbol, dual_name = "l1", "‖w‖₁", "linf"
    order, dual_order = 1, np.inf

    def dual_box(self, n_features: int) -> Array:
        """All ones."""
        return np.ones(n_features)

    def ball_radius(self, n_features: int) -> float:
        """1, because no entry of x is larger than ‖x‖₂."""
        return 1.0

    def largest_image(self, X: Array) -> float:
        """The longest column."""
        return float(np.linalg.norm(X, axis=0).max())

    def mean_sum(self, n: int, n_features: int) -> float:
        """``√(2 ln(2d)/n)``, by Massart's lemma."""
        return min(1.0, math.sqrt(2.0 * math.log(2.0 * n_features) / n))

    def subgradient(self, w: Array) -> Array:
        """The signs of w."""
        return np.sign(w)

    def epigraph(self, unit: Array) -> Epigraph:
        """``x ≤ u``, ``−x ≤ u``, ``unit·u ≤ t``."""
        identity = sp.eye_array(unit.size, format="coo")
        total = [None, minus_ones(1), unit[None, :]]
        return Epigraph.polyhedral([identity, None, -identity], [-identity, None, -identity], total)

    def shortened(self, g: Array, length: float, weight: Array) -> Array:
        """The entries cut off at ±length.

        Examples
        --------
        >>> L1().shortened(np.array([3.0, -0.5]), 1.0, np.ones(2)).tolist()
        [1.0, -0.5]
        """
        return np.clip(g, -length, length)

    def dual_tangents(self, g: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Every entry that is nearly the largest, with its sign."""
        largest = abs(g) >= (1.0 - TOLERANCE) * abs(g).max()
        return np.diag(np.sign(g))[largest], np.zeros(g.size, dtype=bool)


class L2(_LpNorm):
    """``‖w‖₂ = √(Σ w_k²)``, its own dual.

    See Also
    --------
    auclab.regularisers.L1 : Σ|w_k|.
    auclab.regularisers.Linf : Largest modulus.
    auclab.regularisers.VectorNorm : The base class of norms.

    Examples
    --------
    >>> L2()(np.array([3.0, -4.0])), L2().dual(np.array([3.0, -4.0]))
    (5.0, 5.0)
    """

    name, symbol, dual_name = "l2", "‖w‖₂", "l2"
    order = dual_order = 2
    is_polyhedral, is_euclidean = False, True

    def ball_radius(self, n_features: int) -> float:
        """1, because l2 is its own dual."""
        return 1.0

    def largest_image(self, X: Array) -> float:
        """The largest singular value."""
        return float(np.linalg.norm(X, 2))

    def mean_sum(self, n: int, n_features: int) -> float:
        """``1/√n``, by Jensen's inequality."""
        return 1.0 / math.sqrt(n)

    def mean_of_columns(self, lengths: Array, *, gaussian: bool) -> tuple[float, bool]:
        """``√Σ ‖X_k‖₂²``, by Jensen's inequality."""
        return float(np.linalg.norm(lengths)), False

    def subgradient(self, w: Array) -> Array:
        """``w/‖w‖``."""
        return np.asarray(w / np.linalg.norm(w)) if w.any() else np.zeros_like(w)

    def epigraph(self, unit: Array) -> Epigraph:
        """One cone ``(t, unit·x)``."""
        n = unit.size
        cone = sp.csr_array((np.r_[1.0, unit], (np.arange(n + 1), np.r_[n, :n])), shape=(n + 1, n + 1))
        return Epigraph(sp.csr_array((0, n + 1)), cone, (n + 1,))

    def dual_tangents(self, g: Array) -> tuple[Array, NDArray[np.bool_]]:
        """The component along g."""
        return (g / max(float(np.linalg.norm(g)), 1e-300))[None, :], np.zeros(g.size, dtype=bool)

    def shortened(self, g: Array, length: float, weight: Array) -> Array:
        """``g_k/(1 + μ weight_k)`` with the μ that gives the length."""
        return _with_multiplier(self, g, length, lambda multiplier: np.asarray(g / (1.0 + multiplier * weight)))


class Linf(_LpNorm):
    """``‖w‖∞``, the largest modulus; its dual is the sum of the moduli.

    See Also
    --------
    auclab.regularisers.L1 : Σ|w_k|.
    auclab.regularisers.L2 : Euclidean length.
    auclab.regularisers.VectorNorm : The base class of norms.

    Examples
    --------
    >>> Linf()(np.array([3.0, -4.0])), Linf().dual(np.array([3.0, -4.0]))
    (4.0, 7.0)
    """

    name, symbol, dual_name = "linf", "‖w‖∞", "l1"
    order, dual_order = np.inf, 1
    face = LinfFace

    def ball_radius(self, n_features: int) -> float:
        """``√d``."""
        return math.sqrt(n_features)

    def dual_extremes(self, n_features: int) -> Array:
        """The unit vectors with both signs."""
        units = np.eye(n_features)
        return np.stack([units, -units], axis=1).reshape(-1, n_features)

    def largest_image(self, X: Array) -> float:
        """``‖Σ_k abs(X_k)‖₂``, an upper bound, at most the sum of the lengths of the columns."""
        return float(np.linalg.norm(np.abs(X).sum(axis=1)))

    def mean_sum(self, n: int, n_features: int) -> float:
        """``√(d/n)``, by Jensen's inequality."""
        return min(1.0, math.sqrt(n_features / n))

    def mean_of_columns(self, lengths: Array, *, gaussian: bool) -> tuple[float, bool]:
        """``Σ ‖X_k‖₂``, for normal γ times ``E abs(γ) = √(2/π)``, which is exact."""
        total = float(lengths.sum())
        return (math.sqrt(2.0 / math.pi) * total, True) if gaussian else (total, False)

    def subgradient(self, w: Array) -> Array:
        """The mean of the signed unit vectors of the largest entries."""
        if not w.any():
            return np.zeros_like(w)
        largest = np.abs(w) == np.abs(w).max()
        return np.where(largest, np.sign(w), 0.0) / largest.sum()

    def epigraph(self, unit: Array) -> Epigraph:
        """``unit·x ≤ t`` and ``−unit·x ≤ t`` for every entry."""
        w, top = sp.diags_array(unit, format="coo"), minus_ones(unit.size)
        return Epigraph.polyhedral([w, top], [-w, top])

    def dual_tangents(self, g: Array) -> tuple[Array, NDArray[np.bool_]]:
        """The sum of the moduli of the entries that are not nearly 0; the others are kept at 0."""
        used = abs(g) > TOLERANCE * abs(g).max()
        return np.sign(np.where(used, g, 0.0))[None, :], ~used

    def shortened(self, g: Array, length: float, weight: Array) -> Array:
        """Moduli lowered by ``μ weight_k``, down to 0, with the μ that gives the length.

        Examples
        --------
        >>> Linf().shortened(np.array([3.0, -0.5]), 1.5, np.array([1.0, 1e-18])).round(12).tolist()   # of l1 norm 1.5
        [1.0, -0.5]
        """
        return _with_multiplier(
            self, g, length, lambda multiplier: np.sign(g) * np.maximum(abs(g) - multiplier * weight, 0.0)
        )


#: The norms by their names in the configuration.
NORMS: dict[str, VectorNorm] = {norm.name: norm for norm in (L1(), L2(), Linf())}
#: ‖·‖₂, for lengths outside programs.
EUCLIDEAN = NORMS["l2"]


def norm_named(name: str | VectorNorm) -> VectorNorm:
    """Return the norm with this name, or the object itself.

    Parameters
    ----------
    name : {"l1", "l2", "linf"} or VectorNorm

    Raises
    ------
    AuclabError
        No such norm; the choices are listed.

    See Also
    --------
    auclab.regularisers.VectorNorm : The base class of norms.

    Examples
    --------
    >>> norm_named("linf").symbol
    '‖w‖∞'
    """
    if isinstance(name, VectorNorm):  # a user-defined object is returned as it is
        return name
    check_choice("norm", name, NORMS)
    return NORMS[name]


def _lp(vector: Array, order: float) -> float:
    if not vector.size:
        return 0.0
    size = float(np.linalg.norm(vector, order))
    if (
        order == 2
        and not math.sqrt(SMALLEST) < size < 1.0 / math.sqrt(SMALLEST)
        and vector.any()
        and np.isfinite(vector).all()
    ):
        # Squares under- or overflow: compute again in units of the largest entry.
        unit = float(abs(vector).max())
        size = unit * float(np.linalg.norm(vector / unit))
    return size


def _with_multiplier(norm: VectorNorm, g: Array, length: float, at: Callable[[float], Array]) -> Array:
    """``at(μ)`` with ``‖at(μ)‖_* ≤ length``, for the least such μ ≥ 0 up to rounding."""
    if norm.dual(g) <= length:
        return g.copy()
    low, high = 0.0, 1e-12
    while norm.dual(at(high)) > length and high < 1e60:
        high *= 16.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if norm.dual(at(middle)) > length else (low, middle)
    found, size = at(high), norm.dual(at(high))
    return found if size <= length else found * (length / size)  # a length of 0 is not reached by division
