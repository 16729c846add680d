"""AUC from the pairs within some bins, counted, and those across bins, which the summary orders."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from auclab.compiled.fixed_point import bins_of
from auclab.compiled.ranking import concordance
from auclab.metrics.ranking import TIED_SHARE
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.bounds import in_bin_shares
from auclab.metrics.summary.brackets import Mask
from auclab.metrics.summary.class_bins import ClassBins
from auclab.metrics.summary.gathered_rows import Rows
from auclab.metrics.summary.lists import orders


def auc_from_weights(pos: ClassBins, neg: ClassBins, inside: tuple[Fraction, Fraction], mask: Mask, ties: str) -> float:
    """AUC from the pairs within the bins of `mask`, and the summary."""
    (u, _), (v, _) = pos.exact_weights(), neg.exact_weights()
    share, _ = in_bin_shares(orders(pos, neg), TIED_SHARE[ties])
    twice = (2 * np.where(mask, 0.0, share)).tolist()
    right = 2 * _across(u, v, np.ones(len(u), bool))
    right += sum(int(s) * a * b for s, a, b in zip(twice, u, v, strict=True) if s and a and b)
    total = Fraction(right) + 2 * inside[0] + Fraction(2 * TIED_SHARE[ties]) * inside[1]
    return min(max(float(total / (2 * sum(u) * sum(v))), 0.0), 1.0)


def weights_inside(summary: BinnedScores, rows: Rows) -> tuple[Fraction, Fraction]:
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


def _across(u: list[int], v: list[int], mask: Mask) -> int:
    """Weight of the pairs with the positive in a higher bin than the negative, within the bins of `mask`."""
    right = below = 0
    for a, b, kept in zip(u, v, mask.tolist(), strict=True):
        if kept:
            right += a * below
            below += b
    return right
