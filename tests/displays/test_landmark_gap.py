"""Gap against landmarks: the stages of a solution, several in one figure, text inside it."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import auclab
from auclab import AuclabError, RankSVM
from auclab.displays import LandmarkGapDisplay
from auclab.kernels import RBF
from auclab.solvers.kernel.solution import Stage


@pytest.fixture(scope="module")
def solution():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.normal(size=200) > 0.8).astype(int)
    return auclab.solve(RankSVM(1e-4, squared=True), X, y, kernel=RBF(0.5), tolerance=1e-5)


def test_the_line_has_the_stages(solution):
    display = LandmarkGapDisplay.from_solution(solution, tolerance=1e-5)
    assert len(solution.stages) > 1
    np.testing.assert_array_equal(display.line_.get_xdata(), [stage.landmarks for stage in solution.stages])
    last = solution.stages[-1]
    assert display.line_.get_ydata()[-1] == pytest.approx((last.objective - last.lower_bound) / last.objective)
    assert display.gaps[-1] <= 1e-5
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["tolerance"]


def test_words_stay_in_the_figure(solution):
    display = LandmarkGapDisplay.from_solution(solution)
    canvas = FigureCanvasAgg(display.figure_)
    canvas.draw()
    for text in display.ax_.texts:
        box = text.get_window_extent(canvas.get_renderer())
        assert 0 <= box.x0 < box.x1 <= display.figure_.bbox.width
    assert display.ax_.get_legend() is None


def test_a_second_solve_in_the_same_axes():
    stages = [Stage(100, 1.0, 0.5, 0.0), Stage(200, 2.0, 0.4, 0.4)]
    first = LandmarkGapDisplay.from_stages(stages, name="first")
    assert first.gaps.tolist() == [1.0, 0.0]
    assert first.line_.get_ydata()[1] == 1e-16  # a logarithm has no 0
    second = LandmarkGapDisplay.from_stages(stages[:1], name="second", ax=first.ax_, curve_kwargs={"color": "red"})
    assert second.ax_ is first.ax_
    assert second.line_.get_color() == "red"
    assert [text.get_text() for text in second.ax_.get_legend().get_texts()] == ["first", "second"]


def test_mistakes_are_named():
    with pytest.raises(AuclabError, match="no landmarks"):
        LandmarkGapDisplay.from_solution(auclab.solve(RankSVM(0.1), [[0.0], [1.0]], [0, 1]))
    with pytest.raises(AuclabError, match="no stages"):
        LandmarkGapDisplay.from_stages([])
