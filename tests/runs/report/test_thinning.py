"""Thinned curves stay where they were, and have few vertices."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from auclab.runs.report.curves import UNSEEN, thinned


def away(x, y, points_x, points_y):
    """Largest distance of points from a polyline, segment by segment."""
    least = np.full(len(points_x), np.inf)
    for k in range(len(x) - 1):
        along = np.array([x[k + 1] - x[k], y[k + 1] - y[k]])
        offset = np.stack([points_x - x[k], points_y - y[k]])
        share = np.clip(along @ offset / max(along @ along, 1e-300), 0, 1)
        least = np.minimum(least, np.hypot(*(offset - np.outer(along, share))))
    return least.max()


stairs = st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=2, max_size=60)


@given(stairs, st.sampled_from([0.0, UNSEEN, 0.05]))
def test_no_vertex_moves_further_than_the_tolerance(steps, tolerance):
    x = np.cumsum([0.0] + [size if right else 0 for right, size in steps]) / 200
    y = np.cumsum([0.0] + [0 if right else size for right, size in steps]) / 200
    few_x, few_y = thinned(x, y, tolerance)
    assert (few_x[0], few_y[0], few_x[-1], few_y[-1]) == (x[0], y[0], x[-1], y[-1])
    assert away(few_x, few_y, x, y) <= tolerance + 1e-12
    assert set(zip(few_x, few_y, strict=True)) <= set(zip(x, y, strict=True))


def test_a_curve_of_a_million_vertices_becomes_a_few_hundred():
    rng = np.random.default_rng(0)
    steps = rng.random(1_000_000) < np.linspace(0.9, 0.1, 1_000_000)
    x, y = np.cumsum(~steps) / (~steps).sum(), np.cumsum(steps) / steps.sum()
    few_x, few_y = thinned(x, y)
    assert few_x.size < 300
    assert abs(np.trapezoid(few_y, few_x) - np.trapezoid(y, x)) < UNSEEN
