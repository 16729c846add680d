"""The mean hinge over all pairs of a positive and a negative, with a penalty or without: RankSVM and buffered AUC."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmark_utils.by_hand import hinge
from benchopt import BaseObjective


class Objective(BaseObjective):
    """``mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + λ‖w‖²``, or ``+ λ‖w‖``; λ = 0 is one minus the maximal buffered AUC.

    A result has the point `w` and, where the solver proves one, a lower bound on the optimal value.
    """

    name = "Pairwise hinge"
    min_benchopt_version = "1.8"
    requirements = ["pip::auclab"]
    parameters = {"penalty": [0.0, 1e-5], "squared": [True]}
    test_config = {"penalty": 1e-3}
    test_dataset_name = "simulated"

    def set_data(self, X: Any, y: np.ndarray) -> None:
        """Rows by class."""
        self.X, self.y = X, y
        self.pos, self.neg = X[y == 1], X[y == 0]

    def get_objective(self) -> dict[str, Any]:
        """What a solver gets."""
        return {"X": self.X, "y": self.y, "penalty": self.penalty, "squared": self.squared}

    def evaluate_result(self, w: np.ndarray, lower_bound: float = np.nan) -> dict[str, float]:
        """The value, and its distance to the lower bound relative to ``max(value, 1e-3)``; NaN without one."""
        length = float(np.linalg.norm(w))
        value = hinge(self.pos, self.neg, w) + self.penalty * (length**2 if self.squared else length)
        return {"value": value, "gap": (value - lower_bound) / max(abs(value), 1e-3)}

    def get_one_result(self) -> dict[str, Any]:
        """W = 0, with value 1."""
        return {"w": np.zeros(self.X.shape[1]), "lower_bound": 0.0}
