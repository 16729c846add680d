"""The breast cancer set that comes with scikit-learn: no file, no network."""

from __future__ import annotations

import numpy as np

from auclab.datasets.checksum import array_sha256
from auclab.datasets.records import Dataset


def load_breast_cancer(
    *,
    name: str = "breast_cancer",
    citation: str = "Wolberg, W. et al. (1993). Breast Cancer Wisconsin (Diagnostic). UCI.",
) -> Dataset:
    """Wisconsin's diagnostic breast cancer set: 569 tumours, 30 measurements, 212 malignant.

    The positive class is *malignant*, the minority and what is looked for; scikit-learn has 1 for benign.

    Examples
    --------
    >>> dataset = load_breast_cancer()
    >>> dataset.positive, dataset.n_pos, dataset.n_neg
    ('malignant', 212, 357)
    """
    from sklearn import datasets

    bunch = datasets.load_breast_cancer(as_frame=True)
    negative = list(bunch.target_names).index("benign")
    X, y = bunch.data, (bunch.target != negative).to_numpy(dtype=np.int64)
    return Dataset(
        name=name, X=X, y=y, positive="malignant", negative="benign",
        sha256=array_sha256(X.to_numpy(), y), source="sklearn.datasets.load_breast_cancer", citation=citation,
    )  # fmt: skip
