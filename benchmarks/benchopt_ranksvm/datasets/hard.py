"""Samples that are hard for a reason: collinear columns, one rare class, ties, very many sparse columns."""

from __future__ import annotations

from typing import Any

from benchmark_utils.samples import binary, correlated, few_positives, text
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """The kinds are the functions of ``benchmark_utils/samples.py``."""

    name = "hard"
    parameters = {"kind": ["correlated", "few_positives", "binary"]}

    def get_data(self) -> dict[str, Any]:
        """The data."""
        make = {"correlated": correlated, "few_positives": few_positives, "binary": binary, "text": text}
        X, y = make[self.kind]()
        return {"X": X, "y": y}
