"""The scores of two classes between common edges: what blocks are summarised to, added and sent as."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.fixed_point import bins_of
from auclab.metrics.summary.class_bins import ClassBins
from auclab.metrics.summary.scored_block import ScoredBlock
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector

_MAGIC = b"auclab.ScoreSummary.1\n"


@dataclass(frozen=True, eq=False)
class BinnedScores:
    """Counts, extremes and exact sums of the scores of two classes in bins.

    `edges` (n_edges,): bin k holds ``edges[k − 1] ≤ s < edges[k]``, k = 0 … n_edges. `pos`, `neg`: what is known of
    either class.
    """

    edges: Array
    pos: ClassBins
    neg: ClassBins

    @classmethod
    def of_block(cls, edges: Array, block: ScoredBlock) -> Self:
        """What is known of a checked block."""
        pos, neg = (
            ClassBins.of(scores, weight, bins_of(scores, edges), edges)
            for scores, weight in ((block.pos, block.weight_pos), (block.neg, block.weight_neg))
        )
        return cls(edges, pos, neg)

    def __add__(self, other: Any) -> Self:
        if not isinstance(other, BinnedScores):  # as any sum in Python
            return NotImplemented
        if not np.array_equal(self.edges, other.edges):
            raise AuclabError(
                f"summaries with different edges cannot be added ({self.edges.size} and {other.edges.size} edges): "
                "choose edges once, from a sample, and send them to all workers"
            )
        return type(self)(self.edges, self.pos + other.pos, self.neg + other.neg)

    def __radd__(self, other: Any) -> Self:
        """For ``sum(summaries)``, which starts from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinnedScores) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @property
    def n_bins(self) -> int:
        """Number of bins, one more than edges."""
        return self.edges.size + 1

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return int(self.pos.count.sum())

    @property
    def n_neg(self) -> int:
        """Number of negatives."""
        return int(self.neg.count.sum())

    def to_bytes(self) -> bytes:
        """All of it as bytes, the same on every machine; equal summaries have equal bytes."""
        head = _MAGIC + struct.pack("<q", self.edges.size) + self.edges.astype("<f8").tobytes()
        return head + self.pos.to_bytes() + self.neg.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """A summary from `to_bytes`.

        Raises
        ------
        AuclabError
            Anything else.
        """
        if bytes(data[: len(_MAGIC)]) != _MAGIC:
            raise AuclabError("these bytes are not a ScoreSummary; they must come from to_bytes() of this version")
        try:
            view = memoryview(data)[len(_MAGIC) :]
            (n_edges,) = struct.unpack_from("<q", view)
            edges = np.frombuffer(view[8 : 8 + 8 * n_edges], "<f8").astype(np.float64)
            pos, view = ClassBins.from_bytes(view[8 + 8 * n_edges :])
            neg, view = ClassBins.from_bytes(view)
            if len(view) or not n_edges + 1 == pos.count.size == neg.count.size:
                raise ValueError("lengths do not match")
        except (ValueError, struct.error, IndexError, TypeError) as error:
            raise AuclabError(f"the bytes of a ScoreSummary are damaged or cut off: {error}") from error
        return cls(edges, pos, neg)


def checked_edges(edges: ArrayLike) -> Array:
    """Edges as an ascending array of finite numbers, which may be empty."""
    if np.size(np.asarray(edges)) == 0:
        return np.empty(0)
    vector = finite_vector("edges", edges)
    falls = vector[1:] <= vector[:-1]
    if falls.any():
        where = int(falls.argmax())
        raise AuclabError(
            f"edges must ascend, got {vector[where]} before {vector[where + 1]}; np.unique(edges) sorts them"
        )
    return vector + 0.0  # a copy without negative zeros
