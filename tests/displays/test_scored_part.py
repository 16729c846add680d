"""Displays of scores that are sorted already: the same figure, and no second sort."""

import numpy as np
import pytest

from auclab.displays import BufferedROCDisplay, RankingErrorDisplay, ScoreHistogramDisplay
from auclab.metrics import ScoredPart, registry

DISPLAYS = (BufferedROCDisplay, RankingErrorDisplay, ScoreHistogramDisplay)


def sample():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    return y, np.round(random.standard_normal(80) + y, 1), random.integers(0, 3, 80).astype(float)


def numbers(display):
    return {key: value for key, value in vars(display).items() if isinstance(value, float | np.ndarray)}


@pytest.mark.parametrize("display_class", DISPLAYS)
def test_the_same_numbers_as_from_predictions(display_class):
    y, scores, weight = sample()
    expected = display_class.from_predictions(y, scores, sample_weight=weight)
    display = display_class.from_scored_part(ScoredPart(y, scores, weight))
    assert numbers(display)
    for key, value in numbers(expected).items():
        np.testing.assert_array_equal(numbers(display)[key], value)


def test_three_displays_sort_once(monkeypatch):
    sort, calls = registry.class_scores, []
    monkeypatch.setattr(registry, "class_scores", lambda *args, **options: calls.append(1) or sort(*args, **options))
    y, scores, _ = sample()
    part = ScoredPart(y, scores)
    for display_class in DISPLAYS:
        display_class.from_scored_part(part)
    assert len(calls) == 1


def test_the_options_of_the_displays():
    y, scores, _ = sample()
    part = ScoredPart(y, scores)
    family = BufferedROCDisplay.from_scored_part(part, thresholds=(0.0, 0.5), name="family", pos_label="ill")
    assert [curve.threshold for curve in family.curves] == [0.0, 0.5]
    assert "(ill)" in family.ax_.get_xlabel()
    assert ScoreHistogramDisplay.from_scored_part(part, bins=3).edges.size == 4
    assert RankingErrorDisplay.from_scored_part(part, threshold=0.5).threshold == 0.5
