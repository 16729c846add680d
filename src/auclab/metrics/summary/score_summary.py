"""A summary of scored blocks that merges, and the metrics of the whole sample as intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array
from auclab.metrics.roc import finite_number
from auclab.metrics.summary.blocks import ScoreBlocks, score_blocks
from auclab.metrics.summary.bounds import (
    PER_BIN,
    ROUNDING,
    ErrorBounds,
    Interval,
    RowSample,
    bauc_bounds,
    both_classes,
    bounds_of,
    score_edges,
)
from auclab.metrics.summary.class_bins import BinnedScores, checked_edges


@dataclass(frozen=True)
class BufferedAUCBounds:
    """Limits of `buffered_auc` from a summary, for each of its numbers.

    Attributes
    ----------
    value : Interval
        bAUC_z.
    gamma_left : Interval
        γ*; NaN where no minimiser exists.
    area_closed, area_open : Interval
        ``P(ξ ≤ γ*)`` and ``P(ξ < γ*)``.

    See Also
    --------
    ScoreSummary : Computes it.

    Examples
    --------
    >>> from auclab.metrics import score_blocks, summarise
    >>> summary = summarise(score_blocks([([0, 0], [0.0, 2.0]), ([1, 1], [1.0, 3.0])]))
    >>> found = summary.buffered_auc()
    >>> bool(found.value.low <= 0.5 <= found.value.high)
    True
    """

    value: Interval
    gamma_left: Interval
    area_closed: Interval
    area_open: Interval


@dataclass(frozen=True, eq=False)
class ScoreSummary(BinnedScores):
    """Counts, extremes and exact sums of the scores of two classes in bins; summaries of blocks are added with ``+``.

    For every bin and class: the number of scores, their weight ``Σ w``, ``Σ w s``, ``Σ w (s − r)²`` about an edge r of
    the bin, the least and the largest score. Counts are integers and sums are kept in fixed point without rounding, so
    that ``a + b`` has the same bits in any order and any tree of additions (terms ``w s`` are exact products; squares
    are rounded once, before they are summed).

    Metrics come as limits ``(low, high)`` that hold whatever the scores within the bins are:

    * AUC, partial AUC and VOROS grow with the ROC curve, which is known at the edges. In a bin with both classes it
      runs between "all negatives first" and "all positives first"; the extremes decide bins in which all scores are
      tied or the classes do not overlap. For AUC the limits differ by ``Σ_k u_k v_k/(UV)`` over the undecided bins,
      ``u_k`` and ``v_k`` the weights of bin k and U, V of the classes: of first order in the width of the bins.
    * ``bPOE_z = min_{γ<z} E(ξ − γ)₊/(z − γ)`` grows with the errors ``ξ = n − p`` in the convex order. The means of the
      bins are below them in that order (Jensen), and scores at the ends of their bins with the same means are above.
      The limits of bAUC therefore differ by second order in the width of the bins.

    Attributes
    ----------
    edges : array of shape (n_edges,)
        Bin k holds ``edges[k − 1] ≤ s < edges[k]``, k = 0 … n_edges.
    pos, neg : ClassBins
        The bins of either class.

    See Also
    --------
    summarise : Chooses edges and summarises blocks, Dask collections or tables.
    score_edges : Edges from a sample.

    Examples
    --------
    Positives 4 and 1, negatives 2 and 0; bins below 1, [1, 3), and 3 or more. The middle one has a positive and a
    negative, each alone, so that their order is known from the extremes:

    >>> a = ScoreSummary.from_scores([1, 1], [4.0, 1.0], edges=[1.0, 3.0])
    >>> b = ScoreSummary.from_scores([0, 0], [2.0, 0.0], edges=[1.0, 3.0])
    >>> (a + b).auc()
    Interval(low=0.75, high=0.75)

    In a single bin the extremes decide nothing:

    >>> summarise([([1, 1], [4.0, 1.0]), ([0, 0], [2.0, 0.0])], edges=[]).auc()
    Interval(low=0.0, high=1.0)
    """

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        edges: ArrayLike,
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> ScoreSummary:
        """Summary of one block, or of Dask collections, whose partitions are summarised where they are computed.

        Parameters
        ----------
        y_true : array, or Dask Array or Series, of shape (n_samples,)
            0/1, −1/+1, booleans, or any two values with `pos_label`; a class may be missing.
        y_score : array, or Dask Array or Series, of shape (n_samples,)
            Larger means more positive. ±∞ is allowed for AUC, partial AUC and VOROS.
        edges : array of shape (n_edges,)
            Ascending, finite; the same for all blocks. `score_edges` makes them, and `summarise` chooses them.
        sample_weight : array, or Dask Array or Series, of shape (n_samples,), optional
            Weights ≥ 0; integer weights act as repeated rows.
        pos_label : optional
            Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

        Raises
        ------
        AuclabError
            Edges that do not ascend, labels of other kinds, NaN scores, lengths that differ, negative weights.
        """
        blocks = score_blocks(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
        return summarise(blocks, edges=edges)

    def __repr__(self) -> str:
        return f"ScoreSummary({self.n_pos} positives and {self.n_neg} negatives in {self.n_bins} bins)"

    def bounds(self, metric: str | Callable[..., float], **options: Any) -> Interval:
        """Limits of a metric of the whole sample.

        Parameters
        ----------
        metric : str or callable
            ``"auc"``, ``"bauc"``, ``"ferri_auc"``, ``"partial_auc"``, ``"ranking_superquantile"``, ``"scored_auc"``,
            ``"two_way_partial_auc"``, ``"voros"``, or the function of that name.
        **options
            Options of the metric.

        Raises
        ------
        AuclabError
            Another metric; options that it does not have; no score of a class; ±∞ where differences of scores count.
        """
        return bounds_of(self, metric, options)

    def auc(self, *, ties: Literal["half", "strict", "upper"] = "half") -> Interval:
        """Limits of `auc_score`."""
        return self.bounds("auc", ties=ties)

    def bauc(self, *, threshold: float = 0.0) -> Interval:
        """Limits of `bauc_score`."""
        return self.bounds("bauc", threshold=threshold)

    def partial_auc(
        self, *, min_fpr: float = 0.0, max_fpr: float = 1.0, standardized: Literal[False, "area", "mcclish"]
    ) -> Interval:
        """Limits of `partial_auc`."""
        return self.bounds("partial_auc", min_fpr=min_fpr, max_fpr=max_fpr, standardized=standardized)

    def voros(self, *, cost_range: Sequence[float] = (0.0, 1.0), measure: str | Sequence[Any] = "uniform") -> Interval:
        """Limits of `voros_score`."""
        return self.bounds("voros", cost_range=cost_range, measure=measure)

    def buffered_auc(self, *, threshold: float = 0.0) -> BufferedAUCBounds:
        """Limits of what `buffered_auc` returns.

        γ* is the smallest level with ``D(γ) = E(ξ − γ)₊ − (z − γ) P(ξ > γ) ≥ 0``; both terms have bounds, and γ* lies
        between the levels where the two bounds of D change their signs.
        """
        z = finite_number("threshold", threshold)
        pos, neg = both_classes(self, finite=True)
        value = bauc_bounds(pos, neg, threshold=z)
        bounds, none = ErrorBounds(pos, neg), Interval(np.nan, np.nan)
        if value.high == 0.0 or z >= bounds.top:
            return BufferedAUCBounds(value, none, none, none)
        bracket = bounds.buffer_bracket(z)
        low = max(bracket.low, bounds.bottom)
        areas = Interval(
            max(1.0 - bounds.share_above(bracket.low)[1] - ROUNDING, 0.0),
            min(1.0 - bounds.share_above(bracket.high)[0] + ROUNDING, 1.0),
        )
        return BufferedAUCBounds(value, Interval(low, bracket.high), areas, areas)


def summarise(blocks: ScoreBlocks | Any, *, n_bins: int = 4096, edges: ArrayLike | None = None) -> ScoreSummary:
    """Summarise all blocks: one pass draws a sample for the edges, a second one computes the summary.

    Parameters
    ----------
    blocks : ScoreBlocks
        From `score_blocks` or `scored_table`, or what `score_blocks` takes.
    n_bins : int ≥ 2
        Approximate number of bins, see `score_edges`.
    edges : array, optional
        Edges of the bins; then there is no first pass.

    Returns
    -------
    ScoreSummary
        The same bits for any order of the blocks and any number of workers.

    Raises
    ------
    AuclabError
        As `ScoreSummary.from_scores`; no blocks.

    See Also
    --------
    score_blocks : Blocks by hand, Dask Arrays and Series.
    scored_table : Tables in blocks.

    Examples
    --------
    >>> from auclab.metrics import score_blocks
    >>> blocks = score_blocks([([1, 0], [4.0, 2.0]), ([1, 0], [1.0, 0.0])])
    >>> summarise(blocks).auc()
    Interval(low=0.75, high=0.75)
    """
    given = _as_blocks(blocks)
    found = sampled_edges(given, n_bins) if edges is None else checked_edges(edges)
    summary: ScoreSummary = given.reduce(partial(ScoreSummary.of_block, found))
    return summary


def sampled_edges(blocks: ScoreBlocks, n_bins: int) -> Array:
    """Edges of about `n_bins` bins from a sample of the rows; one pass. Which rows depends on the blocks."""
    sample: RowSample = blocks.reduce(partial(RowSample.of, size=PER_BIN * max(n_bins, 2)))
    pos, neg = (scores[np.isfinite(scores)] for scores in (sample.pos, sample.neg))
    return score_edges(pos, neg, n_bins) if pos.size + neg.size else np.empty(0)


def _as_blocks(blocks: Any) -> ScoreBlocks:
    return blocks if hasattr(blocks, "reduce") else score_blocks(blocks)
