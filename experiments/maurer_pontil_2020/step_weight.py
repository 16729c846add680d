"""Proposition 1: the plug-in estimator of a step-weighted AUC stays away from the truth at any sample size.

The law (derivations 9.3, erratum M4): half positives, all at c; negatives at a < c < b, half each; W = 1 on [½, 1]. The
functional is ½; with m negatives, k of them at a, the plug-in is (k/m)·1(k ≥ m/2), so its mean is a binomial sum.
Simulated samples have n observations with labels at random, so m is random too. Variant ``averaged`` is the
tie-averaged functional, whose truth is 0 and whose estimator tends to it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import binom

from auclab.metrics import weighted_auc
from experiments.maurer_pontil_2020.rate import Convention
from experiments.study import Row, holds, main

SIZES = (10, 100, 10_000)
REPETITIONS = {"smoke": 20, "default": 400, "full": 2000}
PARTS = 10
AVERAGED = "averaged"
SAMPLE = 20_000
A, C, B = 0.0, 1.0, 2.0


def run(scale: str) -> Iterator[Row]:
    """Exact sums, and simulated means in ten parts."""
    sums = {m: exact_mean(m) for m in SIZES}
    for m, value in sums.items():
        yield Row(f"prop1.sum.m={m}", value)
    yield Row("prop1.limit", sums[max(SIZES)])
    yield Row("prop1.truth", _plug_in(1, 1, 1, "max_rank"))  # the law itself is a sample of it
    yield Row("prop1.limit", averaged_mean(max(SIZES)), variant=AVERAGED)
    yield Row("prop1.truth", _plug_in(1, 1, 1, "average"), variant=AVERAGED)
    means = []
    for seed in range(PARTS):
        difference, mean = _simulate(seed, REPETITIONS[scale] // PARTS)
        means.append(mean)
        yield Row("prop1.simulated", difference, seed)
    yield holds("prop1.bias_stays", bool(abs(np.mean(means) - 0.5) >= 0.25 - 0.01))


def exact_mean(m: int) -> float:
    """``E[(k/m) 1(k ≥ m/2)]`` with k ~ Bin(m, ½).

    Examples
    --------
    m = 2: k = 1 gives ½ with probability ½, k = 2 gives 1 with probability ¼.

    >>> round(exact_mean(2), 12)
    0.5
    """
    k = np.arange(m + 1)
    return float(((k / m) * (2 * k >= m)) @ binom.pmf(k, m, 0.5))


def averaged_mean(m: int) -> float:
    """Mean of the tie-averaged estimator, ``E[(k/m − ½)⁺]``."""
    k = np.arange(m + 1)
    return float(np.maximum(k / m - 0.5, 0) @ binom.pmf(k, m, 0.5))


def _simulate(seed: int, repetitions: int) -> tuple[float, float]:
    """Mean difference from the exact sum of the same m, and the mean of the plug-in."""
    random = np.random.default_rng(seed)
    differences, values = [], []
    for _ in range(repetitions):
        m = int(random.binomial(SAMPLE, 0.5))
        k = int(random.binomial(m, 0.5))
        value = _plug_in(SAMPLE - m, k, m - k, "max_rank")
        values.append(value)
        differences.append(value - exact_mean(m))
    return float(np.mean(differences)), float(np.mean(values))


def _plug_in(n_pos: int, at_a: int, at_b: int, convention: Convention) -> float:
    """Step-weighted AUC of a sample, tied scores as one observation with a weight."""
    scores, labels, weights = [C, A, B], [1, 0, 0], [n_pos, at_a, at_b]
    keep = [i for i, weight in enumerate(weights) if weight > 0]
    return weighted_auc(
        [labels[i] for i in keep], [scores[i] for i in keep], sample_weight=[weights[i] for i in keep],
        weight=lambda s: (s >= 0.5).astype(float), convention=convention, ties="strict", breakpoints=(0.5,),
    )  # fmt: skip


if __name__ == "__main__":
    main(run)
