"""The scorers that are compared: four programs, linear and with an RBF kernel, and three usual classifiers.

Each is tuned among eight candidates if it is linear and nine if not, by the mean AUC over the same inner folds, of
equal means the simplest candidate (the first), and fitted once more on the training part.

The programs' λ and z are shares s of the value at which 0 becomes optimal over the pairs of means (derivations 7.3):
with ``g = ‖mean of φ over the positives − mean over the negatives‖`` λ = (s g)², z = −s g, and over points g/2 in the
place of g, with classes of equal weight. Linear scorers have eight shares, those of a kernel three for each of three γ.

On inner folds the programs with a kernel are solved in the span of at most `MOST_LANDMARKS` landmarks, chosen by
pivoted Cholesky: kernel matrix and span of a γ are shared by all programs and their λ. C-SVM² is scikit-learn's SVC
there, which is the same program. The scorer that is kept is solved over the whole space with its certificate.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg as la
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from auclab import solve
from auclab._core.base import Array, Status
from auclab.datasets.records import Labels
from auclab.datasets.splits import kfold
from auclab.formulations import CSVM, GeneralizedBufferedAUC, PartialAUC, Program, RankSVM
from auclab.kernels import RBF
from auclab.metrics import auc_score
from auclab.solvers.path import solve_path
from experiments.which_formulation.nonlinear.sets import Parts

MAX_FPR = 0.1
FOLDS = 2
#: γ times the number of columns, whose variance is one: scikit-learn's gamma="scale" is 1.
GAMMAS = (0.1, 0.4, 1.6)
#: Shares of a penalty, which enter squared; of a threshold; and where the hardest negatives are ranked alone, for which
#: 0 is optimal earlier.
PENALTIES, THRESHOLDS, HARDEST = (0.5, 0.1, 0.02), (0.7, 0.35, 0.1), (0.25, 0.07, 0.02)
#: Of a penalty (and of logistic regression) and of a threshold, for linear scorers.
LINEAR_PENALTIES = tuple(float(share) for share in np.geomspace(0.9, 3e-3, 8))
LINEAR_THRESHOLDS = tuple(float(share) for share in np.geomspace(0.9, 3e-2, 8))
#: C of SVC, as it is used: no weights of the classes.
SVC_C = (0.3, 3.0, 30.0)
#: Leaves and least rows of a leaf, and numbers of trees at learning rate 0.1, which are read off one sequence of trees.
TREES, ROUNDS = ((4, 20), (4, 5), (16, 10)), (25, 75, 225)
#: Relative gaps on inner folds and of the scorer that is kept, and the seconds of the clock a solve may take.
ROUGH, FINE = 3e-2, 1e-3
ROUGH_LIMIT, FINE_LIMIT = 20.0, 60.0
MOST_LANDMARKS = 120
#: Of the diagonal: what an observation must have left to be a landmark on an inner fold.
_LEFT = 1e-3


@dataclass(frozen=True)
class Fitted:
    """Scores of the test part, and what fitting took and proved.

    `seconds` is processor time for tuning and fitting, `fit_seconds` the last fit alone; `gap` is the certified one,
    NaN where there is no certificate; `size` counts coefficients, landmarks, support vectors or trees; `limits` says
    which solves did not reach their tolerance.
    """

    scores: Array
    seconds: float
    fit_seconds: float
    choice: str
    size: int
    gap: float = float("nan")
    limits: str = ""


#: From a split, the seed of its inner folds, and whether it is only a trial, to a fitted scorer.
Scorer = Callable[[Parts, int, bool], Fitted]


@dataclass(frozen=True)
class Family:
    """A program and its parameter."""

    program: Program
    parameter: str
    power: int
    shares: tuple[float, ...] = PENALTIES
    linear_shares: tuple[float, ...] = LINEAR_PENALTIES
    over_points: bool = False

    def value(self, slope: float, share: float) -> float:
        """λ or z at a share."""
        sign = -1.0 if self.parameter == "threshold" else 1.0
        return sign * (share * slope * (0.5 if self.over_points else 1.0)) ** self.power

    def at(self, value: float) -> Program:
        """The program at λ or z."""
        return replace(self.program, **{self.parameter: value})  # type: ignore[type-var]

    def weight(self, y: Labels) -> Array | None:
        """Classes of equal weight over points."""
        return np.where(y == 1, 0.5 / np.mean(y == 1), 0.5 / np.mean(y == 0)) if self.over_points else None


FAMILIES = {
    "bauc_z": Family(GeneralizedBufferedAUC(0.0), "threshold", 1, THRESHOLDS, LINEAR_THRESHOLDS),
    "ranksvm2": Family(RankSVM(1.0, squared=True), "penalty", 2),
    "csvm2": Family(CSVM(1.0, squared=True), "penalty", 2, over_points=True),
    "partial": Family(PartialAUC(MAX_FPR, penalty=1.0, squared=True), "penalty", 2, HARDEST),
}


@dataclass
class Tuning:
    """Mean AUC of every candidate over the inner folds, and how many of its solves missed their tolerance."""

    names: list[str]
    scores: list[list[float]] = field(default_factory=list)
    missed: int = 0
    solved: int = 0

    def add(self, y: Labels, scores: Sequence[Array]) -> None:
        """One fold."""
        self.scores.append([auc_score(y, each) for each in scores])

    @property
    def best(self) -> int:
        """The first of those with the largest mean."""
        return int(np.argmax(np.mean(self.scores, axis=0).round(12)))

    def count(self, statuses: Sequence[Status]) -> None:
        """Statuses of the solves of a fold."""
        self.solved += len(statuses)
        self.missed += sum(status not in (Status.OPTIMAL, Status.OPTIMAL_WITHIN) for status in statuses)

    def limits(self, status: Status | None = None) -> str:
        """In words, empty if all is well."""
        parts = [f"{self.missed} of {self.solved} inner solves: limit"] if self.missed else []
        if status is not None and status not in (Status.OPTIMAL, Status.OPTIMAL_WITHIN):
            parts.append(f"fit: {status}")
        return "; ".join(parts)


def linear(key: str) -> Scorer:
    """The program over linear scorers."""
    family = FAMILIES[key]

    def fit(parts: Parts, seed: int, trial: bool) -> Fitted:
        begin = time.process_time()
        shares = family.linear_shares[::4] if trial else family.linear_shares
        tuning = Tuning([f"share {share:.3g}" for share in shares])
        for fold in kfold(parts.y, n_folds=FOLDS, seed=seed):
            X, y = parts.X[fold.train], parts.y[fold.train]
            values = [family.value(_slope(X, y), share) for share in shares]
            path = _path(family, X, y, values)
            tuning.add(parts.y[fold.test], [parts.X[fold.test] @ each.coef for each in path])
            tuning.count([each.status for each in path])
        middle = time.process_time()
        value = family.value(_slope(parts.X, parts.y), shares[tuning.best])
        found = solve(
            family.at(value), parts.X, parts.y, solver="newton", tolerance=FINE, time_limit=FINE_LIMIT,
            sample_weight=family.weight(parts.y),
        )  # fmt: skip
        end = time.process_time()
        return Fitted(
            parts.X_test @ found.coef, end - begin, end - middle, tuning.names[tuning.best],
            int(np.count_nonzero(found.coef)), found.gap, tuning.limits(found.status),
        )  # fmt: skip

    return fit


def with_kernel(key: str) -> Scorer:
    """The program over the space of the RBF kernel."""
    family = FAMILIES[key]

    def fit(parts: Parts, seed: int, trial: bool) -> Fitted:
        begin = time.process_time()
        gammas, shares = _kernel_grid(family, trial)
        tuning = Tuning([f"gamma {gamma:g}/d, share {share:g}" for gamma in gammas for share in shares])
        for fold in kfold(parts.y, n_folds=FOLDS, seed=seed):
            X, y, X_held = parts.X[fold.train], parts.y[fold.train], parts.X[fold.test]
            scores: list[Array] = []
            for gamma in gammas:
                kernel = RBF(gamma / X.shape[1])
                K, K_held = kernel.between(X, X), kernel.between(X_held, X)
                values = [family.value(_kernel_slope(K, y), share) for share in shares]
                if family.over_points:
                    scores += [_as_svc(K, y, value).decision_function(K_held) for value in values]
                    continue
                features, features_held = _span(K, K_held)
                path = _path(family, features, y, values)
                scores += [features_held @ each.coef for each in path]
                tuning.count([each.status for each in path])
            tuning.add(parts.y[fold.test], scores)
        middle = time.process_time()
        gamma, share = list(itertools.product(gammas, shares))[tuning.best]
        kernel = RBF(gamma / parts.X.shape[1])
        value = family.value(_kernel_slope(kernel.between(parts.X, parts.X), parts.y), share)
        found: Any = solve(
            family.at(value), parts.X, parts.y, kernel=kernel, tolerance=FINE, time_limit=FINE_LIMIT,
            sample_weight=family.weight(parts.y),
        )  # fmt: skip
        end = time.process_time()
        return Fitted(
            found.decision_function(parts.X_test), end - begin, end - middle, tuning.names[tuning.best],
            found.n_landmarks, found.gap, tuning.limits(found.status),
        )  # fmt: skip

    return fit


def _kernel_grid(family: Family, trial: bool) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return (GAMMAS[1:2], family.shares[::2]) if trial else (GAMMAS, family.shares)


def _path(family: Family, X: Array, y: Labels, values: Sequence[float]) -> tuple[Any, ...]:
    return solve_path(
        family.program, X, y, values, parameter=family.parameter, solver="newton", tolerance=ROUGH,
        time_limit=ROUGH_LIMIT, sample_weight=family.weight(y),
    )  # fmt: skip


def _slope(X: Array, y: Labels) -> float:
    return float(np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)))


def _kernel_slope(K: Array, y: Labels) -> float:
    """The same norm in the space of the kernel."""
    signs = np.where(y == 1, 1 / np.sum(y == 1), -1 / np.sum(y == 0))
    return float(np.sqrt(max(signs @ K @ signs, 0.0)))


def _span(K: Array, K_held: Array) -> tuple[Array, Array]:
    """Orthonormal functions of the span of landmarks, at the rows of K and of the held-out part."""
    _, pivots, rank, _ = la.lapack.dpstrf(K, tol=_LEFT * K.diagonal().max())
    chosen = pivots[: max(1, min(int(rank), MOST_LANDMARKS))] - 1
    triangle = la.cholesky(K[np.ix_(chosen, chosen)])
    return tuple(  # type: ignore[return-value]
        np.ascontiguousarray(la.solve_triangular(triangle, part[:, chosen].T, trans="T").T) for part in (K, K_held)
    )


def _as_svc(K: Array, y: Labels, penalty: float) -> SVC:
    """C-SVM², ``mean hinge + λ‖h‖²`` with classes of equal weight, as the SVC of a precomputed kernel matrix."""
    model = SVC(C=1 / (2 * penalty * len(y)), kernel="precomputed", class_weight="balanced", cache_size=50)
    return model.fit(K, y)


def svc(parts: Parts, seed: int, trial: bool) -> Fitted:
    """scikit-learn's SVC with the RBF kernel, its own tolerance and no weights of the classes."""
    begin = time.process_time()
    candidates = list(itertools.product(GAMMAS[1:2] if trial else GAMMAS, SVC_C[::2] if trial else SVC_C))
    tuning = Tuning([f"gamma {gamma:g}/d, C {C:g}" for gamma, C in candidates])
    models = [SVC(C=C, gamma=gamma / parts.X.shape[1]) for gamma, C in candidates]
    for fold in kfold(parts.y, n_folds=FOLDS, seed=seed):
        X, y = parts.X[fold.train], parts.y[fold.train]
        tuning.add(parts.y[fold.test], [model.fit(X, y).decision_function(parts.X[fold.test]) for model in models])
    middle = time.process_time()
    model = models[tuning.best].fit(parts.X, parts.y)
    end = time.process_time()
    size = int(model.n_support_.sum())
    scores = model.decision_function(parts.X_test)
    return Fitted(scores, end - begin, end - middle, tuning.names[tuning.best], size)


