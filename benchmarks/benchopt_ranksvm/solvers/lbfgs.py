"""What a user writes in fifteen lines: sort, searchsorted, subgradient, SciPy's L-BFGS-B. No lower bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from benchmark_utils.by_hand import minimise
from benchopt import BaseSolver
from benchopt.stopping_criterion import NoCriterion
from scipy.optimize import OptimizeResult


class Solver(BaseSolver):
    """It ends by itself; the hinge is not smooth, so that it may end early."""

    name = "L-BFGS-B"
    sampling_strategy = "callback"
    stopping_criterion = NoCriterion()

    def skip(self, X: Any, y: np.ndarray, penalty: float, squared: bool) -> tuple[bool, str | None]:
        """A norm has no gradient at 0, where it starts."""
        return (True, "‖w‖ is not smooth") if penalty and not squared else (False, None)

    def set_objective(self, X: Any, y: np.ndarray, penalty: float, squared: bool) -> None:
        """Rows by class."""
        self.pos, self.neg, self.penalty = X[y == 1], X[y == 0], penalty

    def run(self, callback: Callable[[], bool]) -> None:
        """Minimise from w = 0."""

        def tell(intermediate_result: OptimizeResult) -> None:
            self.w = intermediate_result.x
            if not callback():
                raise StopIteration

        self.w = np.zeros(self.pos.shape[1])
        if callback():
            self.w = minimise(self.pos, self.neg, self.penalty, tell).x

    def get_result(self) -> dict[str, Any]:
        """The point."""
        return {"w": self.w}
