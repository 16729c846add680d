"""Norms of w: l1, l2 and linf, and those of a user."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import dnrm2

from auclab._core.accurate import accurate_norm
from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import TOLERANCE
from auclab._core.validation import check_choice
from auclab.regularisers.faces import Face, LinfFace


@dataclass(frozen=True)
class Epigraph:
    """``‖x·unit‖ ≤ t`` iff there is a u with ``linear·(x, t, u) ≤ 0`` and ``conic·(x, t, u)`` in second-order cones.

    Attributes
    ----------
    linear : sparse array of shape (n_rows, n_features + 1 + n_parts)
    conic : sparse array of shape (n_conic_rows, n_features + 1 + n_parts)
        The rows of the cones, one after the other: the first of each is at least the Euclidean length of the others.
    sizes : sequence of int
        The number of rows of each cone.

    See Also
    --------
    auclab.regularisers.VectorNorm.epigraph : Creates it.

    Examples
    --------
    >>> from auclab.regularisers import L2
    >>> rows = L2().epigraph(np.ones(3))
    >>> rows.conic.shape, list(rows.sizes)  # t and three entries of w: one cone
    ((4, 4), [4])
    """

    linear: Any
    conic: Any
    sizes: Sequence[int] = ()

    @classmethod
    def polyhedral(cls, *rows: Sequence[Any]) -> Epigraph:
        """From rows of blocks, each ``[of x, of t]`` or ``[of x, of t, of u]``; None stands for a block of zeros."""
        linear = _joined(rows)
        return cls(linear, sp.csr_array((0, linear.shape[1])))

    def n_parts(self, n_features: int) -> int:
        """The number of columns u."""
        return int(self.linear.shape[1]) - n_features - 1

    def least_parts(self, x: Array, *, moduli: bool = False) -> Array:
        """For a point x the least u in rows ``a·x ≤ c u_k`` and cones ``‖Ax‖₂ ≤ c u_k``; 0 where no such row has u_k.

        Shape (n_parts,). A model that is stated in steps from x starts there. With `moduli` those of the entries of a
        and A are taken: how large the parts are for any signs of x ≥ 0.

        Examples
        --------
        >>> from auclab.regularisers import L1
        >>> L1().epigraph(np.ones(2)).least_parts(np.array([3.0, -4.0])).tolist()
        [3.0, 4.0]
        """
        at_x = np.concatenate([x, np.zeros(self.linear.shape[1] - x.size)])
        tops = np.cumsum(self.sizes, dtype=np.intp) - np.asarray(self.sizes, dtype=np.intp)
        linear, conic = (abs(rows) if moduli else rows for rows in (self.linear, self.conic))
        lengths = np.sqrt(np.add.reduceat(np.square(conic @ at_x), tops)) if tops.size else np.zeros(0)
        needed = np.concatenate([linear @ at_x, lengths])
        heads = sp.vstack([-sp.csr_array(self.linear), sp.csr_array(self.conic)[tops]], format="coo")
        besides = heads.col >= x.size  # entries of t and u
        alone = np.bincount(heads.row[besides], minlength=needed.size) == 1
        of_one = alone[heads.row] & (heads.col > x.size) & (heads.data > 0)
        least = np.full(self.n_parts(x.size), -np.inf)
        np.maximum.at(least, heads.col[of_one] - x.size - 1, needed[heads.row[of_one]] / heads.data[of_one])
        return np.where(np.isfinite(least), least, 0.0)


def minus_ones(size: int) -> Any:
    """A sparse column of −1: the block of t in rows ``… ≤ t``."""
    return sp.coo_array(-np.ones((size, 1)))


def _joined(rows: Sequence[Sequence[Any]]) -> Any:
    """``sp.block_array`` for few small blocks, in a fifth of its time: models are built many times."""
    blocks = [[block if block is None else sp.coo_array(block) for block in row] for row in rows]
    heights = [next(block.shape[0] for block in row if block is not None) for row in blocks]
    widths = [next(block.shape[1] for block in column if block is not None) for column in zip(*blocks, strict=True)]
    tops, lefts = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    placed = [
        (block.data, block.row + top, block.col + left)
        for row, top in zip(blocks, tops, strict=False)
        for block, left in zip(row, lefts, strict=False)
        if block is not None
    ]
    entries, row_numbers, columns = (np.concatenate(part) for part in zip(*placed, strict=True))
    return sp.csr_array((entries, (row_numbers, columns)), shape=(int(tops[-1]), int(lefts[-1])))


class VectorNorm(ABC):
    """Base class of norms ‖w‖ of the coefficients. A subclass defines value, dual, subgradient and epigraph.

    Attributes
    ----------
    name : str
        As in the configuration.
    symbol : str
        As in equations.
    dual_name : str
        Of ‖·‖_*, in a sentence.
    is_polyhedral : bool
        Whether ``‖w‖ ≤ t`` is described by linear rows alone, so that a program with it is a linear one.
    is_euclidean : bool
        Whether it is ‖w‖₂, smooth away from 0 and unchanged by rotations.
    is_absolute : bool
        Whether ‖w‖ depends on the moduli of the entries alone, as the named norms and weighted forms of them do, and
        ``‖Fw‖₁`` or ``‖Lw‖₂`` in general do not. What holds only then is left out for other norms.
    face : type, optional
        The faces of ``‖w‖ ≤ t`` for the Newton step by active sets; those of a norm with a `dual_box` are known.
        Without either the step is a conic program.

    See Also
    --------
    auclab.regularisers.Norm : The regulariser λ‖w‖ or λ‖w‖².

    Examples
    --------
    >>> from auclab.regularisers import Linf
    >>> norm = Linf()
    >>> isinstance(norm, VectorNorm), norm(np.array([3.0, -4.0])), norm.dual(np.array([3.0, -4.0]))
    (True, 4.0, 7.0)
    """

    name: str
    symbol: str = "‖w‖"
    dual_name: str = "in the dual norm"
    is_polyhedral: ClassVar[bool] = True
    is_euclidean: ClassVar[bool] = False
    is_absolute: ClassVar[bool] = False
    face: ClassVar[type[Face] | None] = None

    def check(self, n_features: int) -> None:  # noqa: B027 - most norms have nothing to check
        """Raise `AuclabError` if the norm is for vectors with another number of entries."""

    @abstractmethod
    def __call__(self, w: Array) -> float:
        """‖w‖; 0 for an empty vector."""

    @abstractmethod
    def dual(self, g: Array) -> float:
        """‖g‖_*, the largest ``g·w`` over ‖w‖ ≤ 1, or more: every lower bound of a program rests on it."""

    @abstractmethod
    def subgradient(self, w: Array) -> Array:
        """A g with ``‖g‖_* ≤ 1`` and ``g·w = ‖w‖``; 0 at 0."""

    @abstractmethod
    def epigraph(self, unit: Array) -> Epigraph:
        """``‖x·unit‖ ≤ t`` as rows; `unit` has the shape (n_features,)."""

    def smooth_at(self, w: Array) -> tuple[NDArray[np.bool_], Array, Array] | None:
        """Mask of the entries that are not nearly 0, and slope and curvature of the norm while the others stay 0.

        Arrays of shapes (n,), (n,) and (n, n). None if the norm does not implement it: Newton steps then use an
        interior-point method.
        """
        return None

    def dual_box(self, n_features: int) -> Array | None:
        """The limits c with ``‖g‖_* ≤ s`` iff ``abs(g_k) ≤ s·c_k`` for every k, where the dual ball is a box.

        That is, where ``‖w‖ = Σ c_k abs(w_k)``; None for all other norms.
        """
        return None

    def length_groups(self, n_features: int) -> tuple[NDArray[np.intp], Array] | None:
        """The number of the group of every coefficient, and the c of every group, where ``‖w‖ = Σ_G c_G ‖w_G‖₂``.

        The coefficients of a group are zero together; None for all other norms.
        """
        box = self.dual_box(n_features)
        return None if box is None else (np.arange(n_features), box)

    def dual_extremes(self, n_features: int) -> Array | None:
        """The extreme points of ``‖u‖_* ≤ 1``, one per row, where they are few; None otherwise, or for a box."""
        return None

    def restricted(self, columns: NDArray[np.integer]) -> VectorNorm:
        """The norm of vectors that are 0 outside some columns, as a function of the entries in these columns.

        Needed where a program is solved on a part of its columns: with `max_features`, with bounds on w if the norm is
        absolute, and on a working set of columns if it has a `dual_box`.
        """
        raise AuclabError(
            f"the norm {self.name} does not say what it is of vectors that are 0 outside some columns, which is needed "
            "here; define its method `restricted(columns)`, or leave out max_features and bounds on w"
        )

    def accurate(self, w: Array) -> tuple[float, float]:
        """‖w‖ as ``high + low``, more accurate than a float if the norm implements it."""
        return self(w), 0.0

    def shortened(self, g: Array, length: float, weight: Array) -> Array:
        """A vector with ``‖·‖_* ≤ length`` that is nearly the closest to g in units of the root of `weight`."""
        size = self.dual(g)
        return g.copy() if size <= length else g * (length / size)

    def dual_tangents(self, g: Array) -> tuple[Array, NDArray[np.bool_]] | None:
        """Linear functions whose maximum is ‖·‖_* near g, and which entries to keep at 0 for that.

        Arrays of shapes (n_functions, n) and (n,); None if the norm does not implement it: multipliers that violate a
        constraint with a buffer are then corrected along w/‖w‖ alone, enough where ‖·‖_* is smooth.
        """
        return None

    def dual_rows(self, X: Array) -> Array:
        """‖x_i‖_* of every row, shape (n_rows,)."""
        return np.array([self.dual(row) for row in X])

    def ball_radius(self, n_features: int) -> float:
        """The largest ‖x‖_* over ``‖x‖₂ ≤ 1``, or more: ``√Σ ‖e_k‖_*²``."""
        return float(np.linalg.norm(self.unit_lengths(n_features)))

    def unit_lengths(self, n_features: int) -> Array:
        """‖e_k‖_* of the unit vectors, shape (n_features,)."""
        return np.array([self.dual(np.eye(1, n_features, k)[0]) for k in range(n_features)])

    def largest_image(self, X: Array) -> float:
        """The largest ``‖Xw‖₂`` over ‖w‖ ≤ 1, or more."""
        return float(np.linalg.norm(self.dual_rows(X)))

    def mean_sum(self, n: int, n_features: int) -> float:
        """Bound of ``E‖Σ_{k≤n} σ_k d_k‖_* / n`` for ``‖d_k‖_* ≤ 1`` and independent signs σ_k; 1 holds for any norm."""
        return 1.0

    def mean_of_columns(self, lengths: Array, *, gaussian: bool) -> tuple[float, bool] | None:
        """Bound of ``E‖Σ_i γ_i x_i‖_*`` for normal γ_i, or signs, from the ‖·‖₂ of the columns; whether it is exact.

        None where there is no closed form.
        """
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


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
        return np.asarray(w / _lp(w, 2)) if w.any() else np.zeros_like(w)

    def epigraph(self, unit: Array) -> Epigraph:
        """One cone ``(t, unit·x)``."""
        n = unit.size
        cone = sp.csr_array((np.r_[1.0, unit], (np.arange(n + 1), np.r_[n, :n])), shape=(n + 1, n + 1))
        return Epigraph(sp.csr_array((0, n + 1)), cone, (n + 1,))

    def dual_tangents(self, g: Array) -> tuple[Array, NDArray[np.bool_]]:
        """The component along g."""
        return (g / max(_lp(g, 2), 1e-300))[None, :], np.zeros(g.size, dtype=bool)

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


class _NoNorm(VectorNorm):
    """0 for every w: what a program has that does not use its norm. No ``g ≠ 0`` has ``‖g‖_* ≤ 1``."""

    name, symbol = "none", "0"
    is_euclidean = is_absolute = True

    def __call__(self, w: Array) -> float:
        """0."""
        return 0.0

    def dual(self, g: Array) -> float:
        """∞, and 0 of zeros."""
        return math.inf if g.any() else 0.0

    def dual_box(self, n_features: int) -> Array:
        """Zeros."""
        return np.zeros(n_features)

    def length_groups(self, n_features: int) -> None:
        """None: no coefficient is 0 because of it."""

    def subgradient(self, w: Array) -> Array:
        """0."""
        return np.zeros_like(w)

    def epigraph(self, unit: Array) -> Epigraph:
        """No row but ``t ≥ 0``."""
        n = unit.size
        return Epigraph.polyhedral([sp.csr_array((1, n)), minus_ones(1)])


NO_NORM = _NoNorm()


def as_factor(symbol: str) -> str:
    """A symbol as a factor in an equation: a sum is in parentheses."""
    return f"({symbol})" if " + " in symbol or " − " in symbol else symbol


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
    if order == 2:
        return float(dnrm2(vector))  # squares neither under- nor overflow
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(vector, order))


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
