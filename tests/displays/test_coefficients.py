"""The bars are the shares, in their order, and no name is read as a formula."""

import math

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from auclab.displays.coefficients import draw_coefficients


def test_a_bar_for_each_column_the_largest_above():
    figure = draw_coefficients(["a$b$", "x" * 60, "c"], [0.5, 0.3, 0.2], [1, 0, -1], deviations=[0.1, math.nan, 0.0])
    FigureCanvasAgg(figure).draw()
    (ax,) = figure.axes
    bars = sorted((bar.get_y(), bar.get_width()) for bar in ax.patches)
    assert [width for _, width in bars] == pytest.approx([0.5, 0.3, 0.2])
    assert ax.yaxis_inverted()
    assert [text.get_text() for text in ax.get_yticklabels()] == [r"a\$b\$", f"{'x' * 27}…", "c"]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {
        "score rises", "score falls", "categories, dates"
    }  # fmt: skip
    for text in ax.get_yticklabels():
        assert text.get_window_extent().x0 >= 0


def test_axes_of_the_caller_are_used():
    ax = Figure().add_subplot()
    assert draw_coefficients(["a"], [1.0], [1], ax=ax) is ax.figure
