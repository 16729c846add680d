"""Scores of some bins, gathered in one pass over the blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from auclab.compiled.fixed_point import bins_of
from auclab.metrics.class_scores import ClassScores
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.blocks import ScoreBlocks
from auclab.metrics.summary.brackets import Mask, Masks
from auclab.metrics.summary.lists import Atoms
from auclab.metrics.summary.scored_block import ScoredBlock
from auclab.types import Array, AuclabError

#: Bytes for a gathered score, with the running sums and rank counts of the sweeps over it.
BYTES_A_SCORE = 96


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


def gather(summary: BinnedScores, blocks: ScoreBlocks, masks: Masks) -> Rows:
    """The scores of some bins, in one pass; without a pass where the bins have none."""
    if not number_of_scores(summary, masks):
        nothing = np.empty(0), np.empty(0)
        return Rows(masks, ClassScores.of(nothing, nothing))
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
    return Rows(masks, ClassScores.of(*lists))


def number_of_scores(summary: BinnedScores, masks: Masks) -> int:
    """Number of scores in the bins of either class."""
    return int(summary.pos.count[masks[0]].sum() + summary.neg.count[masks[1]].sum())


def lists_with_atoms(rows: Rows, members: Masks, atoms: tuple[Atoms, Atoms]) -> ClassScores:
    """Gathered scores, and at their places the atoms of those bins of `members` that were not gathered."""

    def side(scores: Array, weight: Array, kept: Mask, at: Array, share: Array) -> Atoms:
        used = np.tile(kept, at.size // kept.size) & (share > 0)
        order = np.argsort(at[used], kind="stable")
        at, share = at[used][order], share[used][order]
        place = np.searchsorted(scores, at)
        return np.insert(scores, place, at), np.insert(weight if weight.size else np.ones(scores.size), place, share)

    pos, neg, weight_pos, weight_neg = rows.scores.lists
    (in_pos, in_neg), (kept_pos, kept_neg) = rows.masks, members
    return ClassScores.of(
        side(pos, weight_pos, kept_pos & ~in_pos, *atoms[0]), side(neg, weight_neg, kept_neg & ~in_neg, *atoms[1])
    )


def _select(edges: Array, masks: Masks, weighted: bool, block: ScoredBlock) -> Gathered:
    """A task: the scores in some bins."""
    pieces = []
    for scores, weight, mask in ((block.pos, block.weight_pos, masks[0]), (block.neg, block.weight_neg, masks[1])):
        chosen = mask[bins_of(scores, edges)]
        if weight is None:
            weight = np.ones(scores.size) if weighted else np.empty(0)
        pieces.append(((scores[chosen],), (weight[chosen] if weighted else weight,)))
    return Gathered(pieces[0][0], pieces[1][0], pieces[0][1], pieces[1][1])
