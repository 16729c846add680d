"""Modifiers and polynomials: their values against twins, their pairs against the list of all pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import reference_metrics as twin
from auclab.displays import ModifierDisplay, PolynomialStepDisplay
from auclab.metrics import auc_score, gauc_score, polynomial_auc, probabilistic_auc, scored_auc, soft_auc
from auclab.types import AuclabError

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


@pytest.mark.parametrize("scale", [1.0, None])
def test_pairs_behind_are_all_pairs(scale):
    if scale:
        display = ModifierDisplay.from_predictions(Y, S, bins=17, sample_weight=WEIGHT)
    else:
        display = PolynomialStepDisplay.from_predictions(Y, S, bins=17, sample_weight=WEIGHT)
        used = np.subtract.outer(S[(Y == 1) & (WEIGHT > 0)], S[(Y == 0) & (WEIGHT > 0)])
        scale = float(np.abs(used).max())
    differences = np.subtract.outer(S[Y == 1], S[Y == 0]).ravel() / scale
    weight = np.outer(WEIGHT[Y == 1], WEIGHT[Y == 0]).ravel()
    mass = display.density * np.diff(display.edges)
    assert mass.sum() == pytest.approx(1.0)
    # a bin holds its lower edge: errors ξ = −t are counted up to their upper edge, and ties at 0 go below it
    at = np.where(np.abs(differences) < 1e-12, -1e-9, differences + 1e-12)
    np.testing.assert_allclose(mass, np.histogram(at, display.edges, weights=weight)[0] / weight.sum(), atol=1e-12)


def test_polynomials_are_those_of_polynomial_auc():
    display = PolynomialStepDisplay.from_parameters(degrees=(3, 8, 29))
    inside = np.abs(display.differences) <= 1
    for kind, name in (("chebyshev", "Chebyshev"), ("legendre", "Legendre")):
        for degree in (3, 8, 29):
            curve = display.functions[f"{name} d = {degree}"][inside][::40]
            options = {"degree": degree, "series": kind, "scale": 1.0}
            single = [polynomial_auc([1, 0], [t, 0.0], **options) for t in display.differences[inside][::40]]
            np.testing.assert_allclose(curve, single, atol=1e-13)
    assert list(display.functions) == ["step", *[f"{k} d = {d}" for k in ("Chebyshev", "Legendre") for d in (3, 8, 29)]]


def test_polynomials_come_with_the_metrics_of_the_sample():
    display = PolynomialStepDisplay.from_predictions(Y, S, degrees=(9,), sample_weight=WEIGHT)
    assert display.values == {
        "step": auc_score(Y, S, sample_weight=WEIGHT),
        "Chebyshev d = 9": polynomial_auc(Y, S, degree=9, sample_weight=WEIGHT),
        "Legendre d = 9": polynomial_auc(Y, S, degree=9, series="legendre", sample_weight=WEIGHT),
    }


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (ModifierDisplay.from_parameters, {"betas": [0.0]}, "beta"),
        (ModifierDisplay.from_parameters, {"widths": [-1.0]}, "width"),
        (ModifierDisplay.from_parameters, {"reach": 0.0}, "reach"),
        (PolynomialStepDisplay.from_parameters, {"degrees": [0]}, "degree"),
        (PolynomialStepDisplay.from_parameters, {"series": ["taylor"]}, "series"),
    ],
)
def test_refuses_what_the_metrics_refuse(make, options, words):
    with pytest.raises(AuclabError, match=words):
        make(**options)
