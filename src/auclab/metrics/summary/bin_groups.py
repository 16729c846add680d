"""Metrics from some bins at a time, where the scores of all undecided ones do not fit into memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.metrics.class_scores import ClassScores
from auclab.metrics.registry import METRICS
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.blocks import ScoreBlocks
from auclab.metrics.summary.brackets import Bracket, Mask, Masks
from auclab.metrics.summary.buffered_groups import smallest_mean
from auclab.metrics.summary.gathered_rows import gather, lists_with_atoms
from auclab.metrics.summary.lists import Atoms, joined, mean_atoms
from auclab.metrics.summary.pairs_in_bins import auc_from_weights, weights_inside
from auclab.metrics.summary.short_lists import short_lists


def value_in_groups(
    summary: BinnedScores, blocks: ScoreBlocks, name: str, options: dict[str, Any], masks: Masks, most: int
) -> float:
    """AUC, partial AUC or VOROS from some bins at a time; of each bin what the metric needs is kept."""
    pos, neg = summary.pos, summary.neg
    inside = [Fraction(0), Fraction(0)]
    kept: list[tuple[Atoms, Atoms]] = []
    for group in _groups(np.where(masks[0], pos.count + neg.count, 0), most):
        rows = gather(summary, blocks, (group, group))
        if name == "auc":
            inside = [a + b for a, b in zip(inside, weights_inside(summary, rows), strict=True)]
        else:
            kept += short_lists(summary, rows, name, options)
    if name == "auc":
        return auc_from_weights(pos, neg, (inside[0], inside[1]), masks[0], options["ties"])
    lists = []
    for side, (bins, scores) in enumerate(((pos, pos.low), (neg, neg.high))):
        rest = ~masks[side] & (bins.count > 0)
        parts = [(scores[rest], bins.weights[rest]), *(atoms[side] for atoms in kept)]
        lists.append((np.concatenate([at for at, _ in parts]), np.concatenate([share for _, share in parts])))
    return float(METRICS[name].from_sorted(joined(*lists), **options))


def bauc_in_groups(
    summary: BinnedScores,
    blocks: ScoreBlocks,
    threshold: float,
    bracket: Bracket,
    groups: list[tuple[Masks, Mask]],
) -> tuple[float, float]:
    """Limits of 1 − bAUC from one of `groups` of bins at a time, in a few rounds of passes."""
    pos, neg = summary.pos, summary.neg
    bottom = float(neg.low.min() - pos.high.max())
    atoms = mean_atoms(pos), mean_atoms(neg)

    def lists(gathered: Masks, members: Mask) -> ClassScores:
        return lists_with_atoms(gather(summary, blocks, gathered), (pos.count > 0, members), atoms)

    pairs = math.fsum(pos.weights) * math.fsum(neg.weights)
    return smallest_mean(lists, groups, pairs, bracket, threshold, bottom)


def _groups(sizes: NDArray[np.int64], most: int) -> Iterator[Mask]:
    """Masks of consecutive bins with at most `most` scores together."""
    reached = np.cumsum(sizes)
    ends, start = [0], 0
    while ends[-1] < sizes.size:
        end = int(np.searchsorted(reached, start + most, side="right"))
        ends.append(end)
        start = int(reached[end - 1])
    for begin, end in pairwise(ends):
        mask = np.zeros(sizes.size, bool)
        mask[begin:end] = sizes[begin:end] > 0
        if mask.any():
            yield mask
