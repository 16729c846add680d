"""Medians are those of scikit-learn's imputer."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.impute import SimpleImputer

from auclab.datasets.steps import MedianImputer


@given(seed=st.integers(0, 10_000), rows=st.integers(1, 9), framed=st.booleans(), objects=st.booleans())
def test_medians_are_those_of_scikit_learn(seed, rows, framed, objects):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (rows, 3)) * 0.1
    X[rng.random(X.shape) < 0.3] = np.nan
    X = pd.DataFrame(X, columns=["a", "b", "c"]).assign(count=rng.integers(0, 9, rows)) if framed else X
    X = X.astype(object) if objects else X
    theirs, ours = SimpleImputer(strategy="median", keep_empty_features=True), clone(MedianImputer())
    np.testing.assert_array_equal(ours.fit_transform(X), theirs.fit_transform(X))
    np.testing.assert_array_equal(ours.statistics_, theirs.statistics_)
    assert ours.get_feature_names_out(None if framed else ["a", "b", "c"]).tolist()[:3] == ["a", "b", "c"]


def test_new_rows_get_the_medians_of_the_first():
    X = pd.DataFrame({"size": [1.0, 2.0, 9.0]})
    assert MedianImputer().fit(X).transform(pd.DataFrame({"size": [np.nan, 5.0]})).tolist() == [[2.0], [5.0]]
