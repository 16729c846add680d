"""The largest excess over the capacities of pairs against all sets, in rationals."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest

from auclab._core.hinge import SortedMarginals, by_density, least_capacity_ratio


def brute_force(pos, neg, share_pos, share_neg):
    """``max_I Σ_I α − Σ_j min(β_j, s_j σ(I))`` over all sets I."""
    rows = range(len(pos))
    worst = None
    for chosen in chain.from_iterable(combinations(rows, k) for k in range(1, len(pos) + 1)):
        demand = sum(Fraction(pos[i]) for i in chosen)
        level = sum(Fraction(share_pos[i]) for i in chosen)
        fits = sum(min(Fraction(b), level * Fraction(s)) for b, s in zip(neg, share_neg, strict=True))
        worst = demand - fits if worst is None else max(worst, demand - fits)
    return worst


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_prefixes_are_the_worst_sets(seed, equal):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 7), rng.integers(1, 7)
    share_pos, share_neg = (np.full(k, 1 / k) if equal else rng.dirichlet(np.ones(k)) for k in (m, n))
    q = np.outer(share_pos, share_neg) * rng.random((m, n)) * rng.choice([1.0, 1.0, 3.0], size=(m, n))
    pos, neg = q.sum(axis=1), q.sum(axis=0)
    expected = float(brute_force(pos, neg, share_pos, share_neg))
    # Sets that are left out fit, so that the excess is right wherever it is positive.
    assert max(0.0, SortedMarginals(pos, neg, share_pos, share_neg).largest_excess(1.0)) == pytest.approx(
        max(0.0, expected), abs=1e-15
    )


def test_an_excess_below_rounding_is_found():
    share = np.array([0.5, 0.5])
    pos, neg = np.array([0.25, 0.5 + 2**-54]), np.array([0.5, 0.25 + 2**-54])
    assert 0 < SortedMarginals(pos, neg, share, share).largest_excess(1.0) < 1e-15


def test_order_of_densities_that_differ_beyond_a_float():
    values, shares = np.array([1.0, 3.0]), np.array([3.0, 9.0 * (1 - 2**-53)])
    assert by_density(values, shares)[0].tolist() == [1.0, 3.0]


@pytest.mark.parametrize("seed", range(20))
def test_the_least_ratio_is_that_of_interpolated_levels(seed):
    rng = np.random.default_rng(seed)
    levels = np.r_[0.0, np.sort(rng.random(rng.integers(1, 30)))]
    values = np.r_[0.0, np.cumsum(rng.random(levels.size - 1) * (rng.random(levels.size - 1) < 0.7))]  # with flat parts
    demand = np.cumsum(rng.random(rng.integers(0, 40)) * rng.choice([0.0, 0.1], 1))
    capacity = rng.random(demand.size)
    needed = np.interp(demand, values, levels)
    expected = (capacity[needed > 0] / needed[needed > 0]).min(initial=1.0)
    last = int(np.searchsorted(values, demand[0], side="right")) - 1 if demand.size else 0
    for first in (0, max(last, 0)):
        assert least_capacity_ratio(demand, capacity, levels, values, first) == pytest.approx(expected, rel=1e-12)
