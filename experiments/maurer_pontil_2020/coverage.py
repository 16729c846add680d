"""Theorem 2, our alternatives, one-sided bounds for a step: how many samples lie outside, how wide they are.

Three laws with labels at random: ``normal`` (class means 1 apart, even odds), ``rare`` (the same, one positive in ten),
``atoms`` (that of Prop. 1: positives at c, negatives at a < c < b). Two-sided, for a ramp of slope 4 through (½, ½):
Theorem 2 with constants as reconstructed (``published``) and as proved here (``corrected``), and ``max_rank``,
``mcdiarmid``, ``dkw`` of derivations 9.1. One-sided, for the area up to FPR ½, the step of Prop. 1 (Remark 2 of Theorem
2): ``step.…``, a ramp within the step chosen from the class sizes. δ = .05.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from auclab._core.base import Array
from auclab.bounds import step_weight_bound, weighted_auc_bound
from auclab.bounds.weighted import Method, StepMethod
from auclab.metrics import weighted_auc
from experiments.maurer_pontil_2020.rate import DELTA, SLOPE, Convention, ramp, step
from experiments.study import VALUE, Row, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}
SIZES = (200, 1000, 5000)
SAMPLES = {"smoke": 5, "default": 100, "full": 100}
LAWS = ("normal", "rare", "atoms")
APART = 1.0
BREAKS = (0.375, 0.5, 0.625)
CONVENTIONS: dict[Method, Convention] = {
    "published": "max_rank", "corrected": "max_rank", "max_rank": "max_rank",
    "mcdiarmid": "average", "dkw": "average",
}  # fmt: skip
ONE_SIDED: dict[StepMethod, Convention] = {"max_rank": "max_rank", "mcdiarmid": "average", "dkw": "average"}


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """The share outside over all sizes, a row per law and bound; by size, mean width and the error to be covered."""
    for law in LAWS:
        outside: dict[str, list[bool]] = {}
        for n in SIZES:
            widths: dict[str, list[float]] = {}
            errors: dict[Convention, list[float]] = {"max_rank": [], "average": []}
            for sample in range(SAMPLES[scale]):
                y, scores = _draw(law, n, np.random.default_rng([seed, n, sample, LAWS.index(law)]))
                for convention in errors:
                    errors[convention].append(abs(_plug_in(y, scores, convention) - truth(law, convention, False)))
                for name, width, bad in _bounds(law, y, scores, {key: values[-1] for key, values in errors.items()}):
                    widths.setdefault(name, []).append(width)
                    outside.setdefault(name, []).append(bad)
            for name, values in widths.items():
                finite = [value for value in values if np.isfinite(value)]
                if finite:
                    yield Row(f"{VALUE}width.{law}.{name}", float(np.mean(finite)), seed, f"n={n}")
            for convention, values in errors.items():
                yield Row(f"{VALUE}error.{law}.{convention}", float(np.quantile(values, 1.0 - DELTA)), seed, f"n={n}")
        for name, cases in outside.items():
            yield Row(f"coverage.{law}.{name}", float(np.mean(cases)), seed)


def _bounds(law: str, y: Array, scores: Array, errors: dict[Convention, float]) -> Iterator[tuple[str, float, bool]]:
    """Every bound by name, its half-width (if one-sided, truth less lower bound), and whether the truth is outside."""
    n_pos, n_neg = int(y.sum()), int(np.sum(y == 0))
    for method, convention in CONVENTIONS.items():
        width = weighted_auc_bound(
            method, weight_sup=1.0, weight_lipschitz=SLOPE, weight_integral=0.5, n_pos=n_pos, n_neg=n_neg, delta=DELTA
        ).half_width
        yield method, width, errors[convention] > width
    for method, convention in ONE_SIDED.items():
        lower = step_weight_bound(y, scores, max_fpr=0.5, delta=DELTA, method=method, ties="strict").lower
        true = truth(law, convention, True)
        yield f"step.{method}", true - lower, lower > true


@lru_cache
def truth(law: str, convention: Convention, jumps: bool) -> float:
    """The functional of the law, for the step or the ramp.

    Examples
    --------
    >>> truth("atoms", "max_rank", True), truth("atoms", "average", True)
    (0.5, 0.0)
    """
    weight = step if jumps else ramp
    if law == "atoms":
        return weighted_auc(
            [1, 0, 0], [1.0, 0.0, 2.0], sample_weight=[2.0, 1.0, 1.0], weight=weight, convention=convention,
            ties="strict", breakpoints=BREAKS,
        )  # fmt: skip
    pieces = ((0.5, 1.0),) if jumps else ((0.375, 0.625), (0.625, 1.0))
    return sum(quad(lambda s: float(weight(s)) * norm.sf(norm.ppf(s) - APART), *ends)[0] for ends in pieces)


def _draw(law: str, n: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Labels and scores; drawn again without both classes."""
    while True:
        y = (random.random(n) < (0.1 if law == "rare" else 0.5)).astype(int)
        if 0 < y.sum() < n:
            break
    if law == "atoms":
        return y, np.where(y == 1, 1.0, 2.0 * random.integers(0, 2, n))
    return y, random.standard_normal(n) + APART * y


def _plug_in(y: Array, scores: Array, convention: Convention) -> float:
    return weighted_auc(y, scores, weight=ramp, convention=convention, ties="strict", breakpoints=BREAKS)


if __name__ == "__main__":
    main(run_seed, SEEDS)
