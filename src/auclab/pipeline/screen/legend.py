"""A one-line legend of the abbreviations in an output."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Abbreviations and their meanings.
_MEANINGS = (
    (r"\bbauc\b", "bauc: buffered AUC"),
    (r"\bgrouped_b?auc\b", "grouped: over the pairs of rows of one group"),
    (r"\bgraded_b?auc\b", "graded: over all pairs of rows with different grades"),
    (r"\bconcordance\b", "concordance: share of the comparable pairs whose earlier event has the larger score"),
    (r"\bbuffered_concordance\b", "buffered_concordance: its buffered share, as bAUC is that of AUC"),
    (r"\bauc_threshold\b", "auc_threshold: the z at which bAUC_z is AUC"),
    (
        r"\bferri_auc\b",
        "ferri_auc: ½(1 + mean score of positives − that of negatives), a share for scores in [0, 1] only",
    ),
    (r"\bscored_auc\b", "scored_auc: mean lead of a positive where it leads, in units of the score"),
    (r"\bz ?=|\bz tuned|z$|bAUC at z|auc_threshold", "z: threshold of bAUC_z"),
    (r"α\*", "α*: the largest bAUC_z"),
    (r"λ", "λ: weight of the norm of w"),
    (r"γ", "γ: parameter of the kernel"),
    (r"\bl1(\b|²)", "l1: Σ|w_k|"),
    (r"\bl2(\b|²)", "l2: Euclidean norm"),
    (r"\blinf(\b|²)", "linf: max |w_k|"),
    (r"\bl(1|2|inf)²", "²: squared"),
    (r"\bgap\b", "gap: largest distance from the optimum, relative, proved"),
    (r"\baverage rank\b", "average rank: 1 is best"),
    (r"\bwins/ties/losses\b", "wins/ties/losses: against the other columns, over rows"),
)


def legend(shown: Iterable[object]) -> str:
    """The meanings of the abbreviations that occur in the output; empty if none does."""
    text = "\n".join(map(str, shown))
    return " · ".join(meaning for word, meaning in _MEANINGS if re.search(word, text))
