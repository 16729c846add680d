"""The second pass: the scores of undecided bins are gathered, and metrics are computed from them and the summary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.fixed_point import bins_of
from auclab.compiled.ranking import concordance
from auclab.compiled.roc import roc_polygon, upper_hull
from auclab.metrics.buffered import BufferedAUCResult, buffered_auc_from_sorted
from auclab.metrics.class_scores import ClassScores, finite_number
from auclab.metrics.ranking import TIED_SHARE
from auclab.metrics.registry import METRICS
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.blocks import ScoreBlocks
from auclab.metrics.summary.bounds import CURVE, both_classes, bounds_of, in_bin_shares, mean_error
from auclab.metrics.summary.brackets import (
    Bracket,
    ErrorBounds,
    Mask,
    next_error_above,
    undecided,
)
from auclab.metrics.summary.buffered_groups import groups_of, smallest_mean
from auclab.metrics.summary.class_bins import ClassBins
from auclab.metrics.summary.edges import PER_BIN, RowSample, score_edges
from auclab.metrics.summary.lists import Atoms, curve_lists, joined, mean_atoms, mixed, orders
from auclab.metrics.summary.scored_block import ScoredBlock
from auclab.types import Array, AuclabError

Masks = tuple[Mask, Mask]
#: Bytes for a gathered score, with the running sums and rank counts of the sweeps over it.
BYTES_A_SCORE, BYTES_A_WEIGHTED_SCORE = 80, 96
#: Bins of a finer summary, where the undecided scores do not fit into memory.
FINER_BINS = 2**18
#: Width of an interval that counts as a value, where the scores of its bins do not fit.
NARROW = 1e-12


@dataclass(frozen=True)
class Gathered:
    """Scores of some bins, in the pieces that blocks gave."""

    pos: tuple[Array, ...]
    neg: tuple[Array, ...]
    weight_pos: tuple[Array, ...]
    weight_neg: tuple[Array, ...]

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(
            self.pos + other.pos,
            self.neg + other.neg,
            self.weight_pos + other.weight_pos,
            self.weight_neg + other.weight_neg,
        )


@dataclass(frozen=True)
class Rows:
    """Sorted scores of the bins in `masks`, with weights on the scale of the summary; empty for ones."""

    masks: Masks
    scores: ClassScores


def needed_bins(summary: BinnedScores, name: str, options: dict[str, Any]) -> Masks:
    """The bins of either class whose scores a metric needs, beyond the summary, to be exact."""
    pos, neg = both_classes(summary, finite=name not in CURVE)
    if name in CURVE:
        mask = mixed(pos, neg) & _matters(name, options, pos, neg)
        return mask, mask
    nothing = np.zeros(pos.count.size, bool)
    bracket = level_bracket(name, options, pos, neg)
    masks = (nothing, nothing) if bracket is None else undecided(pos, neg, bracket)
    if name == "scored_auc" and options["ties"] == "half":
        masks = masks[0] | mixed(pos, neg), masks[1] | mixed(pos, neg)
    return masks


def refined(
    summary: BinnedScores, blocks: ScoreBlocks, requests: Sequence[tuple[str, dict[str, Any]]], memory_gb: float
) -> list[Any]:
    """Values of metrics, each a name of `METRICS` or "buffered_auc" with all options."""
    if finite_number("memory_gb", memory_gb) <= 0.0:
        raise AuclabError(f"memory_gb must be above 0, got {memory_gb}")
    most = int(1e9 * memory_gb / (BYTES_A_WEIGHTED_SCORE if summary.is_weighted else BYTES_A_SCORE))
    needs = [needed_bins(summary, _basic(name), options) for name, options in requests]
    union = np.any([m[0] for m in needs], axis=0), np.any([m[1] for m in needs], axis=0)
    if number_of_scores(summary, union) <= most:
        rows = gather(summary, blocks, union) if number_of_scores(summary, union) else no_rows(summary)
        return [value_from_rows(summary, rows, name, options) for name, options in requests]
    return [
        _with_little_memory(summary, blocks, name, options, masks, most)
        for (name, options), masks in zip(requests, needs, strict=True)
    ]


def gather(summary: BinnedScores, blocks: ScoreBlocks, masks: Masks) -> Rows:
    """The scores of some bins, in one pass.

    Raises
    ------
    AuclabError
        Other numbers of scores than the summary has counted.
    """
    found: Gathered = blocks.reduce(partial(_select, summary.edges, masks, summary.is_weighted))
    lists = []
    for name, bins, mask, pieces, weights in (
        ("positive", summary.pos, masks[0], found.pos, found.weight_pos),
        ("negative", summary.neg, masks[1], found.neg, found.weight_neg),
    ):
        scores = np.concatenate(pieces)
        expected = int(bins.count[mask].sum())
        if scores.size != expected:
            raise AuclabError(
                f"the blocks have {scores.size} scores of the {name} class in the undecided bins, and the summary has "
                f"{expected}: a second pass must read the blocks that were summarised"
            )
        if not summary.is_weighted:
            scores.sort()
            lists.append((scores, np.empty(0)))
        else:
            weight = np.ldexp(np.concatenate(weights), -bins.scale)
            order = np.argsort(scores)
            lists.append((scores[order], weight[order]))
    return Rows(masks, ClassScores(lists[0][0], lists[1][0], lists[0][1], lists[1][1]))


def value_from_rows(summary: BinnedScores, rows: Rows, name: str, options: dict[str, Any]) -> Any:
    """A metric from the scores of all bins that it needs, and the summary of the others."""
    pos, neg = summary.pos, summary.neg
    if name == "auc":
        return _auc(pos, neg, _auc_inside(summary, rows), rows.masks[0] & rows.masks[1], options["ties"])
    if name in CURVE:
        atoms = (pos.low, pos.weights), (neg.high, neg.weights)
        return METRICS[name].from_sorted(lists_with_atoms(rows, pos, neg, *atoms), **options)
    if _basic(name) == "bauc" and mean_error(pos, neg) >= options["threshold"]:
        return BufferedAUCResult(0.0) if name == "buffered_auc" else 0.0
    if name == "ferri_auc" or (name == "ranking_superquantile" and options["level"] in (0.0, 1.0)):
        low, high = bounds_of(summary, name, options)
        return 0.5 * (low + high)
    lists = lists_with_atoms(rows, pos, neg, mean_atoms(pos), mean_atoms(neg))
    if name == "buffered_auc":
        return _buffered(pos, neg, lists, options)
    return METRICS[name].from_sorted(lists, **options)


def _buffered(pos: ClassBins, neg: ClassBins, lists: ClassScores, options: dict[str, Any]) -> BufferedAUCResult:
    """`buffered_auc` from rows and means; the next error above γ* may be one that a mean stands for."""
    result = buffered_auc_from_sorted(lists, **options)
    if not result.gamma_right > result.gamma_left:
        return result
    bracket = level_bracket("bauc", options, pos, neg)
    assert bracket is not None
    return replace(result, gamma_right=min(result.gamma_right, next_error_above(pos, neg, bracket.high)))


def lists_with_atoms(rows: Rows, pos: ClassBins, neg: ClassBins, pos_atoms: Atoms, neg_atoms: Atoms) -> ClassScores:
    """Gathered scores, and atoms for the bins that were not gathered."""
    lists = []
    for bins, mask, (at, share), scores, weight in (
        (pos, rows.masks[0], pos_atoms, rows.scores.pos, rows.scores.weight_pos),
        (neg, rows.masks[1], neg_atoms, rows.scores.neg, rows.scores.weight_neg),
    ):
        kept = np.tile(~mask & (bins.count > 0), at.size // mask.size)
        lists.append(_inserted(scores, weight, at[kept], share[kept]))
    return ClassScores(lists[0][0], lists[1][0], lists[0][1], lists[1][1])


def _inserted(scores: Array, weight: Array, at: Array, share: Array) -> Atoms:
    """Sorted scores (no weights stand for ones) with some atoms at their places."""
    order = np.argsort(at[share > 0], kind="stable")
    at, share = at[share > 0][order], share[share > 0][order]
    place = np.searchsorted(scores, at)
    return np.insert(scores, place, at), np.insert(weight if weight.size else np.ones(scores.size), place, share)


def _auc_inside(summary: BinnedScores, rows: Rows) -> tuple[Fraction, Fraction]:
    """Weight of right and of tied pairs within the gathered bins, in the unit of `exact_weights`."""
    pos, neg, edges = summary.pos, summary.neg, summary.edges
    mask, lists = rows.masks[0] & rows.masks[1], rows.scores
    if not lists.pos.size or not lists.neg.size:
        return Fraction(0), Fraction(0)
    parts = []
    for scores, weight, gathered in (
        (lists.pos, lists.weight_pos, rows.masks[0]),
        (lists.neg, lists.weight_neg, rows.masks[1]),
    ):
        # what was gathered of one class only has no pairs inside
        inside = slice(None) if (gathered == mask).all() else mask[bins_of(scores, edges)]
        parts.append((scores[inside], weight[inside] if weight.size else weight))
    right, tied, _ = concordance(parts[0][0], parts[1][0], parts[0][1], parts[1][1])
    (u, e), (v, f) = pos.exact_weights(), neg.exact_weights()
    unit = Fraction(2) ** (pos.scale + neg.scale - e - f)
    return Fraction(right) * unit - _across(u, v, mask), Fraction(tied) * unit


def _auc(pos: ClassBins, neg: ClassBins, inside: tuple[Fraction, Fraction], mask: Mask, ties: str) -> float:
    """AUC from the pairs within the bins of `mask`, and the summary."""
    (u, _), (v, _) = pos.exact_weights(), neg.exact_weights()
    share, _ = in_bin_shares(orders(pos, neg), TIED_SHARE[ties])
    twice = (2 * np.where(mask, 0.0, share)).tolist()
    right = 2 * _across(u, v, np.ones(len(u), bool))
    right += sum(int(s) * a * b for s, a, b in zip(twice, u, v, strict=True) if s and a and b)
    total = Fraction(right) + 2 * inside[0] + Fraction(2 * TIED_SHARE[ties]) * inside[1]
    return min(max(float(total / (2 * sum(u) * sum(v))), 0.0), 1.0)


def _across(u: list[int], v: list[int], mask: Mask) -> int:
    """Weight of the pairs with the positive in a higher bin than the negative, within the bins of `mask`."""
    right = below = 0
    for a, b, kept in zip(u, v, mask.tolist(), strict=True):
        if kept:
            right += a * below
            below += b
    return right


def _select(edges: Array, masks: Masks, weighted: bool, block: ScoredBlock) -> Gathered:
    """A task: the scores in some bins."""
    pieces = []
    for scores, weight, mask in ((block.pos, block.weight_pos, masks[0]), (block.neg, block.weight_neg, masks[1])):
        chosen = mask[bins_of(scores, edges)]
        if weight is None:
            weight = np.ones(scores.size) if weighted else np.empty(0)
        pieces.append(((scores[chosen],), (weight[chosen] if weighted else weight,)))
    return Gathered(pieces[0][0], pieces[1][0], pieces[0][1], pieces[1][1])


def no_rows(summary: BinnedScores) -> Rows:
    """Nothing gathered."""
    none = np.zeros(summary.pos.count.size, bool)
    return Rows((none, none), ClassScores(*(np.empty(0) for _ in range(4))))


def number_of_scores(summary: BinnedScores, masks: Masks) -> int:
    """Number of scores in the bins of either class."""
    return int(summary.pos.count[masks[0]].sum() + summary.neg.count[masks[1]].sum())


def _basic(name: str) -> str:
    return "bauc" if name == "buffered_auc" else name


def level_bracket(name: str, options: dict[str, Any], pos: ClassBins, neg: ClassBins) -> Bracket | None:
    """Levels between which scores must be gathered, None if the summary decides."""
    if name == "scored_auc":
        return Bracket(0.0, 0.0)
    if name == "ranking_superquantile":
        alpha = options["level"]
        return ErrorBounds(pos, neg).quantile_bracket(1.0 - alpha) if 0.0 < alpha < 1.0 else None
    if name != "bauc":
        return None
    z = options["threshold"]
    if mean_error(pos, neg) >= z:
        return None
    bounds = ErrorBounds(pos, neg)
    if z > bounds.top:
        return None
    return Bracket(math.nextafter(z, -math.inf), z) if z == bounds.top else bounds.buffer_bracket(z)


def _matters(name: str, options: dict[str, Any], pos: ClassBins, neg: ClassBins) -> Mask:
    """Bins where the ROC curve enters a metric."""
    (left, right), (_, top) = (_rates(bins) for bins in (neg, pos))
    slack = 1e-9  # of sums of weights
    if name == "partial_auc":
        return np.asarray((right > options["min_fpr"] - slack) & (left < options["max_fpr"] + slack))
    if name == "two_way_partial_auc":
        return np.asarray((top > options["min_tpr"] - slack) & (left < options["max_fpr"] + slack))
    if name == "voros":  # the corner of a bin may lie above what the other bins make certain
        false, true = roc_polygon(*_tuple(curve_lists(pos, neg, upper=False)), True)
        x, y = false / false[-1], true / true[-1]
        chain = upper_hull(x, y)
        return np.asarray(top > np.interp(left, x[chain], y[chain]) - slack)
    return np.ones(left.size, bool)


def _rates(bins: ClassBins) -> tuple[Array, Array]:
    """Share of a class above every bin, and at or above it."""
    reached = np.cumsum(bins.weights[::-1])[::-1]
    return np.append(reached[1:], 0.0) / reached[0], reached / reached[0]


def _tuple(scores: ClassScores) -> tuple[Array, Array, Array, Array]:
    return scores.pos, scores.neg, scores.weight_pos, scores.weight_neg


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
        return _in_groups(summary, blocks, name, options, masks, most)
    if name == "bauc":
        return _bauc_in_groups(summary, blocks, options, masks, most)
    finer = finer_summary(summary, blocks, masks)
    again = needed_bins(finer, _basic(name), options)
    if number_of_scores(finer, again) <= most:
        return value_from_rows(finer, gather(finer, blocks, again), name, options)
    if name in METRICS:
        low, high = bounds_of(finer, name, options)
        if high - low <= NARROW * max(1.0, abs(high)):
            return 0.5 * (low + high)
    raise _too_much(name, number_of_scores(finer, again), most)


def _too_much(name: str, needed: int, most: int) -> AuclabError:
    return AuclabError(
        f"{name} needs {needed} scores at once, and memory_gb allows {most}: raise memory_gb, "
        "or take the interval of a summary with more bins"
    )


def finer_summary(summary: BinnedScores, blocks: ScoreBlocks, masks: Masks, n_bins: int = FINER_BINS) -> BinnedScores:
    """The same scores with more bins where they are undecided; two passes."""
    sample: RowSample = blocks.reduce(partial(_sample_of, summary.edges, masks, max(PER_BIN // 8, 1) * n_bins))
    edges = np.union1d(summary.edges, score_edges(sample.pos, sample.neg, n_bins))
    result: BinnedScores = blocks.reduce(partial(type(summary).of_block, edges))
    return result


def _sample_of(edges: Array, masks: Masks, size: int, block: ScoredBlock) -> RowSample:
    """A task: a sample of the scores in some bins."""
    pos, neg = block.pos[masks[0][bins_of(block.pos, edges)]], block.neg[masks[1][bins_of(block.neg, edges)]]
    return RowSample.of(ScoredBlock(pos, neg, None, None), size)


def _in_groups(
    summary: BinnedScores, blocks: ScoreBlocks, name: str, options: dict[str, Any], masks: Masks, most: int
) -> float:
    """AUC, partial AUC or VOROS from some bins at a time; of each bin what the metric needs is kept."""
    pos, neg = summary.pos, summary.neg
    inside = [Fraction(0), Fraction(0)]
    kept: list[tuple[Atoms, Atoms]] = []
    for group in _groups(np.where(masks[0], pos.count + neg.count, 0), most):
        rows = gather(summary, blocks, (group, group))
        if name == "auc":
            inside = [a + b for a, b in zip(inside, _auc_inside(summary, rows), strict=True)]
        else:
            kept += _shortened(summary, rows, name, options)
    if name == "auc":
        return _auc(pos, neg, (inside[0], inside[1]), masks[0], options["ties"])
    lists = []
    for side, (bins, scores) in enumerate(((pos, pos.low), (neg, neg.high))):
        rest = ~masks[side] & (bins.count > 0)
        parts = [(scores[rest], bins.weights[rest]), *(atoms[side] for atoms in kept)]
        lists.append((np.concatenate([at for at, _ in parts]), np.concatenate([share for _, share in parts])))
    return float(METRICS[name].from_sorted(joined(*lists), **options))


def _bauc_in_groups(
    summary: BinnedScores, blocks: ScoreBlocks, options: dict[str, Any], masks: Masks, most: int
) -> float:
    """BAUC from some bins at a time, in a few rounds."""
    pos, neg, z = summary.pos, summary.neg, float(options["threshold"])
    bracket = level_bracket("bauc", options, pos, neg)
    assert bracket is not None  # else nothing would be undecided
    bottom = float(neg.low.min() - pos.high.max())
    if bracket.high >= z:
        bracket = Bracket(bracket.low, math.nextafter(z, -math.inf))
    groups = list(groups_of(summary, masks, bracket, most))
    largest = max(number_of_scores(summary, gathered) for gathered, _ in groups)
    if largest > most:
        finer = finer_summary(summary, blocks, masks)
        again = needed_bins(finer, "bauc", options)
        if finer.n_bins <= summary.n_bins or number_of_scores(summary, masks) < largest:
            raise _too_much("bauc", largest, most)
        return float(_with_little_memory(finer, blocks, "bauc", options, again, most))
    atoms = mean_atoms(pos), mean_atoms(neg)

    def lists(gathered: Masks, members: Mask) -> ClassScores:
        rows = gather(summary, blocks, gathered) if number_of_scores(summary, gathered) else no_rows(summary)
        sides = []
        for bins, mask, (at, share), scores, weight, part in (
            (pos, gathered[0], atoms[0], rows.scores.pos, rows.scores.weight_pos, pos.count > 0),
            (neg, gathered[1], atoms[1], rows.scores.neg, rows.scores.weight_neg, members),
        ):
            kept = np.tile(~mask & part, at.size // bins.count.size)
            sides.append(_inserted(scores, weight, at[kept], share[kept]))
        return ClassScores(sides[0][0], sides[1][0], sides[0][1], sides[1][1])

    pairs = math.fsum(pos.weights) * math.fsum(neg.weights)
    low, high = smallest_mean(lists, groups, pairs, bracket, z, bottom)
    if high - low > NARROW:
        raise _too_much("bauc", number_of_scores(summary, masks), most)
    return min(max(1.0 - 0.5 * (low + high), 0.0), 1.0)


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


def _shortened(summary: BinnedScores, rows: Rows, name: str, options: dict[str, Any]) -> list[tuple[Atoms, Atoms]]:
    """For every gathered bin a few scores of either class with the same area (partial AUC) or hull (VOROS) as all."""
    left, right = _rates(summary.neg)
    found = []
    for k in np.flatnonzero(rows.masks[0]).tolist():
        pos, neg = (_part(scores, weight, summary.edges, k) for scores, weight in (
            (rows.scores.pos, rows.scores.weight_pos), (rows.scores.neg, rows.scores.weight_neg)
        ))  # fmt: skip
        if name == "voros":
            found.append(_hull_atoms(pos, neg))
        elif any(left[k] - 1e-9 < end < right[k] + 1e-9 for end in (options["min_fpr"], options["max_fpr"])):
            found.append((pos, neg))
        else:
            found.append(_area_atoms(pos, neg))
    return found


def _part(scores: Array, weight: Array, edges: Array, k: int) -> Atoms:
    """The scores of bin k and their weights."""
    ends = np.searchsorted(scores, [edges[k - 1] if k else -np.inf, edges[k] if k < edges.size else np.inf])
    part = slice(ends[0], ends[1] if k < edges.size else None)
    return scores[part], weight[part] if weight.size else np.ones(scores[part].size)


def _area_atoms(pos: Atoms, neg: Atoms) -> tuple[Atoms, Atoms]:
    """Positives above and below all negatives, so that the area stays: a share ``(right + tied/2)/pairs`` is above."""
    right, tied, pairs = concordance(pos[0], neg[0], pos[1], neg[1])
    total, other = float(pos[1].sum()), float(neg[1].sum())
    above = (right + 0.5 * tied) / pairs
    low, high = min(pos[0][0], neg[0][0]), max(pos[0][-1], neg[0][-1])
    # Three places within the bin that differ: its extremes, and a double between or at the lower one.
    middle = np.nextafter(low, high)
    if middle < high:
        return (np.array([low, high]), np.array([total * (1.0 - above), total * above])), (
            np.array([middle]),
            np.array([other]),
        )
    return pos, neg


def _hull_atoms(pos: Atoms, neg: Atoms) -> tuple[Atoms, Atoms]:
    """Tied scores whose ROC curve is the upper hull of that of a bin."""
    false, true = roc_polygon(pos[0], neg[0], pos[1], neg[1], True)
    chain = upper_hull(false, true)
    low, high = min(pos[0][0], neg[0][0]), max(pos[0][-1], neg[0][-1])
    distinct = np.unique(np.concatenate((pos[0], neg[0])))
    # as many different scores as edges: the highest stands for the first edge
    at = np.linspace(high, low, chain.size - 1) if chain.size > 2 else np.array([high])
    at = np.clip(at, low, high)
    if np.unique(at).size < at.size:
        at = distinct[::-1][: at.size]
    return (at, np.diff(true[chain])), (at, np.diff(false[chain]))
