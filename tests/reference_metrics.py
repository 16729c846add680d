"""Twins of the metrics on score differences and on the ROC curve: all pairs, rational arithmetic, quadrature.

Written from the definitions and by other ways than the package: no sorted sweeps, no hulls, no closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from reference import Errors

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


Points = Sequence[tuple[Fraction, Fraction]]
