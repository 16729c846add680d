"""The scorers that are compared: every formulation, and two baselines of scikit-learn, each with one parameter.

The parameter of each is a share s in (0, 1), the same list for all. With g = ‖mean of the positives − mean of the
negatives‖, the steepest slope of the mean pair hinge at w = 0 (derivations 7.3), w = 0 is optimal at share 1:

    over pairs            λ = s g,       z = −s g,       squared penalty  λ = (s g)²
    over points           λ, z with g/2 in place of g; classes weigh the same
    logistic regression   mean log loss + λ‖w‖², λ = (s g/2)²
    linear discriminant   shrinkage s of the covariance matrix

bAUC has none. Classes of equal weight: without, w = 0 is optimal for C-SVM and EC-SVM at every λ and z ≤ 0 as soon as a
weighted mean of the majority meets the mean of the minority, which is the rule on rare positives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from auclab._core.base import Array, Status
from auclab.datasets.records import Labels
from auclab.formulations import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, Program, RankSVM
from auclab.solvers import solve
from auclab.solvers.path import solve_path

#: The share of the negatives that `partial` ranks.
MAX_FPR = 0.5


@dataclass(frozen=True)
class Effort:
    """Of one solve: the relative gap aimed at, and for partial AUC the iterations of cutting planes.

    No clock decides, so that a busy machine finds the same; the share of solves that get there is reported.
    """

    tolerance: float
    cuts: int = 0


@dataclass(frozen=True)
class Scorer:
    """``w·x + b``, and whether the solver proved its optimum."""

    coef: Array
    intercept: float
    certified: bool = True

    def distance(self, X: Array) -> Array:
        """Signed distance from the boundary, which does not depend on the length of w; 0 for w = 0."""
        return np.asarray(X @ self.coef + self.intercept) / (np.linalg.norm(self.coef) or 1.0)


#: From a sample and shares in descending order to a scorer per share.
Method = Callable[[Array, Labels, Sequence[float], Effort], list[Scorer]]


def _pairs(program: Program, parameter: str, power: int = 1) -> Method:
    def fit(X: Array, y: Labels, shares: Sequence[float], effort: Effort) -> list[Scorer]:
        values = _sign(parameter) * (np.asarray(shares) * _slope(X, y)) ** power
        return _path(program, X, y, values, parameter, "newton", effort, None)

    return fit


def _points(program: Program, parameter: str, power: int = 1) -> Method:
    def fit(X: Array, y: Labels, shares: Sequence[float], effort: Effort) -> list[Scorer]:
        values = _sign(parameter) * (np.asarray(shares) * _slope(X, y) / 2) ** power
        return _path(program, X, y, values, parameter, "newton", effort, _balanced(y))

    return fit


def partial(X: Array, y: Labels, shares: Sequence[float], effort: Effort) -> list[Scorer]:
    """Partial AUC up to `MAX_FPR`, which is compared in a study of its own: a solve takes ten times as long.

    Cutting planes are slow to prove the last digits: three times the tolerance.
    """
    values = (np.asarray(shares) * _slope(X, y)) ** 2
    easier = replace(effort, tolerance=3 * effort.tolerance)
    program = PartialAUC(MAX_FPR, penalty=1.0, squared=True)
    return _path(program, X, y, values, "penalty", "cutting_plane", easier, None, max_iters=effort.cuts)


def _path(
    program: Program,
    X: Array,
    y: Labels,
    values: Array,
    parameter: str,
    solver: str,
    effort: Effort,
    weight: Array | None,
    **options: Any,
) -> list[Scorer]:
    found = solve_path(
        program, X, y, values.tolist(), parameter=parameter, solver=solver,
        tolerance=effort.tolerance, sample_weight=weight, **options,
    )  # fmt: skip
    return [Scorer(each.coef, each.intercept, each.status is Status.OPTIMAL) for each in found]


def _bauc(X: Array, y: Labels, shares: Sequence[float], effort: Effort) -> list[Scorer]:
    found = solve(BufferedAUC(), X, y, solver="newton", tolerance=effort.tolerance)
    return [Scorer(found.coef, found.intercept, found.status is Status.OPTIMAL)] * len(shares)


def _logistic(X: Array, y: Labels, shares: Sequence[float], effort: Effort) -> list[Scorer]:
    penalties = (np.asarray(shares) * _slope(X, y) / 2) ** 2
    model = LogisticRegression(solver="newton-cholesky", tol=effort.tolerance, max_iter=200)
    fitted = (model.set_params(C=1 / (2 * penalty * len(y))).fit(X, y) for penalty in penalties)
    return [Scorer(each.coef_[0].copy(), float(each.intercept_[0])) for each in fitted]


def _discriminant(X: Array, y: Labels, shares: Sequence[float], effort: Effort) -> list[Scorer]:
    fitted = (LinearDiscriminantAnalysis(solver="lsqr", shrinkage=share).fit(X, y) for share in shares)
    return [Scorer(each.coef_[0], float(each.intercept_[0])) for each in fitted]


def _slope(X: Array, y: Labels) -> float:
    return float(np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)))


def _balanced(y: Labels) -> Array:
    return np.where(y == 1, 0.5 / np.mean(y == 1), 0.5 / np.mean(y == 0))


def _sign(parameter: str) -> float:
    return -1.0 if parameter == "threshold" else 1.0


METHODS: dict[str, Method] = {
    "bauc": _bauc,
    "bauc_z": _pairs(GeneralizedBufferedAUC(0.0), "threshold"),
    "ranksvm": _pairs(RankSVM(1.0), "penalty"),
    "ranksvm2": _pairs(RankSVM(1.0, squared=True), "penalty", power=2),
    "csvm2": _points(CSVM(1.0, squared=True), "penalty", power=2),
    "ecsvm": _points(ECSVM(0.0), "threshold"),
    "logistic": _logistic,
    "lda": _discriminant,
}
#: One of each path of scorers (`family`), and those that have no other on theirs.
COMPARED = ("bauc", "ranksvm2", "csvm2", "logistic", "lda")
#: As a reader knows them.
NAMES = {
    "bauc": "bAUC", "bauc_z": "bAUC_z", "ranksvm": "RankSVM", "ranksvm2": "RankSVM²",
    "csvm2": "C-SVM²", "ecsvm": "EC-SVM", "logistic": "logistic", "lda": "LDA",
}  # fmt: skip
