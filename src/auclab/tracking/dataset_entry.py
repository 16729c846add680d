"""A data set as a run writes it into a store."""

from __future__ import annotations

import json
from dataclasses import dataclass

from auclab.datasets.records import Dataset
from auclab.tracking.address import hide_password


@dataclass(frozen=True)
class DatasetEntry:
    """A data set as MLflow stores it."""

    name: str
    digest: str
    source: str
    profile: str

    @classmethod
    def of(cls, dataset: Dataset) -> DatasetEntry:
        """The entry of a data set."""
        n_samples, n_features = dataset.X.shape
        counts: dict[str, int | str] = {"rows": n_samples, "features": n_features}
        if dataset.target.is_of_classes:
            counts |= {"positive": dataset.n_pos, "negative": dataset.n_neg}
        else:
            counts |= {"compared": dataset.census}
        source = json.dumps({"uri": hide_password(dataset.source), "sha256": dataset.sha256})
        # MLflow's digest is at most 36 characters long; the whole checksum is part of the source.
        return cls(dataset.name, dataset.sha256[:36] or "unknown", source, json.dumps(counts))
