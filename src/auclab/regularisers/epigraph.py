"""The set ``‖w‖ ≤ t`` as rows of a conic model, from which every modelling language makes its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp


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
    auclab.regularisers.VectorNorm.epigraph : Makes it.

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
        linear: Any = sp.csr_array(sp.block_array([list(row) for row in rows]))
        return cls(linear, sp.csr_array((0, linear.shape[1])))

    def n_parts(self, n_features: int) -> int:
        """The number of columns u."""
        return int(self.linear.shape[1]) - n_features - 1


def minus_ones(size: int) -> Any:
    """A sparse column of −1: the block of t in rows ``… ≤ t``."""
    return sp.csr_array(-np.ones((size, 1)))
