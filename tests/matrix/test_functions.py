"""`feature_path` of every formulation."""

from dataclasses import replace

import numpy as np
import pytest

from auclab.runs.config.compose import built
from auclab.solvers.integer.solver import feature_path
from composed import composed
from matrix.table import SCORERS, refusal_of
from matrix.test_matrix import need, never

#: What `auclab.solve` takes beside a formulation for these kinds of rows.
MORE = {"kernel": "rbf", "groups": [0, 1] * 15, "grades": True, "times": [True, False] * 15}
NAMES = {"grades": "ordered", "times": "event"}


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_a_feature_path(scorer, monkeypatch):
    need(scorer.needs)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    words = [word for word in scorer.words if not word.startswith(("dataset", "kernel"))]
    program = built(composed(words), "formulation")
    if scorer.name.startswith("group_lasso"):  # whose groups the preprocessing gives
        program = replace(program, regulariser=replace(program.regulariser, groups=(0, 0, 1)))
    more = {NAMES.get(kind, kind): MORE[kind] for kind in scorer.name.split(", ") if kind in MORE}
    refusal = refusal_of(scorer.name, "feature path")
    if refusal is not None:
        monkeypatch.setattr("auclab.solvers.integer.solver.solve_path", never)
        with pytest.raises((ValueError, TypeError), match=refusal.sentence) as raised:
            feature_path(program, X, y, [1, 2], **more)
        assert "\n" not in str(raised.value)
        return
    found = feature_path(program, X, y, [1, 2], penalties=5, **more)
    one, two = found.solutions
    assert two.objective <= one.objective + 1e-4
    assert np.count_nonzero(one.coef) == 1
    assert np.count_nonzero(two.coef) <= 2
