"""A data set of auclab's catalogue, such as pima, spambase or a9a, one-hot coded and standardised."""

from __future__ import annotations

from typing import Any

from benchopt import BaseDataset

from auclab.datasets import load
from auclab.datasets.preprocess import standard


class Dataset(BaseDataset):
    """The csv file has to be on the search path of `auclab.datasets`, for example in the folder $AUCLAB_DATA."""

    name = "published"
    parameters = {"data": ["breast_cancer"]}
    requirements = ["pip::auclab"]

    def get_data(self) -> dict[str, Any]:
        """The data."""
        data = load(self.data)
        return {"X": standard(data).fit_transform(data.X), "y": data.y}
