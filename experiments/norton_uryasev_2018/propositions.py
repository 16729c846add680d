"""Propositions 1, 4 and 9 and Appendix A on random laws: every case, by the definitions in exact arithmetic.

A law is a sample of up to twelve small integers, so atoms and ties are common; its threshold z is a fraction. The
definitions are computed from T(p), the integral of the largest values of total probability p, in rational numbers:
upper bPOE is the largest p with T(p) ≥ z p (Definition 1), formula (4) is the least value of E[a(X − z) + 1]⁺ over the
kinks in a. A row is the largest difference over the laws of a seed. Continuous laws are exponential and normal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from auclab.metrics import bauc_score, bpoe, buffered_auc
from experiments.study import AS_PUBLISHED, CORRECTED, Row, holds, main

SEEDS = {"smoke": 2, "default": 10, "full": 20}
LAWS = {"smoke": 10, "default": 100, "full": 200}
Law = list[Fraction]


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Largest differences over the random laws of a seed; what has no chance in it once."""
    random = np.random.default_rng(seed)
    laws = [random_law(random) for _ in range(LAWS[scale])]
    yield from _cases(laws, random, seed)
    yield holds("prop1.minimisers", all(_minimisers_are_quantiles(law, random) for law in laws), seed)
    yield from _two_kinds(laws, random, seed)
    yield from _areas(random, LAWS[scale], seed)
    if seed == 0:
        yield from _continuous()
        yield Row("appendix_a.trivial.upper", bauc_score([1, 1, 0], [0.0, 0.0, 0.0]))
        yield Row("appendix_a.trivial.lower", 1 - bpoe([0.0, 0.0], 0.0, kind="lower"))


def random_law(random: np.random.Generator) -> Law:
    """A sample of two to twelve integers from −4 to 4."""
    return sorted((Fraction(int(x)) for x in random.integers(-4, 5, random.integers(2, 13))), reverse=True)


def average(law: Law) -> Fraction:
    """E X."""
    return sum(law, Fraction(0)) / len(law)


def tail(law: Law, share: Fraction) -> Fraction:
    """T(p): the integral of the upper quantiles over a probability p.

    Examples
    --------
    >>> tail([Fraction(3), Fraction(1)], Fraction(3, 4))
    Fraction(7, 4)
    """
    each, total = Fraction(1, len(law)), Fraction(0)
    for value in law:
        total += value * min(share, each)
        share -= min(share, each)
    return total


def upper(law: Law, z: Fraction) -> Fraction:
    """Definition 1: the largest p whose largest values average at least z, 0 above the supremum.

    Examples
    --------
    Six values of −1 and four of +1: all ones and four of the minus ones average 0.

    >>> upper([Fraction(1)] * 4 + [Fraction(-1)] * 6, Fraction(0))
    Fraction(4, 5)
    """
    if z > law[0]:
        return Fraction(0)
    best, excess = Fraction(0), Fraction(0)
    for count, value in enumerate(law):  # T(p) − z p is concave: it falls below 0 once
        left = Fraction(count, len(law))
        if value < z and excess + (value - z) / len(law) < 0:
            return left + excess / (z - value)
        excess += (value - z) / len(law)
        best = left + Fraction(1, len(law))
    return best


def lower(law: Law, z: Fraction) -> Fraction:
    """Definition 4: 0 from the supremum on, 1 up to the mean, between them the p with average z."""
    if z >= law[0]:
        return Fraction(0)
    if z <= average(law):
        return Fraction(1)
    return next(p for p in _roots(law, z) if tail(law, p) == z * p)


def _roots(law: Law, z: Fraction) -> Iterator[Fraction]:
    """Where T(p) − z p crosses 0 between two of its kinks, by the line through them."""
    kinks = [Fraction(count, len(law)) for count in range(1, len(law) + 1)]
    for left, right in pairwise(kinks):
        before, after = (tail(law, p) - z * p for p in (left, right))
        if before >= 0 >= after and before != after:
            yield left + (right - left) * before / (before - after)


def formula(law: Law, z: Fraction) -> Fraction:
    """Equation (4): inf over γ < z of E[X − γ]⁺/(z − γ), with a = 1/(z − γ), at the kinks and at both ends of a."""
    kinks = [Fraction(0), *(1 / (z - value) for value in law if value < z)]
    values = [_hinge(law, z, a) for a in kinks]
    if z == law[0]:  # falling for ever: the limit is P(X = sup X)
        values.append(Fraction(law.count(z), len(law)))
    return min(values)


def _hinge(law: Law, z: Fraction, a: Fraction) -> Fraction:
    return sum((max(a * (value - z) + 1, Fraction(0)) for value in law), Fraction(0)) / len(law)


def _threshold(low: Fraction, high: Fraction, random: np.random.Generator) -> Fraction:
    """A fraction strictly between."""
    return low + (high - low) * Fraction(int(random.integers(1, 60)), 60)


def _cases(laws: list[Law], random: np.random.Generator, seed: int) -> Iterator[Row]:
    """Prop. 1: definition against formula, and both against auclab, in its four cases."""
    worst = dict.fromkeys(("mean", "between", "supremum", "above"), 0.0)
    for law in laws:
        mean, top = average(law), law[0]
        thresholds = {"mean": mean - int(random.integers(0, 3)), "supremum": top, "above": top + Fraction(1, 7)}
        if mean < top:
            thresholds["between"] = _threshold(mean, top, random)
        stated = {"mean": Fraction(1), "supremum": Fraction(law.count(top), len(law)), "above": Fraction(0)}
        for case, z in thresholds.items():
            values = [upper(law, z), formula(law, z), stated.get(case, upper(law, z))]
            ours = bpoe([float(value) for value in law], float(z))
            worst[case] = max(worst[case], float(max(values) - min(values)), abs(ours - float(values[0])))
    for case, value in worst.items():
        yield Row(f"prop1.case.{case}", value, seed)


