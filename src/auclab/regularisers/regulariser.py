"""What w costs: ``R(w) = 0``, ``λ‖w‖`` or ``λ‖w‖²``."""

from __future__ import annotations

import math
from dataclasses import dataclass

from auclab.regularisers.lp_norms import norm_named
from auclab.regularisers.vector_norm import VectorNorm
from auclab.types import Array, AuclabError
from auclab.validation import check_parameter_range


@dataclass(frozen=True)
class Norm:
    """The regulariser ``R(w) = weight·‖w‖``, or ``weight·‖w‖²`` if squared.

    Its norm is also that of the buffer ``z‖w‖`` in the margins. Solvers carry ``t = ‖w‖`` as a variable of its own, in
    which the regulariser is `of_size`; ``‖w‖ ≤ t`` is the business of the norm.

    Parameters
    ----------
    name : {"l1", "l2", "linf"} or VectorNorm
        The norm; an object for one that is not in the package.
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
    """

    name: str | VectorNorm = "l2"
    weight: float = 0.0
    squared: bool = False

    def __post_init__(self) -> None:
        norm_named(self.name)
        if not math.isfinite(self.weight) or self.weight < 0:
            raise AuclabError(f"penalty λ must be finite and ≥ 0, got {self.weight}")
        check_parameter_range("penalty λ", self.weight)

    @property
    def norm(self) -> VectorNorm:
        """The norm."""
        return norm_named(self.name)

    def value(self, w: Array) -> float:
        """``R(w)``."""
        return self.of_size(self.norm(w))

    def of_size(self, t: float) -> float:
        """``λt`` or ``λt²``: the regulariser of a w with ``‖w‖ = t``."""
        return self.weight * float(t * t if self.squared else t)

    def slope(self, t: float) -> float:
        """The derivative of `of_size`."""
        return self.weight * (2.0 * t if self.squared else 1.0)

    @property
    def curvature(self) -> float:
        """The second derivative of `of_size`."""
        return 2.0 * self.weight if self.squared else 0.0

    @property
    def has_kink(self) -> bool:
        """Whether R has a kink at 0, so that w = 0 is optimal for a large λ."""
        return not self.squared

    @property
    def is_linear(self) -> bool:
        """Whether the regulariser is part of a linear program."""
        return self.weight == 0 or (self.norm.is_polyhedral and not self.squared)

    @property
    def is_sum_of_squares(self) -> bool:
        """Whether it is ``λ Σ w_k²``, quadratic in w itself."""
        return self.weight > 0 and self.squared and self.norm.is_euclidean

    def dual_value(self, size: float, total: float) -> tuple[float, float]:
        """The largest ``τ·total − R*(τg)`` over τ in [0, 1], for ``‖g‖_* = size``, and the τ that attains it.

        ``R*(g)`` is 0 for ``‖g‖_* ≤ λ`` and else infinite, or ``‖g‖_*²/(4λ)`` if squared (derivations 7.1).

        Examples
        --------
        >>> Norm("l2", 0.5).dual_value(1.0, 0.75), Norm("l2", 0.5, squared=True).dual_value(1.0, 0.75)
        ((0.375, 0.5), (0.28125, 0.75))
        """
        if self.squared and self.weight > 0:
            scale = 1.0 if size == 0 else min(1.0, 2 * self.weight * total / size / size)
            # In this order nothing under- or overflows.
            return scale * total - scale * size * (scale * size / (4 * self.weight)), scale
        scale = 1.0 if size <= self.weight else self.weight / size
        return scale * total, scale

    def equation(self) -> str:
        """The regulariser in a program's equation, with its sign; empty for a weight of 0.

        Examples
        --------
        >>> Norm("l2", 0.01, squared=True).equation()
        ' + 0.01 ‖w‖₂²'
        """
        return f" + {self.weight:g} {self.norm.symbol}{'²' if self.squared else ''}" if self.weight else ""


def Zero() -> Norm:  # noqa: N802 - as the classes beside it
    """No regulariser: ``R(w) = 0``.

    See Also
    --------
    auclab.regularisers.Norm : λ‖w‖ and λ‖w‖².

    Examples
    --------
    >>> Zero().equation()
    ''
    """
    return Norm("l2", 0.0)
