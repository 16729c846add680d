"""What a user writes in CVXPY: one hinge a pair, over variables for the scores, solved by Clarabel."""

from __future__ import annotations

from typing import Any

import clarabel  # noqa: F401 - CVXPY finds it by itself; imported to see that it is there
import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from benchmark_utils.ladder import Ladder
from benchopt import BaseSolver

#: Rows of the matrix of differences.
MOST_PAIRS = 1.5e5


class Solver(BaseSolver):
    """The gap that Clarabel reports is no proved bound, so none is given."""

    name = "CVXPY-Clarabel"
    requirements = ["pip::cvxpy", "pip::clarabel"]
    sampling_strategy = "tolerance"
    stopping_criterion = Ladder()

    def skip(self, X: Any, y: np.ndarray, penalty: float, squared: bool) -> tuple[bool, str | None]:
        """Samples with too many pairs."""
        pairs = float((y == 1).sum()) * float((y == 0).sum())
        return (True, f"{pairs:.0e} pairs") if pairs > MOST_PAIRS or sp.issparse(X) else (False, None)

    def set_objective(self, X: Any, y: np.ndarray, penalty: float, squared: bool) -> None:
        """Rows, positives first, and the penalty."""
        self.rows, self.penalty, self.squared = np.vstack([X[y == 1], X[y == 0]]), penalty, squared
        self.n_pos, self.n_neg = int((y == 1).sum()), int((y == 0).sum())

    def run(self, tolerance: float) -> None:
        """Build and solve; the first point of a curve is w = 0."""
        self.w = np.zeros(self.rows.shape[1])
        if tolerance > 1.0:
            return
        w, scores = cp.Variable(self.rows.shape[1]), cp.Variable(len(self.rows))
        above, below = sp.eye_array(self.n_pos), sp.eye_array(self.n_neg)
        pairs = sp.hstack(
            [sp.kron(above, np.ones((self.n_neg, 1))), -sp.kron(np.ones((self.n_pos, 1)), below)], format="csr"
        )
        length = cp.sum_squares(w) if self.squared else cp.norm(w)
        objective = cp.sum(cp.pos(1 - pairs @ scores)) / pairs.shape[0] + self.penalty * length
        problem = cp.Problem(cp.Minimize(objective), [scores == self.rows @ w])
        problem.solve(solver=cp.CLARABEL, tol_gap_rel=tolerance, tol_gap_abs=tolerance, tol_feas=min(tolerance, 1e-6))
        if w.value is not None:
            self.w = w.value

    def get_result(self) -> dict[str, Any]:
        """The point."""
        return {"w": self.w}
