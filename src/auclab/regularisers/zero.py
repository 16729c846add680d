"""``R(w) = 0``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from auclab.regularisers.lp_norms import EUCLIDEAN
from auclab.regularisers.norm import Norm
from auclab.regularisers.regulariser import Regulariser
from auclab.regularisers.vector_norm import VectorNorm
from auclab.types import AuclabError


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
