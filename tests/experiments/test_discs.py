"""The law of the studies of Theorem 3 and Corollary 4: its functionals against brute force and against samples."""

import doctest

import numpy as np
import pytest
from experiments.maurer_pontil_2020 import coverage, discs, uniform

from auclab.metrics import weighted_auc

LOW, HIGH = uniform.LOW, uniform.HIGH
RAMP, INTEGRAL = discs.ramp(LOW, HIGH), discs.ramp_integral(LOW, HIGH)


def test_docstrings_run():
    assert doctest.testmod(discs).failed == 0


@pytest.mark.parametrize("kappa", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("convention", ["average", "max_rank"])
def test_plug_in_is_the_sum_over_pairs(kappa, convention):
    random = np.random.default_rng(0)
    pos, neg = np.sort(random.random(7)), np.sort(random.random(9))
    weights = discs.rank_weights(RAMP, INTEGRAL, 9)[convention]
    differences = pos[:, None] - neg[None, :]
    counted = (differences > 0).astype(float) if kappa == 0.0 else np.clip(differences / kappa, 0.0, 1.0)
    assert discs.plug_in(weights, pos, neg, kappa) == pytest.approx((counted.mean(axis=0) * weights).sum(), abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["average", "max_rank"])
def test_plug_in_of_the_step_is_the_metric(convention):
    X, y = discs.draw(np.random.default_rng(1), 500)
    scores = X @ np.array([0.6, 0.8])
    pos, neg = np.sort(scores[y == 1]), np.sort(scores[y == 0])
    ours = discs.plug_in(discs.rank_weights(RAMP, INTEGRAL, neg.size)[convention], pos, neg, 0.0)
    theirs = weighted_auc(y, scores, weight=RAMP, convention=convention, ties="strict", breakpoints=(LOW, HIGH))
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("length", "angle", "kappa"), [(1.0, 0.0, 1.0), (0.4, 1.1, 0.3), (1.0, 0.7, 0.0)])
def test_the_law_is_what_its_samples_tend_to(length, angle, kappa):
    X, y = discs.draw(np.random.default_rng(2), 200_000)
    scores = X @ (length * np.array([np.cos(angle), np.sin(angle)]))
    pos, neg = np.sort(scores[y == 1]), np.sort(scores[y == 0])
    sample = discs.plug_in(discs.rank_weights(RAMP, INTEGRAL, neg.size)["average"], pos, neg, kappa)
    # 1/√n_neg = 0.003 bounds the standard error of an average of numbers in [0, 1]
    assert discs.truth(RAMP, (LOW, HIGH), length, angle, kappa) == pytest.approx(sample, abs=0.005)
    assert np.mean(np.sum(X**2, axis=1)) == pytest.approx(discs.SQUARED_NORM, abs=0.005)
    assert np.max(np.sum(X**2, axis=1)) <= 1.0


def test_truth_of_the_normal_laws():
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 400_000)
    scores = random.standard_normal(y.size) + coverage.APART * y
    for jumps, weight in ((False, coverage.ramp), (True, coverage.step)):
        sample = weighted_auc(y, scores, weight=weight, breakpoints=coverage.BREAKS)
        assert coverage.truth("normal", "average", jumps) == pytest.approx(sample, abs=0.005)
