"""Data sets that are made: artificial ones, and perturbed copies of others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from auclab._core.base import AuclabError
from auclab.datasets.catalogue import load
from auclab.datasets.records import Dataset, array_sha256

if TYPE_CHECKING:
    import pandas as pd

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


def make_perturbed(
    *, base: str = "ionosphere", factor: int = 10, seed: int = 0, data_dir: str | Path | None = None
) -> Dataset:
    """`factor` times the observations of `base`: the originals and ``factor − 1`` perturbed copies of each.

    A copy of ``X`` has the features ``X_i + S_i (2U − 1)``, U uniform on [0, 1] and S_i the standard
    deviation of feature i over all of `base`. Norton & Uryasev (2018), section 4.5.2, Table 1 (the 126 + 225
    observations of ionosphere, times 1, 10, 100 and 1000). The paper leaves open whether U is drawn again for
    each feature and which divisor S has: here it is, and the divisor is the number of observations. Copies
    keep their class.

    Parameters
    ----------
    base : str
        Name of a data set without nominal features.
    factor : int ≥ 1
        1 leaves `base` as it is.
    seed : int ≥ 0
        Seed of NumPy's PCG64.
    data_dir : path, optional
        Folder that is searched first for the file of `base`.

    Returns
    -------
    Dataset
        The originals first, then one block for each round of copies. Missing values stay missing.

    Raises
    ------
    AuclabError
        `base` is not numeric or unknown, `factor` < 1 or `seed` < 0.

    Examples
    --------
    >>> dataset = make_perturbed(base="breast_cancer", factor=3)
    >>> dataset.X.shape, dataset.n_pos == 3 * 212
    ((1707, 30), True)
    """
    import pandas as pd

    factor, seed = whole_number("perturbed", "factor", factor), whole_number("perturbed", "seed", seed, 0)
    origin = load(base, data_dir=data_dir)
    frame = _numeric(origin)
    X = frame.to_numpy(dtype=np.float64)
    spread = np.nanstd(X, axis=0)
    generator = np.random.Generator(np.random.PCG64(seed))
    copies = [X + spread * (2.0 * generator.random(X.shape) - 1.0) for _ in range(factor - 1)]
    X, y = np.vstack([X, *copies]), np.tile(origin.y, factor)
    return Dataset(
        name=f"perturbed_{base}", X=pd.DataFrame(X, columns=frame.columns), y=y,
        positive=origin.positive, negative=origin.negative, sha256=array_sha256(X, y),
        source=f"computed from {base} (SHA-256 {origin.sha256}), factor {factor}, seed {seed}",
        citation=origin.citation,
    )  # fmt: skip


def _numeric(dataset: Dataset) -> pd.DataFrame:
    import pandas as pd

    if not isinstance(dataset.X, pd.DataFrame):
        raise AuclabError(f"dataset=perturbed works on tables, {dataset.name!r} is sparse; use another base")
    texts = [name for name, kind in dataset.X.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    if dataset.nominal or texts:
        found = ", ".join(map(str, dict.fromkeys([*dataset.nominal, *texts])))
        raise AuclabError(
            f"categories cannot be perturbed, and {dataset.name!r} has the nominal features {found}; "
            "take a numeric base"
        )
    return dataset.X
