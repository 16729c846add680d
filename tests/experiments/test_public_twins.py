"""Functions of the package against those that the studies wrote from the papers' definitions."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.maurer_pontil_2020 import discs
from experiments.ratigan_cowen.statements import above, random_curve

from auclab.metrics import roc_dominates, weighted_gauc


def test_dominance_is_that_of_the_rational_curves():
    random = np.random.default_rng(0)
    verdicts = []
    for _ in range(400):
        f, g = random_curve(random), random_curve(random)
        (fx, fy), (gx, gy) = (np.array(curve, dtype=float).T for curve in (f, g))
        verdicts.append(above(f, g))
        assert roc_dominates(fx, fy, gx, gy) == verdicts[-1]
    assert 20 < sum(verdicts) < 380


def test_the_plug_in_of_the_study_is_the_same_number():
    X, y = discs.draw(np.random.default_rng(0), 200)
    pos, neg = np.sort(X[y == 1, 0]), np.sort(X[y == 0, 0])
    weights = discs.rank_weights(discs.ramp(0.3, 0.8), discs.ramp_integral(0.3, 0.8), neg.size)["average"]
    found = weighted_gauc(
        y, X[:, 0], lambda t: np.clip(t / 0.4, 0, 1), weight=discs.ramp(0.3, 0.8), breakpoints=(0.3, 0.8)
    )
    assert found == pytest.approx(discs.plug_in(weights, pos, neg, 0.4), abs=1e-14)
