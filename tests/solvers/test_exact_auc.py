"""Counting pairs: the best AUC of any direction, where all directions can be listed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_programs as reference
from auclab import AuclabError, BufferedAUC, ExactAUC, solve
from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.metrics import auc_score
from auclab.samples.as_sample import as_sample
from auclab.solvers.exact_auc import solve_exact_auc
from auclab.solvers.monitor import Monitor
from auclab.solvers.verification import verify
from composed import run_here
from programs import PROBLEMS, equal_means, overlapping


@given(seed=st.integers(0, 10_000), rounded=st.booleans(), weighted=st.booleans())
def test_the_plane_can_be_listed(seed, rounded, weighted):
    rng = np.random.default_rng(seed)
    n_pos, n_neg = rng.integers(1, 8, 2)
    X, y = overlapping(seed, n_pos, n_neg, 2)
    X = np.round(X) if rounded else X
    weight = rng.integers(1, 4, y.size) if weighted else None
    solution = solve(ExactAUC(), X, y, sample_weight=weight)
    best = reference.best_auc_in_the_plane(X, y, weight)
    assert 1 - solution.objective == pytest.approx(best, abs=1e-12)
    assert solution.status is Status.OPTIMAL
    assert solution.gap <= 1e-6
    assert solution.objective >= solution.lower_bound


@pytest.mark.parametrize("data", PROBLEMS)
def test_the_value_is_auc_and_no_worse_than_that_of_bauc(data):
    X, y = PROBLEMS[data]
    solution = solve(ExactAUC(2.5), X, y)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(1 - auc_score(y, X @ solution.coef, ties="strict"), abs=1e-15)
    assert np.abs(solution.coef).max() == pytest.approx(2.5, rel=1e-12)
    buffered = solve(BufferedAUC(), X, y)
    assert 1 - solution.objective >= auc_score(y, X @ buffered.coef, ties="strict") - 1e-12
    rng = np.random.default_rng(0)
    tried = [auc_score(y, X @ rng.normal(size=X.shape[1]), ties="strict") for _ in range(500)]
    assert max(tried) <= 1 - solution.lower_bound + 1e-12


def test_counts_ignore_what_bauc_sees():
    # derivations 7.3: classes of one mean have no bAUC, whatever their AUC.
    X, y = equal_means()
    assert solve(BufferedAUC(), X, y).objective == 1.0
    assert 1 - solve(ExactAUC(), X, y).objective == 0.5


def test_a_line_has_two_directions():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 1, 0, 1]
    solution = solve(ExactAUC(), X, y)
    assert solution.coef.tolist() == [-1.0]  # two of three pairs; upwards it is one
    assert 1 - solution.objective == pytest.approx(2 / 3)


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
def test_scale_and_offset_of_the_features_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = overlapping(seed % 20, 5, 6, 2)
    scale = 10.0 ** rng.integers(-6, 7, 2)
    expected = solve(ExactAUC(), X, y).objective
    assert solve(ExactAUC(), X * scale + 100 * scale, y).objective == pytest.approx(expected, abs=1e-12)


def test_equal_observations_leave_w_at_0():
    solution = solve(ExactAUC(), np.ones((5, 2)), [1, 1, 0, 0, 0])
    assert not solution.coef.any()
    assert (solution.objective, solution.lower_bound, solution.status) == (1.0, 1.0, Status.OPTIMAL)
    assert any("all observations are equal" in note for note in solution.notes)


def test_a_limit_is_never_called_optimal():
    X, y = overlapping(42, 30, 30, 8)
    solution = solve(ExactAUC(), X, y, time_limit=1.0)
    assert solution.status is Status.TIME_LIMIT
    assert 0 <= solution.lower_bound < solution.objective < 1
    assert solution.gap == pytest.approx(1 - solution.lower_bound / solution.objective)
    assert 1 - solution.objective >= auc_score(y, X @ solve(BufferedAUC(), X, y).coef, ties="strict") - 1e-12
    bounds = [bound for _, _, bound in solution.history]
    assert bounds == sorted(bounds)


def test_refusals():
    X, y = overlapping(43, 120, 120)
    with pytest.raises(AuclabError, match=r"120 × 120 = 14,400 pairs \(at most 10,000\); use fewer observations"):
        solve(ExactAUC(), X, y)
    with pytest.raises(AuclabError, match="counting pairs needs integer variables; use solver=highs"):
        solve(ExactAUC(), X, y, solver="clarabel")
    with pytest.raises(AuclabError, match="takes no encoding"):
        solve(ExactAUC(), X, y, solver="highs", encoding="full")
    for bound in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(AuclabError, match="norm_bound must be finite and > 0"):
            ExactAUC(bound)


def test_an_experiment(tmp_path):
    small = ["dataset=artificial", "dataset.n_pos=12", "dataset.n_neg=15", "dataset.n_features=2", "split=none"]
    result = run_here(tmp_path, *small, "formulation=exact_auc", "metrics=[auc]")
    (fold,) = result.folds
    assert fold.solution.status is Status.OPTIMAL
    train = fold.parts["train"]
    assert fold.optimum.level == pytest.approx(auc_score(train.y_true, train.y_score, ties="strict"), abs=1e-12)


def test_a_point_outside_its_bound_is_uncertified_and_not_a_local_optimum():
    # Right pairs (a, ±1) with a below the margin of the integer program, which cannot have both right; a w that has
    # both, each by less than the margin, is better than the bound.
    X, y = [[0.0, 0.0], [-4.6e-7, -1.0], [-4.6e-7, 1.0], [-2.0, 0.0]], [1, 0, 0, 0]
    problem = Problem(ExactAUC(), as_sample(X, y))
    start = np.array([1.0, 2e-7]) / problem.sample.spread
    assert problem.objective(start, 0.0) == 0.0
    raw = solve_exact_auc(problem, lambda: start, Monitor())
    solution = verify(problem, raw, "highs", 1e-6)
    assert solution.objective == 0.0
    assert solution.status is Status.UNCERTIFIED
    assert np.isnan(solution.lower_bound)
    assert np.isnan(solution.gap)
    assert "local" not in solution.status.advice
    assert any("separates pairs by less than 1e-06" in note for note in solution.notes)
