"""Items: bins and categories of a table as zeros and ones."""

import numpy as np
import pandas as pd
import pytest

from auclab import AuclabError
from auclab.scorecards import ItemEncoder


def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"a": rng.normal(size=100), "b": rng.choice(["x", "y", "z"], 100), "c": rng.integers(0, 2, 100)}
    )


def test_bins_of_a_feature_are_true_for_each_row_once():
    X = frame()
    encoder = ItemEncoder(bins=4).fit(X)
    matrix = encoder.transform(X)
    assert set(np.unique(matrix)) == {0.0, 1.0}
    for feature, expected in ((0, 4), (1, 3)):
        columns = encoder.groups_ == feature
        assert columns.sum() == expected
        assert (matrix[:, columns].sum(axis=1) == 1).all()
    assert (encoder.groups_ == 2).sum() == 1  # of two values one item is enough


def test_only_the_training_part_decides():
    X = frame()
    encoder = ItemEncoder().fit(X[:50])
    before = encoder.transform(X[50:])
    far = X[50:].assign(a=lambda table: table["a"] * 1e6)
    np.testing.assert_array_equal(encoder.transform(X[50:]), before)
    assert encoder.transform(far).shape == before.shape


def test_given_cut_points_are_the_bins():
    X = frame()
    encoder = ItemEncoder(cut_points={"a": [-1.0, 1.0]}, least_share=0.0).fit(X)
    assert encoder.get_feature_names_out()[:3].tolist() == ["a < -1", "a -1 to < 1", "a ≥ 1"]
    np.testing.assert_array_equal(encoder.transform(X)[:, 2], X["a"] >= 1.0)


def test_trees_cut_where_the_labels_change():
    values = np.arange(100.0)[:, None]
    encoder = ItemEncoder("tree", bins=2).fit(values, values[:, 0] >= 37)
    assert [item.low for item in encoder.items_] == [37.0]


def test_missing_values_are_an_item_of_their_own():
    X = pd.DataFrame({"a": [1.0, np.nan, 3.0, 4.0], "b": ["x", None, "y", "y"]})
    encoder = ItemEncoder(bins=2).fit(X)
    names = encoder.get_feature_names_out().tolist()
    assert {"a is missing", "b is missing"} <= set(names)
    row = dict(zip(names, encoder.transform(X)[1], strict=True))
    assert row["a is missing"] == row["b is missing"] == 1.0
    assert sum(row.values()) == 2.0


def test_candidates_are_those_that_tell_the_classes_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    encoder = ItemEncoder(bins=3, max_candidates=3).fit(X, X[:, 4] > 0.3)
    assert len(encoder.items_) == 3
    assert 4 in encoder.groups_


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"binning": "kmeans"}, "choose one of"),
        ({"bins": 1}, "at least 2"),
        ({"least_share": 0.7}, "least_share"),
        ({"max_candidates": 2}, "pass y"),
        ({"cut_points": {"nowhere": [1.0]}}, "no column"),
    ],
)
def test_bad_settings_are_refused(settings, said):
    with pytest.raises(AuclabError, match=said):
        ItemEncoder(**settings).fit(frame())


def test_a_table_without_variation_is_refused():
    with pytest.raises(AuclabError, match="no item"):
        ItemEncoder().fit(np.ones((10, 2)))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"max_candidates": 0}, "max_candidates must be a whole number of at least 1"),
        ({"max_candidates": 2.5}, "max_candidates must be a whole number"),
        ({"cut_points": {"a": [0.0, float("nan")]}}, "cut_points of 'a' are .* finite"),
    ],
)
def test_candidates_and_cut_points_are_checked(choices, message):
    with pytest.raises(AuclabError, match=message):
        ItemEncoder(**choices).fit(frame(), np.arange(100) % 2)
