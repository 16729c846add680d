"""Equations (2), (5) and the expansion of the line search by their definitions; what other degrees give and take.

(2) and (5) are the library's, in powers, against rational numbers with the same coefficients: (2) against the double
sum over pairs, (5) against a central difference of it. The expansion in α is rational too, against the double sum of
the combined weights. Degrees: error of polynomial AUC at 30 less that at 60 and seconds of 60 over 30, on normal scores
and on scores of linear discriminant analysis of the sets at hand; errors of equation (2) with floating-point powers of
scores scaled as printed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.sparse import csr_array, csr_matrix
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from auclab.datasets import load, preprocess
from auclab.metrics import auc_score, polynomial_auc, polynomial_auc_gradient, soft_auc
from auclab.metrics.polynomial import monomial_mean, step_series
from experiments.study import Row, holds, main

SEEDS = {"smoke": 1, "default": 5, "full": 10}
SETS = {"smoke": ("sonar",), "default": ("sonar", "covertype_numeric", "covertype_sample", "adult", "w8a", "ijcnn1")}
SETS["full"] = SETS["default"]
DEGREE, HIGH = 30, 60
#: Degree of the exact checks, rows of a class and attributes.
SMALL, ROWS, ATTRIBUTES = 7, 5, 3
#: What differences of the exact checks are divided by: they are at most 2 · 3 · .45².
SCALE = 2
SIZE, CALLS = 2000, 7
Exact = list[Fraction]


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """The equations on a random sample; degrees on random scores, and once on the sets."""
    random = np.random.default_rng(seed)
    yield from _equations(random, seed)
    labels, normal = np.repeat([1, 0], SIZE), random.standard_normal(2 * SIZE)
    for name, power in (("normal", 1), ("cubes", 3)):
        scores = (normal + labels) ** power
        errors = [abs(polynomial_auc(labels, scores, degree=d) - auc_score(labels, scores)) for d in (DEGREE, HIGH)]
        yield Row(f"degree.gain.{name}", errors[0] - errors[1], seed)
    seconds = [_seconds(labels, normal + labels, degree) for degree in (DEGREE, HIGH)]
    yield Row("degree.seconds", seconds[1] / seconds[0], seed)
    yield holds("degree.slower", seconds[1] > seconds[0], seed)
    if seed == 0:
        yield from _degrees_on_sets(scale)


def _equations(random: np.random.Generator, seed: int) -> Iterator[Row]:
    """Each against its definition, in rational numbers."""
    pos, neg = ([_vector(random) for _ in range(ROWS)] for _ in range(2))
    w, g = _vector(random), _vector(random)
    labels, X = np.repeat([1, 0], ROWS), np.array([*pos, *neg], dtype=float)
    coef = np.array(w, dtype=float)
    options: dict[str, Any] = {"degree": SMALL, "scale": SCALE, "basis": "monomial"}
    powers = step_series(SMALL, "chebyshev").convert(kind=Polynomial).coef
    c = [Fraction(float(value)) / SCALE**k for k, value in enumerate(powers)]
    yield Row("equation2", abs(polynomial_auc(labels, X @ coef, **options) - float(_pairs(c, pos, neg, w))), seed)
    gap, slopes = Fraction(1, 10**9), []
    for i in range(ATTRIBUTES):
        ends = [[x + sign * gap * (k == i) for k, x in enumerate(w)] for sign in (1, -1)]
        up, down = (_pairs(c, pos, neg, end) for end in ends)
        slopes.append(float((up - down) / (2 * gap)))
    yield Row("equation5", float(np.abs(polynomial_auc_gradient(labels, X, coef, **options) - slopes).max()), seed)
    worst = Fraction(0)
    for cosine, sine in ((Fraction(3, 5), Fraction(4, 5)), (Fraction(-5, 13), Fraction(12, 13))):
        root = Fraction(math.sqrt(0.5))
        mixed = [root * (cosine * x + sine * y) for x, y in zip(w, g, strict=True)]
        expanded = expansion(c, (pos, neg), (w, g), cosine, sine, root)
        worst = max(worst, abs(expanded - _pairs(c, pos, neg, mixed)))
    yield Row("expansion", float(worst), seed)
    labels, X = np.repeat([1, 0], 50), random.standard_normal((100, 3))
    weights = random.standard_normal(3)
    unit, beta = weights / np.linalg.norm(weights), float(random.uniform(1, 20))
    rescaled = soft_auc(labels, X @ weights, beta=beta / float(np.linalg.norm(weights)))
    yield Row("soft.rescaling", abs(soft_auc(labels, X @ unit, beta=beta) - rescaled), seed)


def expansion(
    c: Exact, parts: tuple[list[Exact], list[Exact]], w_and_g: tuple[Exact, Exact], cosine: Fraction, sine: Fraction,
    root: Fraction,
) -> Fraction:  # fmt: skip
    """The displayed formula before "Scaling of the Weights", with β_lm and sums s(f_w^m f_g^(l−m)); root is 1/√2."""
    (f1, g1), (f0, g0) = (tuple(_scores(part, weights) for weights in w_and_g) for part in parts)

    def power(f: Exact, g: Exact, j: int) -> Fraction:
        return sum(
            (
                math.comb(j, m) * root**j * cosine**m * sine ** (j - m)
                * sum(x**m * y ** (j - m) for x, y in zip(f, g, strict=True))
                for m in range(j + 1)
            ),
            Fraction(0),
        )  # fmt: skip

    total = sum((_alpha(c, k, j) * power(f1, g1, j) * power(f0, g0, k - j) for k, j in _indices(c)), Fraction(0))
    return total / (len(f1) * len(f0))


def _indices(c: Exact) -> Iterator[tuple[int, int]]:
    return ((k, j) for k in range(len(c)) for j in range(k + 1))  # j is the paper's l


def _alpha(c: Exact, k: int, j: int) -> Fraction:
    return c[k] * math.comb(k, j) * (-1) ** (k - j)


def _pairs(c: Exact, pos: list[Exact], neg: list[Exact], w: Exact) -> Fraction:
    gaps = [x - y for x in _scores(pos, w) for y in _scores(neg, w)]
    return sum((value * gap**k for gap in gaps for k, value in enumerate(c)), Fraction(0)) / len(gaps)


def _scores(rows: list[Exact], w: Exact) -> Exact:
    return [sum((x * y for x, y in zip(row, w, strict=True)), Fraction(0)) for row in rows]


def _vector(random: np.random.Generator) -> Exact:
    return [Fraction(int(value), 20) for value in random.integers(-9, 10, ATTRIBUTES)]


def _seconds(labels: np.ndarray, scores: np.ndarray, degree: int) -> float:
    """Median of the processor seconds of calls, after one that compiles."""
    times = []
    for turn in range(CALLS + 1):
        start = process_time()
        polynomial_auc(np.tile(labels, 10), np.tile(scores, 10), degree=degree)
        if turn:
            times.append(process_time() - start)
    return median(times)


def _degrees_on_sets(scale: str) -> Iterator[Row]:
    """On scores of a discriminant: the gain of a higher degree, and errors of equation (2) as printed."""
    errors = {DEGREE: 0.0, HIGH: 0.0}
    for name in SETS[scale]:
        labels, scores = discriminant(name)
        exact = auc_score(labels, scores)
        values = {degree: polynomial_auc(labels, scores, degree=degree) for degree in errors}
        yield Row(f"degree.gain.{name}", abs(values[DEGREE] - exact) - abs(values[HIGH] - exact))
        for degree, value in values.items():
            errors[degree] = max(errors[degree], abs(_in_floating_point(labels, scores, degree) - value))
    yield Row("degree.stable", errors[DEGREE])
    yield holds("degree.unstable", errors[HIGH] > 1e-3)


@cache
def discriminant(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels of a set, at most 20,000 rows of it, and scores of linear discriminant analysis."""
    data = load(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:20_000]
    found = preprocess.standard(data).fit_transform(data.frame.iloc[rows])
    X = found.toarray() if isinstance(found, csr_matrix | csr_array) else np.asarray(found)
    return data.y[rows], LinearDiscriminantAnalysis().fit(X, data.y[rows]).decision_function(X)


def _in_floating_point(labels: np.ndarray, scores: np.ndarray, degree: int) -> float:
    """Equation (2) on scores that are divided as printed and not centred."""
    pos, neg, none = scores[labels == 1], scores[labels == 0], np.empty(0)
    scale = max(pos.max() - neg.min(), neg.max() - pos.min())
    return monomial_mean(step_series(degree, "chebyshev"), pos, neg, none, none, scale)


if __name__ == "__main__":
    main(run_seed, SEEDS)
