"""Dominance, crossing and cost: Lemmas 8, 11, 13, 18, Theorem 24 and the results between them, on random curves.

A curve has up to six points of a grid of twelfths between (0, 0) and (1, 1), joined by lines, so it has ties, vertical
and horizontal pieces. Comparisons of points, slopes and costs are exact, in rational numbers. ``as_published`` compares
vertices, as the text after Lemma 8 does, ``corrected`` the curves that Definition 6 is about (erratum R9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.integrate import quad

from auclab.metrics import lesser_area, voros_from_points
from experiments.study import AS_PUBLISHED, CORRECTED, Row, holds, main

SEEDS = {"smoke": 2, "default": 10, "full": 20}
CURVES = {"smoke": 10, "default": 60, "full": 100}
DRAWS = {"smoke": 2000, "default": 20_000, "full": 50_000}
GRID = 12
Point = tuple[Fraction, Fraction]
Curve = list[Point]
BASELINE: Curve = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Statements on the random curves of a seed."""
    random = np.random.default_rng(seed)
    curves = [random_curve(random) for _ in range(CURVES[scale])]
    yield holds("lemma8", all(dominates(hull(curve), curve) for curve in curves), seed)
    yield holds("lemma11", all(_equal_costs_on_a_line(random) for _ in range(10 * len(curves))), seed)
    yield holds("lemma13", all(_least_cost_is_support(curve, random) for curve in curves), seed)
    yield holds("lemma18", all(_saddle(random) for _ in curves), seed)
    pairs = [(random_curve(random), other) for other in curves]
    for variant, compare in ((AS_PUBLISHED, vertices_dominate), (CORRECTED, dominates)):
        agree = all(compare(f, g) == above(f, g) for f, g in pairs)
        yield holds("dominance.vertices", agree, seed, variant)
    yield from _volumes(curves, pairs, random, seed, DRAWS[scale])
    if seed == 0:
        yield from _baselines()


def random_curve(random: np.random.Generator) -> Curve:
    """Sorted points of the grid between the two baselines; the first coordinates and the second are sorted apart."""
    count = int(random.integers(1, 7))
    x, y = (sorted(int(value) for value in random.integers(0, GRID + 1, count)) for _ in range(2))
    inner = [(Fraction(a, GRID), Fraction(b, GRID)) for a, b in zip(x, y, strict=True)]
    return list(dict.fromkeys([BASELINE[0], *inner, BASELINE[1]]))


def hull(curve: Curve) -> Curve:
    """Definition 7, from (0, 0) to (1, 1).

    Examples
    --------
    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> hull([(0 * one, 0 * one), (half, half / 2), (one, one)]) == BASELINE
    True
    """
    chain: Curve = []
    for point in [BASELINE[0], *sorted(set(curve) - {BASELINE[0], BASELINE[1]}), BASELINE[1]]:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) >= 0:
            chain.pop()
        chain.append(point)
    return chain


