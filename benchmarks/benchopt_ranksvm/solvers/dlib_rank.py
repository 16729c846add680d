"""dlib's svm_rank_trainer: a cutting plane method on the pairs, for λ‖w‖² > 0."""

from __future__ import annotations

from typing import Any

import dlib
import numpy as np
import scipy.sparse as sp
from benchmark_utils.ladder import Ladder
from benchopt import BaseSolver

MOST_PAIRS = 1e9


class Solver(BaseSolver):
    """It minimises ½‖w‖² + C·mean hinge, so C = 1/(2λ); its epsilon bounds the loss and not the objective."""

    name = "dlib"
    requirements = ["pip::dlib"]
    sampling_strategy = "tolerance"
    stopping_criterion = Ladder((1e-2, 1e-4, 1e-6, 1e-8))

    def skip(self, X: Any, y: np.ndarray, penalty: float, squared: bool) -> tuple[bool, str | None]:
        """What it cannot minimise, and more pairs than it takes in a minute."""
        pairs = float((y == 1).sum()) * float((y == 0).sum())
        if not (penalty and squared) or sp.issparse(X):
            return True, "needs λ‖w‖² and dense rows"
        return (True, f"{pairs:.0e} pairs") if pairs > MOST_PAIRS else (False, None)

    def set_objective(self, X: Any, y: np.ndarray, penalty: float, squared: bool) -> None:
        """Convert the data, which is not timed."""
        self.n, self.penalty, self.data = X.shape[1], penalty, dlib.ranking_pair()
        for row, label in zip(X, y, strict=True):
            (self.data.relevant if label == 1 else self.data.nonrelevant).append(dlib.vector(row.tolist()))

    def run(self, epsilon: float) -> None:
        """Train; the first point of a curve is w = 0."""
        self.w = np.zeros(self.n)
        if epsilon > 1.0:
            return
        trainer = dlib.svm_rank_trainer()
        trainer.c, trainer.epsilon = 1.0 / (2.0 * self.penalty), epsilon
        weights = trainer.train(self.data).weights
        self.w = np.array([weights[k] for k in range(self.n)])

    def get_result(self) -> dict[str, Any]:
        """The point."""
        return {"w": self.w}
