"""Weights of single pairs that balance a sum exactly, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from auclab.certificates.scorers import FreePairs


def solved(columns, right):
    """The exact solution of a square system, by elimination in rationals; None if it is singular."""
    size = len(right)
    table = [[Fraction(columns[i][k]) for k in range(size)] + [Fraction(right[i])] for i in range(size)]
    for k in range(size):
        pivot = next((i for i in range(k, size) if table[i][k]), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [value / table[k][k] for value in table[k]]
        for i in range(size):
            if i != k:
                table[i] = [a - table[i][k] * b for a, b in zip(table[i], table[k], strict=True)]
    return [row[-1] for row in table]


@pytest.mark.parametrize("seed", range(30))
def test_exact_weights_exist_and_are_no_larger_than_is_said(seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(1, 5))
    differences = generator.normal(size=(n, 8)) * 10.0 ** generator.integers(-2, 3, (n, 1))
    pairs = FreePairs(differences, abs(differences).max(axis=1), generator.uniform(0.1, 1.0, 8))
    gradient = 1e-9 * generator.normal(size=n) * pairs.largest
    moved = pairs.balancing(gradient, np.zeros(n))
    assert moved is not None
    chosen = pairs._independent(np.ones(n, dtype=bool))
    exact = solved(differences[:, chosen].tolist(), (-gradient).tolist())
    assert sum(abs(change) for change in exact) <= Fraction(moved)
    assert float(sum(abs(change) for change in exact)) == pytest.approx(moved, rel=1e-3)
    assert all(abs(change) <= room for change, room in zip(exact, pairs.room[chosen], strict=True))


def test_there_may_be_no_room_or_too_few_pairs():
    gradient, error = np.array([1.0, 0.0]), np.zeros(2)
    assert FreePairs(np.eye(2), np.ones(2), np.array([0.5, 0.5])).balancing(gradient, error) is None
    assert FreePairs(np.eye(2), np.ones(2), np.array([2.0, 0.0])).balancing(gradient, error) is None
    assert FreePairs(np.ones((2, 2)), np.ones(2), np.array([2.0, 2.0])).balancing(gradient, error) is None
    assert FreePairs(np.eye(2), np.ones(2), np.array([2.0, 2.0])).balancing(gradient, error) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(10))
def test_what_is_left_of_a_gradient_is_no_smaller_than_the_exact_one(seed):
    generator = np.random.default_rng(seed)
    differences = generator.normal(size=(3, 6))
    pairs = FreePairs(differences, abs(differences).max(axis=1), np.full(6, 0.5))
    gradient = generator.normal(size=3)
    for left, error, moved in pairs.reducing(gradient, 1e-3):
        assert np.linalg.norm(abs(left) + error) < np.linalg.norm(gradient)
        assert abs(gradient - left).max() <= 2.0 * moved * pairs.largest.max()