def _turn(a: Point, b: Point, c: Point) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def heights(curve: Curve, x: Fraction) -> Point:
    """Smallest and largest y of the curve at x; they differ on a vertical piece."""
    values = [y for at, y in curve if at == x]
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x0 < x < x1:
            values.append(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    return min(values), max(values)


def above(f: Curve, g: Curve) -> bool:
    """Whether the graph of f is nowhere below that of g: between the points of either both are linear."""
    levels = [(heights(f, x), heights(g, x)) for x in {x for x, _ in (*f, *g)}]
    return all(own[0] >= other[0] and own[1] >= other[1] for own, other in levels)


def dominates(f: Curve, g: Curve) -> bool:
    """Definition 6: every point of g has one of f above and left of it, and no point of f is strictly dominated by g.

    Points of the curves are the vertices, those at a finer grid, and points just next to it.
    """
    points_f, points_g = _points(f), _points(g)
    covered = all(any(q[0] <= p[0] and q[1] >= p[1] for q in points_f) for p in points_g)
    return covered and not any(p[0] < q[0] and p[1] > q[1] for q in points_f for p in points_g)


def _points(curve: Curve) -> list[Point]:
    near = Fraction(1, 10**6)  # next to a jump, where it shows what it hides
    steps = [
        x for k in range(2 * GRID + 1) for x in (Fraction(k, 2 * GRID) + d for d in (-near, 0, near)) if 0 <= x <= 1
    ]
    return [*curve, *((x, y) for x in steps for y in heights(curve, x))]


def vertices_dominate(f: Curve, g: Curve) -> bool:
    """Whether every vertex of g has one of f above and left of it."""
    return all(any(q[0] <= p[0] and q[1] >= p[1] for q in f) for p in g)


def cost(point: Point, t: Fraction) -> Fraction:
    """Definition 10."""
    return t * point[0] + (1 - t) * (1 - point[1])


def _share(random: np.random.Generator) -> Fraction:
    return Fraction(int(random.integers(0, GRID + 1)), GRID)


def _equal_costs_on_a_line(random: np.random.Generator) -> bool:
    """Lemma 11 for two different points, and t such that about every second pair costs the same."""
    p, q = ((_share(random), _share(random)) for _ in range(2))
    if p == q:
        return True
    (dx, dy), t = (q[0] - p[0], q[1] - p[1]), _share(random)
    if dx * dy >= 0 and random.random() < 0.5:
        t = abs(dy) / (abs(dx) + abs(dy))
    slope = dx == 0 if t == 1 else dx != 0 and dy / dx == t / (1 - t)
    return (cost(p, t) == cost(q, t)) == slope


def _least_cost_is_support(curve: Curve, random: np.random.Generator) -> bool:
    """Lemma 13 at every vertex: the least cost iff the hull lies below and right of the iso-performance line."""
    t, chain = _share(random), hull(curve)
    least = min(cost(point, t) for point in curve)
    return all((cost(v, t) == least) == all(cost(w, t) >= cost(v, t) for w in chain) for v in curve)


def _saddle(random: np.random.Generator) -> bool:
    """Lemma 18: a point on the line through (h, k) of slope t/(1 − t) has t = Y/(X + Y)."""
    h, k, t = (_share(random) for _ in range(3))
    x = h + Fraction(int(random.integers(1, 9)), 7)
    if t == 1:
        return True
    y = t / (1 - t) * (x - h) + k
    return (y - k) / ((x - h) + (y - k)) == t


def _volumes(
    curves: Sequence[Curve], pairs: Sequence[tuple[Curve, Curve]], random: np.random.Generator, seed: int, draws: int
) -> Iterator[Row]:
    """Statements on areas and volumes, in floating point, on random ranges of t."""
    contained, ordered, worst, differences = True, True, 0.0, []
    for curve, (f, g) in zip(curves, pairs, strict=True):
        low, high = np.sort(random.uniform(0, 1, 2))
        t = np.unique(np.clip([*np.linspace(low, high, 201), *_breaks(f), *_breaks(g)], low, high))
        both = [*f, *g]  # nowhere dearer than g, and cheaper where f is
        if (_least_costs(both, t) < _least_costs(g, t) - 1e-9).any():
            ordered &= _voros(both, low, high) > _voros(g, low, high)
        third = _least_costs(curve, t)
        under = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(curve))
        contained &= bool((1 - third**2 / (2 * t * (1 - t)) >= float(under) - 1e-12).all())
        volume = _voros(curve, low, high)
        integral = quad(lambda u, c=curve: _integrand(c, u), low, high, points=_inside(curve, low, high), limit=200)[0]
        worst = max(worst, abs(integral / (high - low) - volume))
        x, y, u = random.uniform(size=(3, draws))
        u = low + (high - low) * u
        differences.append(float(np.mean(u * x + (1 - u) * (1 - y) > _least_costs(curve, u))) - volume)
    yield holds("area.contains", contained, seed)
    yield holds("theorem24.order", ordered, seed)
    yield Row("theorem24.integral", worst, seed)
    yield Row("probability", float(np.mean(differences)), seed)


def _least_costs(curve: Curve, t: np.ndarray) -> np.ndarray:
    x, y = np.array(curve, dtype=float).T
    found: np.ndarray = (np.outer(t, x) + np.outer(1 - t, 1 - y)).min(axis=1)
    return found


def _breaks(curve: Curve) -> np.ndarray:
    """The t at which the best vertex of a curve changes."""
    steps = [(q[0] - p[0], q[1] - p[1]) for p, q in pairwise(hull(curve))]
    return np.array(sorted(float(dy / (dx + dy)) for dx, dy in steps))


def _inside(curve: Curve, low: float, high: float) -> list[float]:
    return [t for t in _breaks(curve) if low < t < high] or [(low + high) / 2]


def _integrand(curve: Curve, t: float) -> float:
    return 1 - float(_least_costs(curve, np.array([t]))[0]) ** 2 / (2 * t * (1 - t))


def _voros(curve: Curve, low: float, high: float) -> float:
    x, y = np.array(curve, dtype=float).T
    return voros_from_points(x, y, cost_range=(low, high))


def _baselines() -> Iterator[Row]:
    """The least area of the better baseline, and where it is."""
    t = np.linspace(0, 1, 1001)
    areas = np.maximum(lesser_area(np.zeros(1001), np.zeros(1001), t), lesser_area(np.ones(1001), np.ones(1001), t))
    yield Row("baseline.minimum", float(areas.min()))
    yield Row("baseline.minimum_at", float(t[areas.argmin()]))
    yield Row("baseline.ends", float(min(areas[0], areas[-1])))


if __name__ == "__main__":
    main(run_seed, SEEDS)
