"""Counterexamples to Maurer & Pontil 2020, mostly on the law of Prop. 1: negatives at a < c < b, positives at c."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.stats import binom

from auclab.bounds import weighted_auc_bound
from auclab.metrics import partial_auc, weighted_auc
from experiments.errata.counterexample import Counterexample

STEEP = 100.0
Weight = Callable[[np.ndarray], np.ndarray]


def step(s: np.ndarray) -> np.ndarray:
    """W = 1 on [½, 1]."""
    return (np.asarray(s) >= 0.5).astype(float)


def ramp(s: np.ndarray) -> np.ndarray:
    """W rises from 0 at .49 to 1 at ½."""
    return np.clip((np.asarray(s, dtype=float) - 0.49) * STEEP, 0.0, 1.0)


def at_a(share: float, weight: Weight) -> float:
    """Max-rank functional where the share of the negatives is at a: only a is below the positives.

    Examples
    --------
    >>> at_a(0.5, step), at_a(0.25, step)
    (0.5, 0.0)
    """
    return float(share * weight(np.array([share]))[0])


def expected_plug_in(size: int, weight: Weight = step) -> float:
    """Mean of the plug-in over all numbers of negatives at a, with the metric itself on each."""
    total = 0.0
    for count in range(size + 1):
        scores = [0.0] + [-1.0] * count + [1.0] * (size - count)
        value = weighted_auc([1] + [0] * size, scores, weight=weight, convention="max_rank", ties="strict")
        total += binom.pmf(count, size, 0.5) * value
    return total


def m1() -> Counterexample:
    """Theorem 9: the factor between Gaussian and Rademacher averages, 2/E|γ|; its root sign is lost."""
    mean = 2 * quad(lambda x: x * math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi), 0, 40)[0]
    return Counterexample(2 * math.pi, math.sqrt(2 * math.pi), 2 / mean)


def m2() -> Counterexample:
    """Prop. 10 (a): ‖W‖ d_∞ for .5 and .49 of the negatives at a, and W the ramp; with (‖W‖ + 2L) d_∞ it holds."""
    distance = 0.01
    change = abs(at_a(0.5, ramp) - at_a(0.49, ramp))
    return Counterexample(distance, (1 + 2 * STEEP) * distance, change, "at least")


def m3() -> Counterexample:
    """Theorem 2 with atoms: 95 % quantile of the error with 500 + 500 scores, by Prop. 6 (i) and without it."""
    counts = np.arange(501)
    errors = np.abs(counts / 500 * ramp(counts / 500) - at_a(0.5, ramp))
    order = np.argsort(errors)
    level = np.searchsorted(np.cumsum(binom.pmf(counts[order], 500, 0.5)), 0.95)
    printed = math.sqrt(2 * math.log(2 / 0.05) / 1000)
    weight = {"weight_sup": 1.0, "weight_lipschitz": STEEP, "weight_integral": 0.505}
    bound = weighted_auc_bound("max_rank", **weight, n_pos=500, n_neg=500, delta=0.05)
    return Counterexample(printed, bound.half_width, float(errors[order][level]), "at least")


def m4() -> Counterexample:
    """Prop. 1: mean of the plug-in at 11 negatives, an odd number: E[(k/11) 1{k ≥ 5.5}], not the value ½."""
    k = np.arange(12)
    return Counterexample(at_a(0.5, step), float(binom.pmf(k, 11, 0.5) @ (k / 11 * (k >= 5.5))), expected_plug_in(11))


def m5() -> Counterexample:
    """W = 1 on [0, ½] for the area up to FPR ½; a positive between two negatives, whose curve rises at ½."""
    y, scores = [1, 0, 0], [1.5, 1.0, 2.0]
    printed = weighted_auc(y, scores, weight=lambda s: (np.asarray(s) < 0.5).astype(float), breakpoints=[0.5])
    corrected = weighted_auc(y, scores, weight=step, breakpoints=[0.5])
    assert math.isclose(corrected, partial_auc(y, scores, max_fpr=0.5, standardized=False))
    return Counterexample(printed, corrected, 0.0)


def m6() -> Counterexample:
    """Proof of Theorem 7: the mean of (1/n) Σ_i δ_{x_k}, k = 1, for x = (0, 1); with δ_{x_i} it is the sample's."""
    x = (0.0, 1.0)
    return Counterexample(sum(x[0] for _ in x) / 2, sum(each for each in x) / 2, float(np.mean(x)))


def m7() -> Counterexample:
    """Lemma 11 (iii): d₁(μ₀, ν₀) + d₁(μ₁, ν₁) for halves at .2 and .3 moved to .3 and .5."""
    before, after = np.array([-0.2, 0.3]), np.array([-0.3, 0.5])  # τ puts class 0 on (−b, 0)
    unfolded = float(np.abs(np.sort(before) - np.sort(after)).mean())
    parts = 0.5 * abs(0.2 - 0.3) + 0.5 * abs(0.3 - 0.5)
    return Counterexample(2 * unfolded, unfolded, parts)


def m8() -> Counterexample:
    """Prop. 10 (b) over I: a negative at .25, half of the mass at .99 whose label changes, W = 1, ℓ of slope 2."""
    slope, low, high = 2.0, 0.25, 0.99
    change = 0.5 * 0.5 * min(1.0, slope * (high - low))  # without a positive g is 0
    moved = 0.5 * (1 - high) + 0.5 * (1 - high)  # d₁ of the negatives and of the positives, up to 1
    return Counterexample(slope * moved, slope * moved + 0.5, change, "at least")
