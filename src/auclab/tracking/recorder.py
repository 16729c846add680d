"""What a run writes into a store, whatever writes it: MLflow, or SQL where that is enough."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from auclab.datasets.records import Dataset
from auclab.tracking.address import Address, hide_password


class Recorder(Protocol):
    """Writes runs of one experiment into a store."""

    @property
    def address(self) -> Address:
        """The address of the store."""
        ...

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Exceptions that mean that the store cannot be used."""
        ...

    def create(self, name: str, tags: Mapping[str, str], params: Mapping[str, str], start_time: int) -> tuple[str, str]:
        """Create a RUNNING run, which started at `start_time` (milliseconds); return its id and artifact address."""
        ...

    def log(
        self, run_id: str, metrics: Mapping[str, float], tags: Mapping[str, str], dataset: DatasetEntry | None
    ) -> None:
        """Add metrics, tags and the data set."""
        ...

    def set_tag(self, run_id: str, key: str, value: str) -> None:
        """Set one tag."""
        ...

    def end(self, run_id: str, status: str, end_time: int) -> None:
        """Set the status and the time of the end (milliseconds)."""
        ...

    def send(self, run_id: str, path: Path) -> None:
        """Send a file, or all files of a folder, to the artifact address."""
        ...


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
        counts = {"rows": n_samples, "features": n_features, "positive": dataset.n_pos, "negative": dataset.n_neg}
        source = json.dumps({"uri": hide_password(dataset.source), "sha256": dataset.sha256})
        # MLflow's digest is at most 36 characters long; the whole checksum is part of the source.
        return cls(dataset.name, dataset.sha256[:36] or "unknown", source, json.dumps(counts))
