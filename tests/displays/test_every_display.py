"""What all displays promise: every case draws, axes are reused, estimators and weights are understood, text fits."""

from __future__ import annotations

from dataclasses import fields

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab._core.base import AuclabError
from auclab.displays import (
    BufferedROCDisplay,
    LesserAreaDisplay,
    ModifierDisplay,
    RankingErrorDisplay,
    ROCBandDisplay,
    ROCHullDisplay,
    ScoreHistogramDisplay,
    VOROSDisplay,
    WeightedAUCDisplay,
)

OPTIONS = {
    BufferedROCDisplay: {"thresholds": (0.0, 0.5)},
    LesserAreaDisplay: {"measure": ("beta", 2.0, 5.0)},
    ModifierDisplay: {"bins": 20},
    RankingErrorDisplay: {"bins": 20},
    ROCBandDisplay: {"at": (0.1, 0.3), "resamples": 100},
    ROCHullDisplay: {"cost_shares": (0.0, 0.3, 1.0)},
    ScoreHistogramDisplay: {"bins": 20},
    VOROSDisplay: {"cost_range": (0.1, 0.9)},
    WeightedAUCDisplay: {"weight": lambda s: s**2},
}
ALL = pytest.mark.parametrize("display_class", OPTIONS)
CASES = {
    "separated": ([1, 1, 0, 0], [4.0, 3.0, 2.0, 0.0]),
    "constant at zero": ([1, 0, 0], [0.0, 0.0, 0.0]),
    "tiny": ([1, 1, 0, 0], [4e-200, 1e-200, 2e-200, 0.0]),
}


def sample(size=60, seed=3):
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 2
    return y, rng.normal(size=size) + 1.2 * y


def axes_for(display_class):
    return Figure().add_subplot(projection="3d" if display_class is VOROSDisplay else None)


def assert_same(one, other, **tolerance):
    """All numbers and arrays that two displays hold are the same."""
    for item in fields(one):
        a, b = getattr(one, item.name), getattr(other, item.name)
        if item.name == "curves":
            for first, second in zip(a, b, strict=True):
                assert first.result.value == pytest.approx(second.result.value, **tolerance)
                np.testing.assert_allclose(first.tpr, second.tpr, **{"atol": 1e-12})
        elif item.name == "counts":
            np.testing.assert_allclose(a / a.sum(), b / b.sum(), atol=1e-12)
        elif isinstance(a, dict):
            assert list(a) == list(b)
            for key in a:
                np.testing.assert_allclose(a[key], b[key], atol=1e-12)
        elif isinstance(a, np.ndarray | float):
            np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.slow
@pytest.mark.covering
@ALL
@pytest.mark.parametrize("case", CASES)
def test_draws_every_case(display_class, case):
    display = display_class.from_predictions(*CASES[case], **OPTIONS[display_class])
    display.figure_.draw_without_rendering()
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()


@ALL
def test_no_text_leaves_the_column(display_class):
    """Words inside the figure, which is one column wide, at a size that can be read."""
    display = display_class.from_predictions(*sample(), name="a scorer", **OPTIONS[display_class])
    figure = display.figure_
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert figure.get_size_inches()[0] == pytest.approx(3.3)
    words = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    for text in words:
        box = text.get_window_extent(canvas.get_renderer())
        if box.width and _is_drawn(text, display.ax_):
            assert box.x0 >= -1, text
            assert box.y0 >= -1, text
            assert box.x1 <= figure.bbox.width + 1, text
            assert box.y1 <= figure.bbox.height + 1, text
            assert text.get_fontsize() >= 7


def _is_drawn(text, ax):
    """Not a tick label outside of its axis."""
    for axis in [axis for axes in (ax, *ax.child_axes) for axis in axes._axis_map.values()]:
        for tick in axis.get_major_ticks():
            if text in (tick.label1, tick.label2):
                low, high = sorted(axis.get_view_interval())
                return low <= tick.get_loc() <= high and text.get_visible()
    return True


@ALL
def test_draws_into_given_axes_and_again_elsewhere(display_class):
    ax = axes_for(display_class)
    display = display_class.from_predictions(*sample(), ax=ax, **OPTIONS[display_class])
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display._repr_png_() is None  # that figure is somebody else's
    assert display.plot() is display
    assert display.ax_ is not ax
    assert display._repr_png_().startswith(b"\x89PNG")


