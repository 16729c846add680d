"""Statements of the abstract, of the public code and of its tests, on random classifiers and on the data of a test."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auclab._core.base import Array
from auclab.datasets.records import Labels
from auclab.metrics import lesser_area
from experiments.partial_voros_2026.metric import Limits, partial_voros
from experiments.study import Row, holds, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}
DRAWS = {"smoke": 50, "default": 200, "full": 400}
#: Cost ratios of the tests and of the two scenarios, and how many of them the public code takes by default.
TEST_RATIOS = np.linspace(0.1, 1.0, 200)
SCENARIOS = {"s1": (0.15, 0.5, 1 / 9, 1 / 6), "s2": (0.5, 0.1, 1 / 40, 1 / 20)}
DEFAULT_POINTS, MANY_POINTS = 1000, 20_000


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Statements on one seed's random classifiers; what is fixed, with the first seed."""
    random = np.random.default_rng(seed)
    polygons, monotone, unlimited, above = [], [], [], []
    for _ in range(DRAWS[scale]):
        limits = _limits(random)
        polygons.append(_same_as_counts(limits, random))
        monotone.append(_falls_with_cost(limits, random))
        unlimited.append(_without_limits(random))
        above.append(_above_full(random))
    yield holds("region.polygon", all(polygons), seed)
    yield holds("monotone", all(monotone), seed)
    yield Row("unlimited", max(unlimited), seed)
    yield holds("test.below_full.always", not any(above), seed)
    yield Row("above_full", float(np.mean(above)), seed)
    if seed == 0:
        yield from _of_the_test(DEFAULT_POINTS // 10 if scale == "smoke" else MANY_POINTS)


def _limits(random: np.random.Generator) -> Limits:
    sizes = random.integers(2, 60, size=2)
    return Limits(int(sizes[0]), int(sizes[1]), random.uniform(0.02, 0.9), random.uniform(0.05, 1.0))


def _same_as_counts(limits: Limits, random: np.random.Generator) -> bool:
    """The polygon has the classifiers whose counts keep the limits, no other."""
    hits = random.integers(0, limits.n_pos + 1, size=50)
    alarms = random.integers(0, limits.n_neg + 1, size=50)
    room = limits.capacity * (limits.n_pos + limits.n_neg)
    kept = (hits >= limits.precision * (hits + alarms) - 1e-9) & (hits + alarms <= room + 1e-9)
    return bool((_inside(limits.polygon, alarms / limits.n_neg, hits / limits.n_pos) == kept).all())


def _inside(polygon: Array, x: Array, y: Array) -> Array:
    """Whether points lie on the left of every edge of a convex polygon, or on it."""
    centre = polygon.mean(axis=0)
    ordered = polygon[np.argsort(np.arctan2(*(polygon - centre).T[::-1]))]
    edges = np.roll(ordered, -1, axis=0) - ordered
    left = [edge[0] * (y - start[1]) - edge[1] * (x - start[0]) for start, edge in zip(ordered, edges, strict=True)]
    return np.asarray(np.min(left, axis=0) >= -1e-9)


def _falls_with_cost(limits: Limits, random: np.random.Generator) -> bool:
    """Of allowed points at one cost ratio, a cheaper one has no smaller partial area."""
    weights = random.dirichlet(np.ones(len(limits.polygon)), size=12)
    points, ratio = weights @ limits.polygon, 10 ** random.uniform(-2, 2)
    t = limits.cost_share(ratio)
    order = np.argsort(t * points[:, 0] + (1 - t) * (1 - points[:, 1]))
    areas = np.array([limits.lesser_area(points[k, 0], points[k, 1], ratio) for k in order])
    return bool((np.diff(areas) <= 1e-9).all())


def _without_limits(random: np.random.Generator) -> float:
    """Difference from the area of lesser classifiers of Ratigan & Cowen where everything is allowed."""
    limits = Limits(*(int(size) for size in random.integers(1, 60, size=2)))
    (fpr, tpr), ratio = random.random(2), 10 ** random.uniform(-2, 2)
    return abs(limits.lesser_area(fpr, tpr, ratio) - float(lesser_area(fpr, tpr, limits.cost_share(ratio))))


def _above_full(random: np.random.Generator) -> bool:
    """Whether partial VOROS is larger than VOROS, for a random scorer and random limits."""
    labels = np.repeat([1, 0], random.integers(3, 30, size=2))
    scores = random.standard_normal(len(labels)) + random.uniform(0, 2) * labels
    limits = {"precision": random.uniform(0.02, 0.5), "capacity": random.uniform(0.1, 0.9)}
    ratios = np.linspace(0.1, 1.0, 5)
    return partial_voros(labels, scores, ratios, **limits) > partial_voros(labels, scores, ratios) + 1e-9


def _of_the_test(many_points: int) -> Iterator[Row]:
    """The synthetic data of the tests of the public code, and its grid of cost ratios in both scenarios."""
    labels, scores = drawn_data()
    full = partial_voros(labels, scores, TEST_RATIOS)
    at = {
        limits: partial_voros(labels, scores, TEST_RATIOS, precision=limits[0], capacity=limits[1]) for limits in _TRIED
    }
    yield holds("test.below_full", at[0.3, 0.5] <= full)
    yield holds("test.tighter_is_less", at[0.7, 0.1] <= at[0.1, 0.9])
    yield Row("test.full", full)
    for (precision, capacity), value in at.items():
        yield Row(f"test.alpha={precision}.kappa={capacity}", value)
    for name, (precision, capacity, low, high) in SCENARIOS.items():
        coarse, fine = (
            partial_voros(labels, scores, np.linspace(low, high, points), precision=precision, capacity=capacity)
            for points in (DEFAULT_POINTS, many_points)
        )
        yield Row(f"grid.{name}", abs(coarse - fine))


_TRIED = ((0.3, 0.5), (0.1, 0.9), (0.7, 0.1))


def drawn_data() -> tuple[Labels, Array]:
    """The 500 rows that the tests draw: Beta(2, 5) scores, positives moved up by up to .3."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 500)
    scores = random.beta(2, 5, 500)
    scores[labels == 1] += random.uniform(0, 0.3, int(labels.sum()))
    return labels, np.clip(scores, 0, 1)


if __name__ == "__main__":
    main(run_seed, SEEDS)
