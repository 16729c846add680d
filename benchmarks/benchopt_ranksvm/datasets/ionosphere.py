"""Ionosphere, every row repeated with noise, standardised."""

from __future__ import annotations

from typing import Any

from benchopt import BaseDataset

from auclab.datasets import load
from auclab.datasets.preprocess import standard


class Dataset(BaseDataset):
    """126 positives and 225 negatives with 33 features, `factor` times."""

    name = "ionosphere"
    parameters = {"factor": [1, 10]}
    requirements = ["pip::auclab"]

    def get_data(self) -> dict[str, Any]:
        """The data."""
        data = load("perturbed", base="ionosphere", factor=self.factor, seed=0)
        return {"X": standard(data).fit_transform(data.X), "y": data.y}