def logistic(parts: Parts, seed: int, trial: bool) -> Fitted:
    """Mean log loss + λ‖w‖², λ = (s g/2)²."""
    begin = time.process_time()
    shares = LINEAR_PENALTIES[::4] if trial else LINEAR_PENALTIES
    tuning = Tuning([f"share {share:.3g}" for share in shares])

    def model(X: Array, y: Labels, share: float) -> LogisticRegression:
        penalty = (share * _slope(X, y) / 2) ** 2
        return LogisticRegression(C=1 / (2 * penalty * len(y)), solver="newton-cholesky", max_iter=200).fit(X, y)

    for fold in kfold(parts.y, n_folds=FOLDS, seed=seed):
        X, y, X_held = parts.X[fold.train], parts.y[fold.train], parts.X[fold.test]
        tuning.add(parts.y[fold.test], [model(X, y, share).decision_function(X_held) for share in shares])
    middle = time.process_time()
    found = model(parts.X, parts.y, shares[tuning.best])
    end = time.process_time()
    scores = found.decision_function(parts.X_test)
    return Fitted(scores, end - begin, end - middle, tuning.names[tuning.best], parts.X.shape[1])


def lightgbm(parts: Parts, seed: int, trial: bool) -> Fitted:
    """Boosted trees on the log loss, on the same columns as the others."""
    begin = time.process_time()
    trees, rounds = (TREES[:1], ROUNDS[:1]) if trial else (TREES, ROUNDS)
    candidates = list(itertools.product(trees, rounds))
    tuning = Tuning([f"{leaves} leaves of {rows} rows, {count} trees" for (leaves, rows), count in candidates])
    for fold in kfold(parts.y, n_folds=FOLDS, seed=seed):
        scores: list[Array] = []
        for leaves, rows in trees:
            grown = _trees(leaves, rows, max(rounds)).fit(parts.X[fold.train], parts.y[fold.train])
            scores += [grown.predict(parts.X[fold.test], raw_score=True, num_iteration=count) for count in rounds]
        tuning.add(parts.y[fold.test], scores)
    middle = time.process_time()
    (leaves, rows), count = candidates[tuning.best]
    found = _trees(leaves, rows, count).fit(parts.X, parts.y)
    end = time.process_time()
    scored = found.predict(parts.X_test, raw_score=True)
    return Fitted(scored, end - begin, end - middle, tuning.names[tuning.best], found.booster_.num_trees())


def _trees(leaves: int, rows: int, count: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=count, learning_rate=0.1, num_leaves=leaves, min_child_samples=rows,
        deterministic=True, force_row_wise=True, random_state=0, n_jobs=1, verbosity=-1,
    )  # fmt: skip


def _all() -> Iterator[tuple[str, Scorer]]:
    for key in FAMILIES:
        yield f"{key}_linear", linear(key)
        yield f"{key}_rbf", with_kernel(key)
    yield from (("svc", svc), ("logistic", logistic), ("lightgbm", lightgbm))


SCORERS: dict[str, Scorer] = dict(_all())
#: As a reader knows them.
NAMES = {
    "bauc_z_linear": "bAUC_z", "bauc_z_rbf": "bAUC_z, RBF", "ranksvm2_linear": "RankSVM²",
    "ranksvm2_rbf": "RankSVM², RBF", "csvm2_linear": "C-SVM²", "csvm2_rbf": "C-SVM², RBF",
    "partial_linear": "partial AUC", "partial_rbf": "partial AUC, RBF", "svc": "SVC (RBF)", "logistic": "logistic",
    "lightgbm": "LightGBM",
}  # fmt: skip
