"""Exact twins of the metrics for scores of any size: all pairs in rational arithmetic, straight from the definitions.

Logarithms, exponentials and π are taken with 80 digits, which counts as exact beside a double. `reference.py` and
`reference_metrics.py` have the twins that are rational throughout; here are those with a logarithm or an exponential,
the buffered ROC curve, hulls, and sums over many repeated rows by their multiplicities.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

import reference
import reference_metrics as twin
from strategies import Problem

DIGITS = Context(prec=80, Emax=10**9, Emin=-(10**9))
ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)


def decimal(x: Fraction) -> Decimal:
    """A fraction with 80 digits."""
    return DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator))


def exp(x: Fraction) -> Fraction:
    """The exponential with 80 digits."""
    return Fraction(decimal(x).exp(DIGITS))


def log(x: Fraction) -> Fraction:
    """The logarithm with 80 digits; of a number near 1 as a series, which loses none of them."""
    if abs(x - 1) >= Fraction(1, 1000):
        return Fraction(decimal(x).ln(DIGITS))
    ratio, total = (x - 1) / (x + 1), ZERO
    for k in range(1, 40, 2):  # 2 artanh(ratio); the terms fall by 4·10⁶ each
        total += 2 * ratio**k / k
    return total


def ulps(value: float, exact: Fraction, size: Fraction | float | None = None) -> float:
    """Distance of a value from the exact one, in units in the last place of `size` (by default of the exact value)."""
    unit = math.ulp(float(abs(exact) if size is None else size))
    return float(min(abs(Fraction(value) - exact) / Fraction(unit), Fraction(10) ** 18))


def weighted(problem: Problem) -> tuple[list[tuple[Fraction, Fraction]], list[tuple[Fraction, Fraction]]]:
    """Scores with their weights, rows of weight 0 left out, positives and negatives."""
    lists = ((problem.pos, problem.weight_pos), (problem.neg, problem.weight_neg))
    both = [zip(scores, [1.0] * len(scores) if w is None else w, strict=True) for scores, w in lists]
    pos, neg = ([(Fraction(s), Fraction(w)) for s, w in pairs if w] for pairs in both)
    return pos, neg


def present(problem: Problem) -> Problem:
    """The problem without its rows of weight 0."""
    if problem.weight_pos is None or problem.weight_neg is None:
        return problem
    pos = [(s, w) for s, w in zip(problem.pos, problem.weight_pos, strict=True) if w]
    neg = [(s, w) for s, w in zip(problem.neg, problem.weight_neg, strict=True) if w]
    return Problem([s for s, _ in pos], [s for s, _ in neg], [w for _, w in pos], [w for _, w in neg])


def mean(pairs: list[tuple[Fraction, Fraction]]) -> Fraction:
    """Weighted mean of (value, weight)."""
    return sum((x * w for x, w in pairs), ZERO) / sum(w for _, w in pairs)


def ferri_auc(problem: Problem) -> Fraction:
    """``½ (1 + mean p − mean n)``."""
    pos, neg = weighted(problem)
    return HALF * (1 + mean(pos) - mean(neg))


def soft_auc(errors: reference.Errors, beta: float) -> Fraction:
    """Mean of ``1/(1 + e^(−βt))``, t = −ξ."""
    total = ZERO
    for x, w in errors:
        z = Fraction(beta) * x
        if z < -400:
            total += w * (1 - exp(z) if z > -4000 else 1)
        else:
            total += w / (1 + exp(min(z, Fraction(4000))))
    return total / sum(w for _, w in errors)


def broc(problem: Problem, gamma: Fraction) -> set[tuple[Fraction, Fraction]]:
    """Corners of the step curve after all positive scores were lowered by ``−γ``: ``(P(n > t), P(p + γ ≥ t))``."""
    pos, neg = weighted(problem)
    total_pos, total_neg = sum(w for _, w in pos), sum(w for _, w in neg)
    levels = sorted({n for n, _ in neg} | {p + gamma for p, _ in pos}, reverse=True)
    points = [(ZERO, ZERO)]
    for t in levels:
        # at t: the curve is at P(n > t) and rises; after t it has passed the negatives at t
        x = sum((w for n, w in neg if n > t), ZERO) / total_neg
        y = sum((w for p, w in pos if p + gamma >= t), ZERO) / total_pos
        after = sum((w for n, w in neg if n >= t), ZERO) / total_neg
        points += [(x, y), (after, y)]
    corners = [points[0]]
    for k in range(1, len(points)):
        if points[k] != corners[-1]:
            corners.append(points[k])
    return set(_without_straight_points(corners))


def _without_straight_points(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Only the points where an axis-parallel curve turns."""
    kept = [points[0]]
    for k in range(1, len(points) - 1):
        same_x = kept[-1][0] == points[k][0] == points[k + 1][0]
        same_y = kept[-1][1] == points[k][1] == points[k + 1][1]
        if not (same_x or same_y):
            kept.append(points[k])
    return [*kept, points[-1]]


