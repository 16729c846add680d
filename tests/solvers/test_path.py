"""Paths: every value certified, the same optimum as a solve by itself, in the order of the values."""

from dataclasses import replace

import numpy as np
import pytest

from auclab._core.base import AuclabError, Status
from auclab.estimators import AUCClassifier
from auclab.formulations import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, RankSVM
from auclab.solvers.dispatch import solve
from auclab.solvers.path import solve_path

VALUES = (0.02, 0.5, 0.004, 30.0, 0.1)  # in no order; at 30 w = 0 is optimal


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(11)
    y = np.repeat([0, 1], [80, 50])
    return rng.normal(size=(130, 5)) + 0.5 * y[:, None] * [1, 1, 0, 0, 0], y


@pytest.mark.parametrize(
    ("formulation", "solver"),
    [
        (RankSVM(1.0), "newton"),
        (RankSVM(1.0, squared=True), "newton"),
        (RankSVM(1.0, norm="l1"), "newton"),
        (CSVM(1.0), "newton"),
        (GeneralizedBufferedAUC(-1.0), "newton"),
        (ECSVM(-1.0, norm="linf"), "newton"),
        (RankSVM(1.0), "cutting_plane"),
        (RankSVM(1.0, norm="l1"), "highs"),
        (RankSVM(1.0), "auto"),
    ],
)
def test_a_path_is_what_single_solves_are(data, formulation, solver):
    X, y = data
    parameter = "threshold" if hasattr(formulation, "threshold") and formulation.threshold else "penalty"
    values = [-value for value in VALUES] if parameter == "threshold" else VALUES
    path = solve_path(formulation, X, y, values, parameter=parameter, solver=solver)
    assert [getattr(solution.formulation, parameter) for solution in path] == list(values)
    for value, solution in zip(values, path, strict=True):
        alone = solve(replace(formulation, **{parameter: value}), X, y, solver=solver)
        assert solution.status is Status.OPTIMAL
        assert solution.gap <= 1e-6
        assert solution.objective == pytest.approx(alone.objective, rel=2e-6)


def test_a_start_is_used_and_may_be_bad(data):
    """A good start saves steps; a bad one costs no more than the certificate allows."""
    X, y = data
    first = solve(RankSVM(0.05), X, y, solver="newton")
    again = solve(RankSVM(0.05), X, y, solver="newton", start=(first.coef, 0.0))
    assert again.iterations <= first.iterations
    for start in (-50.0 * first.coef, np.full(5, 1e6), np.zeros(5)):
        other = solve(RankSVM(0.05), X, y, solver="newton", start=(start, 0.0))
        assert other.status is Status.OPTIMAL
        assert other.objective == pytest.approx(first.objective, rel=2e-6)


def test_large_samples_take_their_largest_subsample(data):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 20_000)
    X = rng.normal(size=(40_000, 4)) + 0.3 * y[:, None]
    for solution in solve_path(RankSVM(1.0), X, y, [0.1, 0.02], solver="newton"):
        assert solution.status is Status.OPTIMAL


@pytest.mark.parametrize(
    ("formulation", "parameter", "values", "message"),
    [
        (BufferedAUC(), "penalty", [1.0], "none of λ"),
        (RankSVM(1.0), "threshold", [1.0], "it has penalty"),
        (RankSVM(1.0), "penalty", [], "finite numbers"),
        (RankSVM(1.0), "penalty", [np.inf], "finite numbers"),
        (RankSVM(1.0), "penalty", [0.1, -1.0], "penalty"),
    ],
)
def test_what_has_no_path_is_said(data, formulation, parameter, values, message):
    with pytest.raises(AuclabError, match=message):
        solve_path(formulation, *data, values, parameter=parameter)


def test_classifiers_of_a_path_are_fitted_classifiers(data):
    X, y = data
    model = AUCClassifier("ranksvm", penalty=1.0, solver="newton")
    path = model.fit_path(X, y, VALUES)
    assert not hasattr(model, "coef_")
    for value, fitted in zip(VALUES, path, strict=True):
        alone = AUCClassifier(RankSVM(value), solver="newton").fit(X, y)
        np.testing.assert_allclose(fitted.decision_function(X), alone.decision_function(X), atol=2e-3)
        assert fitted.get_params()["formulation"] == RankSVM(value)
        assert fitted.classes_.tolist() == [0, 1]


def test_ctrl_c_ends_the_whole_path(data, monkeypatch):
    """The solve that was interrupted comes back with its best point; the next ones are not begun."""
    begun = []

    def interrupted(problem, *args, **options):
        begun.append(problem.program.regulariser.weight)
        return replace(solve(problem.program, *data), status=Status.INTERRUPTED)

    monkeypatch.setattr("auclab.solvers.path.solve_problem", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve_path(RankSVM(1.0), *data, VALUES)
    assert begun == [30.0]
