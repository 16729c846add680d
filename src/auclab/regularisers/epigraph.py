"""The set ``‖w‖ ≤ t`` as rows of a conic model, which are translated to every modelling language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from auclab.types import Array


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
    blocks = [[block if block is None else _as_triplets(block) for block in row] for row in rows]
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


def _as_triplets(block: Any) -> Any:
    return sp.coo_array(block)
