"""The sweeps against sums over all pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab._core.ranking import (
    concordance,
    nearest_errors,
    rank_counts_above,
    rank_counts_between,
    running_sums,
    tail_sums,
    tail_sums_exact,
)
from strategies import problems

LEVELS = st.one_of(st.sampled_from([0.0, -np.inf, np.inf, -1.0]), st.floats(-12, 12))


def sorted_classes(problem):
    """Sorted scores and weights, an empty array where there are none."""
    parts = []
    for scores, weight in ((problem.pos, problem.weight_pos), (problem.neg, problem.weight_neg)):
        order = np.argsort(scores)
        parts.append((np.array(scores)[order], np.empty(0) if weight is None else np.array(weight)[order]))
    (pos, u), (neg, v) = parts
    return pos, neg, u, v


def pairs(pos, neg, u, v):
    """Rounded differences and exact weights and errors, as matrices with one row per positive."""
    rounded = np.subtract.outer(-pos, -neg)
    weight = [
        [Fraction(a) * Fraction(b) for b in (v if v.size else np.ones(neg.size))]
        for a in (u if u.size else np.ones(pos.size))
    ]
    error = [[Fraction(n) - Fraction(p) for n in neg] for p in pos]
    return rounded, np.array(weight, dtype=object), np.array(error, dtype=object)


@given(problems(), LEVELS, LEVELS, st.floats(-5, 5))
def test_tails(problem, level, other, threshold):
    pos, neg, u, v = sorted_classes(problem)
    rounded, weight, error = pairs(pos, neg, u, v)
    terms = (error - Fraction(threshold)) * weight
    sums = running_sums(u, np.empty(0)), running_sums(pos, u)
    above, counts = rounded > level, rank_counts_above(pos, neg, level)
    below, over = rounded[~above].max(initial=-np.inf), rounded[above].min(initial=np.inf)
    assert nearest_errors(pos, neg, counts) == (below, over)

    count, value, bound = tail_sums(neg, v, *sums, counts, threshold)
    assert count == pytest.approx(float(weight[above].sum()), rel=1e-15)
    assert abs(Fraction(value) - terms[above].sum()) <= bound
    size = abs(weight).sum() * Fraction(float(np.abs([*pos, *neg, threshold]).max()))
    between = (rounded > min(level, other)) & ~(rounded > max(level, other))
    bounds = [rank_counts_above(pos, neg, z) for z in (max(level, other), min(level, other))]
    middle = 0.5 * max(level, other) + 0.5 * min(level, other) if np.isfinite(level + other) else level
    within = rank_counts_between(pos, neg, middle, *bounds)
    np.testing.assert_array_equal(within, rank_counts_above(pos, neg, middle))
    for inside, first, last in ((above, np.zeros_like(counts), counts), (between, *bounds)):
        c_hi, c_lo, d_hi, d_lo, bound = tail_sums_exact(pos, neg, v, *sums, first, last, threshold)
        assert abs(Fraction(c_hi) + Fraction(c_lo) - weight[inside].sum()) <= weight.sum() * Fraction(2) ** -98
        assert abs(Fraction(d_hi) + Fraction(d_lo) - terms[inside].sum()) <= bound
        assert bound <= 2.0**-90 * float(size)


@given(problems(), LEVELS)
def test_rank_counts(problem, level):
    pos, neg, _, _ = sorted_classes(problem)
    np.testing.assert_array_equal(
        rank_counts_above(pos, neg, level), (np.subtract.outer(-pos, -neg) > level).sum(axis=0)
    )


@given(problems())
def test_concordance(problem):
    classes = sorted_classes(problem)
    _, weight, error = pairs(*classes)
    expected = [float(weight[part].sum()) for part in (error < 0, error == 0, error == error)]
    assert concordance(*classes) == pytest.approx(expected, rel=1e-15)


def test_counts_beyond_the_doubles_of_a_running_sum_are_exact():
    """Weights 2⁻⁶⁰ beside 1: the small ones would be lost in one running double."""
    pos, neg = np.arange(1.0, 1026.0), np.zeros(1)
    weight = np.concatenate([[1.0], np.full(1024, 2.0**-60)])
    sums = running_sums(weight, np.empty(0)), running_sums(pos, weight)
    everyone = np.array([pos.size])
    c_hi, c_lo, *_ = tail_sums_exact(pos, neg, np.empty(0), *sums, np.zeros_like(everyone), everyone, 0.0)
    assert Fraction(c_hi) + Fraction(c_lo) == 1 + Fraction(2) ** -50


@pytest.mark.parametrize("shift", [-9.0, -0.3, 0.0, 0.3, 9.0])
def test_merges_of_long_lists(shift):
    """Ties, runs of one class, and one list that ends long before the other."""
    rng = np.random.default_rng(1)
    for sizes in ((300, 200), (1, 400), (400, 1), (2, 2)):
        pos, neg = (np.sort(rng.integers(-9, 9, size) / 3) + lead for size, lead in zip(sizes, (shift, 0), strict=True))
        none = np.empty(0)
        difference = np.subtract.outer(pos, neg)
        expected = (difference > 0).sum(), (difference == 0).sum(), difference.size
        assert concordance(pos, neg, none, none) == expected
        np.testing.assert_array_equal(rank_counts_above(pos, neg, 0.1), (-difference > 0.1).sum(axis=0))
