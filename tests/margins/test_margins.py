"""What comparisons sum over their margins, beside the sums one margin at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from auclab import AuclabError, solve
from auclab.formulations import Composed
from auclab.losses import Hinge, SquaredHinge
from auclab.margins import COMPARISONS, AllPairs, Comparison, HardestNegatives, Points, RankedPairs, comparison_named
from auclab.regularisers import Zero
from auclab.samples.as_sample import as_sample
from extension.huber_hinge import HuberHinge


def margins(comparison, sample, scores, intercept):
    """Every margin, its weight, and the rows of the table of who takes part in it."""
    pos, neg = scores
    if comparison.name == "pairs":
        return pos[:, None] - neg[None], np.outer(sample.share_pos, sample.share_neg)
    return np.r_[pos + intercept, -(neg + intercept)], np.concatenate(sample.point_weights)


@pytest.mark.parametrize("loss", [Hinge(), HuberHinge(0.5)])
@pytest.mark.parametrize("comparison", [AllPairs(), Points()])
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_sums_are_those_of_the_margins(comparison, loss, seed, weighted):
    generator = np.random.default_rng(seed)
    X, y = np.round(generator.normal(size=(14, 2)), 1), np.arange(14) % 3 == 0  # ties
    sample = as_sample(X, y, generator.uniform(0.1, 2.0, 14) if weighted else None)
    scores, intercept, shift = sample.scores(generator.normal(size=2)), 0.3, 1.2
    each, weight = margins(comparison, sample, scores, intercept)
    error = shift - each
    (pos, neg), value, conjugate = comparison.slopes(loss.table, scores, intercept, shift, sample)
    slope = weight * loss.slope(error)
    assert value == pytest.approx((weight * loss.value(error)).sum(), abs=1e-12)
    assert comparison.mean(loss, scores, intercept, shift, sample) == pytest.approx(value, abs=1e-12)
    assert conjugate == pytest.approx((weight * loss.conjugate(loss.slope(error))).sum(), abs=1e-12)
    if comparison.name == "pairs":
        np.testing.assert_allclose(pos, slope.sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(neg, slope.sum(axis=0), atol=1e-12)
    else:
        np.testing.assert_allclose(np.r_[pos, neg], slope, atol=1e-12)


@pytest.mark.parametrize("loss", [Hinge(), HuberHinge(0.5), HuberHinge(2.0)])
@pytest.mark.parametrize("comparison", [AllPairs(), Points()])
def test_no_intercept_is_better_for_w_of_0(comparison, loss):
    sample = as_sample(np.zeros((9, 1)) + np.arange(9)[:, None], np.arange(9) < 3)
    nothing = np.zeros(3), np.zeros(6)
    value, best = comparison.null_value(loss, sample), comparison.null_intercept(loss, sample)
    assert comparison.mean(loss, nothing, best, 1.0, sample) == pytest.approx(value, abs=1e-9)
    for other in np.linspace(-2.0, 2.0, 41):
        assert comparison.mean(loss, nothing, float(other), 1.0, sample) >= value - 1e-9


def test_names():
    assert comparison_named("pairs") == AllPairs()
    assert comparison_named(Points()) == Points()
    with pytest.raises(AuclabError, match="did you mean 'pairs'"):
        comparison_named("pair")


@pytest.mark.parametrize("base", [Comparison, AllPairs, Points, HardestNegatives, RankedPairs])
def test_no_class_of_others_changes_which_margins_are_compared(base):
    with pytest.raises(TypeError, match=r"cannot be derived from .*\.Bicliques\(upper, lower, weights\)") as refusal:
        type("Mine", (base,), {"name": "pairs", "mean": lambda self, *_: 0.0})
    assert isinstance(refusal.value, AuclabError)
    assert {kind.name: kind for kind in (AllPairs(), Points())} == COMPARISONS
    assert comparison_named("pairs") == AllPairs()


def test_a_loss_that_is_zero_has_no_negative_mean():
    """Rows far apart: sums of squares of scores cancel, and every bound of the optimum is at most its value."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = solve(Composed("pairs", SquaredHinge(), Zero()), X, y == 0)
    assert 0.0 <= found.lower_bound <= found.objective <= 1e-9
