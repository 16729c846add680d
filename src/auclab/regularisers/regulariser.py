"""The cost of w: the base class of regularisers, which are made of a norm and a sum of squares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from auclab.regularisers.lp_norms import NORMS
from auclab.regularisers.vector_norm import VectorNorm
from auclab.types import Array


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
        return f" + {self.weight:g} {self.norm.symbol}{'²' if self.squared else ''}" if self.weight else ""

    def stored(self) -> dict[str, Any]:
        """λ, norm and square, by the names that a formulation has for them."""
        norm = self.norm if NORMS.get(self.norm.name) is not self.norm else self.norm.name
        return {"penalty": self.weight, "norm": norm, "squared": self.squared}
