"""Sects. 2.3, 3.2 and 6: the area of sAUC, bias and variance of the variants, and the Bayes estimator.

Sect. 3.2 is tried on random laws of the score margin T, masses at a few of 41 points with at least as much at t as at
−t, as the text supposes. What it supposes of "any reasonable classifier", a density g with g(t) ≥ g(−t), and one that
increases, is counted on the margins of the three learners on the sixteen sets, in ten intervals on each side and in
four in all, over the test parts of `SPLITS` runs; a seed is a set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from auclab.metrics import auc_score, margin_curve, probabilistic_auc, scored_auc, soft_auc
from experiments.learners import J48, Floats, NaiveBayes, Table, fill, logistic_scores
from experiments.study import AGREE, AS_PUBLISHED, CORRECTED, Row, holds, main
from experiments.vanderlooy_huellermeier_2008.data_sets import SETS
from experiments.vanderlooy_huellermeier_2008.modifiers import modifier, printed
from experiments.vanderlooy_huellermeier_2008.regret import Parts, read_tables

SEEDS = {"smoke": 1, "default": 16, "full": 16}
LAWS = {"smoke": 200, "default": 2000, "full": 10_000}
SPLITS = {"smoke": 1, "default": 10, "full": 30}
LEARNERS = ("j48", "nb", "logistic")
MARGINS = np.arange(-20, 21) / 20
#: Modifiers on `MARGINS`, by claim and variant; AUC itself last.
AUC = "auc"
Curve = tuple[Floats, Floats]


def modifiers() -> Mapping[tuple[str, str], Floats]:
    """Values of w at `MARGINS`."""
    found: dict[tuple[str, str], Callable[[Floats], Floats]] = {
        ("sauc", AGREE): modifier(scored_auc),
        ("soft", AGREE): modifier(lambda y, s: soft_auc(y, s, beta=10.0)),
        ("prob", CORRECTED): modifier(lambda y, s: probabilistic_auc(y, s, width=0.1)),
        ("prob", AS_PUBLISHED): printed,
        (AUC, AGREE): modifier(auc_score),
    }
    return {key: function(MARGINS) for key, function in found.items()}


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Statements on random laws, and on the margins of one data set."""
    random = np.random.default_rng(seed)
    yield from _margins(random, LAWS[scale], seed)
    yield from _scored(random, seed)
    yield from _bayes(random, seed)
    yield from _real_margins(list(SETS)[seed], SPLITS[scale], seed)


def random_laws(random: np.random.Generator, number: int) -> Floats:
    """Masses at `MARGINS` with at least as much at t as at −t, most of them with few atoms."""
    masses = random.exponential(size=(number, len(MARGINS))) * (random.random((number, len(MARGINS))) < 0.15)
    mirrored = masses[:, ::-1]
    upper = MARGINS > 0
    masses = np.where(upper, np.maximum(masses, mirrored), np.minimum(masses, mirrored))
    masses[:, -1] += 1e-9
    found: Floats = masses / masses.sum(axis=1, keepdims=True)
    return found


def _margins(random: np.random.Generator, number: int, seed: int) -> Iterator[Row]:
    """Sect. 3.2: expectation, second moment and variance of w(T) less those of AUC's."""
    laws, known = random_laws(random, number), modifiers()
    mean, square = laws @ known[AUC, AGREE], laws @ known[AUC, AGREE] ** 2
    for (metric, variant), w in known.items():
        if metric == AUC:
            continue
        bias, gap = laws @ w - mean, laws @ w**2 - square
        change = gap - (laws @ w) ** 2 + mean**2
        yield Row(f"s3.2.expectation.{metric}", float(bias.max()), seed, variant)
        yield Row(f"s3.2.square.{metric}", float(gap.max()), seed, variant)
        both = bool(change.min() < -0.01 and change.max() > 0.01)
        yield holds(f"s3.2.variance.{metric}", both, seed, variant)
        yield holds(f"s3.2.bias_varies.{metric}", bool(np.ptp(bias) > 0.01), seed, variant)


def threshold_curve(pos: Floats, neg: Floats) -> Curve:
    """Sect. 2.3: thresholds at which the modified AUC drops, from 0, and its value from each up to the next."""
    steps = np.union1d(0.0, np.maximum(np.subtract.outer(pos, neg), 0.0))
    return margin_curve(np.repeat([1, 0], [pos.size, neg.size]), np.concatenate([pos, neg]), steps)


