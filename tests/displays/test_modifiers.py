"""Modifiers: their values against twins, their pairs against the list of all pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import reference_metrics as twin
from auclab._core.base import AuclabError
from auclab.displays import ModifierDisplay
from auclab.metrics import auc_score, gauc_score, probabilistic_auc, scored_auc, soft_auc

RNG = np.random.default_rng(8)
Y = np.repeat([1, 0], [25, 35])
S = np.round(RNG.normal(size=60) + Y, 1)
WEIGHT = RNG.integers(0, 4, 60).astype(float)


def test_modifiers_are_the_functions_of_the_paper():
    display = ModifierDisplay.from_parameters(betas=[3.0], widths=[0.3], reach=1.5)
    t = display.differences
    step, scored, soft, probabilistic = display.functions.values()
    np.testing.assert_array_equal(step, np.heaviside(t, 0.5))
    np.testing.assert_allclose(scored, np.maximum(t, 0), atol=1e-15)
    np.testing.assert_allclose(soft, [twin.sigmoid(3.0 * x) for x in t], atol=1e-14)
    exact = twin.probabilistic_modifier(0.3)
    np.testing.assert_allclose(probabilistic, [float(exact(Fraction(x))) for x in t], atol=1e-14)


def test_modifiers_come_with_the_metrics_of_the_sample():
    display = ModifierDisplay.from_predictions(Y, S, betas=[2.0], widths=[0.5], sample_weight=WEIGHT)
    metrics = (auc_score, scored_auc, lambda *a, **k: soft_auc(*a, beta=2.0, **k))
    values = [metric(Y, S, sample_weight=WEIGHT) for metric in metrics]
    values.append(probabilistic_auc(Y, S, width=0.5, sample_weight=WEIGHT))
    assert list(display.values.values()) == values
    for w, value in zip(display.functions.values(), values, strict=True):
        by_curve = gauc_score(Y, S, lambda t, w=w: np.interp(t, display.differences, w), sample_weight=WEIGHT)
        assert by_curve == pytest.approx(value, abs=5e-3)  # straight lines between 401 points
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[:2] == ["pairs", f"AUC: {values[0]:.3g}"]


def test_pairs_behind_are_all_pairs():
    display = ModifierDisplay.from_predictions(Y, S, bins=17, sample_weight=WEIGHT)
    differences = np.subtract.outer(S[Y == 1], S[Y == 0]).ravel()
    weight = np.outer(WEIGHT[Y == 1], WEIGHT[Y == 0]).ravel()
    mass = display.density * np.diff(display.edges)
    assert mass.sum() == pytest.approx(1.0)
    # a bin holds its lower edge: errors ξ = −t are counted up to their upper edge, and ties at 0 go below it
    at = np.where(np.abs(differences) < 1e-12, -1e-9, differences + 1e-12)
    np.testing.assert_allclose(mass, np.histogram(at, display.edges, weights=weight)[0] / weight.sum(), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (ModifierDisplay.from_parameters, {"betas": [0.0]}, "beta"),
        (ModifierDisplay.from_parameters, {"widths": [-1.0]}, "width"),
        (ModifierDisplay.from_parameters, {"reach": 0.0}, "reach"),
    ],
)
def test_refuses_what_the_metrics_refuse(make, options, words):
    with pytest.raises(AuclabError, match=words):
        make(**options)
