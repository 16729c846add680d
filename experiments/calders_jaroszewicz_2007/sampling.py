"""Figures 5 and 6: test AUC and soft AUC against seconds, the polynomial on all rows against exact values on samples.

Both are Algorithm 2 with unit weights w and a unit direction g across them, ``w ← cos α · w + sin α · g``, 30 times.
With samples, every step draws new rows (half of them positive), and α comes from exact values at angles .01 apart
(Algorithm 1 without its polynomial): counted pairs for AUC, all pairs' sigmoids for soft AUC. AUC has no gradient, so g
is then that of the polynomial on the sample; soft AUC has its own. A fold of ten per seed, standardised columns. Which
sets, sizes and β the figures have is not in the text, except for Fig. 6: KDD Cup 04, which needs a download.

The polynomial is `PolynomialAUCClassifier` for AUC; for soft AUC it is here, as in the paper: the sigmoid's
series of degree 30 computed again at every step for the present scale. Variants ``n=…`` are sample sizes. Seconds are
processor seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from time import process_time

import numpy as np
from scipy.special import expit

from auclab._core.base import Array
from auclab._core.ranking import concordance
from auclab.datasets import load, preprocess, splits
from auclab.datasets.records import Labels
from auclab.estimators.polynomial_classifier import Scored, best_angle
from auclab.metrics import auc_score, polynomial_auc_gradient, soft_auc
from auclab.metrics.polynomial import sigmoid_series
from experiments.calders_jaroszewicz_2007.linear import CORRECTED, DEGREE, FOLDS, ITERATIONS, fit_seconds, methods
from experiments.study import VALUE, Row, main

SEEDS = {"smoke": 1, "default": 5, "full": 10}
DATA = ("covertype_numeric", "adult", "ijcnn1")
BETA = 1.0
SIZES = (100, 300, 1000, 3000, 10_000)
SOFT_SIZES = (50, 100, 200, 400, 800)
ANGLES = np.arange(0.0, np.pi, 0.01)
NONE = np.empty(0)


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """One fold: what the polynomial and every sample size reach, in how many seconds; and the statement."""
    _warm_up()
    smoke = scale == "smoke"
    for name in DATA[:1] if smoke else DATA:
        data = load(name)
        [split] = splits.kfold(data.y, n_folds=FOLDS, seed=0, fold=seed)
        prepared = preprocess.standard(data)
        train = split.train[::20] if smoke else split.train
        X, X_test = prepared.fit_transform(data.frame.iloc[train]), prepared.transform(data.frame.iloc[split.test])
        y, y_test = data.y[train], data.y[split.test]
        for figure, beta, sizes in (("figure5", None, SIZES), ("figure6", BETA, SOFT_SIZES)):
            found = {CORRECTED: _timed(partial(on_all_rows, X, y, beta))}
            for size in sizes[:2] if smoke else sizes:
                random = np.random.default_rng([seed, size])
                found[f"n={size}"] = _timed(partial(on_samples, X, y, size, beta, random))
            values = {key: _value(y_test, X_test @ coef, beta) for key, (coef, _) in found.items()}
            for key, (_, seconds) in found.items():
                yield Row(f"{VALUE}{figure}.reached.{name}", values[key], seed, key)
                yield Row(f"{VALUE}{figure}.seconds.{name}", seconds, seed, key)
            limit = max(found[CORRECTED][1], min(seconds for key, (_, seconds) in found.items() if key != CORRECTED))
            in_time = [values[key] for key, (_, seconds) in found.items() if key != CORRECTED and seconds <= limit]
            yield Row(f"{figure}.above_sampling.{name}", max(in_time) - values[CORRECTED], seed)


@lru_cache(maxsize=1)
def _warm_up() -> None:
    """Compile what is compiled, outside every timing."""
    y = np.repeat([0, 1], 50)
    X = np.random.default_rng(0).standard_normal((100, 3)) + y[:, None]
    for beta in (None, BETA):
        on_all_rows(X, y, beta)
        on_samples(X, y, 50, beta, np.random.default_rng(0))


def _value(y: Labels, scores: Array, beta: float | None) -> float:
    return auc_score(y, scores) if beta is None else soft_auc(y, scores, beta=beta)


def _timed(train: Callable[[], Array]) -> tuple[Array, float]:
    """Unit weights and seconds."""
    start = process_time()
    coef = train()
    return _unit(coef), process_time() - start


def on_all_rows(X: Array, y: Labels, beta: float | None) -> Array:
    """The polynomial's weights."""
    if beta is None:
        model = methods()[CORRECTED]
        fit_seconds(model, X, y)
        return model.coef_[0]
    pos, neg = X[y == 1], X[y == 0]
    coef = _unit(pos.mean(axis=0) - neg.mean(axis=0))
    for _ in range(ITERATIONS):
        across = _across(polynomial_auc_gradient(y, X, coef, beta=beta, degree=DEGREE), coef)
        p, n, size = _centred(pos @ coef, neg @ coef)
        q, o, other = _centred(pos @ across, neg @ across)
        scale = np.hypot(size, other)  # no mixture has a larger difference
        series, share = sigmoid_series(beta * scale, DEGREE), np.sqrt(2.0) / scale
        here, there = Scored(coef, share * p, share * n, NONE), Scored(across, share * q, share * o, NONE)
        coef = _turned(coef, across, best_angle(series, here, there, (NONE, NONE)))
    return coef


