"""Solvers of auclab, and HiGHS and Clarabel through it: each stops at a certified relative gap."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from benchmark_utils.ladder import Ladder
from benchopt import BaseSolver

from auclab import BufferedAUC, RankSVM, solve

OPTIONS: dict[str, dict[str, Any]] = {
    "newton": {"solver": "newton"},
    "cutting_plane": {"solver": "cutting_plane"},
    "highs windows": {"solver": "highs", "encoding": "aggregated"},
    "highs dual": {"solver": "highs", "encoding": "dual"},
    "clarabel": {"solver": "clarabel"},
}
#: The largest number of pairs that a solver gets.
MOST_PAIRS = {"newton": 1e15, "cutting_plane": 1e11, "highs windows": 5e7, "highs dual": 4e4, "clarabel": 1.5e5}
#: Seconds after which a solve ends with what it has.
LIMIT = 60.0


class Solver(BaseSolver):
    """``auclab.solve``; the lower bound is that of its certificate."""

    name = "auclab"
    parameters = {"solver": ["newton", "cutting_plane", "highs windows", "highs dual", "clarabel"]}
    test_config = {"solver": "newton"}
    requirements = ["pip::auclab"]
    sampling_strategy = "tolerance"
    stopping_criterion = Ladder()

    def skip(self, X: Any, y: np.ndarray, penalty: float, squared: bool) -> tuple[bool, str | None]:
        """Samples that would take minutes or much memory, and programs that are not linear where they have to be."""
        pairs = float((y == 1).sum()) * float((y == 0).sum())
        if pairs > MOST_PAIRS[self.solver]:
            return True, f"{pairs:.0e} pairs"
        if self.solver.startswith("highs") and penalty:
            return True, "not linear"
        if sp.issparse(X) and self.solver not in ("newton", "cutting_plane"):
            return True, "sparse"
        return False, None

    def set_objective(self, X: Any, y: np.ndarray, penalty: float, squared: bool) -> None:
        """The formulation."""
        self.X, self.y = X, y
        self.program = RankSVM(penalty, squared=squared) if penalty else BufferedAUC()

    def warm_up(self) -> None:
        """Compile the loops."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 3)) + 0.5 * np.repeat([1, 0], 20)[:, None]
        solve(
            self.program, sp.csr_array(X) if sp.issparse(self.X) else X, np.repeat([1, 0], 20), **OPTIONS[self.solver]
        )

    def run(self, tolerance: float) -> None:
        """Solve up to a relative gap; the first point of a curve, at an infinite one, is w = 0."""
        if tolerance > 1.0:
            self.result = {"w": np.zeros(self.X.shape[1]), "lower_bound": 0.0}
            return
        found = solve(self.program, self.X, self.y, tolerance=tolerance, time_limit=LIMIT, **OPTIONS[self.solver])
        self.result = {"w": found.coef, "lower_bound": found.lower_bound}

    def get_result(self) -> dict[str, Any]:
        """Point and certified lower bound."""
        return self.result
