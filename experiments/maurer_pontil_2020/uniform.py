"""Theorem 3: the weighted AUC of all linear scorers of a plane at once, against its bound.

The class is ``x ↦ w·x, ‖w‖₂ ≤ 1``, the law that of `discs`, W a ramp of slope 4 through (½, ½), ℓ one of slope 1; the
functional of the law is known for every w. The supremum of |plug-in − law| is taken over 48 directions and 8 lengths:
it may be a little below the true one. The Gaussian complexity is ``√(n E ‖x‖²)``, which the law gives; an estimate from
the sample is listed next to it. Bounds: Theorem 3 with constants as reconstructed (``published``, errata M1, M7), as
they follow from the paper's Theorem 9 (``corrected``), both on the plug-in with W at the largest rank; and, given the
labels, the sharper one of derivations 9.1 (``conditional``), on the one with W averaged.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auclab._core.base import Array
from auclab.bounds import linear_complexity, uniform_weighted_auc_bound
from auclab.bounds.weighted import UniformMethod
from auclab.datasets.records import Labels
from experiments.maurer_pontil_2020 import discs
from experiments.study import VALUE, Row, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}
#: Samples of every size in a seed.
SAMPLES = {300: 10, 1000: 6, 10_000: 2, 100_000: 1}
LOW, HIGH = 0.375, 0.625
LIPSCHITZ, KAPPA, DELTA = 4.0, 1.0, 0.05
ANGLES = np.linspace(-np.pi, np.pi, 48, endpoint=False)
LENGTHS = np.linspace(0.125, 1.0, 8)
METHODS: dict[UniformMethod, str] = {"published": "max_rank", "corrected": "max_rank", "conditional": "average"}


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Exponent of the supremum, its size, the share of samples above the bound, and the bound's size."""
    sizes = list(SAMPLES)[:2] if scale == "smoke" else list(SAMPLES)
    law = _law()
    suprema: dict[tuple[str, int], list[float]] = {}
    outside: dict[str, list[bool]] = {method: [] for method in METHODS}
    widths: dict[tuple[str, int], list[float]] = {}
    for n in sizes:
        for sample in range(SAMPLES[n]):
            random = np.random.default_rng([seed, n, sample])
            X, y = discs.draw(random, n)
            found = _suprema(X, y, law)
            for convention, value in found.items():
                suprema.setdefault((convention, n), []).append(value)
            for method, convention in METHODS.items():
                width = half_width(method, int(y.sum()), int(n - y.sum()))
                outside[method].append(found[convention] > width)
                widths.setdefault((method, n), []).append(width)
        estimated = linear_complexity(X, norm_bound=1.0, draws=200 if n <= 10_000 else 50, seed=seed)
        yield Row("thm3.complexity", estimated.value / complexity(n), seed, f"n={n}")
    for convention in ("max_rank", "average"):
        means = [np.mean(suprema[convention, n]) for n in sizes]
        yield Row(f"thm3.rate.{convention}", float(np.polyfit(np.log(sizes), np.log(means), 1)[0]), seed)
        for n, mean in zip(sizes, means, strict=True):
            yield Row(f"{VALUE}thm3.supremum.{convention}", float(mean), seed, f"n={n}")
    for method in METHODS:
        yield Row(f"thm3.bound.{method}", float(np.mean(outside[method])), seed)
        for n in sizes:
            yield Row(f"{VALUE}thm3.width.{method}", float(np.mean(widths[method, n])), seed, f"n={n}")
    if seed == 0:
        yield from (Row(f"thm3.needed.{method}", needed(method)) for method in METHODS)


def complexity(n: int) -> float:
    """An upper bound of the Gaussian complexity of the class over n observations of the law."""
    return float(np.sqrt(n * discs.SQUARED_NORM))


def half_width(method: UniformMethod, n_pos: int, n_neg: int) -> float:
    """The bound; infinite where its event is not observed."""
    return uniform_weighted_auc_bound(
        weight_sup=1.0, weight_lipschitz=LIPSCHITZ, ell_lipschitz=1.0 / KAPPA, n_pos=n_pos, n_neg=n_neg,
        gaussian_complexity=complexity(n_pos + n_neg), delta=DELTA, method=method,
    ).half_width  # fmt: skip


def needed(method: UniformMethod) -> int:
    """Observations, half of them positive, from which on the bound is below max W = 1: a power of 2 times 100."""
    n = 100
    while half_width(method, n // 2, n // 2) >= 1.0:
        n *= 2
    return n


def _law() -> Array:
    """The functional of the law, shape (n_angles, n_lengths)."""
    weight = discs.ramp(LOW, HIGH)
    return np.array([[discs.truth(weight, (LOW, HIGH), r, angle, KAPPA) for r in LENGTHS] for angle in ANGLES])


def _suprema(X: Array, y: Labels, law: Array) -> dict[str, float]:
    """The largest |plug-in − law| over the class, by convention."""
    integral = discs.ramp_integral(LOW, HIGH)
    shares = discs.rank_weights(discs.ramp(LOW, HIGH), integral, int(np.sum(y == 0)))
    worst = dict.fromkeys(shares, 0.0)
    for angle, row in zip(ANGLES, law, strict=True):
        scores = X @ np.array([np.cos(angle), np.sin(angle)])
        pos, neg = np.sort(scores[y == 1]), np.sort(scores[y == 0])
        for length, value in zip(LENGTHS, row, strict=True):
            for convention, weights in shares.items():
                error = abs(discs.plug_in(weights, pos, neg, KAPPA / length) - value)
                worst[convention] = max(worst[convention], error)
    return worst


if __name__ == "__main__":
    main(run_seed, SEEDS)
