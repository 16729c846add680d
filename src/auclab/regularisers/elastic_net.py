"""The elastic net, ``R(w) = l1·‖w‖₁ + l2·‖w‖₂²``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.regularisers.lp_norms import NORMS
from auclab.regularisers.norm import Norm, check_weight
from auclab.regularisers.regulariser import Regulariser
from auclab.regularisers.vector_norm import VectorNorm
from auclab.types import Array, AuclabError


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