def hull(points: twin.Points) -> twin.Points:
    """Vertices of the upper hull with (0, 0) and (1, 1): points that no segment between two others reaches."""
    chosen = sorted({*points, (ZERO, ZERO), (ONE, ONE)})
    vertices = []
    for x, y in chosen:
        others = [q for q in chosen if q != (x, y)]
        dominated = any(q[0] <= x and q[1] >= y for q in others)
        below = any(
            a[0] < x < b[0] and (b[1] - a[1]) * (x - a[0]) >= (y - a[1]) * (b[0] - a[0]) for a in others for b in others
        )
        if (x, y) in ((ZERO, ZERO), (ONE, ONE)) or not (dominated or below):
            vertices.append((x, y))
    # (0, 0) and (1, 1) stay, also where another point has the same rate on one axis
    return vertices


def volume(h: Fraction, v: Fraction, a: Fraction, b: Fraction) -> Fraction:
    """``∫_a^b 1 − c²/(2t(1 − t)) dt`` with ``c = th + (1 − t)v``: ``c²/(t(1−t)) = h² t/(1−t) + 2hv + v² (1−t)/t``."""
    by_h = h * h * ((a - b) + log((1 - a) / (1 - b))) if h else ZERO
    by_v = v * v * ((a - b) + log(b / a)) if v else ZERO
    return (b - a) - HALF * (by_h + 2 * h * v * (b - a) + by_v)


def voros(points: twin.Points, low: Fraction, high: Fraction) -> Fraction:
    """Mean over t in [low, high] of the area of the cheapest point, found at the middle of each piece."""
    chosen = sorted({*points, (ZERO, ZERO), (ONE, ONE)})
    kinks = {low, high}
    for i, (h, k) in enumerate(chosen):
        for x, y in chosen[:i]:
            if (h - x) + (k - y):
                t = (k - y) / ((h - x) + (k - y))
                if low < t < high:
                    kinks.add(t)
    total = ZERO
    for a, b in pairwise(sorted(kinks)):
        t = (a + b) / 2
        h, k = min(chosen, key=lambda q: (t * q[0] + (1 - t) * (1 - q[1]), q))
        total += volume(h, 1 - k, a, b)
    return total / (high - low)


def step_polynomial(degree: int, kind: str) -> list[Fraction]:
    """Coefficients, by powers of t, of the least-squares polynomial of the unit step (Chebyshev or Legendre weight)."""
    polynomials = [[ONE], [ZERO, ONE]]
    for k in range(1, degree):
        a, b = (Fraction(2), Fraction(-1)) if kind == "chebyshev" else (Fraction(2 * k + 1, k + 1), Fraction(-k, k + 1))
        shifted = [ZERO, *(a * c for c in polynomials[k])]
        before = polynomials[k - 1]
        polynomials.append([c + (b * before[i] if i < len(before) else ZERO) for i, c in enumerate(shifted)])
    total = [HALF] + [ZERO] * degree
    for k in range(1, degree + 1, 2):
        if kind == "chebyshev":  # (2/π) ∫₀¹ T_k /√(1 − t²) dt = (2/π) sin(kπ/2)/k
            share = 2 / PI * (1 if k % 4 == 1 else -1) / k
        else:  # (2k + 1)/2 ∫₀¹ P_k dt
            share = Fraction(2 * k + 1, 2) * sum((c / (i + 1) for i, c in enumerate(polynomials[k])), ZERO)
        for i, c in enumerate(polynomials[k]):
            total[i] += share * c
    return total


def polynomial_auc(errors: reference.Errors, degree: int, kind: str) -> Fraction:
    """Mean of the polynomial over the differences in units of the largest one."""
    largest = max(abs(x) for x, _ in errors) or ONE
    coefficients = step_polynomial(degree, kind)
    return twin.pair_mean(errors, lambda t: sum((c * (t / largest) ** k for k, c in enumerate(coefficients)), ZERO))


def _pi() -> Fraction:
    """π with 80 digits (Machin 1706)."""

    def arctan(n: int) -> Fraction:
        return sum((Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(65)), ZERO)

    return 16 * arctan(5) - 4 * arctan(239)


PI = _pi()
