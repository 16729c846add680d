"""The mixture of Norton & Uryasev (2018), ten features."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchopt import BaseDataset

from auclab.datasets import load


class Dataset(BaseDataset):
    """`size` observations a class; the scales of the columns range over `decades` powers of ten."""

    name = "artificial"
    parameters = {"size": [1000, 10_000], "decades": [0]}
    test_parameters = {"size": [50]}
    requirements = ["pip::auclab"]

    def get_data(self) -> dict[str, Any]:
        """The data."""
        data = load("artificial", n_pos=self.size, n_neg=self.size, seed=0)
        X = data.frame.to_numpy(dtype=float)
        return {"X": X * 10.0 ** np.linspace(-self.decades / 2, self.decades / 2, X.shape[1]), "y": data.y}
