"""The second pass: the scores of undecided bins are gathered, and metrics are computed from them and the summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from auclab.compiled.fixed_point import bins_of
from auclab.metrics.class_scores import finite_number
from auclab.metrics.registry import METRICS
from auclab.metrics.summary.bin_groups import bauc_in_groups, value_in_groups
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.blocks import ScoreBlocks
from auclab.metrics.summary.bounds import bounds_of
from auclab.metrics.summary.brackets import Bracket, Masks
from auclab.metrics.summary.buffered_groups import groups_of
from auclab.metrics.summary.edges import PER_BIN, RowSample, score_edges
from auclab.metrics.summary.gathered_rows import BYTES_A_SCORE, gather, number_of_scores
from auclab.metrics.summary.scored_block import ScoredBlock
from auclab.metrics.summary.undecided_bins import level_bracket, metric_name, needed_bins
from auclab.metrics.summary.values import value_from_rows
from auclab.precision import ROUNDING
from auclab.types import Array, AuclabError


def refined(
    summary: BinnedScores, blocks: ScoreBlocks, requests: Sequence[tuple[str, dict[str, Any]]], memory_gb: float
) -> list[Any]:
    """Values of metrics, each a name of `METRICS` or "buffered_auc" with all options."""
    if finite_number("memory_gb", memory_gb) <= 0.0:
        raise AuclabError(f"memory_gb must be above 0, got {memory_gb}")
    most = int(1e9 * memory_gb / BYTES_A_SCORE)
    needs = [needed_bins(summary, metric_name(name), options) for name, options in requests]
    union = np.any([m[0] for m in needs], axis=0), np.any([m[1] for m in needs], axis=0)
    if number_of_scores(summary, union) <= most:
        rows = gather(summary, blocks, union)
        return [value_from_rows(summary, rows, name, options) for name, options in requests]
    return [
        _with_little_memory(summary, blocks, name, options, masks, most)
        for (name, options), masks in zip(requests, needs, strict=True)
    ]


def _with_little_memory(
    summary: BinnedScores, blocks: ScoreBlocks, name: str, options: dict[str, Any], masks: Masks, most: int
) -> Any:
    """A metric whose undecided scores do not fit: bins in groups, one pass each, or finer bins."""
    if number_of_scores(summary, masks) <= most:
        return value_from_rows(summary, gather(summary, blocks, masks), name, options)
    if name in ("auc", "partial_auc", "voros"):
        sizes = np.where(masks[0] | masks[1], summary.pos.count + summary.neg.count, 0)
        if sizes.max() > most:
            finer = finer_summary(summary, blocks, masks)
            again = needed_bins(finer, name, options)
            largest = np.where(again[0] | again[1], finer.pos.count + finer.neg.count, 0).max()
            if largest >= sizes.max():
                raise _too_much(name, int(largest), most)
            return _with_little_memory(finer, blocks, name, options, again, most)
        return value_in_groups(summary, blocks, name, options, masks, most)
    if name == "bauc":
        return _bauc_with_little_memory(summary, blocks, options, masks, most)
    finer = finer_summary(summary, blocks, masks)
    again = needed_bins(finer, metric_name(name), options)
    if number_of_scores(finer, again) <= most:
        return value_from_rows(finer, gather(finer, blocks, again), name, options)
    if name in METRICS:
        low, high = bounds_of(finer, name, options)
        if high - low <= ROUNDING * max(1.0, abs(high)):
            return 0.5 * (low + high)
    raise _too_much(name, number_of_scores(finer, again), most)


def _bauc_with_little_memory(
    summary: BinnedScores, blocks: ScoreBlocks, options: dict[str, Any], masks: Masks, most: int
) -> float:
    """BAUC from groups of bins that fit, of finer bins if these do not."""
    z = float(options["threshold"])
    bracket = level_bracket("bauc", options, summary.pos, summary.neg)
    assert bracket is not None  # else nothing would be undecided
    if bracket.high >= z:
        bracket = Bracket(bracket.low, math.nextafter(z, -math.inf))
    groups = list(groups_of(summary, masks, bracket, most))
    largest = max(number_of_scores(summary, gathered) for gathered, _ in groups)
    if largest > most:
        finer = finer_summary(summary, blocks, masks)
        if finer.n_bins <= summary.n_bins or number_of_scores(summary, masks) < largest:
            raise _too_much("bauc", largest, most)
        return float(_with_little_memory(finer, blocks, "bauc", options, needed_bins(finer, "bauc", options), most))
    low, high = bauc_in_groups(summary, blocks, z, bracket, groups)
    if high - low > ROUNDING:
        raise _too_much("bauc", number_of_scores(summary, masks), most)
    return min(max(1.0 - 0.5 * (low + high), 0.0), 1.0)


def _too_much(name: str, needed: int, most: int) -> AuclabError:
    return AuclabError(
        f"{name} needs {needed} scores at once, and memory_gb allows {most}: raise memory_gb, "
        "or take the interval of a summary with more bins"
    )


def finer_summary(summary: BinnedScores, blocks: ScoreBlocks, masks: Masks, n_bins: int = 2**18) -> BinnedScores:
    """The same scores with about `n_bins` more bins where they are undecided; two passes."""
    sample: RowSample = blocks.reduce(partial(_sample_of, summary.edges, masks, max(PER_BIN // 8, 1) * n_bins))
    edges = np.union1d(summary.edges, score_edges(sample.pos, sample.neg, n_bins))
    result: BinnedScores = blocks.reduce(partial(type(summary).of_block, edges))
    return result


def _sample_of(edges: Array, masks: Masks, size: int, block: ScoredBlock) -> RowSample:
    """A task: a sample of the scores in some bins."""
    pos, neg = block.pos[masks[0][bins_of(block.pos, edges)]], block.neg[masks[1][bins_of(block.neg, edges)]]
    return RowSample.of(ScoredBlock(pos, neg, None, None), size)
