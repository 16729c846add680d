"""The curve of concordance by unit: its area is the value, and it is drawn for every kind of pairs."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from auclab import AuclabError
from auclab.displays import ConcordanceDisplay
from auclab.metrics import censored_pairs, concordance_index, grouped_auc, ordered_pairs


def made(size=80, seed=0):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=size), 1)  # with ties
    grades = np.digitize(scores + rng.normal(size=size), [-1.0, 0.0, 1.0])
    return (
        scores,
        grades,
        rng.integers(0, 9, size),
        np.ceil(9 * rng.exponential(np.exp(-scores))),
        rng.random(size) < 0.7,
    )


def area(display):
    return float(np.diff(display.shares, prepend=0.0) @ display.concordance)


@pytest.mark.parametrize("weights", ["pairs", "groups"])
def test_the_area_is_the_grouped_auc(weights):
    scores, grades, groups, _, _ = made()
    display = ConcordanceDisplay.from_pairs(ordered_pairs(grades, groups, group_weights=weights), scores)
    assert area(display) == pytest.approx(grouped_auc(grades, scores, groups, weights=weights), abs=1e-12)
    assert display.units == "group"
    assert display.estimate.value == pytest.approx(area(display), abs=1e-12)
    in_group = [grouped_auc(grades[groups == g], scores[groups == g], np.zeros((groups == g).sum())) for g in range(9)]
    np.testing.assert_allclose(display.concordance, np.sort(in_group), atol=1e-12)


def test_the_area_is_the_concordance_and_that_of_grades():
    scores, grades, _, time, event = made()
    display = ConcordanceDisplay.from_pairs(censored_pairs(time, event), scores)
    assert area(display) == pytest.approx(concordance_index(time, event, scores), abs=1e-12)
    assert display.units == "row"
    assert (np.diff(display.concordance) >= 0).all()
    assert display.shares[-1] == pytest.approx(1.0)
    of_grades = ConcordanceDisplay.from_pairs(ordered_pairs(grades), scores)
    assert area(of_grades) == pytest.approx(grouped_auc(grades, scores, np.zeros(grades.size)), abs=1e-12)


def test_scorers_stand_in_one_figure_with_their_intervals():
    scores, _, _, time, event = made()
    pairs = censored_pairs(time, event)
    first = ConcordanceDisplay.from_pairs(pairs, scores, name="risk")
    second = ConcordanceDisplay.from_pairs(pairs, -scores, name="reversed", ax=first.ax_)
    assert first.ax_ is second.ax_
    assert first.line_.get_color() != second.line_.get_color()
    found = first.estimate
    words = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert words[0] == f"risk, {found.value:.3f} ({found.lower:.3f} to {found.upper:.3f})"
    assert first.estimate.value + second.estimate.value == pytest.approx(1.0)
    assert first.ax_.get_ylabel() == "ranked right, by row"
    figure = first.figure_
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text in first.ax_.get_legend().get_texts():
            box = text.get_window_extent(canvas.get_renderer())
            assert 0 <= box.x0 <= box.x1 <= figure.bbox.width


def test_what_has_no_value_has_no_curve():
    with pytest.raises(AuclabError, match="scores has 1 entries"):
        ConcordanceDisplay.from_pairs(ordered_pairs([0, 1]), [0.5])
    with pytest.raises(AuclabError, match="level"):
        ConcordanceDisplay.from_pairs(ordered_pairs([0, 1, 2]), [0.5, 1.0, 2.0], level=1.5)
