"""Counterexamples to Ratigan & Cowen, mostly at the point (h, k) = (.2, .85)."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from scipy.integrate import quad

from auclab.metrics import cost_range, lesser_area, lesser_volume, voros_from_points
from experiments.errata.counterexample import Counterexample

H, K, T = 0.2, 0.85, 0.37
V = 1 - K
RANGE = (0.3, 0.5)
BASELINE = ([0.0, 1.0], [0.0, 1.0])


def area_above(h: float, k: float, t: float) -> float:
    """Area of {t x + (1 − t)(1 − y) > c} in the unit square, c the cost of (h, k), by integration over x.

    Examples
    --------
    >>> round(area_above(0.0, 0.0, 0.5), 9)
    0.5
    """
    cost = t * h + (1 - t) * (1 - k)

    def height(x: float) -> float:
        return min(max(1 - (cost - t * x) / (1 - t), 0.0), 1.0)

    kinks = [x for x in (cost / t, (cost - (1 - t)) / t) if 0 < x < 1]
    return float(quad(height, 0, 1, points=kinks or None)[0])


def best_area(points: tuple[list[float], list[float]], t: float) -> float:
    """`area_above` of the cheapest point."""
    h, k = min(zip(*points, strict=True), key=lambda point: t * point[0] + (1 - t) * (1 - point[1]))
    return area_above(h, k, t)


def r1() -> Counterexample:
    """Lemma 23 on [.3, .5]."""
    printed, corrected = (lesser_volume(H, K, cost_range=RANGE, as_published=published) for published in (True, False))
    truth = quad(lambda t: area_above(H, K, t), *RANGE)[0] / (RANGE[1] - RANGE[0])
    return Counterexample(printed, corrected, float(truth), tolerance=1e-8)


def r2() -> Counterexample:
    """The restated A_t in the proof of Theorem 24, t = .37."""
    restated = 1 + V**2 / 2 + H**2 / 2 - H * V + V**2 / (2 * T) - H**2 / (2 * (1 - T))
    return Counterexample(restated, float(lesser_area(H, K, T)), area_above(H, K, T), tolerance=1e-8)


def r3() -> Counterexample:
    """The last line of the same proof, t = .37: the bracket without −h²/2."""
    last = 1 - V**2 * (1 - T) / (2 * T) - H * V - H**2 * (1 / (2 * (1 - T)))
    corrected = 1 - V**2 * (1 - T) / (2 * T) - H * V - H**2 * (1 / (2 * (1 - T)) - 1 / 2)
    return Counterexample(last, corrected, area_above(H, K, T), tolerance=1e-8)


def r4() -> Counterexample:
    """Example 25: VOROS of the baseline with (0, 0) above slope m = ½, t = ⅓, or above m = 1, t = ½; by Lemma 22."""

    def value(slope: float) -> float:
        end = slope / (1 + slope)
        low = quad(lambda t: 1 - t / (2 * (1 - t)), 0, end)[0]
        return float(low + quad(lambda t: 1 - (1 - t) / (2 * t), end, 1)[0])

    assert math.isclose(value(1.0), voros_from_points(*BASELINE))
    truth = quad(lambda t: best_area(BASELINE, t), 1e-9, 1 - 1e-9, points=[0.5], limit=200)[0]
    return Counterexample(value(0.5), value(1.0), float(truth), tolerance=1e-6)


def r5() -> Counterexample:
    """Fraud example: t where C₀|N|/(C₁|P|) = 3; Def. 10 is t = C₀|N|/(C₀|N| + C₁|P|)."""
    return Counterexample(1 / (1 + 3), cost_range(3.0, 1.0)[0], 3 / (3 + 1))


def r6() -> Counterexample:
    """Fraud example: smallest t with |N|/|P| in [99, 999] and C₀/C₁ in [1/5000, 1/500]."""
    classes, costs = (99.0, 999.0), (1 / 5000, 1 / 500)
    truth = min(ratio / (1 + ratio) for ratio in (a * b for a, b in product(classes, costs)))
    return Counterexample(99 / 599, cost_range(classes, costs)[0], truth)


def r7() -> Counterexample:
    """Table 5: VOROS of "Base", printed 86.9 %, on the interval of the text and on that of the table's head."""
    text, head = ((99 / 599, 999 / 5999), (999 / 5999, 99 / 399))
    printed, corrected = (voros_from_points(*BASELINE, cost_range=ends) for ends in (text, head))
    return Counterexample(printed, corrected, 0.869, tolerance=0.0005)


def r8() -> Counterexample:
    """Lemma 22 at (.5, .3), t = ½, which costs more than the baselines."""
    printed, corrected = (float(lesser_area(0.5, 0.3, 0.5, as_published=published)) for published in (True, False))
    return Counterexample(printed, corrected, area_above(0.5, 0.3, 0.5), tolerance=1e-8)


def r9() -> Counterexample:
    """After Lemma 8: does a vertex of f dominate (.1, .3)? By graphs (printed) it does: f(.1) = .45 > .3."""
    f = [(0.0, 0.0), (0.2, 0.9), (1.0, 1.0)]
    above = float(np.interp(0.1, *np.transpose(f)) > 0.3)
    found = [x <= 0.1 and y >= 0.3 for x, y in f]
    # what the graphs do say: some point of the interpolated curve dominates, no vertex need
    vertices = float(any(y >= 0.3 for x, y in f if x <= 0.1))
    return Counterexample(above, vertices, float(any(found)))


def r10() -> Counterexample:
    """Def. 21: the perfect point, A_t = 1 for all t, on [.3, .5], with the integral over [0, 1] or over [.3, .5]."""
    whole = quad(lambda t: area_above(0.0, 1.0, t), 0.001, 0.999)[0] + 0.002
    corrected = voros_from_points([0.0, 0.0, 1.0], [0.0, 1.0, 1.0], cost_range=RANGE)
    return Counterexample(float(whole) / (RANGE[1] - RANGE[0]), corrected, 1.0)


def r11() -> Counterexample:
    """Fraud example: share of frauds, 492 of 284,807 transactions, in percent to three digits."""
    return Counterexample(0.172, round(100 * 492 / 284_807, 3), 100 * 492 / 284_807, tolerance=0.0005)
