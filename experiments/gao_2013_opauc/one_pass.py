"""OPAUC: one pass of gradient steps on the pairwise square loss, from means and covariances of the classes.

A row x of one class makes the step ``w ← w − η (λ w + ∇)`` with ∇ the gradient of ``½ mean (1 − w·(x₊ − x₋))²`` over
its pairs with the rows of the other class seen so far, which is ``∓(x − c) + (x − c)(x − c)ᵀw + S w`` with c and S the
mean and the covariance of those rows. The update of c and S is that of the MATLAB code that carries the paper's
reference.

Effect: test AUC on ijcnn1, a9a and w8a, a fifth tested per seed, η and λ chosen on a quarter of the rest; also the
minimum of the same loss over all pairs (`batch`, λ chosen alike) and the squared RankSVM of auclab at λ = 1e-4.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from time import process_time

import numpy as np
from numba import njit

from auclab import RankSVM, solve
from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.splits import holdout
from auclab.metrics import auc_score
from experiments.learners import Mask
from experiments.study import Row, holds, main

SEEDS = {"smoke": 1, "default": 3, "full": 5}
DATA = {"smoke": (), "default": ("ijcnn1", "a9a", "w8a"), "full": ("ijcnn1", "a9a", "w8a")}
STEPS = tuple(2.0**k for k in (-12, -10, -8, -6, -4))
PENALTIES = tuple(2.0**k for k in (-14, -10, -6))
RANKSVM_PENALTY = 1e-4


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """What the statistics give, on a small stream, and the effect on the data sets."""
    yield from _statistics(seed)
    for name in DATA[scale]:
        yield from _effect(name, seed)


def _statistics(seed: int) -> Iterator[Row]:
    random = np.random.default_rng(seed)
    X, positive = random.standard_normal((400, 6)) * random.uniform(0.1, 3, 6) + 2, random.random(400) < 0.3
    gradients, means, covariances = 0.0, 0.0, 0.0
    state, w = Statistics.empty(6), random.standard_normal(6)
    for k, (x, label) in enumerate(zip(X, positive, strict=True)):
        state.add(x, label)
        seen = [X[: k + 1][positive[: k + 1] == side] for side in (True, False)]
        others = seen[1] if label else seen[0]
        if len(others):
            gradients = max(gradients, float(np.abs(state.gradient(w, x, label) - _listed(w, x, others, label)).max()))
            own = seen[0] if label else seen[1]
            means = max(means, float(np.abs(state.means[int(label)] - own.mean(axis=0)).max()))
            expected = np.cov(own, rowvar=False, bias=True) if len(own) > 1 else np.zeros((6, 6))
            covariances = max(covariances, float(np.abs(state.covariances[int(label)] - expected).max()))
    yield Row("statistics.gradient", gradients, seed)
    yield Row("statistics.mean", means, seed)
    yield Row("statistics.covariance", covariances, seed)
    sizes = [Statistics.after(X[:rows], positive[:rows]).numbers for rows in (40, 400)]
    yield holds("statistics.storage", sizes[0] == sizes[1], seed)
    steps = [one_pass(X, positive, 2.0**-8, 2.0**-6), _slowly(X, positive, 2.0**-8, 2.0**-6)]
    yield Row("statistics.weights", float(np.abs(steps[0] - steps[1]).max()), seed)


def _listed(w: Array, x: Array, others: Array, label: bool) -> Array:
    """The gradient over the stored rows of the other class."""
    differences = (x - others) if label else (others - x)
    return np.asarray(-((1 - differences @ w)[:, np.newaxis] * differences).mean(axis=0))


class Statistics:
    """Counts, means and covariances of both classes, by class 0 and 1."""

    def __init__(self, counts: Array, means: Array, covariances: Array) -> None:
        self.counts, self.means, self.covariances = counts, means, covariances

    @classmethod
    def empty(cls, n_features: int) -> Statistics:
        """Of no rows."""
        return cls(np.zeros(2), np.zeros((2, n_features)), np.zeros((2, n_features, n_features)))

    @classmethod
    def after(cls, X: Array, positive: Mask) -> Statistics:
        """Of some rows."""
        state = cls.empty(X.shape[1])
        for x, label in zip(X, positive, strict=True):
            state.add(x, label)
        return state

    def add(self, x: Array, label: bool) -> None:
        """One more row of a class."""
        _add(self.counts, self.means, self.covariances, x, int(label))

    def gradient(self, w: Array, x: Array, label: bool) -> Array:
        """∇ of the pairs of x with all rows of the other class."""
        return np.asarray(_gradient(self.means, self.covariances, w, x, int(label)))

    @property
    def numbers(self) -> int:
        """How many numbers are kept."""
        return int(self.counts.size + self.means.size + self.covariances.size)


@njit(cache=True)
def _add(counts: Array, means: Array, covariances: Array, x: Array, side: int) -> None:
    counts[side] += 1.0
    n, before = counts[side], x - means[side]
    means[side] += before / n
    after = x - means[side]
    for i in range(len(x)):
        for j in range(len(x)):
            covariances[side, i, j] += (before[i] * after[j] - covariances[side, i, j]) / n


@njit(cache=True)
def _gradient(means: Array, covariances: Array, w: Array, x: Array, side: int) -> Array:
    difference = x - means[1 - side]
    along = np.dot(difference, w) - (1.0 if side == 1 else -1.0)
    return along * difference + covariances[1 - side] @ w


@njit(cache=True)
def _pass(X: Array, positive: Mask, step: float, penalty: float) -> Array:
    n_features = X.shape[1]
    counts, means = np.zeros(2), np.zeros((2, n_features))
    covariances, w = np.zeros((2, n_features, n_features)), np.zeros(n_features)
    for k in range(len(X)):
        side = 1 if positive[k] else 0
        _add(counts, means, covariances, X[k], side)
        if counts[1 - side] > 0:
            w = w - step * (penalty * w + _gradient(means, covariances, w, X[k], side))
    return w


def one_pass(X: Array, positive: Mask, step: float, penalty: float) -> Array:
    """The weights after one pass over the rows."""
    return np.asarray(_pass(X, positive, step, penalty))


def _slowly(X: Array, positive: Mask, step: float, penalty: float) -> Array:
    """The same with the rows stored."""
    w = np.zeros(X.shape[1])
    for k, (x, label) in enumerate(zip(X, positive, strict=True)):
        others = X[:k][positive[:k] != label]
        if len(others):
            w = w - step * (penalty * w + _listed(w, x, others, label))
    return w


def batch(X: Array, positive: Mask, penalty: float) -> Array:
    """The minimum over all pairs: (S₊ + S₋ + δδᵀ + λI) w = δ with δ the difference of the means."""
    state = [X[positive], X[~positive]]
    delta = state[0].mean(axis=0) - state[1].mean(axis=0)
    spread = sum(np.cov(part, rowvar=False, bias=True) for part in state) + np.outer(delta, delta)
    return np.asarray(np.linalg.solve(spread + penalty * np.eye(len(delta)), delta))


def _effect(name: str, seed: int) -> Iterator[Row]:
    data = load(name)
    X, y = np.ascontiguousarray(data.frame.to_numpy(dtype=float)), data.y == 1
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    (outer,) = holdout(y, test_size=0.2, seed=seed)
    rest = outer.train
    (inner,) = holdout(y[rest], test_size=0.25, seed=seed)
    train, validation = rest[np.sort(inner.train)], rest[inner.test]
    step, penalty = max(
        product(STEPS, PENALTIES),
        key=lambda pair: _area(one_pass(X[train], y[train], *pair), X[validation], y[validation]),
    )
    ridge = max(PENALTIES, key=lambda each: _area(batch(X[train], y[train], each), X[validation], y[validation]))
    rows = np.sort(rest)
    begin = process_time()
    w = one_pass(X[rows], y[rows], step, penalty)
    seconds = process_time() - begin
    machine = solve(RankSVM(RANKSVM_PENALTY, squared=True), X[rows], y[rows], solver="newton", tolerance=1e-3)
    found = {"one_pass": w, "batch": batch(X[rows], y[rows], ridge), "ranksvm": machine.coef}
    for method, coef in found.items():
        yield Row(f"auc.{name}.{method}", _area(coef, X[outer.test], y[outer.test]), seed)
    yield Row(f"seconds.{name}.one_pass", seconds, seed)


def _area(w: Array, X: Array, y: Mask) -> float:
    """AUC; 0 where the steps diverged."""
    scores = X @ w
    return auc_score(y, scores) if np.isfinite(scores).all() else 0.0


if __name__ == "__main__":
    main(run_seed, SEEDS)
