"""The base class of norms of w: what solvers, models and proofs use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from auclab.regularisers.epigraph import Epigraph
from auclab.regularisers.faces import Face
from auclab.types import Array, AuclabError


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
