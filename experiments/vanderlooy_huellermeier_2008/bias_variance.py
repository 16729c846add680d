"""Simulation 1 (Fig. 2): bias and variance of AUC and its variants against the strength α of the scorer.

Scores of 50 positives have the density α e^(−α(1 − f))/(1 − e^(−α)) on [0, 1], of 50 negatives its mirror image;
5,000 repetitions at full scale, in ten parts (a seed each), so that the standard error of bias and variance is seen.
Bias is measured against the true AUC, which has a closed form. A statement on an order of the metrics is evaluated on
all parts together (one row), because it speaks of the curves and not of a part.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auclab.metrics import auc_score, scored_auc, soft_auc
from experiments.study import VALUE, Row, holds, main

PARTS = 10
REPETITIONS = {"smoke": 20, "default": 500, "full": 5000}
SIZE = 50
STRENGTHS = np.arange(1, 11)
PRINTED = (1, 10)
METRICS = {
    "auc": auc_score,
    "sauc": scored_auc,
    "soft3": lambda y, s: soft_auc(y, s, beta=3.0),
    "soft10": lambda y, s: soft_auc(y, s, beta=10.0),
}
VARIANTS = ("sauc", "soft3", "soft10")


def run(scale: str) -> Iterator[Row]:
    """Bias and variance, a row per part (claims at α = 1 and 10), and the orders that the text states."""
    parts = [part_values(seed, REPETITIONS[scale] // PARTS) for seed in range(PARTS)]
    bias = np.array(
        [values.mean(axis=2) - np.reshape(true_auc(STRENGTHS), (-1, 1)) for values in parts]
    )  # part, α, metric
    variance = np.array([values.var(axis=2, ddof=1) for values in parts])
    for seed in range(PARTS):
        for column, name in enumerate(METRICS):
            for row, strength in enumerate(STRENGTHS):
                prefix = "" if strength in PRINTED else VALUE
                yield Row(f"{prefix}figure2.bias.{name}.alpha={strength}", bias[seed, row, column], seed)
                yield Row(f"{prefix}figure2.variance.{name}.alpha={strength}", variance[seed, row, column], seed)
    mean_bias, mean_variance = (dict(zip(METRICS, values.mean(axis=0).T, strict=True)) for values in (bias, variance))
    yield holds("figure2.bias.negative", all((mean_bias[name] < 0).all() for name in VARIANTS))
    yield holds("figure2.bias.shrinks", all(abs(mean_bias[name][-1]) < abs(mean_bias[name][0]) for name in VARIANTS))
    steeper, flatter = np.abs(mean_bias["soft10"]), np.abs(mean_bias["soft3"])
    yield holds("figure2.bias.steeper_is_better", bool((steeper < flatter).all()))
    others = [name for name in METRICS if name != "sauc"]
    largest = all((np.abs(mean_bias["sauc"]) > np.abs(mean_bias[name])).all() for name in others)
    yield holds("figure2.bias.sauc_largest", largest)
    remains = all(mean_variance["sauc"][-1] > mean_variance[name][-1] for name in others)
    yield holds("figure2.variance.sauc_remains", remains)


def true_auc(strength: np.ndarray | float) -> np.ndarray | float:
    """P(F⁺ > F⁻) of the two truncated exponential densities.

    ``∫₀¹ G(t) g(1 − t) dt = (1 − q − αq)/(1 − q)²`` with q = e^(−α), G and g distribution and density of the negatives;
    ½ at α → 0.

    Examples
    --------
    >>> round(float(true_auc(1e-3)), 3)
    0.5
    """
    q = np.exp(-strength)
    return (1 - q - strength * q) / (1 - q) ** 2


def part_values(seed: int, repetitions: int) -> np.ndarray:
    """Values, shape (α, metric, repetition)."""
    random = np.random.default_rng(seed)
    labels = np.repeat([1, 0], SIZE)
    values = np.empty((len(STRENGTHS), len(METRICS), repetitions))
    for row, strength in enumerate(STRENGTHS):
        uniform = random.random((repetitions, 2 * SIZE))
        scores = -np.log1p(uniform * np.expm1(-strength)) / strength  # the negatives' law, by its inverse
        scores[:, :SIZE] = 1 - scores[:, :SIZE]
        for column, metric in enumerate(METRICS.values()):
            values[row, column] = [metric(labels, score) for score in scores]
    return values


if __name__ == "__main__":
    main(run)
