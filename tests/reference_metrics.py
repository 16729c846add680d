"""Twins of the metrics on score differences and on the ROC curve: all pairs, rational arithmetic, quadrature.

Written from the definitions and by other ways than the package: no sorted sweeps, no hulls, no closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from scipy.integrate import quad

from reference import Errors
from strategies import Problem

Points = list[tuple[Fraction, Fraction]]
HALF = Fraction(1, 2)


def pair_mean(errors: Errors, modifier: Callable[[Fraction], Fraction]) -> Fraction:
    """Mean of w(t), t = −ξ, over all pairs, exact."""
    return sum((w * modifier(-x) for x, w in errors), Fraction(0)) / sum(w for _, w in errors)


def probabilistic_modifier(width: float) -> Callable[[Fraction], Fraction]:
    """P(a + U > b + V) for U, V uniform on [−h, h]: area of the part of a square on one side of a diagonal."""
    h = Fraction(width)

    def modifier(t: Fraction) -> Fraction:
        short = min(max(2 * h - abs(t), Fraction(0)), 2 * h)  # leg of the corner triangle that is cut off
        corner = short * short / 2 / (2 * h) ** 2
        return 1 - corner if t > 0 else corner

    return modifier


def published_probabilistic_modifier(width: float) -> Callable[[Fraction], Fraction]:
    """Eq. 5 of Vanderlooy & Hüllermeier 2008 as printed."""
    h = Fraction(width)

    def modifier(t: Fraction) -> Fraction:
        if abs(t) >= h:
            return Fraction(int(t > 0))
        return max(Fraction(0), t / (2 * h)) + HALF * (1 - abs(t) / (2 * h)) ** 2

    return modifier


def soft_auc(errors: Errors, beta: float) -> float:
    """Mean sigmoid of the exactly rounded products βt."""
    terms = [float(w) * sigmoid(float(-x * Fraction(beta))) for x, w in errors]
    return math.fsum(terms) / math.fsum(float(w) for _, w in errors)


def sigmoid(t: float) -> float:
    return 1.0 / (1.0 + math.exp(-t)) if t > -700.0 else 0.0


def polynomial_mean(errors: Errors, scale: Fraction, polynomial: Callable[[float], float]) -> float:
    """Mean of a polynomial of t/scale."""
    terms = [float(w) * polynomial(float(-x / scale)) for x, w in errors]
    return math.fsum(terms) / math.fsum(float(w) for _, w in errors)


def roc_points(problem: Problem) -> Points:
    """Vertices (P(h⁻ ≥ s), P(h⁺ ≥ s)), s over the distinct scores from the largest down, after (0, 0)."""
    u, v = _weights(problem)
    total_u, total_v = sum(u), sum(v)
    points = [(Fraction(0), Fraction(0))]
    for s in sorted({*problem.pos, *problem.neg}, reverse=True):
        x = sum((b for n, b in zip(problem.neg, v, strict=True) if n >= s), Fraction(0)) / total_v
        y = sum((a for p, a in zip(problem.pos, u, strict=True) if p >= s), Fraction(0)) / total_u
        if (x, y) != points[-1]:
            points.append((x, y))
    return points


def weighted_auc(problem: Problem, coefficients: Sequence[int], convention: str, tied: Fraction) -> Fraction:
    """The three sample values of ∫ roc(u) W(1 − u) du for ``W(s) = Σ c_k s^k``, exact."""
    if convention == "linear":
        points = roc_points(problem)
        return sum((_edge_integral(coefficients, *a, *b) for a, b in pairwise(points) if a[0] < b[0]), Fraction(0))
    u, v = _weights(problem)
    value = Fraction(0)
    for t in set(problem.neg):
        at_most = sum((b for n, b in zip(problem.neg, v, strict=True) if n <= t), Fraction(0)) / sum(v)
        below = sum((b for n, b in zip(problem.neg, v, strict=True) if n < t), Fraction(0)) / sum(v)
        above = sum((a for p, a in zip(problem.pos, u, strict=True) if p > t), Fraction(0)) / sum(u)
        equal = sum((a for p, a in zip(problem.pos, u, strict=True) if p == t), Fraction(0)) / sum(u)
        if convention == "average":
            step = _antiderivative(coefficients, at_most) - _antiderivative(coefficients, below)
        else:
            step = sum(c * at_most**k for k, c in enumerate(coefficients)) * (at_most - below)
        value += (above + tied * equal) * step
    return value


def band_area(points: Points, low: float, high: float, floor: float = 0.0) -> Fraction:
    """Area below a polygon and above ``y = floor`` for low ≤ x ≤ high: every trapezium clipped by half-planes."""
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1:
            continue
        shape = [(x0, Fraction(-1)), (x1, Fraction(-1)), (x1, y1), (x0, y0)]
        for a, b, c in ((1, 0, -Fraction(low)), (-1, 0, Fraction(high)), (0, 1, -Fraction(floor))):
            shape = clip(shape, Fraction(a), Fraction(b), c)
        area += polygon_area(shape)
    return area


def lesser_area(h: float, k: float, t: float) -> Fraction:
    """Area of the part of the unit square where ``t x + (1 − t)(1 − y)`` exceeds the cost of (h, k), exact."""
    share = Fraction(t)
    cost = share * Fraction(h) + (1 - share) * (1 - Fraction(k))
    square = [(Fraction(x), Fraction(y)) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return polygon_area(clip(square, share, -(1 - share), 1 - share - cost))


def clip(shape: list[tuple[Fraction, Fraction]], a: Fraction, b: Fraction, c: Fraction):
    """Part of a convex polygon where ``a x + b y + c ≥ 0`` (Sutherland & Hodgman)."""
    kept = []
    for (x0, y0), (x1, y1) in zip(shape, shape[1:] + shape[:1], strict=True):
        before, after = a * x0 + b * y0 + c, a * x1 + b * y1 + c
        if before >= 0:
            kept.append((x0, y0))
        if before * after < 0:
            step = before / (before - after)
            kept.append((x0 + step * (x1 - x0), y0 + step * (y1 - y0)))
    return kept


def polygon_area(shape: list[tuple[Fraction, Fraction]]) -> Fraction:
    """Shoelace formula."""
    edges = zip(shape, shape[1:] + shape[:1], strict=True)
    return abs(sum((x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in edges), Fraction(0))) / 2


def voros(points: Points, low: float, high: float, density: Callable[[float], float] = lambda t: 1.0) -> float:
    """Mean over t of the largest area of lesser classifiers of any point, by quadrature between all kinks.

    Two points cost the same at one t; between neighbouring such t one point is best and the area is smooth.
    """
    chosen = sorted({*points, (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))})
    kinks = {Fraction(low), Fraction(high)}
    for k in range(1, 9):  # densities t^0.02 bend near the ends
        kinks |= {Fraction(1, 10**k), 1 - Fraction(1, 10**k)}
    for i, (h, k) in enumerate(chosen):
        for x, y in chosen[:i]:
            if (h - x) + (k - y):
                kinks.add((k - y) / ((h - x) + (k - y)))
    ends = sorted(float(t) for t in kinks if Fraction(low) <= t <= Fraction(high))
    doubles = [(float(h), float(1 - k)) for h, k in chosen]

    def area(t: float) -> float:
        cost = min(t * h + (1 - t) * v for h, v in doubles)
        return 1 - cost / t * (cost / (2 * (1 - t)))

    def integral(function: Callable[[float], float]) -> float:
        pieces = (quad(function, a, b, epsabs=1e-15, epsrel=1e-13, limit=200)[0] for a, b in pairwise(ends))
        return math.fsum(pieces)

    return integral(lambda t: area(t) * density(t)) / integral(density)


def _weights(problem: Problem) -> tuple[list[Fraction], list[Fraction]]:
    u = [1.0] * len(problem.pos) if problem.weight_pos is None else problem.weight_pos
    v = [1.0] * len(problem.neg) if problem.weight_neg is None else problem.weight_neg
    return [Fraction(a) for a in u], [Fraction(b) for b in v]


def _antiderivative(coefficients: Sequence[Fraction | int], s: Fraction) -> Fraction:
    return sum((Fraction(c) * s ** (k + 1) / (k + 1) for k, c in enumerate(coefficients)), Fraction(0))


def _edge_integral(coefficients: Sequence[int], x0: Fraction, y0: Fraction, x1: Fraction, y1: Fraction) -> Fraction:
    """∫ y(1 − s) W(s) ds over an edge: the product of a polynomial and a linear function of s."""
    slope = (y1 - y0) / (x1 - x0)
    constant = y0 + slope * (1 - x0)  # y = constant − slope·s
    product = [Fraction(0)] * (len(coefficients) + 1)
    for k, c in enumerate(coefficients):
        product[k] += c * constant
        product[k + 1] -= c * slope
    return _antiderivative(product, 1 - x0) - _antiderivative(product, 1 - x1)
