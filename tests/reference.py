"""Brute-force twins of the metrics: all pairs, exact rational arithmetic, straight from the definitions.

A `Fraction` made from a float is that float exactly, so the values below carry no rounding at all; only the
comparison of z with the largest error is made on rounded differences, as the package documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Numbers = Sequence[float]
# errors and weights of all pairs
Errors = list[tuple[Fraction, Fraction]]


def pair_errors(
    pos: Numbers, neg: Numbers, weight_pos: Numbers | None = None, weight_neg: Numbers | None = None
) -> Errors:
    """ξ = n − p of every pair, with the product of the weights."""
    u = [1] * len(pos) if weight_pos is None else weight_pos
    v = [1] * len(neg) if weight_neg is None else weight_neg
    return [
        (Fraction(n) - Fraction(p), Fraction(a) * Fraction(b))
        for p, a in zip(pos, u, strict=True)
        for n, b in zip(neg, v, strict=True)
        if a and b
    ]


def share(errors: Errors, holds) -> Fraction:
    """Share of the pair weight whose error satisfies a condition."""
    return sum((w for x, w in errors if holds(x)), Fraction(0)) / sum(w for _, w in errors)


def auc(errors: Errors, ties: str) -> Fraction:
    """AUC with tied pairs counted 0, ½ or 1."""
    tied = {"strict": Fraction(0), "half": Fraction(1, 2), "upper": Fraction(1)}[ties]
    return share(errors, lambda x: x < 0) + tied * share(errors, lambda x: x == 0)


@dataclass(frozen=True)
class Buffered:
    """bPOE with the interval of minimisers, θ and the two areas; None where there is no minimiser."""

    bpoe: Fraction
    gamma_left: Fraction | None = None
    gamma_right: Fraction | None = None
    theta: Fraction | None = None
    area_closed: Fraction | None = None
    area_open: Fraction | None = None


def buffered(errors: Errors, threshold: float) -> Buffered:
    """min over γ < z of E[ξ − γ]₊/(z − γ), tried at every error: the function is monotone in between."""
    z, total = Fraction(threshold), sum(w for _, w in errors)
    top = max(x for x, _ in errors)
    if threshold > float(top):
        return Buffered(Fraction(0))
    if threshold == float(top):
        return Buffered(share(errors, lambda x: float(x) == float(top)))
    if z <= sum(x * w for x, w in errors) / total:
        return Buffered(Fraction(1))

    def objective(gamma: Fraction) -> Fraction:
        return sum(((x - gamma) * w for x, w in errors if x > gamma), Fraction(0)) / total / (z - gamma)

    objectives = {gamma: objective(gamma) for gamma in {x for x, _ in errors if x < z}}
    best = min(objectives.values())
    left = min(gamma for gamma, value in objectives.items() if value == best)
    right = max(gamma for gamma, value in objectives.items() if value == best)
    closed, opened = share(errors, lambda x: x <= left), share(errors, lambda x: x < left)
    theta = ((1 - best) - opened) / (closed - opened)
    return Buffered(best, left, right, theta, closed, opened)


def superquantile(errors: Errors, level: float) -> Fraction:
    """min over γ of γ + E[ξ − γ]₊/(1 − α), tried at every error."""
    alpha, total = Fraction(level), sum(w for _, w in errors)
    if alpha == 1:
        return max(x for x, _ in errors)
    return min(
        gamma + sum(((x - gamma) * w for x, w in errors if x > gamma), Fraction(0)) / total / (1 - alpha)
        for gamma, _ in errors
    )


def mean_at_or_above_zero(errors: Errors) -> Fraction:
    """E[ξ | ξ ≥ 0], 0 if there is no such error."""
    tail = [(x, w) for x, w in errors if x >= 0]
    return sum((x * w for x, w in tail), Fraction(0)) / sum(w for _, w in tail) if tail else Fraction(0)
