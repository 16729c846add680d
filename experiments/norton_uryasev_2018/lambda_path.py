"""Props. 5 to 7 on real data: the path of penalties of RankSVM and the path of thresholds of bAUC_z are one.

Ionosphere, standardised columns, L2 norm, solver newton at a relative gap of 1e-7. For each λ RankSVM is solved, z =
−λ/V read off, and the bAUC_z program solved on its own. A row per λ (its number is the seed). ``as_published`` reads
"the same solutions" as the same vectors and q_α* as the lower quantile; ``corrected`` as the same directions, and any
quantile at α* (errata N16, N17). One minus the value of RankSVM is read on RankSVM's own vector as its bAUC_z (Sect.
6.2). Prop. 6 is the same for C-SVM and EC-SVM. The exception is a separable sample: for z between −margin and 0 no
RankSVM solution corresponds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.preprocessing import StandardScaler

from auclab import CSVM, ECSVM, GeneralizedBufferedAUC, RankSVM, solve
from auclab.datasets import load
from auclab.formulations import ranksvm_to_threshold, read_optimum, threshold_to_ranksvm
from auclab.metrics import bauc_score, ranking_superquantile
from auclab.solvers.solution import Solution
from experiments.study import AS_PUBLISHED, CORRECTED, Row, holds, main

PENALTIES = {"smoke": 2, "default": 6, "full": 12}
TOLERANCE = 1e-7


def run(scale: str) -> Iterator[Row]:
    """Prop. 5 at every bAUC_z optimum, Props. 7 and 6 between the programs, and the separable exception."""
    X, y = sample()
    for name, penalised, thresholded in (("prop7", RankSVM, GeneralizedBufferedAUC), ("prop6", CSVM, ECSVM)):
        for seed, penalty in enumerate(penalties(penalised, X, y, PENALTIES[scale])):
            first = solve(penalised(penalty=penalty), X, y, solver="newton", tolerance=TOLERANCE)
            mapped = ranksvm_to_threshold(first)
            program = thresholded(threshold=mapped.formulation.threshold)
            direct = solve(program, X, y, solver="newton", tolerance=TOLERANCE)
            yield Row(f"{name}.value", first.objective - direct.objective, seed)
            v, w = _plane(first), _plane(direct)
            yield Row(f"{name}.solution", float(np.linalg.norm(w - v) / np.linalg.norm(v)), seed, AS_PUBLISHED)
            yield Row(f"{name}.solution", _angle(v, w), seed, CORRECTED)
            back = threshold_to_ranksvm(direct).formulation.regulariser.weight
            yield Row(f"{name}.round_trip", back / penalty - 1, seed)
            if name == "prop7":
                yield from _proposition_5(direct, X, y, seed)
                scores = X @ first.coef / np.linalg.norm(first.coef)
                level = bauc_score(y, scores, threshold=mapped.formulation.threshold)
                yield Row("s6.2.level", 1 - first.objective - level, seed)
    yield from _separable()


def sample() -> tuple[np.ndarray, np.ndarray]:
    """Ionosphere, standardised."""
    data = load("ionosphere")
    return StandardScaler().fit_transform(data.frame.to_numpy(dtype=float)), data.y


def penalties(penalised: type[RankSVM] | type[CSVM], X: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """From a little below the λ at which w = 0 is optimal."""
    return penalised(penalty=1.0).null_penalty(X, y) * np.geomspace(0.9, 0.003, count)


def _plane(solution: Solution) -> np.ndarray:
    """(w, b); b is 0 over pairs."""
    return np.append(solution.coef, solution.intercept)


def _proposition_5(solution: Solution, X: np.ndarray, y: np.ndarray, seed: int) -> Iterator[Row]:
    optimum = read_optimum(solution)
    z = solution.formulation.threshold
    scores = X @ solution.coef / np.linalg.norm(solution.coef)
    yield Row("prop5.bpoe", 1 - bauc_score(y, scores, threshold=z) - solution.objective, seed)
    yield Row("prop5.superquantile", ranking_superquantile(y, scores, optimum.level) - z, seed)
    errors = np.subtract.outer(scores[y == 0], scores[y == 1]).ravel()
    # the level is known to the gap and so is the quantile: both ends of the interval for α* a little lower and higher
    slack = 10 * max(solution.gap, TOLERANCE)
    lower, upper = np.quantile(errors, [optimum.level - slack, optimum.level + slack], method="inverted_cdf")
    size = np.ptp(errors)
    inside = lower - slack * size <= optimum.quantile <= upper + slack * size
    exact = np.quantile(errors, optimum.level, method="inverted_cdf")
    yield holds("prop5.quantile", abs(optimum.quantile - exact) <= slack * size, seed, AS_PUBLISHED)
    yield holds("prop5.quantile", bool(inside), seed, CORRECTED)


def _separable() -> Iterator[Row]:
    """Two clouds with a gap between them, z half of their margin with the other sign.

    Every direction whose margin is at least −z has bAUC_z = 1 after scaling, RankSVM's is the hard-margin one: the
    largest distance from it among the optimal directions, by a scan of the half circle.
    """
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (60, 2))
    y = np.repeat([1, 0], 30)
    X[y == 1, 0] += 1.2
    hard = solve(RankSVM(penalty=1e-6), X, y, solver="newton", tolerance=1e-4).coef
    program = GeneralizedBufferedAUC(threshold=-0.5 / float(np.linalg.norm(hard)))
    farthest = 0.0
    for angle in np.linspace(-np.pi / 2, np.pi / 2, 721):
        direction = np.array([np.cos(angle), np.sin(angle)])
        if program.value(1e6 * direction, 0.0, X, y) == 0:
            farthest = max(farthest, _angle(hard, direction))
    yield Row("prop7.separable", farthest, variant=AS_PUBLISHED)


def _angle(v: np.ndarray, w: np.ndarray) -> float:
    """Distance of the directions."""
    return float(np.linalg.norm(v / np.linalg.norm(v) - w / np.linalg.norm(w)))


if __name__ == "__main__":
    main(run)
