"""``R(w) = λ‖w‖`` or ``λ‖w‖²``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from auclab.regularisers.lp_norms import norm_named
from auclab.regularisers.regulariser import Regulariser
from auclab.regularisers.vector_norm import VectorNorm
from auclab.types import Array, AuclabError
from auclab.validation import check_parameter_range


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

    @property
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
