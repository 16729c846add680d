"""Algorithm 2 of Calders & Jaroszewicz as printed: its steps, and what an offset of the columns costs it."""

import numpy as np
import pytest
from experiments.calders_jaroszewicz_2007.published_ascent import PublishedAscentClassifier, published_ascent

from auclab.estimators import PolynomialAUCClassifier
from auclab.metrics import auc_score
from auclab.metrics.polynomial import step_series
from auclab.samples.as_sample import as_sample
from programs import overlapping


def test_published_steps_are_those_of_the_paper_with_all_pairs():
    # Algorithm 2 by forming every pair, in extended precision where powers would lose digits: two steps, degree 9.
    X, y = overlapping(53, 6, 8)
    d = (X[y == 1][:, None, :] - X[y == 0][None, :, :]).reshape(-1, X.shape[1])
    series = step_series(9, "chebyshev")
    coef = as_sample(X, y).mean_difference
    path = []
    for _ in range(2):
        coef = coef / np.abs(d @ coef).max()
        g = (series.deriv()(d @ coef)[:, None] * d).mean(axis=0)
        g = g / np.abs(d @ g).max()
        angles = np.arange(0, 2 * np.pi, 0.01)
        values = series(d @ (np.outer(coef, np.cos(angles)) + np.outer(g, np.sin(angles))) / np.sqrt(2)).mean(axis=0)
        best = values.argmax()
        coef = (np.cos(angles[best]) * coef + np.sin(angles[best]) * g) / np.sqrt(2)
        path.append(values[best])
    start = as_sample(X, y).mean_difference
    found = published_ascent(as_sample(X, y), series, start, max_iter=2)
    assert found.path == pytest.approx(path, abs=1e-9)
    np.testing.assert_allclose(found.coef, coef, atol=1e-9)


def test_an_offset_costs_it_its_digits():
    X, y = overlapping(54, 60, 70)
    moved = PublishedAscentClassifier().fit(X + 30, y)
    assert np.isfinite(moved.coef_).all()
    assert max(moved.objective_path_) > 1.2
    # Without the offset it finds as good a scorer as the stable form.
    near, stable = PublishedAscentClassifier().fit(X, y), PolynomialAUCClassifier().fit(X, y)
    assert near.objective_path_.size == 30
    assert auc_score(y, near.decision_function(X)) == pytest.approx(auc_score(y, X @ stable.coef_[0]), abs=0.01)


def test_equal_rows_leave_the_weights_at_0():
    assert not PublishedAscentClassifier().fit(np.ones((6, 2)), np.array([0, 0, 1, 1, 0, 1])).coef_.any()
