"""Simulation 2 (Fig. 3): how often each metric selects the best of three linear models.

Two features uniform on [−1/√2, 1/√2]; a normal random weight vector labels them, 10 % of the labels of each class
are switched; two more models are that vector plus normal noise. Printed: scores are the perpendicular distances, said
to lie in [0, 1]. The distance from a line through the origin has a sign and lies in [−1, 1], so there are three
readings: plain rows have (1 + distance)/2, variant ``signed`` the distance itself, variant ``unscaled`` leaves the
weight vectors at their lengths, w·x over the largest length of the three and then as in plain rows. The noise is not
named: standard deviation ½ of each component, the weights' own being 1. At full scale 1,000 repetitions at every n, as
printed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auclab.metrics import auc_score, probabilistic_auc, scored_auc, soft_auc
from experiments.study import AGREE, VALUE, Row, holds, main

SIZES = (40, 100, 200, 500, 1000, 2000)
PRINTED = (40, 2000)
PARTS = 10
REPETITIONS = {"smoke": 20, "default": 100, "full": 1000}
NOISE = 0.5
METRICS = {
    "auc": auc_score,
    "sauc": scored_auc,
    "soft3": lambda y, s: soft_auc(y, s, beta=3.0),
    "soft10": lambda y, s: soft_auc(y, s, beta=10.0),
    "prob": lambda y, s: probabilistic_auc(y, s, width=0.1),
}


def run(scale: str) -> Iterator[Row]:
    """Shares of right selections, a row per part (claims at n = 40 and 2000), and the two statements on all n."""
    sizes = PRINTED if scale == "smoke" else SIZES
    for variant in (AGREE, "signed", "unscaled"):
        parts = np.array([part_shares(seed, sizes, REPETITIONS[scale] // PARTS, variant) for seed in range(PARTS)])
        for seed, part in enumerate(parts):
            for n, shares in zip(sizes, part, strict=True):
                prefix = "" if n in PRINTED else VALUE
                for name, share in zip(METRICS, shares, strict=True):
                    yield Row(f"{prefix}figure3.{name}.n={n}", share, seed, variant)
        auc, sauc, *others = parts.mean(axis=0).T
        worst = all((sauc < other).all() for other in (auc, *others))
        yield holds("figure3.sauc_worst", worst, variant=variant)
        competitive = all((auc - other < 0.5 * (auc - sauc)).all() for other in others)
        yield holds("figure3.others_competitive", competitive, variant=variant)


def part_shares(seed: int, sizes: tuple[int, ...], repetitions: int, variant: str) -> np.ndarray:
    """Shares of right selections, shape (n, metric)."""
    random = np.random.default_rng(seed)
    shares = [np.mean([_selects_best(random, n, variant) for _ in range(repetitions)], axis=0) for n in sizes]
    return np.array(shares)


def _selects_best(random: np.random.Generator, n: int, variant: str) -> list[bool]:
    """Whether each metric has its maximum at the model that made the labels."""
    X = random.uniform(-1, 1, (n, 2)) / np.sqrt(2)
    true = random.standard_normal(2)
    weights = np.vstack([true, true + NOISE * random.standard_normal((2, 2))])
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    weights /= lengths.max() if variant == "unscaled" else lengths
    labels = (X @ true > 0).astype(int)
    if not 0 < labels.sum() < n:
        return _selects_best(random, n, variant)
    for label in (0, 1):
        members = np.flatnonzero(labels == label)
        switched = random.choice(members, size=round(0.1 * len(members)), replace=False)
        labels[switched] = -1 - label  # marked, so that no label is switched twice
    labels = np.where(labels < 0, 2 + labels, labels)
    scores = X @ weights.T
    if variant != "signed":
        scores = (1 + scores) / 2
    return [int(np.argmax([metric(labels, column) for column in scores.T])) == 0 for metric in METRICS.values()]


if __name__ == "__main__":
    main(run)
