"""Level curves over the plane: scores on the grid, pairs at the kink against all pairs, landmarks, mistakes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from sklearn.preprocessing import StandardScaler

import auclab
from auclab import CSVM, AuclabError, GeneralizedBufferedAUC, RankSVM
from auclab.displays import DecisionContourDisplay
from auclab.displays.decision_contour import pairs_at_kink
from auclab.estimators import AUCClassifier
from auclab.kernels import RBF


def sample(m=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 2))
    return X, (X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.normal(size=m) > 0.8).astype(int)


def drawn(display):
    FigureCanvasAgg(display.figure_).draw()
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_a_kernel_solution_is_drawn_with_its_landmarks_and_pairs():
    X, y = sample()
    solution = auclab.solve(RankSVM(1e-2, squared=True), X, y, kernel=RBF(0.5), tolerance=1e-4)
    display = DecisionContourDisplay.from_solution(solution, X, y, n_pairs=7, resolution=20, name="rings")
    at = np.array([[display.first[3], display.second[11]]])
    assert display.scores[11, 3] == pytest.approx(solution.decision_function(at)[0])
    np.testing.assert_array_equal(display.landmarks, solution.landmarks)
    assert display.pairs.shape == (7, 2)
    assert drawn(display) == ["negatives", "positives", "pairs at the kink", f"{solution.n_landmarks} landmarks"]
    rings = display.ax_.collections[-1].get_offsets()
    np.testing.assert_allclose(rings, X[solution.landmarks])


def test_pairs_at_the_kink_are_those_of_all_pairs():
    X, y = sample()
    solution = auclab.solve(GeneralizedBufferedAUC(-0.1), X, y)
    display = DecisionContourDisplay.from_solution(solution, X, y, n_pairs=5)
    scores = solution.decision_function(X)
    kink = 1.0 + 0.1 * np.linalg.norm(solution.coef)  # 1 − z‖w‖
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    distance = abs(scores[pos][:, None] - scores[neg] - kink)
    best = np.sort(distance.min(axis=0))[:5]  # of every negative
    found = abs(scores[display.pairs[:, 0]] - scores[display.pairs[:, 1]] - kink)
    np.testing.assert_allclose(found, best, atol=1e-12)
    assert display.landmarks is None


@pytest.mark.parametrize("kink", [-0.7, 0.0, 1.3])
@pytest.mark.parametrize("seed", range(4))
def test_the_closest_pairs_without_forming_them(seed, kink):
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(-4, 5, 25) / 2.0, rng.random(25) < 0.4
    pairs = pairs_at_kink(scores, positive, kink=kink, most=100)
    distance = abs(scores[positive][:, None] - scores[~positive] - kink)
    assert sorted(pairs[:, 1]) == np.flatnonzero(~positive).tolist()
    assert positive[pairs[:, 0]].all()
    found = abs(scores[pairs[:, 0]] - scores[pairs[:, 1]] - kink)
    np.testing.assert_allclose(found, np.sort(distance.min(axis=0)), atol=1e-12)


def test_a_program_over_points_has_no_pairs():
    X, y = sample()
    solution = auclab.solve(CSVM(1e-2, squared=True), X, y, kernel=RBF(0.5), tolerance=1e-3)
    assert DecisionContourDisplay.from_solution(solution, X, y).pairs is None


def test_an_estimator_on_a_frame_keeps_its_columns_and_its_positive_class():
    X, y = sample()
    frame, words = pd.DataFrame(X, columns=["length", "width"]), np.where(y == 1, "good", "bad")
    model = AUCClassifier("ranksvm", kernel="rbf", tolerance=1e-2).fit(frame, words)
    display = DecisionContourDisplay.from_estimator(model, frame, words, resolution=15, rates=(0.1,))
    assert display.columns == ("length", "width")
    assert display.name == "AUCClassifier"
    assert drawn(display) == ["negatives", "positives (good)"]
    turned = DecisionContourDisplay.from_estimator(model, frame, words, resolution=15, pos_label="bad")
    np.testing.assert_allclose(turned.scores, -display.scores)


def test_level_curves_have_the_false_positive_rate_they_name():
    X, y = sample(400)
    model = AUCClassifier("ranksvm", kernel="rbf", tolerance=1e-2).fit(X, y)
    display = DecisionContourDisplay.from_estimator(model, X, y, rates=(0.1,))
    (line,) = [each for each in display.ax_.collections if getattr(each, "levels", None) is not None][1:2]
    share = (display.sample_scores[~display.positive] > line.levels[0]).mean()
    assert share == pytest.approx(0.1, abs=1 / (y == 0).sum())


def test_a_constant_scorer_is_drawn_without_levels():
    X, y = sample()
    solution = auclab.solve(RankSVM(5.0), X, y, kernel=RBF(0.5))
    display = DecisionContourDisplay.from_solution(solution, X, y)
    assert "0 landmarks" in drawn(display)


def test_mistakes_are_named():
    X, y = sample()
    solution = auclab.solve(RankSVM(1e-2), X, y)
    with pytest.raises(AuclabError, match="two features"):
        DecisionContourDisplay.from_solution(solution, np.c_[X, X], y)
    with pytest.raises(AuclabError, match="lengths differ"):
        DecisionContourDisplay.from_solution(solution, X, y[:-1])
    with pytest.raises(AuclabError, match="rates"):
        DecisionContourDisplay.from_solution(solution, X, y, rates=(5,))
    with pytest.raises(AuclabError, match="binary classifier"):
        DecisionContourDisplay.from_estimator(StandardScaler().fit(X), X, y)
