"""Brute-force twins of inference: all pairs, exact rational arithmetic, straight from the definitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import reference
import reference_metrics
from strategies import Problem

Kernel = Callable[[Fraction, Fraction], Fraction]
Means = tuple[list[Fraction], list[Fraction]]


def weights(problem: Problem) -> Means:
    """Weights of the classes as fractions, ones where there are none."""
    u = [1.0] * len(problem.pos) if problem.weight_pos is None else problem.weight_pos
    v = [1.0] * len(problem.neg) if problem.weight_neg is None else problem.weight_neg
    return [Fraction(a) for a in u], [Fraction(b) for b in v]


def kernel_means(problem: Problem, kernel: Kernel) -> Means:
    """Weighted row and column means of ``kernel(p, n)``."""
    u, v = weights(problem)
    table = [[kernel(Fraction(p), Fraction(n)) for n in problem.neg] for p in problem.pos]
    rows = [sum(b * k for b, k in zip(v, row, strict=True)) / sum(v) for row in table]
    columns = [sum(a * row[j] for a, row in zip(u, table, strict=True)) / sum(u) for j in range(len(problem.neg))]
    return rows, columns


def auc_kernel(tied: Fraction) -> Kernel:
    """1 for a pair in the right order, `tied` for a tied one."""
    return lambda p, n: Fraction(1) if p > n else tied if p == n else Fraction(0)


def bauc_kernel(problem: Problem, threshold: float) -> Kernel:
    """One minus the hinge at the left end of the optimal levels, or its limit for infinitely steep ones."""
    solution, z = reference.buffered(problem.errors, threshold), Fraction(threshold)
    if solution.bpoe in (0, 1):
        return lambda p, n: 1 - solution.bpoe
    gamma = solution.gamma_left
    if gamma is None:  # z is the largest error, as a rounded difference
        return lambda p, n: Fraction(int(float(n - p) < threshold))
    return lambda p, n: 1 - max(n - p - gamma, Fraction(0)) / (z - gamma)


def partial_area(problem: Problem, low: float, high: float) -> Fraction:
    """Area below the ROC polygon over a band."""
    return reference_metrics.band_area(reference_metrics.roc_points(problem), low, high)


def influence(problem: Problem, value: Callable[[Problem], Fraction], step: Fraction = Fraction(1, 10**15)) -> Means:
    """Value plus its derivative in the direction of one observation more, both sides of a kink averaged."""
    u, v = weights(problem)

    def moved(k: int, side: int, positive: bool) -> Fraction:
        shares = [w / sum(u if positive else v) for w in (u if positive else v)]
        pushed = [(1 - side * step) * w + (side * step if i == k else 0) for i, w in enumerate(shares)]
        return value(replace(problem, weight_pos=pushed if positive else u, weight_neg=v if positive else pushed))

    base = value(replace(problem, weight_pos=u, weight_neg=v))
    rows, columns = (
        [base + (moved(k, 1, positive) - moved(k, -1, positive)) / (2 * step) for k in range(len(scores))]
        for scores, positive in ((problem.pos, True), (problem.neg, False))
    )
    return rows, columns


def variance(problem: Problem, means: Means) -> Fraction:
    """``Σ n/(n−1) Σ share² (V − mean)²`` over the classes."""
    total = Fraction(0)
    for components, weight in zip(means, weights(problem), strict=True):
        pairs = [(c, w / sum(weight)) for c, w in zip(components, weight, strict=True) if w]
        mean, n = sum(c * s for c, s in pairs), len(pairs)
        total += Fraction(n, n - 1) * sum((s * (c - mean)) ** 2 for c, s in pairs)
    return total


def jackknife_variance(problem: Problem, value: Callable[[Problem], float]) -> float:
    """Leave out one observation of a class at a time; equal weights."""
    total = 0.0
    for name in ("pos", "neg"):
        scores = getattr(problem, name)
        n = len(scores)
        left_out = [value(replace(problem, **{name: scores[:k] + scores[k + 1 :]})) for k in range(n)]
        mean = sum(left_out) / n
        total += (n - 1) / n * sum((x - mean) ** 2 for x in left_out)
    return total
