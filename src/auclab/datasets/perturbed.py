"""Norton and Uryasev's enlargement of a data set by perturbed copies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from auclab.datasets.artificial import whole_number
from auclab.datasets.catalogue import load
from auclab.datasets.records import Dataset, array_sha256
from auclab.types import AuclabError

if TYPE_CHECKING:
    import pandas as pd


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
