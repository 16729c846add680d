"""From features and labels to a checked sample, in memory or in blocks."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from auclab.samples.blocks.block_sample import BlockSample
from auclab.samples.memory import Sample
from auclab.samples.tables import in_memory


def as_sample(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None) -> Sample:
    """Check features, labels and weights, and split them by class.

    A table in blocks is read once for the check and not kept in memory.

    Parameters
    ----------
    X : array, CSR matrix or BlockTable of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; ones if not given.
    pos_label : optional
        The label of the positive class.

    Raises
    ------
    AuclabError
        `X` is not a matrix of finite numbers (the message names row and column); lengths differ; one class only; a
        class without weight.

    See Also
    --------
    auclab.samples.memory.Sample : What is returned for arrays and CSR matrices.
    auclab.samples.blocks.block_sample.BlockSample : What is returned for a `BlockTable`.
    auclab.samples.blocks.open_parquet : Opens parquet files as a `BlockTable`.

    Examples
    --------
    >>> sample = as_sample([[0.0], [1.0], [3.0]], [0, 1, 1])
    >>> sample.n_pos, sample.n_neg, sample.mean_difference.tolist()
    (2, 1, [2.0])
    """
    kind = Sample if in_memory(X) else BlockSample
    return kind.from_labels(X, y, sample_weight, pos_label=pos_label)
