"""The curve is the one that was given, with the number of features at each point."""

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from auclab.displays.frontier import draw_frontier


def test_norms_over_levels_on_a_logarithmic_scale():
    figure = draw_frontier([0.2, 0.6, 0.9], [0.1, 1.0, 50.0], baucs=[0.4, 0.7, 0.91], features=[1, 4, 12], best=0.95)
    FigureCanvasAgg(figure).draw()
    (ax,) = figure.axes
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.get_lines()}
    assert drawn["required bAUC, α"] == [[0.2, 0.1], [0.6, 1.0], [0.9, 50.0]]
    assert drawn["bAUC of the scores"] == [[0.4, 0.1], [0.7, 1.0], [0.91, 50.0]]
    assert drawn["largest, 0.95"][0][0] == 0.95
    assert [text.get_text() for text in ax.texts] == ["1", "4", "12"]
    assert ax.get_yscale() == "log"


def test_axes_of_the_caller_are_used():
    ax = Figure().add_subplot()
    assert draw_frontier([0.5], [1.0], norm_label="cost·|w|", ax=ax) is ax.figure
    assert ax.get_ylabel() == "least cost·|w|"
