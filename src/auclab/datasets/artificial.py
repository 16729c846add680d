"""Rows that are drawn: two normal classes, in memory or in blocks."""

from __future__ import annotations

import hashlib
from typing import cast

import numpy as np

from auclab.datasets.records import Dataset, Labels, array_sha256
from auclab.samples.blocks.block import Engine
from auclab.samples.blocks.computed import BLOCK_ROWS, uniform_rows
from auclab.samples.blocks.labels import computed_labels
from auclab.types import AuclabError

#: The intervals whose powers are the cubes of the positives and of the negatives.
POSITIVES, NEGATIVES = (-0.25, 0.75), (0.0, 1.0)

CITATION = "Norton, M. and Uryasev, S. (2018). Maximization of AUC and Buffered AUC in binary classification."


def make_artificial(*, n_pos: int = 1000, n_neg: int = 1000, n_features: int = 10, seed: int = 0) -> Dataset:
    """Positives uniform on ``[−0.25, 0.75]ⁿ``, negatives uniform on ``[0, 1]ⁿ``.

    Norton & Uryasev (2018), section 4.5.2, Table 1, with n = 10: the overlap keeps the best bAUC below 1.
    Positives come first; the numbers are those of NumPy's PCG64.

    Parameters
    ----------
    n_pos, n_neg : int ≥ 1
        Observations of each class.
    n_features : int ≥ 1
    seed : int ≥ 0

    Raises
    ------
    AuclabError
        A number below its range.

    See Also
    --------
    auclab.datasets.load : Data sets by name.

    Examples
    --------
    >>> dataset = make_artificial(n_pos=3, n_neg=2, n_features=4, seed=1)
    >>> dataset.X.shape, dataset.y.tolist()
    ((5, 4), [1, 1, 1, 0, 0])
    """
    import pandas as pd

    n_pos, n_neg, n_features, seed = checked_sizes("artificial", n_pos, n_neg, n_features, seed)
    generator = np.random.Generator(np.random.PCG64(seed))
    X = np.vstack(
        [
            generator.uniform(*POSITIVES, (n_pos, n_features)),
            generator.uniform(*NEGATIVES, (n_neg, n_features)),
        ]
    )
    y = np.repeat(np.array([1, 0], dtype=np.int64), [n_pos, n_neg])
    return Dataset(
        name="artificial", X=pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(n_features)]), y=y,
        sha256=array_sha256(X, y), source=f"computed, seed {seed}",
        citation=CITATION,
    )  # fmt: skip


def checked_sizes(dataset: str, n_pos: float, n_neg: float, n_features: float, seed: float) -> tuple[int, ...]:
    """The sizes and the seed as whole numbers, which ``dataset.n_pos=1e8`` does not give."""
    given = (("n_pos", n_pos, 1), ("n_neg", n_neg, 1), ("n_features", n_features, 1), ("seed", seed, 0))
    return tuple(whole_number(dataset, *each) for each in given)


def whole_number(dataset: str, key: str, value: float, least: int = 1) -> int:
    """A setting of a computed data set that is a whole number."""
    if not isinstance(value, int | float) or not float(value).is_integer() or value < least:
        raise AuclabError(f"{key} is {value}; dataset={dataset} needs a whole number ≥ {least}")
    return int(value)


def make_artificial_blocks(
    *,
    n_pos: float = 1_000_000,
    n_neg: float = 1_000_000,
    n_features: int = 10,
    seed: int = 0,
    engine: Engine | None = None,
) -> Dataset:
    """Positives uniform on ``[−0.25, 0.75]ⁿ``, negatives uniform on ``[0, 1]ⁿ``, in blocks that are never stored.

    The distribution is that of `make_artificial` (Norton & Uryasev 2018, section 4.5.2), the rows differ: every
    block of 2¹⁷ rows has its own stream of NumPy's PCG64 and its share of either class, the positives first. Only the
    labels are in memory, one byte each.

    Parameters
    ----------
    n_pos, n_neg : whole number ≥ 1
        Observations of each class; 5e8 is one.
    n_features : int ≥ 1
    seed : int ≥ 0
    engine : Engine, optional
        What computes the rows: `auclab.samples.blocks.LocalEngine` (if left out) or `DaskEngine`.

    Returns
    -------
    Dataset
        `X` is a `BlockTable`; `sha256` is the checksum of the settings that determine the rows, not of the rows.

    Raises
    ------
    AuclabError
        A number that is not whole, or below its range.

    See Also
    --------
    auclab.datasets.artificial.make_artificial : The same distribution in memory.
    auclab.datasets.blocks.load_blocks : Rows from files.

    Examples
    --------
    >>> dataset = make_artificial_blocks(n_pos=3, n_neg=2, n_features=4, seed=1)
    >>> dataset.X.shape, dataset.y.tolist()
    ((5, 4), [1, 1, 1, 0, 0])
    >>> bool(abs(dataset.X.take([0]) - dataset.X.take([0])).max() == 0.0)  # computed twice
    True
    """
    n_pos, n_neg, n_features, seed = checked_sizes("artificial_blocks", n_pos, n_neg, n_features, seed)
    table = uniform_rows(
        n_pos=n_pos,
        n_neg=n_neg,
        n_columns=n_features,
        seed=seed,
        low_pos=POSITIVES[0],
        low_neg=NEGATIVES[0],
        engine=engine,
    )
    labels = computed_labels(table).positive().astype(np.int8)  # one byte each: eight would be most of the memory
    rows = f"PCG64, SeedSequence({seed}, spawn_key=(block,)), {BLOCK_ROWS} rows: {n_pos} + {n_neg} × {n_features}"
    return Dataset(
        name="artificial_blocks",
        X=table,
        y=cast(Labels, labels),
        sha256=hashlib.sha256(rows.encode()).hexdigest(),
        source=f"computed, seed {seed}",
        citation=CITATION,
    )
