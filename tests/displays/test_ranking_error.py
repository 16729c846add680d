"""Histogram of the ranking errors: exact counts of all pairs, both tails, and what the legend says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab.displays import RankingErrorDisplay
from auclab.metrics import bauc_score
from strategies import grid_problems

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


@pytest.mark.slow
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
