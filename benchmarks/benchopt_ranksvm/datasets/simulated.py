"""Two normal classes that differ in their means."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """`n_samples` rows, a share `positives` of them N(0.5, I), the others N(0, I)."""

    name = "simulated"
    parameters = {"n_samples": [1000], "n_features": [10], "positives": [0.3]}
    test_parameters = {"n_samples": [100], "n_features": [3]}

    def get_data(self) -> dict[str, Any]:
        """The data."""
        rng = np.random.default_rng(self.get_seed(use_repetition=False))
        y = (np.arange(self.n_samples) < self.positives * self.n_samples).astype(int)
        return {"X": rng.normal(0.5 * y[:, None], 1.0, (self.n_samples, self.n_features)), "y": y}
