"""Theorem 2: the plug-in errs by n^(−1/2) for a Lipschitz weight, and not less with n for a step (Prop. 1).

One law for both weights, that of Prop. 1: labels with probability ½, positives at c, negatives at a < c < b with
probability ½ each; the weights are a step at ½ and a ramp of slope 4 through (½, ½). Root mean squared errors at four
sizes, the exponent by least squares on logarithms, a part of the repetitions per seed. The bound is tried on the
samples of the largest size, on smaller ones it is above every error there can be; constants as reconstructed (errata
M1). Variant ``corrected`` of prop10.a is the tie-
averaged functional.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from auclab.bounds import weighted_auc_bound
from auclab.bounds.weighted import Method
from auclab.metrics import weighted_auc
from experiments.study import AS_PUBLISHED, CORRECTED, VALUE, Row, main

SIZES = {"smoke": (100, 1000), "default": (100, 1000, 10_000, 100_000), "full": (100, 1000, 10_000, 100_000)}
REPETITIONS = {"smoke": 60, "default": 400, "full": 4000}
PARTS = {"smoke": 2, "default": 10, "full": 10}
SLOPE = 4.0
DELTA = 0.05
Weight = Callable[[np.ndarray], np.ndarray]
Convention = Literal["average", "max_rank"]


def step(s: np.ndarray) -> np.ndarray:
    """1 on [½, 1]."""
    return (np.asarray(s) >= 0.5).astype(float)


def ramp(s: np.ndarray) -> np.ndarray:
    """From 0 at 3/8 to 1 at 5/8."""
    return np.clip(SLOPE * (np.asarray(s) - 0.375), 0.0, 1.0)


#: Claim, weight and convention of every rate.
RATES: tuple[tuple[str, Weight, Convention], ...] = (
    ("thm2.rate", ramp, "max_rank"),
    ("thm2.rate.step", step, "max_rank"),
    ("rate.averaged", step, "average"),
)
#: Claim and bound of the shares outside.
BOUNDS: tuple[tuple[str, Method], ...] = (("thm2.bound", "published"), ("thm2.bound.sharper", "corrected"))


def run(scale: str) -> Iterator[Row]:
    """Exponents, a row per part; the share of samples outside the bounds; the counterexample to Prop. 10 (a)."""
    sizes, repetitions = SIZES[scale], REPETITIONS[scale] // PARTS[scale]
    for seed in range(PARTS[scale]):
        counts = {n: _samples(seed, n, repetitions) for n in sizes}
        for claim, weight, convention in RATES:
            truth = _value(weight, convention, 1, 1, 1)
            errors = {
                n: [_value(weight, convention, *sample) - truth for sample in samples] for n, samples in counts.items()
            }
            sizes_of_error = [np.sqrt(np.mean(np.square(values))) for values in errors.values()]
            yield Row(claim, float(np.polyfit(np.log(sizes), np.log(sizes_of_error), 1)[0]), seed)
            for n, size in zip(sizes, sizes_of_error, strict=True):
                yield Row(f"{VALUE}{claim}.error", float(size), seed, f"n={n}")
            if claim == "thm2.rate":
                yield from _outside(counts[sizes[-1]], errors[sizes[-1]], seed)
    yield Row("prop10.a", _excess("max_rank"), variant=AS_PUBLISHED)
    yield Row("prop10.a", _excess("average"), variant=CORRECTED)


def _samples(seed: int, n: int, repetitions: int) -> list[tuple[int, int, int]]:
    """Numbers at c (positive), at a and at b (negative); samples without both classes are drawn again."""
    random = np.random.default_rng([seed, n])
    drawn: list[tuple[int, int, int]] = []
    while len(drawn) < repetitions:
        positive, at_a, at_b = (int(count) for count in random.multinomial(n, [0.5, 0.25, 0.25]))
        if positive and at_a + at_b:
            drawn.append((positive, at_a, at_b))
    return drawn


def _value(weight: Weight, convention: Convention, n_pos: float, at_a: float, at_b: float) -> float:
    """The functional of a law or a sample, tied scores as one observation with a weight."""
    rows = [(1, 1.0, n_pos), (0, 0.0, at_a), (0, 2.0, at_b)]
    labels, scores, weights = zip(*(row for row in rows if row[2] > 0), strict=True)
    return weighted_auc(
        labels, scores, sample_weight=weights, weight=weight, convention=convention, ties="strict",
        breakpoints=(0.375, 0.5, 0.625),
    )  # fmt: skip


def _outside(samples: list[tuple[int, int, int]], errors: list[float], seed: int) -> Iterator[Row]:
    """Share of samples whose error is above Theorem 2's bound."""
    for claim, method in BOUNDS:
        widths = [
            weighted_auc_bound(
                method, weight_sup=1.0, weight_lipschitz=SLOPE, weight_integral=0.5,
                n_pos=positive, n_neg=at_a + at_b, delta=DELTA,
            ).half_width
            for positive, at_a, at_b in samples
        ]  # fmt: skip
        yield Row(claim, float(np.mean(np.abs(errors) > np.array(widths))), seed)


def _excess(convention: Convention) -> float:
    """Largest ``|f(P) − f(Q)| − ‖W‖ (d(P₀,Q₀) + d(P₁,Q₁))``: F₀ just below ½ against ½, ramps that end at ½."""
    worst = -np.inf
    for gap in (0.1, 0.03, 0.01, 0.001):
        weight = lambda s, gap=gap: np.clip((np.asarray(s) - (0.5 - gap)) / gap, 0.0, 1.0)  # noqa: E731
        values = [
            weighted_auc(
                [1, 0, 0], [1.0, 0.0, 2.0], sample_weight=[1.0, share, 1.0 - share], weight=weight,
                convention=convention, ties="strict", breakpoints=(0.5 - gap, 0.5),
            )
            for share in (0.5, 0.5 - gap)
        ]  # fmt: skip
        worst = max(worst, abs(values[0] - values[1]) - gap)
    return float(worst)


if __name__ == "__main__":
    main(run)
