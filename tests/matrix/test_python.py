"""Every estimator with every use of scikit-learn: it works, or is refused in one line."""

import re

import numpy as np
import pytest

from matrix.python_table import ESTIMATORS, PYTHON_REFUSED, PYTHON_USES
from matrix.table import _entry

rng = np.random.default_rng(0)
X = rng.normal(size=(36, 3))
SIGNAL = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=36)
TARGETS = {
    "classes": (SIGNAL > 0.3).astype(int),
    "grades": np.digitize(SIGNAL, [-0.5, 0.5]),
    "times": np.empty(36, dtype=[("event", bool), ("time", float)]),
}
TARGETS["times"]["event"], TARGETS["times"]["time"] = rng.random(36) < 0.7, np.exp(-SIGNAL)


@pytest.mark.parametrize("use", PYTHON_USES, ids=lambda use: use.name)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.name)
def test_an_estimator(estimator, use):
    refusal = _entry(PYTHON_REFUSED, estimator.name, use.name)
    if refusal is not None:
        with pytest.raises((ValueError, TypeError, AttributeError), match=refusal.sentence) as raised:
            use.act(estimator, X, TARGETS[estimator.target])
        assert "\n" not in str(raised.value)
        return
    found = np.asarray(use.act(estimator, X, TARGETS[estimator.target]), dtype=float)
    assert found.shape == (36,)
    assert np.isfinite(found).all()
    assert re.search("one against|several", use.name) or abs(np.corrcoef(found, SIGNAL)[0, 1]) > 0.5
