"""The figure of the values of several configurations on the same splits."""

import numpy as np
import pandas as pd

from auclab.displays.scores import MOST_PANELS, draw_pairs


def test_every_value_is_a_dot_and_every_split_a_line():
    table = pd.DataFrame({"a": [0.9, 0.8, np.nan], "b $x$": [0.7, 0.6, 0.5]})
    figure = draw_pairs({"ionosphere": table}, metric="test/auc")
    (axes,) = figure.axes
    line, dots, mean = axes.lines
    for drawn in (line, dots):  # a gap ends a split
        np.testing.assert_array_equal(drawn.get_xdata(), [0.9, 0.7, np.nan, 0.8, 0.6, np.nan, 0.5, np.nan])
        np.testing.assert_array_equal(drawn.get_ydata(), [0, 1, np.nan, 0, 1, np.nan, 1, np.nan])
    np.testing.assert_allclose(mean.get_xdata(), [0.85, 0.6])
    assert axes.get_xlabel() == "test/auc"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", r"b \$x\$"]


def test_of_many_data_sets_the_first_are_drawn():
    tables = {f"data {k}": pd.DataFrame({"a": [0.5], "b": [0.6]}) for k in range(20)}
    assert len(draw_pairs(tables, metric="auc").axes) == MOST_PANELS
