"""Equations (2), (5) and the expansion of the line search by their definitions; what other degrees give and take.

The equations are sums of rounded coefficients and exact rational numbers, so that only the coefficients are rounded:
(2) against the double sum over pairs, (5) against a central difference of (2), the expansion in α against (2) of the
combined weights. Degrees: error of polynomial AUC at 30 less that at 60 and seconds of 60 over 30, on normal scores
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

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.sparse import csr_array, csr_matrix
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from auclab.datasets import load, preprocess
from auclab.metrics import auc_score, polynomial_auc, soft_auc
from experiments.study import Row, holds, main

SEEDS = {"smoke": 1, "default": 5, "full": 10}
SETS = {"smoke": ("sonar",), "default": ("sonar", "covertype_numeric", "covertype_sample", "adult", "w8a", "ijcnn1")}
SETS["full"] = SETS["default"]
DEGREE, HIGH = 30, 60
#: Degree of the exact checks, rows of a class and attributes.
SMALL, ROWS, ATTRIBUTES = 7, 5, 3
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
    c = [Fraction(float(value)) for value in step_coefficients(SMALL)]
    yield Row("equation2", float(abs(equation_2(c, _scores(pos, w), _scores(neg, w)) - _pairs(c, pos, neg, w))), seed)
    gap, worst = Fraction(1, 10**9), Fraction(0)
    for i in range(ATTRIBUTES):
        ends = [[x + sign * gap * (k == i) for k, x in enumerate(w)] for sign in (1, -1)]
        up, down = (equation_2(c, _scores(pos, end), _scores(neg, end)) for end in ends)
        worst = max(worst, abs(equation_5(c, pos, neg, w, i) - (up - down) / (2 * gap)))
    yield Row("equation5", float(worst), seed)
    worst = Fraction(0)
    for cosine, sine in ((Fraction(3, 5), Fraction(4, 5)), (Fraction(-5, 13), Fraction(12, 13))):
        root = Fraction(math.sqrt(0.5))
        mixed = [root * (cosine * x + sine * y) for x, y in zip(w, g, strict=True)]
        expanded = expansion(c, (pos, neg), (w, g), cosine, sine, root)
        worst = max(worst, abs(expanded - equation_2(c, _scores(pos, mixed), _scores(neg, mixed))))
    yield Row("expansion", float(worst), seed)
    labels, X = np.repeat([1, 0], 50), random.standard_normal((100, 3))
    weights = random.standard_normal(3)
    unit, beta = weights / np.linalg.norm(weights), float(random.uniform(1, 20))
    rescaled = soft_auc(labels, X @ weights, beta=beta / float(np.linalg.norm(weights)))
    yield Row("soft.rescaling", abs(soft_auc(labels, X @ unit, beta=beta) - rescaled), seed)


def step_coefficients(degree: int) -> np.ndarray:
    """Powers of the Chebyshev series of the step."""
    odd = np.arange(1, degree + 1, 2)
    series = np.zeros(degree + 1)
    series[0], series[odd] = 0.5, (2 / np.pi) * (-1.0) ** (odd // 2) / odd
    found: np.ndarray = Chebyshev(series).convert(kind=Polynomial).coef
    return found


def equation_2(c: Exact, pos: Exact, neg: Exact) -> Fraction:
    """Σ_k Σ_l α_kl s(f^l, D¹) s(f^(k−l), D⁰)/(n₀ n₁).

    Examples
    --------
    The square of the difference of 3 and 1:

    >>> equation_2([Fraction(0), Fraction(0), Fraction(1)], [Fraction(3)], [Fraction(1)])
    Fraction(4, 1)
    """
    total = Fraction(0)
    for k, j in _indices(c):
        total += _alpha(c, k, j) * sum(x**j for x in pos) * sum(x ** (k - j) for x in neg)
    return total / (len(pos) * len(neg))


def equation_5(c: Exact, pos: list[Exact], neg: list[Exact], w: Exact, i: int) -> Fraction:
    """Derivative by the weight i; a term whose factor l or k − l is 0 is 0."""
    f, g = _scores(pos, w), _scores(neg, w)
    total = Fraction(0)
    for k, j in _indices(c):
        first = j * sum(x[i] * y ** (j - 1) for x, y in zip(pos, f, strict=True)) if j else Fraction(0)
        second = (k - j) * sum(x[i] * y ** (k - j - 1) for x, y in zip(neg, g, strict=True)) if k > j else Fraction(0)
        total += _alpha(c, k, j) * (first * sum(y ** (k - j) for y in g) + sum(y**j for y in f) * second)
    return total / (len(pos) * len(neg))


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
    pos, neg = scores[labels == 1], scores[labels == 0]
    scale = max(pos.max() - neg.min(), neg.max() - pos.min())
    powers = [np.vander(x / scale, degree + 1, increasing=True).mean(axis=0) for x in (pos, neg)]
    total = 0.0
    for k, value in enumerate(step_coefficients(degree)):
        for j in range(k + 1):
            total += value * math.comb(k, j) * (-1.0) ** (k - j) * powers[0][j] * powers[1][k - j]
    return float(total)


if __name__ == "__main__":
    main(run_seed, SEEDS)
