"""Rows that are drawn: two uniform classes."""

from __future__ import annotations

import numpy as np

from auclab.datasets.records import Dataset, array_sha256
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

    given = (("n_pos", n_pos, 1), ("n_neg", n_neg, 1), ("n_features", n_features, 1), ("seed", seed, 0))
    n_pos, n_neg, n_features, seed = (whole_number("artificial", *each) for each in given)
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


def whole_number(dataset: str, key: str, value: float, least: int = 1) -> int:
    """A setting of a computed data set that is a whole number."""
    if not isinstance(value, int | float) or not float(value).is_integer() or value < least:
        raise AuclabError(f"{key} is {value}; dataset={dataset} needs a whole number ≥ {least}")
    return int(value)
