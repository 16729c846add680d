"""Samples of checked rows, in memory or in blocks."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from auclab.samples.blocks.block_sample import BlockSample
from auclab.samples.memory import Sample
from auclab.samples.tables import in_memory


def as_sample(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None) -> Sample:
    """Check features, labels and weights, and split them by class.

    A table in blocks is read once for the check and not kept in memory.

    `y` (n_samples,): 0/1, −1/+1, booleans, or any two values with `pos_label`. `sample_weight` (n_samples,): weights ≥
    0; ones if not given. `pos_label`: the label of the positive class.
    """
    kind = Sample if in_memory(X) else BlockSample
    return kind.from_labels(X, y, sample_weight, pos_label=pos_label)
