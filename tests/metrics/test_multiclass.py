"""Hand & Till's M and one against the rest, against scikit-learn and all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from auclab.metrics import auc_score, multiclass_auc, multiclass_bauc


@given(st.integers(0, 10_000), st.integers(3, 5))
def test_values_are_those_of_scikit_learn(seed, c):
    rng = np.random.default_rng(seed)
    y = np.concatenate((np.arange(c), rng.integers(0, c, 30)))
    scores = np.round(rng.dirichlet(np.ones(c), y.size), 2)
    scores[:, -1] = 1.0 - scores[:, :-1].sum(axis=1)
    for average in ("ovo", "ovr"):
        assert multiclass_auc(y, scores, average) == pytest.approx(
            roc_auc_score(y, scores, multi_class=average, average="macro"), abs=1e-12
        )
        assert multiclass_bauc(y, scores, average) <= multiclass_auc(y, scores, average) + 1e-12


def test_weights_are_repetitions_and_columns_can_be_named():
    rng = np.random.default_rng(0)
    y, scores = np.arange(30) % 3, rng.normal(size=(30, 3))
    weight = rng.integers(0, 3, 30)
    weight[:3] = 1
    assert multiclass_auc(y, scores, sample_weight=weight) == pytest.approx(
        multiclass_auc(np.repeat(y, weight), np.repeat(scores, weight, axis=0))
    )
    assert multiclass_auc(y, scores[:, ::-1], labels=[2, 1, 0]) == pytest.approx(multiclass_auc(y, scores))


def test_two_classes_are_the_mean_of_both_columns():
    rng = np.random.default_rng(1)
    y, scores = np.arange(20) % 2, rng.normal(size=(20, 2))
    expected = 0.5 * (auc_score(1 - y, scores[:, 0]) + auc_score(y, scores[:, 1]))
    assert multiclass_auc(y, scores) == pytest.approx(expected)
    assert multiclass_auc(y, scores, "ovr") == pytest.approx(expected)
