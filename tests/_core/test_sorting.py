"""Sorting by packed integers against NumPy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

from auclab._core.hinge import FEW, ascending

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=4 * FEW)
CASES = {
    "few": NORMAL[:20],
    "normal": NORMAL,
    "one value": np.zeros(2 * FEW),
    "many ties": RNG.integers(0, 5, 2 * FEW).astype(float),
    "heavy tails": RNG.standard_cauchy(8 * FEW),
    "many orders": np.exp(40.0 * NORMAL),
    "one far away": np.append(NORMAL, 1e14),  # all others share a few cells: more insertions than allowed
    "range beyond the largest double": np.append(NORMAL, [-1.7e308, 1.7e308]),
    "infinite": np.append(NORMAL, [np.inf, -np.inf]),
    "denormal": NORMAL * 1e-310,
    "neighbours": 1.0 + 2.0**-52 * RNG.integers(0, 9, 2 * FEW),
}


@pytest.mark.parametrize("name", CASES)
def test_the_order_is_that_of_a_stable_sort(name):
    values = CASES[name]
    order, found = ascending(values)
    expected = np.argsort(values, kind="stable")
    assert order.dtype == np.int32
    assert np.array_equal(order, expected)
    assert np.array_equal(found, values[expected])