def _minimisers_are_quantiles(law: Law, random: np.random.Generator) -> bool:
    """Prop. 1: the minimising γ are those from the lower to the upper quantile at α, 1 − α the value."""
    mean = average(law)
    if mean == law[0]:
        return True
    count = int(random.integers(1, len(law)))
    z = sum(law[:count], Fraction(0)) / count  # the interval has a length where the largest values average z
    if not mean < z < law[0]:
        z = _threshold(mean, law[0], random)
    values = {gamma: _hinge(law, z, 1 / (z - gamma)) for gamma in law if gamma < z}
    least = min(values.values())
    found = [gamma for gamma, value in values.items() if value == least]
    level = 1 - least
    rising = law[::-1]
    shares = [Fraction(sum(x <= value for x in law), len(law)) for value in rising]
    lowest = next(value for value, share in zip(rising, shares, strict=True) if share >= level)
    highest = next(value for value, share in zip(rising, shares, strict=True) if share > level)
    return min(found) == lowest and max(found) == highest


def _two_kinds(laws: list[Law], random: np.random.Generator, seed: int) -> Iterator[Row]:
    """Prop. 9: upper and lower bPOE elsewhere and at the supremum; the superquantile increases up to it."""
    elsewhere, at_top, rising = Fraction(0), Fraction(0), True
    for law in laws:
        mean, top = average(law), law[0]
        others = [mean - 1, top + 1] + ([_threshold(mean, top, random), mean] if mean < top else [])
        elsewhere = max(elsewhere, *(abs(upper(law, z) - lower(law, z)) for z in others if z != top))
        atom = Fraction(law.count(top), len(law))
        at_top = max(at_top, abs(upper(law, top) - atom), abs(lower(law, top)))
        shares = [atom + (1 - atom) * Fraction(step, 8) for step in range(9)]
        averages = [tail(law, p) / p for p in shares]
        if atom < 1:
            rising &= all(left > right for left, right in pairwise(averages))
    yield Row("prop9.elsewhere", float(elsewhere), seed)
    yield Row("prop9.supremum", float(at_top), seed)
    yield holds("prop9.increasing", rising, seed)


def _areas(random: np.random.Generator, number: int, seed: int) -> Iterator[Row]:
    """Prop. 4 on samples without ties, in pairs: the area as printed, and with the share θ of the pairs at γ*."""
    worst = {AS_PUBLISHED: 0.0, CORRECTED: 0.0}
    for _ in range(number):
        m, n = (int(size) for size in random.integers(3, 15, 2))
        y, scores = np.repeat([1, 0], [m, n]), random.standard_normal(m + n) + np.repeat([1.0, 0.0], [m, n])
        errors = np.subtract.outer(scores[y == 0], scores[y == 1])
        z = float(errors.mean() + (errors.max() - errors.mean()) * random.uniform(0.05, 0.95))
        found = buffered_auc(y, scores, threshold=z)
        below, at = np.mean(errors < found.gamma_left), np.mean(errors == found.gamma_left)
        printed, corrected = found.area_closed, below + found.theta * at
        worst[AS_PUBLISHED] = max(worst[AS_PUBLISHED], m * n * abs(printed - found.value))
        worst[CORRECTED] = max(worst[CORRECTED], m * n * abs(corrected - found.value))
    for variant, value in worst.items():
        yield Row("prop4.area", float(value), seed, variant)


def _continuous() -> Iterator[Row]:
    """Laws without atoms, where the printed last sentences hold: P(X > γ*) = bPOE, area = bAUC_z."""
    worst = 0.0
    for z in (1.2, 2.0, 5.0):  # exponential: E[X − γ]⁺ = e^(−γ), least at γ = z − 1
        best = minimize_scalar(lambda g, z=z: math.exp(-g) / (z - g), bounds=(0, z - 1e-6), method="bounded").x
        worst = max(worst, float(abs(math.exp(-best) - math.exp(-best) / (z - best))))
    yield Row("prop1.continuous", worst)
    difference = 0.0
    for z in (-0.5, 0.0, 0.7):  # h⁺ ~ N(1, 1), h⁻ ~ N(0, 1): ξ ~ N(−1, 2)
        value, gamma = _normal_bpoe(z, -1.0, math.sqrt(2))
        area = quad(lambda t, gamma=gamma: norm.sf(t - gamma, 1, 1) * norm.pdf(t), -12, 12)[0]
        difference = max(difference, abs(float(area) - (1 - value)))
    yield Row("prop4.continuous", difference)


def _normal_bpoe(z: float, mean: float, sd: float) -> tuple[float, float]:
    """Least E[X − γ]⁺/(z − γ) of a normal law, and its γ, a root of the derivative."""

    def ratio(gamma: float) -> float:
        u = (mean - gamma) / sd
        return float(sd * (u * norm.cdf(u) + norm.pdf(u)) / (z - gamma))

    gamma = minimize_scalar(ratio, bounds=(mean - 12 * sd, z - 1e-9), method="bounded", options={"xatol": 1e-12}).x
    return ratio(gamma), float(gamma)


if __name__ == "__main__":
    main(run_seed, SEEDS)
