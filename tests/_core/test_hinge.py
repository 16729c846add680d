"""The pair hinge against the sum over all pairs."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab._core import hinge
from auclab._core.hinge import LARGE, pair_hinge_active, pair_hinge_value
from strategies import GRID, problems

SHIFTS = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-3, 3))


def arrays(problem):
    """Scores and weights of a problem as the kernels take them."""
    u, v = (None if w is None else np.array(w) for w in (problem.weight_pos, problem.weight_neg))
    return np.array(problem.pos), np.array(problem.neg), u, v


@given(problems(), SHIFTS, st.sampled_from([1, LARGE]))
def test_value_is_the_mean_over_all_pairs(problem, shift, large):
    pos, neg, u, v = arrays(problem)
    terms = [(max(Fraction(shift) + x, Fraction(0)), w) for x, w in problem.errors]
    expected = float(sum(h * w for h, w in terms) / sum(w for _, w in terms))
    with patch.object(hinge, "LARGE", large):  # from which on the sum has two parts
        assert pair_hinge_value(pos, neg, shift, u, v) == pytest.approx(expected, rel=1e-14, abs=1e-14)


@given(problems(), SHIFTS)
def test_active_weights_are_the_marginals_of_the_active_pairs(problem, shift):
    pos, neg, u, v = arrays(problem)
    weight = np.outer(np.ones(pos.size) if u is None else u, np.ones(neg.size) if v is None else v)
    weight /= weight.sum()
    active = weight * (np.subtract.outer(-pos, -neg) > -shift)
    active_pos, active_neg = pair_hinge_active(pos, neg, shift, u, v)
    np.testing.assert_allclose(active_pos, active.sum(axis=1), rtol=0, atol=1e-15)
    np.testing.assert_allclose(active_neg, active.sum(axis=0), rtol=0, atol=1e-15)
    assert active_pos.sum() == pytest.approx(active_neg.sum(), abs=1e-15)


@given(problems(), SHIFTS, st.data())
def test_subgradient_inequality_in_the_scores(problem, shift, data):
    """H(s + d) ≥ H(s) + ⟨g, d⟩ for every direction d, at ties and kinks too."""
    pos, neg, u, v = arrays(problem)
    move = st.floats(-2, 2)
    d_pos = np.array(data.draw(st.lists(move, min_size=pos.size, max_size=pos.size)))
    d_neg = np.array(data.draw(st.lists(move, min_size=neg.size, max_size=neg.size)))
    active_pos, active_neg = pair_hinge_active(pos, neg, shift, u, v)
    linear = pair_hinge_value(pos, neg, shift, u, v) - active_pos @ d_pos + active_neg @ d_neg
    assert pair_hinge_value(pos + d_pos, neg + d_neg, shift, u, v) >= linear - 1e-6 * (np.abs(pos).max() > 1e8) - 1e-13


@given(problems(scores=GRID), SHIFTS)
def test_a_pair_at_the_kink_is_not_active(problem, shift):
    pos, neg, _, _ = arrays(problem)
    kink = -(neg[0] - pos[0])
    active_pos, _ = pair_hinge_active(pos[:1], neg[:1], kink)
    assert active_pos[0] == 0.0
    active_pos, _ = pair_hinge_active(pos[:1], neg[:1], np.nextafter(kink, np.inf))
    assert active_pos[0] == 1.0


def test_order_of_the_input_is_kept():
    active_pos, active_neg = pair_hinge_active(np.array([3.0, 0.0, 1.0]), np.array([0.5, -5.0]), 1.0)
    np.testing.assert_array_equal(active_pos * 6, [0, 1, 1])
    np.testing.assert_array_equal(active_neg * 6, [2, 0])


def test_an_offset_costs_no_digits():
    """Margins 0.25 and 0.75 on an offset of 2⁴⁰ have the hinges 0.75 and 0.25, exactly."""
    assert pair_hinge_value(2.0**40 + np.array([0.25, 0.75]), np.array([2.0**40]), 1.0) == 0.5
