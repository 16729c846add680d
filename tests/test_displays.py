"""Figures: what they compute, what they say in the legend, and that they can be saved."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from auclab.displays import BufferedROCDisplay, RankingErrorDisplay, ScoreHistogramDisplay
from auclab.metrics import auc_score, bauc_score, buffered_auc
from auclab.types import AuclabError
from strategies import grid_problems, problems

DISPLAYS = (BufferedROCDisplay, RankingErrorDisplay, ScoreHistogramDisplay)
CASES = {
    "overlapping": ([1, 1, 0, 0], [4.0, 1.0, 2.0, 0.0]),
    "separated": ([1, 1, 0, 0], [4.0, 3.0, 2.0, 0.0]),
    "reversed": ([1, 1, 0, 0], [0.0, 1.0, 2.0, 3.0]),
    "constant": ([1, 0, 0], [2.5, 2.5, 2.5]),
    "constant at zero": ([1, 0, 0], [0.0, 0.0, 0.0]),
    "ties": ([0] + [1] * 10, [0.0] + [1.0] * 6 + [-1.0] * 4),
    "tiny": ([1, 1, 0, 0], [4e-200, 1e-200, 2e-200, 0.0]),
}


def legend(display):
    return " | ".join(text.get_text() for text in display.ax_.get_legend().get_texts())


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("display_class", DISPLAYS)
def test_draws_every_case_into_a_png(display_class, case, tmp_path):
    display = display_class.from_predictions(*CASES[case])
    display.figure_.savefig(tmp_path / "figure.png", dpi=40)
    assert (tmp_path / "figure.png").stat().st_size > 1000
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()


@pytest.mark.parametrize("display_class", DISPLAYS)
def test_draws_into_given_axes_and_again_elsewhere(display_class):
    ax = Figure().add_subplot()
    display = display_class.from_predictions(*CASES["overlapping"], ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.plot() is display
    assert display.ax_ is not ax


def test_leaves_no_figure_in_pyplot():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    for display_class in DISPLAYS:
        display_class.from_predictions(*CASES["overlapping"])
    assert plt.get_fignums() == before
    assert "auclab.displays" in sys.modules


@settings(max_examples=30)
@given(problems())
def test_roc_areas(problem):
    y, s = problem.arguments
    weight = problem.sample_weight
    display = BufferedROCDisplay.from_predictions(y, s, sample_weight=weight)
    assert np.trapezoid(display.tpr, display.fpr) == pytest.approx(auc_score(y, s, sample_weight=weight), abs=1e-12)
    result = buffered_auc(y, s, sample_weight=weight)
    if display.buffered_fpr is None:
        assert np.isnan(result.gamma_left)
        assert "no bROC" in legend(display)
    else:
        area = np.trapezoid(display.buffered_tpr, display.buffered_fpr)
        assert area == pytest.approx(result.area_closed, abs=1e-14)
        assert (display.buffered_tpr <= 1).all()


def test_roc_legend_names_values_and_tells_ties():
    text = legend(BufferedROCDisplay.from_predictions(*CASES["ties"]))
    assert "AUC = 0.6" in text
    assert "bAUC = 0.2, γ* = −1" in text
    assert "the area is 0.6" in text
    assert "the mean error is not below 0" in legend(BufferedROCDisplay.from_predictions(*CASES["reversed"]))
    assert "no error exceeds 0" in legend(BufferedROCDisplay.from_predictions(*CASES["separated"]))
    assert "bAUC (z = 0.5)" in legend(BufferedROCDisplay.from_predictions(*CASES["overlapping"], threshold=0.5))


@settings(max_examples=60)
@given(
    grid_problems(weights="integer"),
    st.sampled_from([-9.0, -1.0, 0.0, 0.5, 2.0, 4.0, 30.0]),
    st.sampled_from([1, 7, 60]),
)
def test_histogram_counts_all_pairs_exactly(problem, z, bins):
    """Bins hold their upper edge, and errors equal to z lie above z."""
    y, s = problem.arguments
    display = RankingErrorDisplay.from_predictions(y, s, threshold=z, bins=bins, sample_weight=problem.sample_weight)
    errors = np.array([float(x) for x, _ in problem.errors])
    weight = np.array([float(w) for _, w in problem.errors])
    cuts = np.where(display.edges == z, np.nextafter(z, -np.inf), display.edges)
    above = np.array([weight[errors > cut].sum() for cut in cuts])
    counts = display.counts / display.counts.sum() * weight.sum()  # weights come scaled
    np.testing.assert_allclose(counts, above[:-1] - above[1:], rtol=0, atol=1e-9)
    assert above[0] == weight.sum()
    assert above[-1] == 0
    assert (np.diff(display.edges) > 0).all()
    assert display.counts.size <= 8 * bins + 4
    assert display.exceedance == pytest.approx(weight[errors >= z].sum() / weight.sum(), abs=1e-15)
    assert display.buffered_exceedance == pytest.approx(
        1 - bauc_score(y, s, threshold=z, sample_weight=problem.sample_weight), abs=1e-15
    )
    if not np.isnan(display.gamma):
        assert display.gamma in display.edges
        assert z in display.edges
        tail = display.counts[display.edges[:-1] >= display.gamma].sum() / display.counts.sum()
        assert tail == pytest.approx(weight[errors > display.gamma].sum() / weight.sum(), abs=1e-15)


def test_histogram_of_many_pairs_is_that_of_their_list():
    rng = np.random.default_rng(4)
    pos, neg = rng.normal(size=400) + 1, rng.normal(size=300)
    display = RankingErrorDisplay.from_predictions(np.repeat([1, 0], [400, 300]), np.concatenate([pos, neg]))
    counts, _ = np.histogram(np.subtract.outer(neg, pos), display.edges)
    np.testing.assert_array_equal(display.counts[display.counts.size // 3 :].sum(), counts[counts.size // 3 :].sum())
    assert display.counts.sum() == 120_000
    assert np.abs(display.counts - counts).sum() <= 4  # the error at γ* and its neighbours change sides


def test_error_legend_names_both_tails():
    text = legend(RankingErrorDisplay.from_predictions(*CASES["ties"]))
    assert "ξ ≥ 0: share 0.4 = 1 − AUC" in text
    assert "ξ > γ* = −1: 1 − bAUC = 0.8\n(ties at γ*: share 0.4)" in text
    assert "no γ*, no error is above 0" in legend(RankingErrorDisplay.from_predictions(*CASES["separated"]))
    assert "the mean error is not below 0" in legend(RankingErrorDisplay.from_predictions(*CASES["constant"]))


def test_score_histograms_have_area_one():
    rng = np.random.default_rng(6)
    y, s = rng.integers(0, 2, 300), rng.normal(size=300)
    display = ScoreHistogramDisplay.from_predictions(y, s, sample_weight=rng.random(300))
    for density in (display.density_pos, display.density_neg):
        assert density @ np.diff(display.edges) == pytest.approx(1.0)
    assert 10 <= display.density_pos.size <= 80
    assert ScoreHistogramDisplay.from_predictions(y, s, bins=3).density_neg.size == 3


@pytest.mark.parametrize("display_class", [RankingErrorDisplay, ScoreHistogramDisplay])
def test_refuses_no_bins(display_class):
    with pytest.raises(AuclabError, match="bins"):
        display_class.from_predictions(*CASES["overlapping"], bins=0)


@pytest.mark.parametrize("display_class", DISPLAYS)
def test_refuses_one_class(display_class):
    with pytest.raises(AuclabError, match="two classes"):
        display_class.from_predictions([1, 1], [0.0, 1.0])
