"""Counterexamples to Calders & Jaroszewicz 2007."""

from __future__ import annotations

import math

import numpy as np

from auclab.metrics import auc_score, polynomial_auc
from auclab.metrics.polynomial import monomial_mean, step_series
from experiments.errata.counterexample import Counterexample

#: The error of a computation that has lost all digits is noise; it is shown up to this one.
LARGEST = 1e6


def line_search_terms(degree: int, angle: float, orders: range, powers: range) -> float:
    """Σ β_{l,m} over the given l and m, where f_w = f_g = 1: the l-th power of (cos α + sin α)/√2."""
    cos, sin = math.cos(angle), math.sin(angle)
    terms = [
        math.comb(order, m) * 2.0 ** (-order / 2) * cos**m * sin ** (order - m)
        for order in orders for m in powers if order == degree and m <= order
    ]  # fmt: skip
    return sum(terms)


def c1() -> Counterexample:
    """Algorithm 2, line 11: length of the new weights at α = π/2, w and g at right angles and of length 1."""
    w, g, angle = np.array([1.0, 0.0]), np.array([0.0, 1.0]), math.pi / 2
    printed = math.cos(angle) * w / math.sqrt(2) + math.sin(angle) * g
    corrected = (math.cos(angle) * w + math.sin(angle) * g) / math.sqrt(2)
    return Counterexample(float(np.linalg.norm(printed)), float(np.linalg.norm(corrected)), math.sqrt(0.5))


def c2() -> Counterexample:
    """Scaling: the bound on |difference| at α = π, w and g with largest differences 1."""
    angle = math.pi
    printed = (math.cos(angle) + math.sin(angle)) / math.sqrt(2)
    corrected = (abs(math.cos(angle)) + abs(math.sin(angle))) / math.sqrt(2)
    truth = abs(math.cos(angle) * 1.0 + math.sin(angle) * 1.0) / math.sqrt(2)
    return Counterexample(printed, corrected, truth, "at least")


def c3() -> Counterexample:
    """Algorithm 1: the square of the combined score at α = π/4, f_w = f_g = 1, by 1 ≤ l ≤ m ≤ 2 and 0 ≤ m ≤ l ≤ 2."""
    angle, degree = math.pi / 4, 2
    printed = line_search_terms(degree, angle, range(1, 3), range(degree, 3))
    corrected = line_search_terms(degree, angle, range(3), range(3))
    return Counterexample(printed, corrected, ((math.cos(angle) + math.sin(angle)) / math.sqrt(2)) ** 2)


def c4() -> Counterexample:
    """Scaling: error of (2) at degree 29, scores ½ and ⅓ with an offset of 5; shown up to a million."""
    pos, neg = np.array([5.5, 5.4]), np.array([5.0, 5.1])
    y, scores = [1, 1, 0, 0], np.concatenate([pos, neg])
    centre, scale = scores.mean(), pos.max() - neg.min()
    series, none = step_series(29, "chebyshev"), np.empty(0)
    truth = float(np.mean(series(np.subtract.outer(pos, neg) / scale)))
    assert math.isclose(polynomial_auc(y, scores, degree=29), truth, rel_tol=1e-9)
    printed = monomial_mean(series, pos, neg, none, none, scale)
    corrected = monomial_mean(series, pos - centre, neg - centre, none, none, scale)
    return Counterexample(min(abs(printed - truth), LARGEST), abs(corrected - truth), 0.0, tolerance=1e-6)


def c5() -> Counterexample:
    """Sect. 5: degree of the polynomial of "degree 30", the highest power that the step has."""
    nodes = np.cos(np.pi * (np.arange(2000) + 0.5) / 2000)
    found = [float(np.mean(np.heaviside(nodes, 0.5) * np.cos(k * np.arccos(nodes)))) for k in range(31)]
    return Counterexample(30, 29, max(k for k, coefficient in enumerate(found) if abs(coefficient) > 1e-12))


def c6() -> Counterexample:
    """Sect. 2: value of a tied pair; the polynomial approximates the AUC that counts it ½."""
    tied = ([1, 1, 0], [0.5, 0.0, 0.0])
    printed, corrected = (auc_score(*tied, ties=ties) for ties in ("strict", "half"))
    series = step_series(1001, "chebyshev")
    return Counterexample(printed, corrected, float(np.mean(series(np.array([1.0, 0.0])))), tolerance=1e-3)


def c7() -> Counterexample:
    """Algorithm 1, "Equation (6)": the last that has a number, (5), gives a vector; the α-expansion gives the value.

    A pair whose scores differ by .6 under w and .2 under g, α = π/3, the cube of the difference.
    """
    w, g, angle = 0.6, 0.2, math.pi / 3
    terms = [
        math.comb(3, m) * 2**-1.5 * math.cos(angle) ** m * math.sin(angle) ** (3 - m) * w**m * g ** (3 - m)
        for m in range(4)
    ]
    combined = (math.cos(angle) * w + math.sin(angle) * g) / math.sqrt(2)
    return Counterexample(math.nan, sum(terms), combined**3)


def c8() -> Counterexample:
    """Sect. 5: AUC of the weight ±1 that minimises it and that maximises it, a positive at 1 and a negative at 0."""
    values = [auc_score([1, 0], [weight * 1.0, 0.0]) for weight in (-1.0, 1.0)]
    return Counterexample(min(values), max(values), float(1.0 > 0.0))
