"""Rules that cut scores into two classes, against every possible cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import AuclabError
from auclab.estimators.calibration import decision_threshold, read_rule

RULES = ["prior", ("prior", 0.2), "youden", ("cost", 1.0, 3.0), ("cost", 2.0, 1.0), ("fpr", 0.1), ("fpr", 0.0)]


def sample(seed, size=30):
    rng = np.random.default_rng(seed)
    y = np.r_[1, 0, rng.integers(0, 2, size)]
    return y, rng.integers(-4, 5, size + 2) + y, rng.integers(1, 4, size + 2)


def loss(rule, y, called, weight):
    """What a rule minimises, counted row by row."""
    name, numbers = read_rule(rule)
    fp, fn = weight[called & (y == 0)].sum(), weight[~called & (y == 1)].sum()
    if name == "prior":
        return abs(
            weight[called].sum() / weight.sum() - (numbers[0] if numbers else weight[y == 1].sum() / weight.sum())
        )
    if name == "youden":
        return fp / weight[y == 0].sum() + fn / weight[y == 1].sum()
    if name == "cost":
        return numbers[0] * fp + numbers[1] * fn
    return fn if fp <= numbers[0] * weight[y == 0].sum() else np.inf


@given(seed=st.integers(0, 10_000), rule=st.sampled_from(RULES))
def test_no_other_cut_is_better(seed, rule):
    y, s, weight = sample(seed)
    cut = decision_threshold(y, s, rule, sample_weight=weight)
    others = [s.min() - 1.0, *(np.unique(s) + 0.25)]
    best = min(loss(rule, y, s > other, weight) for other in others)
    assert loss(rule, y, s > cut, weight) == pytest.approx(best, abs=1e-12)


@given(seed=st.integers(0, 10_000), rule=st.sampled_from(RULES))
def test_weights_repeat_rows_and_units_do_not_matter(seed, rule):
    y, s, weight = sample(seed)
    cut = decision_threshold(y, s, rule, sample_weight=weight)
    assert cut == decision_threshold(np.repeat(y, weight), np.repeat(s, weight), rule)
    assert decision_threshold(y, 4.0 * s, rule, sample_weight=weight) == 4.0 * cut
    moved = decision_threshold(np.r_[y, 1], np.r_[s, 100], rule, sample_weight=np.r_[weight, 0])
    assert moved == cut


def test_ends():
    y, s = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    assert decision_threshold(y, s, ("prior", 0.0)) > 4.0
    assert decision_threshold(y, s, ("prior", 1.0)) < 1.0
    assert decision_threshold(y, s, ("fpr", 1.0)) == 1.5
    assert decision_threshold(y, [7.0] * 4, "prior") > 7.0  # nothing can be told apart: none is called positive
    assert decision_threshold(y, s, 2.25) == 2.25
    assert decision_threshold(["n", "p", "n", "p"], s, "prior", pos_label="n") == 2.5


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("best", "is one of 'prior', ('prior', share), 'youden'"),
        (("fpr",), "is one of 'prior'"),
        (("fpr", 1.5), "max_fpr lies in [0, 1]"),
        (("prior", -0.1), "a share lies in [0, 1]"),
        (("cost", 1.0, -1.0), "costs must be ≥ 0"),
        (("cost", 0.0, 0.0), "one of them above 0"),
        (("cost", "a", 1.0), "needs numbers"),
        (float("nan"), "needs finite numbers"),
        (None, "is one of"),
        (True, "is one of"),
    ],
)
def test_bad_rules_are_named(rule, words):
    with pytest.raises(AuclabError) as refusal:
        decision_threshold([0, 1], [0.0, 1.0], rule)
    assert words in str(refusal.value)


def test_a_class_without_weight_is_refused():
    with pytest.raises(AuclabError, match="are all zero"):
        decision_threshold([0, 1], [0.0, 1.0], sample_weight=[1, 0])
