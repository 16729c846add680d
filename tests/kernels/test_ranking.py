"""The sweeps against sums over all pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab.kernels.ranking import concordance, partners_above, tail_count, tail_sum, tail_sum_exact
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


@given(problems(), LEVELS, st.floats(-5, 5))
def test_tails(problem, level, threshold):
    classes = sorted_classes(problem)
    rounded, weight, error = pairs(*classes)
    above = rounded > level
    count, excess = weight[above].sum(), ((error - Fraction(threshold)) * weight)[above].sum()
    below, over = rounded[~above].max(initial=-np.inf), rounded[above].min(initial=np.inf)

    assert tail_count(*classes, level) == pytest.approx((float(count), below, over), rel=1e-15)
    value, bound, *neighbours = tail_sum(*classes, level, threshold)
    assert neighbours == [below, over]
    assert abs(Fraction(value) - excess) <= bound
    c_hi, c_lo, d_hi, d_lo, bound = tail_sum_exact(*classes, level, threshold)
    assert abs(Fraction(c_hi) + Fraction(c_lo) - count) <= count * Fraction(2) ** -98
    assert abs(Fraction(d_hi) + Fraction(d_lo) - excess) <= bound
    size = abs(weight).sum() * Fraction(float(np.abs([*classes[0], *classes[1], threshold]).max()))
    assert bound <= 2.0**-90 * float(size)


@given(problems(), LEVELS)
def test_partners(problem, level):
    pos, neg, _, _ = sorted_classes(problem)
    np.testing.assert_array_equal(partners_above(pos, neg, level), (np.subtract.outer(-pos, -neg) > level).sum(axis=0))


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
    c_hi, c_lo, *_ = tail_sum_exact(pos, neg, weight, np.empty(0), -np.inf, 0.0)
    assert Fraction(c_hi) + Fraction(c_lo) == 1 + Fraction(2) ** -50
