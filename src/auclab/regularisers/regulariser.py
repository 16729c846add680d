"""Penalties λR(w): norms, the elastic net, zero, and those of a user."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.validation import check_parameter_range
from auclab.regularisers.norms import EUCLIDEAN, NORMS, VectorNorm, as_factor, norm_named


class Regulariser(ABC):
    """``R(w) = φ(‖w‖) + ρ Σ w_k²`` with a norm, which is also that of the buffer ``z‖w‖`` in the margins.

    By default φ is ``λt`` and ρ is 0; subclasses, which are frozen dataclasses, override this. Solvers have a separate
    variable ``t = ‖w‖``, in which φ is `of_size`. The norm states ``‖w‖ ≤ t``, and the sum of squares is part of the
    quadratic objective.

    Attributes
    ----------
    norm : VectorNorm
    weight : float
        λ, the scale of R: what paths and tuning vary (`penalty` of a formulation), and what is compared with the λ at
        which w = 0 becomes optimal.
    squared : bool
        Whether φ is ``λt²``.
    ridge : float
        ρ.
    has_kink : bool
        Whether R has a kink at 0, so that w = 0 is optimal for a large λ.
    reach_is_finite : bool
        Whether the conjugate R* is infinite beyond some length of g; otherwise a small violation costs a bound little.

    See Also
    --------
    auclab.regularisers.VectorNorm : How to add a norm.
    auclab.formulations.Composed : A program with any regulariser.

    Examples
    --------
    >>> import numpy as np
    >>> from auclab import RankSVM
    >>> term = RankSVM(0.5, "l1").regulariser
    >>> term.weight, term.value(np.array([3.0, -4.0]))
    (0.5, 3.5)
    """

    weight: float
    squared: bool = False
    ridge: float = 0.0
    has_kink: bool = True
    reach_is_finite: bool = True

    @property
    @abstractmethod
    def norm(self) -> VectorNorm:
        """The norm."""

    def value(self, w: Array) -> float:
        """``R(w)``."""
        return self.of_size(self.norm(w)) + (self.ridge * float(w @ w) if self.ridge else 0.0)

    def of_size(self, t: float) -> float:
        """``φ(t)``."""
        return self.weight * float(t)

    def slope(self, t: float) -> float:
        """The derivative of `of_size`."""
        return self.weight

    @property
    def curvature(self) -> float:
        """The second derivative of `of_size`."""
        return 0.0

    @property
    def is_linear(self) -> bool:
        """Whether the regulariser is part of a linear program."""
        return self.weight == 0 or (self.norm.is_polyhedral and not self.squared and not self.ridge)

    @property
    def is_sum_of_squares(self) -> bool:
        """Whether it is ``λ Σ w_k²``, quadratic in w itself."""
        return False

    def split(self) -> tuple[float, Regulariser]:
        """The ρ of ``ρ Σ w_k²``, and what is left of R."""
        return 0.0, self

    def dual_value(self, gradient: Array, slack: float, total: float, up: float = 1.0) -> tuple[float, float]:
        """The largest ``τ·total − R*(τg)`` over τ in [0, 1], and the τ that attains it.

        R* is ``max_w g·w − slack‖w‖ − R(w)``, with τ·slack in place of slack: of ``λ‖w‖`` it is 0 for
        ``‖g‖_* ≤ λ + slack`` and else infinite (derivations 7.1).

        Parameters
        ----------
        gradient : array of shape (n_features,)
            g, or for an absolute norm moduli that are at least its own.
        slack : float
            The part ``−zΣq`` taken up by a buffer z‖w‖ in the margins, minus what ‖g‖_* may be larger by.
        total : float > 0
        up : float ≥ 1
            Factor by which norms are rounded up.
        """
        size = self.size(gradient, slack, up)
        scale = 1.0 if size <= self.weight else self.weight / size
        return scale * total, scale

    def size(self, gradient: Array, slack: float, up: float = 1.0) -> float:
        """``max(0, ‖g‖_* − slack)``, rounded up."""
        size = max(0.0, self.norm.dual(gradient) * up - slack)
        return size * up if slack else size

    def with_weight(self, weight: float) -> Self:
        """The same regulariser on another scale."""
        return replace(self, weight=weight)  # type: ignore[type-var]

    @abstractmethod
    def with_norm(self, norm: VectorNorm) -> Regulariser:
        """The same with the norm of a part of the columns."""

    def restricted(self, columns: NDArray[np.integer]) -> Regulariser:
        """The same for vectors that are 0 outside some columns."""
        narrowed = self.norm.restricted(columns)
        return self if narrowed is self.norm else self.with_norm(narrowed)

    def in_units(self, factor: float) -> Self:
        """The regulariser ``w ↦ R(factor·w)``."""
        return self.with_weight(self.weight * factor)

    def on_columns(self, sources: Callable[[], Sequence[str]]) -> Regulariser:
        """The regulariser for columns encoded from columns with these names, such as zeros and ones."""
        return self

    @property
    def names(self) -> Mapping[str, str]:
        """Names of columns of the data that it needs, each with a label."""
        return {}

    def parameters(self) -> tuple[tuple[float, int], ...]:
        """Its numbers, each with the power of a factor by which `in_units` changes it."""
        return ((self.weight, 1),)

    def equation(self) -> str:
        """The regulariser in a program's equation, with its sign; empty for a weight of 0.

        Examples
        --------
        >>> from auclab.regularisers import Norm
        >>> Norm("l2", 0.01, squared=True).equation()
        ' + 0.01 ‖w‖₂²'
        """
        return f" + {self.weight:g} {as_factor(self.norm.symbol)}{'²' if self.squared else ''}" if self.weight else ""

    def stored(self) -> dict[str, Any]:
        """λ, norm and square, by the names that a formulation has for them."""
        norm = self.norm if NORMS.get(self.norm.name) is not self.norm else self.norm.name
        return {"penalty": self.weight, "norm": norm, "squared": self.squared}


@dataclass(frozen=True)
class Norm(Regulariser):
    """The regulariser ``R(w) = weight·‖w‖``, or ``weight·‖w‖²`` if squared.

    Parameters
    ----------
    name : {"l1", "l2", "linf"} or VectorNorm
        The norm: a name, or an object for a custom norm.
    weight : float
        λ, 0 or in [1e-150, 1e150].
    squared : bool

    Raises
    ------
    AuclabError
        An unknown norm, or a weight outside its range.

    See Also
    --------
    auclab.regularisers.VectorNorm : How to add a norm.
    auclab.formulations.Composed : A program with any regulariser.

    Examples
    --------
    >>> import numpy as np
    >>> Norm("l1", 0.5).value(np.array([3.0, -4.0])), Norm("l2", 0.5, squared=True).value(np.array([3.0, -4.0]))
    (3.5, 12.5)
    >>> g = np.array([1.0])
    >>> Norm("l2", 0.5).dual_value(g, 0.0, 0.75), Norm("l2", 0.5, squared=True).dual_value(g, 0.0, 0.75)
    ((0.375, 0.5), (0.28125, 0.75))
    """

    name: str | VectorNorm = "l2"
    weight: float = 0.0
    squared: bool = False

    def __post_init__(self) -> None:
        norm_named(self.name)
        check_weight("penalty λ", self.weight)

    @cached_property
    def norm(self) -> VectorNorm:
        """The norm."""
        return norm_named(self.name)

    def of_size(self, t: float) -> float:
        """``λt`` or ``λt²``."""
        return self.weight * float(t * t if self.squared else t)

    def slope(self, t: float) -> float:
        """The derivative of `of_size`."""
        return self.weight * (2.0 * t if self.squared else 1.0)

    @property
    def curvature(self) -> float:
        """The second derivative of `of_size`."""
        return 2.0 * self.weight if self.squared else 0.0

    @property
    def has_kink(self) -> bool:  # type: ignore[override]
        """Whether it has a kink at 0."""
        return not self.squared

    @property
    def reach_is_finite(self) -> bool:  # type: ignore[override]
        """Whether R* is infinite beyond λ."""
        return not self.squared

    @property
    def is_sum_of_squares(self) -> bool:
        """Whether it is ``λ Σ w_k²``."""
        return self.weight > 0 and self.squared and self.norm.is_euclidean

    def split(self) -> tuple[float, Regulariser]:
        """The ρ of ``ρ Σ w_k²``, and what is left of R."""
        return (self.weight, Norm(self.name)) if self.is_sum_of_squares else (0.0, self)

    def dual_value(self, gradient: Array, slack: float, total: float, up: float = 1.0) -> tuple[float, float]:
        """The largest ``τ·total − R*(τg)`` over τ in [0, 1], and the τ that attains it.

        ``R*(g)`` of ``λ‖w‖²`` is ``‖g‖_*²/(4λ)``.
        """
        if not (self.squared and self.weight > 0):
            return super().dual_value(gradient, slack, total, up)
        size = self.size(gradient, slack, up)
        scale = 1.0 if size == 0 else min(1.0, 2 * self.weight * total / size / size)
        # In this order nothing under- or overflows.
        return scale * total - scale * size * (scale * size / (4 * self.weight)), scale

    def with_norm(self, norm: VectorNorm) -> Norm:
        """The same regulariser with another norm."""
        return replace(self, name=norm)

    def in_units(self, factor: float) -> Norm:
        """``λ‖factor·w‖``, or its square."""
        return self.with_weight(self.weight * (factor * factor if self.squared else factor))

    def parameters(self) -> tuple[tuple[float, int], ...]:
        """λ, and the power of a factor by which `in_units` changes it."""
        return ((self.weight, 2 if self.squared else 1),)

    def stored(self) -> dict[str, Any]:
        """λ, norm and square."""
        return {"penalty": self.weight, "norm": self.name, "squared": self.squared}


def check_weight(name: str, weight: float) -> None:
    """Raise `AuclabError` unless a weight is 0 or in [1e-150, 1e150]."""
    if not math.isfinite(weight) or weight < 0:
        raise AuclabError(f"{name} must be finite and ≥ 0, got {weight}")
    check_parameter_range(name, weight)


@dataclass(frozen=True)
class Zero(Regulariser):
    """No regulariser: ``R(w) = 0``. The buffer z‖w‖ has the norm l2; for another, take ``Norm(name, 0.0)``.

    See Also
    --------
    auclab.regularisers.Norm : λ‖w‖ and λ‖w‖².

    Examples
    --------
    >>> Zero().equation(), Zero().weight
    ('', 0.0)
    """

    weight: ClassVar[float] = 0.0  # type: ignore[misc]

    @property
    def norm(self) -> VectorNorm:
        """‖·‖₂."""
        return EUCLIDEAN

    def with_norm(self, norm: VectorNorm) -> Norm:
        """No regulariser either, with another norm in the buffer."""
        return Norm(norm)

    def with_weight(self, weight: float) -> Zero:
        """Itself.

        Raises
        ------
        AuclabError
            A weight other than 0.
        """
        if weight != 0:
            raise AuclabError(f"Zero() has no weight, got {weight:g}; take Norm('l2', {weight:g})")
        return self


@dataclass(frozen=True)
class ElasticNet(Regulariser):
    """``R(w) = l1·‖w‖₁ + l2·‖w‖₂²``: sparse, and similar columns are selected together.

    Its scale, the λ of paths and tuning (`penalty`), is l1; l2 keeps its ratio to l1. ``w = 0`` is optimal for the same
    l1 as without l2: over pairs with the hinge for ``l1 ≥ max_j abs(Δ_j)``, Δ the difference of the class means. The
    conjugate is ``R*(g) = Σ_j (abs(g_j) − l1)₊²/(4·l2)``. A buffer z‖w‖ has the norm l1.

    Parameters
    ----------
    l1, l2 : float
        In [1e-150, 1e150]. An elastic net with one of them 0 is refused, because it is a norm: l2 = 0 is ``Norm("l1",
        l1)``, l1 = 0 ``Norm("l2", l2, squared=True)``.

    Raises
    ------
    AuclabError
        A weight outside its range.

    See Also
    --------
    auclab.regularisers.Norm : One of the two alone.
    auclab.regularisers.GroupLasso : Columns that are known to belong together.

    References
    ----------
    Zou & Hastie (2005), "Regularization and variable selection via the elastic net".

    Examples
    --------
    >>> regulariser = ElasticNet(1.0, 0.5)
    >>> regulariser.value(np.array([3.0, -4.0])), regulariser.equation()                  # 7 + 25/2
    (19.5, ' + 1 ‖w‖₁ + 0.5 ‖w‖₂²')
    >>> regulariser.with_weight(0.1)
    ElasticNet(l1=0.1, l2=0.05)
    """

    l1: float
    l2: float

    reach_is_finite = False

    def __post_init__(self) -> None:
        for name, value in (("l1", self.l1), ("l2", self.l2)):
            check_weight(f"{name} of the elastic net", value)
        if self.l1 == 0 or self.l2 == 0:
            norm = f"Norm('l1', {self.l1:g})" if self.l2 == 0 else f"Norm('l2', {self.l2:g}, squared=True)"
            raise AuclabError(f"an elastic net has l1 > 0 and l2 > 0, got {self.l1:g} and {self.l2:g}; use {norm}")

    @property
    def norm(self) -> VectorNorm:
        """‖·‖₁."""
        return NORMS["l1"]

    @property
    def weight(self) -> float:  # type: ignore[override]
        """The scale: l1."""
        return self.l1

    @property
    def ridge(self) -> float:  # type: ignore[override]
        """The weight of ``Σ w_k²``: l2."""
        return self.l2

    def dual_value(self, gradient: Array, slack: float, total: float, up: float = 1.0) -> tuple[float, float]:
        """The largest ``τ·total − R*(τg)`` over τ in [0, 1], and the τ that attains it.

        Concave in τ and quadratic between the τ at which an entry of ``τ(abs(g_j) − slack)`` passes l1.
        """
        moduli = np.sort(np.maximum(np.abs(gradient) * up - slack, 0.0) * (up if slack else 1.0))[::-1]
        moduli = moduli[moduli > 0]
        enters = self.l1 / np.maximum(moduli, 1e-300)
        first, second = np.cumsum(moduli), np.cumsum(moduli * moduli)
        # The slope in τ where k entries have passed is total − (τ·second − l1·first)/(2·l2).
        roots = (2.0 * self.l2 * total + self.l1 * first) / second
        ends = np.append(enters[1:], np.inf)
        falls = np.flatnonzero(roots <= ends)
        scale = min(1.0, float(roots[falls[0]])) if falls.size else 1.0
        excess = np.maximum(scale * moduli - self.l1, 0.0)
        return scale * total - float(excess @ (excess / (4.0 * self.l2))) * up, scale

    def with_weight(self, weight: float) -> ElasticNet:
        """The elastic net with this l1, and l2 in the same ratio to it."""
        return ElasticNet(weight, self.l2 * (weight / self.l1))

    def split(self) -> tuple[float, Norm]:
        """The l2 of ``l2·Σ w_k²``, and ``l1·‖w‖₁``."""
        return self.l2, Norm("l1", self.l1)

    def with_norm(self, norm: VectorNorm) -> ElasticNet:
        """Itself: l1 and l2 are the same for a part of the columns."""
        return self

    def in_units(self, factor: float) -> ElasticNet:
        """``l1·‖factor·w‖₁ + l2·‖factor·w‖₂²``."""
        return ElasticNet(self.l1 * factor, self.l2 * factor * factor)

    def parameters(self) -> tuple[tuple[float, int], ...]:
        """l1 and l2, and the powers of a factor by which `in_units` changes them."""
        return (self.l1, 1), (self.l2, 2)

    def equation(self) -> str:
        """The regulariser in a program's equation, with its sign."""
        return f" + {self.l1:g} ‖w‖₁ + {self.l2:g} ‖w‖₂²"
