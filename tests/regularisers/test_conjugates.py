"""Conjugates of regularisers: Fenchel–Young, with equality at the slope; the best factor of a dual vector; scales."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import AuclabError
from auclab.certificates.checker.pieces import REGULARISERS
from auclab.regularisers import ElasticNet, GroupLasso, Norm, Zero

WEIGHTS = st.floats(0.01, 10.0)
ENTRIES = st.lists(st.floats(-5.0, 5.0, width=32), min_size=4, max_size=4).map(np.array)


@st.composite
def regularisers(draw):
    weight, other = draw(WEIGHTS), draw(WEIGHTS)
    norms = [Norm(name, weight, squared) for name in ("l1", "l2", "linf") for squared in (False, True)]
    return draw(st.sampled_from([*norms, ElasticNet(weight, other), GroupLasso((0, 1, 0, 2), weight)]))


def slope(regulariser, w):
    """A g with ``R(w) + R*(g) = g·w``."""
    return regulariser.slope(regulariser.norm(w)) * regulariser.norm.subgradient(w) + 2.0 * regulariser.ridge * w


@given(regularisers(), ENTRIES, ENTRIES)
def test_no_factor_proves_more_than_the_regulariser_allows(regulariser, g, w):
    """``τ·total − R*(τg)`` is at most ``total·τ − τg·w + R(w)`` for every w, so nowhere below the bound."""
    for total in (0.1, 1.0, 30.0):
        bound, scale = regulariser.dual_value(g, 0.0, total)
        assert 0.0 <= scale <= 1.0
        assert bound <= scale * total - scale * float(g @ w) + regulariser.value(w) + 1e-9


@given(regularisers(), ENTRIES)
def test_fenchel_young_holds_with_equality_at_the_slope(regulariser, w):
    g = slope(regulariser, w)
    # For a total so large that τ = 1 the bound is total − R*(g) = total − g·w + R(w).
    total = 1e4 * (1.0 + float(abs(g).max()) ** 2)
    bound, scale = regulariser.dual_value(g * (1.0 - 1e-15), 0.0, total)
    assert scale >= 1.0 - 1e-12
    assert bound == pytest.approx(total - float(g @ w) + regulariser.value(w), rel=1e-12, abs=1e-9)


@given(regularisers(), ENTRIES, st.floats(0.0, 2.0), st.floats(0.01, 20.0))
def test_the_factor_is_the_best_of_many(regulariser, g, slack, total):
    bound, _ = regulariser.dual_value(g, slack, total)
    for factor in np.linspace(0.0, 1.0, 41):
        value, taken = regulariser.dual_value(factor * g, factor * slack, factor * total)
        assert value <= bound + 1e-9 or taken < 1.0


@given(regularisers(), ENTRIES, st.floats(0.0, 2.0), st.floats(0.01, 20.0))
def test_the_rational_twin_has_the_same_value_and_bound(regulariser, g, slack, total):
    name = {"ElasticNet": "elastic_net", "GroupLasso": "group_lasso", "Norm": "norm"}[type(regulariser).__name__]
    twin = REGULARISERS[name]({field: getattr(regulariser, field) for field in regulariser.__dataclass_fields__})
    exact = [Fraction(float(entry)) for entry in g]
    low, high = twin.value(exact)
    assert float(low) == pytest.approx(regulariser.value(g), rel=1e-12)
    assert low <= high
    bound = twin.best(Fraction(total), exact, Fraction(slack))
    assert float(bound) == pytest.approx(max(0.0, regulariser.dual_value(g, slack, total)[0]), rel=1e-9, abs=1e-12)


@given(regularisers(), ENTRIES, st.floats(0.01, 100.0))
def test_units_and_scale(regulariser, w, factor):
    assert regulariser.in_units(factor).value(w) == pytest.approx(regulariser.value(factor * w), rel=1e-9)
    scaled = regulariser.with_weight(regulariser.weight * factor)
    assert scaled.value(w) == pytest.approx(factor * regulariser.value(w), rel=1e-9)
    assert scaled.weight == regulariser.weight * factor


def test_an_elastic_net_without_one_of_its_parts_is_refused_with_the_norm_that_it_is():
    with pytest.raises(AuclabError, match=r"use Norm\('l1', 0.5\)"):
        ElasticNet(0.5, 0.0)
    with pytest.raises(AuclabError, match=r"use Norm\('l2', 0.5, squared=True\)"):
        ElasticNet(0.0, 0.5)
    for weights in ((-1.0, 1.0), (1.0, np.nan)):
        with pytest.raises(AuclabError, match="of the elastic net must be finite and ≥ 0"):
            ElasticNet(*weights)


def test_no_regulariser_has_no_scale():
    assert Zero().with_weight(0.0) == Zero()
    with pytest.raises(AuclabError, match=r"Zero\(\) has no weight, got 2; take Norm\('l2', 2\)"):
        Zero().with_weight(2.0)
