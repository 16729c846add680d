"""The path over numbers of features, and its figure."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from auclab import BufferedAUC, RankSVM, Status
from auclab.displays.coefficients import draw_feature_path
from auclab.solvers.integer.solver import feature_path


def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X @ np.array([2.0, 1.0, -1.0, 0.0, 0.0]) + 1.5 * rng.normal(size=60) > 0).astype(int)


def test_more_features_are_never_worse_and_the_l1_path_never_better():
    path = feature_path(BufferedAUC(), *sample(), [1, 2, 3])
    values = [each.objective for each in path.solutions]
    assert values == sorted(values, reverse=True)
    assert all(each.status is Status.OPTIMAL_WITHIN for each in path.solutions)
    assert path.l1
    for count, value in path.l1:
        assert value >= path.solutions[count - 1].lower_bound - 1e-9


@pytest.mark.parametrize("formulation", [BufferedAUC(), RankSVM(0.05, squared=True)])
def test_the_figure_has_the_values(formulation):
    path = feature_path(formulation, *sample(), [1, 2])
    figure = draw_feature_path(path)
    FigureCanvasAgg(figure).draw()
    (ax,) = figure.axes
    drawn = ax.lines[0].get_ydata()
    values = np.array([each.objective for each in path.solutions])
    np.testing.assert_allclose(drawn, 1 - values if formulation.name == "bauc" else values)