def on_samples(X: Array, y: Labels, size: int, beta: float | None, random: np.random.Generator) -> Array:
    """The weights after as many steps, each with rows of its own."""
    rows = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    coef = np.zeros(X.shape[1])
    for step in range(ITERATIONS):
        pos, neg = (X[random.choice(side, min(size // 2, side.size), replace=False)] for side in rows)
        if step == 0:
            coef = _unit(pos.mean(axis=0) - neg.mean(axis=0))
        across = _across(_slope(pos, neg, coef, beta), coef)
        scores = pos @ coef, neg @ coef, pos @ across, neg @ across
        values = _soft_areas(*scores, beta) if beta is not None else _areas(*scores)
        opposite = values.min() < 1.0 - values.max()  # at α + π the value is 1 less that at α
        best = ANGLES[values.argmin()] + np.pi if opposite else ANGLES[values.argmax()]
        coef = _turned(coef, across, float(best))
    return coef


def _slope(pos: Array, neg: Array, coef: Array, beta: float | None) -> Array:
    """The gradient of the sample's soft AUC, or of its polynomial AUC."""
    if beta is None:
        return polynomial_auc_gradient(
            np.repeat([1, 0], [len(pos), len(neg)]), np.vstack([pos, neg]), coef, degree=DEGREE
        )
    share = expit(beta * np.subtract.outer(pos @ coef, neg @ coef))
    share *= 1.0 - share
    return pos.T @ share.sum(axis=1) - neg.T @ share.sum(axis=0)


def _areas(p: Array, n: Array, q: Array, o: Array) -> Array:
    """The sample's AUC at every angle."""
    areas = np.empty(ANGLES.size)
    for k, alpha in enumerate(ANGLES):
        cosine, sine = np.cos(alpha), np.sin(alpha)
        above, equal, pairs = concordance(np.sort(cosine * p + sine * q), np.sort(cosine * n + sine * o), NONE, NONE)
        areas[k] = (above + 0.5 * equal) / pairs
    return areas


def _soft_areas(p: Array, n: Array, q: Array, o: Array, beta: float) -> Array:
    """The sample's soft AUC at every angle, by all pairs."""
    here, there = np.subtract.outer(p, n), np.subtract.outer(q, o)
    return np.array([expit(beta * (np.cos(alpha) * here + np.sin(alpha) * there)).mean() for alpha in ANGLES])


def _centred(pos: Array, neg: Array) -> tuple[Array, Array, float]:
    """Scores around the mean of their four ends, and their largest difference (derivations 10.3)."""
    center = 0.25 * (pos.max() + pos.min() + neg.max() + neg.min())
    return pos - center, neg - center, float(max(pos.max() - neg.min(), neg.max() - pos.min()))


def _across(slope: Array, coef: Array) -> Array:
    return _unit(slope - (slope @ coef) * coef)


def _turned(coef: Array, across: Array, alpha: float) -> Array:
    return _unit(np.cos(alpha) * coef + np.sin(alpha) * across)


def _unit(coef: Array) -> Array:
    return coef / (np.linalg.norm(coef) or 1.0)


if __name__ == "__main__":
    main(run_seed, SEEDS)