@ALL
def test_touches_neither_pyplot_nor_the_settings(display_class):
    import matplotlib.pyplot as plt

    before, settings = plt.get_fignums(), dict(mpl.rcParams)
    display_class.from_predictions(*sample(), **OPTIONS[display_class])
    assert plt.get_fignums() == before
    assert dict(mpl.rcParams) == settings


@ALL
def test_from_estimator_is_from_predictions_of_its_scores(display_class):
    y, s = sample()
    X = np.column_stack([s, np.cos(7 * s)])
    options = {**OPTIONS[display_class], "sample_weight": 0.5 + np.arange(y.size) % 3}
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    display = display_class.from_estimator(model, X, y, response_method="predict_proba", **options)
    assert_same(display, display_class.from_predictions(y, model.predict_proba(X)[:, 1], **options))
    assert display.name == "Pipeline"


@ALL
def test_from_estimator_prefers_the_scores_to_probabilities_and_minds_the_positive_class(display_class):
    y, s = sample()
    words, X = np.where(y == 1, "good", "bad"), s[:, None]
    options = OPTIONS[display_class]
    model = LogisticRegression().fit(X, words)  # classes_[1] is "good"
    by_scores = display_class.from_estimator(model, X, words, **options)
    assert_same(by_scores, display_class.from_predictions(y, model.decision_function(X), **options))
    turned = display_class.from_estimator(model, X, words, pos_label="bad", name="turned", **options)
    assert_same(turned, display_class.from_predictions(1 - y, -model.decision_function(X), **options))
    assert turned.name == "turned"
    bayes = GaussianNB().fit(X, y)  # has probabilities only
    by_chance = display_class.from_estimator(bayes, X, y, **options)
    assert_same(by_chance, display_class.from_predictions(y, bayes.predict_proba(X)[:, 1], **options))


@ALL
def test_integer_weights_are_repeated_rows(display_class):
    y, s = sample()
    weight = np.arange(y.size) % 4
    weight[s.argmin()] = weight[s.argmax()] = 1  # the range of the scores stays
    options = OPTIONS[display_class]
    weighted = display_class.from_predictions(y, s, sample_weight=weight, **options)
    assert_same(weighted, display_class.from_predictions(np.repeat(y, weight), np.repeat(s, weight), **options))


@ALL
def test_bad_input_has_the_words_of_the_metrics(display_class):
    options = OPTIONS[display_class]
    with pytest.raises(AuclabError, match="two classes"):
        display_class.from_predictions([1, 1], [0.0, 1.0], **options)
    with pytest.raises(AuclabError, match="nan"):
        display_class.from_predictions([1, 0], [0.0, np.nan], **options)
    with pytest.raises(AuclabError, match="pos_label"):
        display_class.from_predictions(["a", "b"], [0.0, 1.0], **options)
    with pytest.raises(AuclabError, match="lengths differ"):
        display_class.from_predictions([1, 0], [0.0, 1.0, 2.0], **options)
    with pytest.raises(AuclabError, match="sample_weight"):
        display_class.from_predictions([1, 0], [0.0, 1.0], sample_weight=[1.0, -1.0], **options)
    with pytest.raises(ValueError, match="binary classifier"):
        display_class.from_estimator(StandardScaler().fit([[0.0], [1.0]]), [[0.0], [1.0]], [0, 1], **options)


@pytest.mark.parametrize("display_class", [RankingErrorDisplay, ScoreHistogramDisplay, ModifierDisplay])
def test_refuses_no_bins(display_class):
    with pytest.raises(AuclabError, match="bins"):
        display_class.from_predictions(*CASES["separated"], bins=0)


def test_a_second_display_in_the_axes_of_a_first_has_its_style():
    y, s = sample()
    first = BufferedROCDisplay.from_predictions(y, s, name="first")
    size = first.ax_.get_legend().get_texts()[0].get_fontsize()
    second = BufferedROCDisplay.from_predictions(y, -s, name="second", ax=first.ax_, curve_kwargs={"color": "red"})
    words = [text.get_text() for text in second.ax_.get_legend().get_texts()]
    assert [word.partition(",")[0] for word in words] == ["first", "first", "second", "second"]
    assert {text.get_fontsize() for text in second.ax_.get_legend().get_texts()} == {size}
    assert second.line_.get_color() == "red"
    assert sum(line.get_label() == "_chance" for line in second.ax_.get_lines()) == 1