def _scored(random: np.random.Generator, seed: int) -> Iterator[Row]:
    """Sect. 2.3 on random scores with and without ties, and sAUC ≤ AUC of 3.2."""
    area, at_0, below, falls, at_1 = 0.0, {AS_PUBLISHED: 0.0, CORRECTED: 0.0}, True, True, 0.0
    for digits in (1, 2, 12):
        for _ in range(20):
            m, n = (int(size) for size in random.integers(2, 12, 2))
            pos, neg = random.random(m).round(digits), random.random(n).round(digits)
            y, scores = np.repeat([1, 0], [m, n]), np.concatenate([pos, neg])
            steps, heights = threshold_curve(pos, neg)
            metric = scored_auc(y, scores)
            area = max(area, abs(float(np.diff([*steps, 1.0]) @ heights) - metric))
            at_0[AS_PUBLISHED] = max(at_0[AS_PUBLISHED], abs(heights[0] - auc_score(y, scores)))
            at_0[CORRECTED] = max(at_0[CORRECTED], abs(heights[0] - auc_score(y, scores, ties="strict")))
            falls &= bool((np.diff(heights) < 0).all())
            at_1 = max(at_1, float(np.mean(np.subtract.outer(pos, neg) > 1)))
            below &= metric <= auc_score(y, scores)
    yield Row("s2.3.area", area, seed)
    for variant, value in at_0.items():
        yield Row("s2.3.recovers", value, seed, variant)
    yield holds("s2.3.decreasing", falls, seed)
    yield Row("s2.3.at_1", at_1, seed)
    yield holds("s3.2.sauc_below", below, seed)


def _bayes(random: np.random.Generator, seed: int) -> Iterator[Row]:
    """Sect. 6: the posterior mean of a uniform prior, by sums over a grid, is Laplace's correction; the order."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    worst, same = 0.0, True
    for _ in range(20):
        m, n = (int(size) for size in random.integers(2, 12, 2))
        y = np.repeat([1, 0], [m, n])
        areas = np.array([auc_score(y, random.standard_normal(m + n) + y) for _ in range(8)])
        right = areas * m * n
        logs = np.outer(right, np.log(grid)) + np.outer(m * n - right, np.log1p(-grid))
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        estimates = posterior @ grid / posterior.sum(axis=1)
        worst = max(worst, float(np.abs(estimates - (right + 1) / (m * n + 2)).max()))
        gaps = np.subtract.outer(areas, areas)
        same &= bool((np.sign(np.where(np.abs(gaps) < 1e-12, 0, gaps)) == _signs(estimates)).all())
    yield Row("s6.laplace", worst, seed)
    yield holds("s6.order", same, seed)
    y = np.repeat([1, 0], 20)
    drawn = np.array([auc_score(y, random.standard_normal(40) + y) for _ in range(400)])
    binomial = drawn.mean() * (1 - drawn.mean()) / 400
    yield Row("s6.binomial", float(drawn.var(ddof=1) / binomial), seed)


def _signs(values: Floats) -> Floats:
    gaps = np.subtract.outer(values, values)
    found: Floats = np.sign(np.where(np.abs(gaps) < 1e-9, 0, gaps))
    return found


def _real_margins(name: str, splits: int, seed: int) -> Iterator[Row]:
    """Whether the margins of a set are as Sect. 3.2 supposes, by learner."""
    table = read_tables((name,))[name]
    random = np.random.default_rng((seed, 1))
    counts = {learner: np.zeros(20) for learner in LEARNERS}
    for _ in range(splits):
        parts = Parts.draw(table.labels, random)
        labels = table.labels[parts.test]
        for learner, scores in _scores(table, parts).items():
            margins = np.subtract.outer(scores[labels], scores[~labels]).ravel()
            counts[learner] += np.histogram(margins[margins != 0], bins=20, range=(-1, 1))[0]
    for learner, own in counts.items():
        yield holds(f"s3.2.supposed.{learner}", bool((own[10:] >= own[:10][::-1]).all()), seed)
        yield holds(f"s3.2.increasing.{learner}", bool((np.diff(own.reshape(4, 5).sum(axis=1)) >= 0).all()), seed)


def _scores(table: Table, parts: Parts) -> dict[str, Floats]:
    """Scores of the test part by all features."""
    kept = np.ones(table.n_features, dtype=bool)
    tree = J48.grow(table.cells[parts.train], table.labels[parts.train], table.arity, kept)
    columns = fill(table, parts.train)
    return {
        "j48": tree.scores(table.cells[parts.test], table.arity),
        "nb": NaiveBayes(table, parts.train, parts.test).scores(kept),
        "logistic": logistic_scores(table, columns, parts.train, parts.test, kept),
    }


if __name__ == "__main__":
    main(run_seed, SEEDS)
