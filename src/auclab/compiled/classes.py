"""Split scores by class in one pass over the sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.loop import loop
from auclab.types import Array


@loop()
def separate(scores: Array, positive: NDArray[np.bool_], n_pos: int) -> tuple[Array, Array]:
    """Scores of the positives, shape (n_pos,), and of the negatives, in the order of the sample; O(m).

    `n_pos`: number of positives.

    Notes
    -----
    Every score is written to both lists and only one of them advances: labels in random order would make a
    branch fail every other time.
    """
    pos, neg = np.empty(n_pos + 1), np.empty(scores.size - n_pos + 1)
    i = j = 0
    for k in range(scores.size):
        pos[i] = neg[j] = scores[k]
        i += positive[k]
        j += 1 - positive[k]
    return pos[:-1], neg[:-1]
