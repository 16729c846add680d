"""AUC(τ) and weighted AUC with a function of the score difference, against sums over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab.metrics import auc_score, gauc_score, margin_curve, scored_auc, weighted_auc, weighted_gauc

CLASSES = st.tuples(*(st.lists(st.integers(-6, 6), min_size=1, max_size=7) for _ in range(2)))


def sample(classes):
    pos, neg = (np.array(each, float) for each in classes)
    return pos, neg, np.repeat([1, 0], [pos.size, neg.size]), np.concatenate([pos, neg])


def square(s):
    return s**2


@given(CLASSES)
def test_the_margin_curve_counts_pairs(classes):
    pos, neg, y, scores = sample(classes)
    t = np.subtract.outer(pos, neg).ravel()
    margins, shares = margin_curve(y, scores, np.arange(-13, 14) / 2)
    assert shares.tolist() == [np.mean(t > margin) for margin in margins]
    assert margin_curve(y, scores, [0.0])[1][0] == auc_score(y, scores, ties="strict")
    # between whole numbers the curve is constant, so its sum over 0, 1, … is the area
    assert margin_curve(y, scores, np.arange(13.0))[1].sum() == pytest.approx(scored_auc(y, scores))


@given(CLASSES)
def test_weights_of_the_margin_curve_act_as_repeated_rows(classes):
    _, _, y, scores = sample(classes)
    repeats = np.arange(scores.size) % 3 + 1
    weighted = margin_curve(y, scores, [-1.0, 0.0, 2.0], sample_weight=repeats)[1]
    assert weighted == pytest.approx(margin_curve(np.repeat(y, repeats), np.repeat(scores, repeats), [-1, 0, 2])[1])


def test_the_default_margins_end_at_the_largest_difference():
    margins, shares = margin_curve([1, 0, 0], [5.0, 1.0, 2.0])
    assert (margins[0], margins[-1], shares[-1], margins.size) == (0.0, 4.0, 0.0, 101)


@given(CLASSES, st.sampled_from(["average", "max_rank"]))
def test_the_weighted_mean_is_the_sum_over_negatives(classes, convention):
    pos, neg, y, scores = sample(classes)

    def modifier(t):
        return np.clip(t / 3.0, 0.0, 1.0)

    total = 0.0
    for level in np.unique(neg):
        low, high = np.mean(neg < level), np.mean(neg <= level)
        step = (high**3 - low**3) / 3 if convention == "average" else high**2 * (high - low)
        total += modifier(pos - level).mean() * step
    assert weighted_gauc(y, scores, modifier, weight=square, convention=convention) == pytest.approx(total, abs=1e-14)


@given(CLASSES)
def test_the_step_gives_weighted_auc_and_a_constant_weight_gives_gauc(classes):
    _, _, y, scores = sample(classes)
    for convention in ("average", "max_rank"):
        options = {"weight": square, "convention": convention}
        step = weighted_gauc(y, scores, lambda t: t > 0, **options)
        assert step == pytest.approx(weighted_auc(y, scores, ties="strict", **options), abs=1e-14)
    same = weighted_gauc(y, scores, np.tanh, weight=np.ones_like)
    assert same == pytest.approx(gauc_score(y, scores, np.tanh), abs=1e-14)
    repeats = np.arange(scores.size) % 3 + 1
    weighted = weighted_gauc(y, scores, np.tanh, weight=square, sample_weight=repeats)
    rows = np.repeat(y, repeats), np.repeat(scores, repeats)
    assert weighted == pytest.approx(weighted_gauc(*rows, np.tanh, weight=square), abs=1e-14)
