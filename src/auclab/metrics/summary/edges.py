"""Edges of bins from a sample of scores: quantiles of either class, and bins of their own for values that repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.metrics.summary.scored_block import ScoredBlock
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector

#: Sampled scores of a class for each bin.
PER_BIN = 32


def score_edges(pos: ArrayLike, neg: ArrayLike, n_bins: int = 4096) -> Array:
    """Edges of about `n_bins` bins from scores of either class, or from samples of them.

    Half of the bins have equal shares of the positives, half of the negatives, so that a share of about ``2/n_bins`` of
    the pairs lies within a bin. A value v that several quantiles share gets the bin ``[v, next double)``, in which all
    scores are tied.

    Parameters
    ----------
    pos, neg : arrays of shape (n_pos,) and (n_neg,)
        Scores of either class; ±∞ is left out.
    n_bins : int ≥ 2
        Largest number of bins, apart from those of repeated values.

    Returns
    -------
    array of shape (n_edges,), ascending, without repetitions

    Raises
    ------
    AuclabError
        NaN scores, no scores at all, less than two bins.

    See Also
    --------
    summarise : Takes the edges from a sample that a first pass draws.
    ScoreSummary : Counts and sums between the edges.

    Examples
    --------
    >>> score_edges([1.0, 3.0], [0.0, 2.0], n_bins=4).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    if n_bins < 2:
        raise AuclabError(f"n_bins must be at least 2, got {n_bins}")
    picked = []
    for name, scores in (("pos", pos), ("neg", neg)):
        if np.size(np.asarray(scores)):
            values = np.sort(finite_vector(name, scores, infinite=True))
            values = values[np.isfinite(values)]
            at = np.linspace(0, max(values.size - 1, 0), max(n_bins // 2, 1)).astype(np.int64)
            picked.append(values[at] if values.size else values)
    if not sum(values.size for values in picked):
        raise AuclabError("edges need at least one finite score; give a sample of the scores")
    edges = [np.unique(values) for values in picked]
    for values, distinct in zip(picked, list(edges), strict=True):
        counts = np.diff(np.searchsorted(values, distinct), append=values.size)
        repeated = distinct[counts > 1] if values.size > distinct.size else distinct[:0]
        edges.append(np.nextafter(repeated, np.inf))
    joined = np.unique(np.concatenate(edges))
    return joined[np.isfinite(joined)] + 0.0  # no negative zero


@dataclass(frozen=True)
class RowSample:
    """Rows of either class with the smallest pseudo-random keys: the same rows in whatever order samples are joined."""

    pos: Array
    neg: Array
    keys_pos: NDArray[np.uint64]
    keys_neg: NDArray[np.uint64]
    size: int

    @classmethod
    def of(cls, block: ScoredBlock, size: int) -> RowSample:
        """The scores of a block, at most `size` of either class."""
        pos, neg = (_smallest(scores, _keys(scores), size) for scores in (block.pos, block.neg))
        return cls(pos[0], neg[0], pos[1], neg[1], size)

    def __add__(self, other: RowSample) -> RowSample:
        pos, neg = (
            _smallest(np.concatenate(scores), np.concatenate(keys), self.size)
            for scores, keys in (
                ((self.pos, other.pos), (self.keys_pos, other.keys_pos)),
                ((self.neg, other.neg), (self.keys_neg, other.keys_neg)),
            )
        )
        return RowSample(pos[0], neg[0], pos[1], neg[1], self.size)


def _smallest(scores: Array, keys: NDArray[np.uint64], size: int) -> tuple[Array, NDArray[np.uint64]]:
    """The scores with the smallest keys, of equal keys the smallest scores, in any order."""
    if scores.size <= size:
        return scores, keys
    last = np.partition(keys, size - 1)[size - 1]
    chosen, tied = keys < last, np.flatnonzero(keys == last)
    chosen[tied[np.argsort(scores[tied])][: size - np.count_nonzero(chosen)]] = True
    return scores[chosen], keys[chosen]


def _keys(scores: Array) -> NDArray[np.uint64]:
    """A hash of every score and its place in the block (the finaliser of splitmix64)."""
    keys = scores.view(np.uint64) ^ (np.arange(scores.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    keys ^= keys >> np.uint64(30)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(27)
    keys *= np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
