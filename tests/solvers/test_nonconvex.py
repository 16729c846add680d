"""z > 0 is not convex: exact families for l1 and linf, a local method for l2 (derivations 7.5)."""

import numpy as np
import pytest

from auclab import ECSVM, AuclabError, GeneralizedBufferedAUC, solve
from auclab._core.base import NORMS, Status
from auclab.metrics import auc_score, auc_threshold, bauc_score
from auclab.solvers import nonconvex
from programs import overlapping, separable

ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


def best_direction(program, X, y, n=20_000):
    """The smallest bPOE_z over a dense scan of unit directions in the plane, pairs formed."""
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    W = np.c_[np.cos(angles), np.sin(angles)]
    W /= np.linalg.norm(W, ORDER[program.regulariser.name], axis=1)[:, None]
    return min(1 - bauc_score(y, X @ w, threshold=program.threshold) for w in W[::10])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("z", [0.1, 0.4])
def test_the_plane_can_be_scanned(norm, z):
    X, y = overlapping(17, 12, 15, 2)
    program = GeneralizedBufferedAUC(z, norm)
    solution = solve(program, X, y, solver="highs")
    scanned = best_direction(program, X, y)
    # The optimum is that of the best unit direction; the scan cannot be below it, nor far above.
    assert solution.objective <= scanned + 1e-9
    assert solution.objective == pytest.approx(scanned, abs=2e-3)
    assert solution.status is (Status.LOCAL if norm == "l2" else Status.OPTIMAL)
    assert np.isnan(solution.gap) if norm == "l2" else solution.gap <= 1e-8


@pytest.mark.parametrize("family", [GeneralizedBufferedAUC, ECSVM])
@pytest.mark.parametrize("norm", NORMS)
def test_no_random_point_is_better(family, norm):
    X, y = overlapping(18)
    program = family(0.25, norm)
    solution = solve(program, X, y)
    assert solution.solver == "highs"
    rng = np.random.default_rng(18)
    for _ in range(300):
        coef = solution.coef * rng.uniform(0.5, 2) + rng.normal(size=3) * rng.choice([0.01, 0.1, 1.0])
        intercept = solution.intercept + rng.normal() * 0.1
        assert program.value(coef, intercept, X, y) >= solution.objective - 1e-9


def test_the_family_reaches_auc_at_its_own_threshold():
    # Given the optimal scorer at z₀ of some scorer, the optimum is at least that scorer's AUC (NU Sect. 6).
    X, y = overlapping(19)
    w = solve(GeneralizedBufferedAUC(-0.05), X, y).coef
    w = w / np.linalg.norm(w, np.inf)
    z0 = auc_threshold(y, X @ w)
    solution = solve(GeneralizedBufferedAUC(z0, "linf"), X, y)
    assert 1 - solution.objective >= auc_score(y, X @ w, ties="strict") - 1e-9


def test_separable_data_have_value_zero_and_that_is_global():
    X, y = separable()
    for norm in NORMS:
        solution = solve(GeneralizedBufferedAUC(0.1, norm), X, y)
        assert solution.objective == pytest.approx(0.0, abs=1e-9)
        assert solution.status is Status.OPTIMAL


def test_after_the_value_zero_no_other_start_is_tried(monkeypatch):
    """Under a time limit it could end before the solver says that the value is optimal."""
    X, y = separable(5)

    def starts(_):
        yield np.zeros(X.shape[1])
        pytest.fail("the first start has the value 0")

    monkeypatch.setattr(nonconvex, "_starts", starts)
    found = solve(GeneralizedBufferedAUC(0.1), X, y)
    assert found.status is Status.OPTIMAL
    assert not any("local optimum" in note for note in found.notes)


def test_convex_solvers_and_large_l1_families_are_refused():
    X, y = overlapping(20)
    with pytest.raises(AuclabError, match=r"z = 0\.5 > 0 makes it not convex; use solver=highs"):
        solve(GeneralizedBufferedAUC(0.5), X, y, solver="clarabel")
    X, y = overlapping(20, n_features=13)
    with pytest.raises(AuclabError, match="n = 13 features"):
        solve(GeneralizedBufferedAUC(0.5, "l1"), X, y)


def test_a_threshold_lost_in_rounding_is_optimal_only_within_a_radius():
    # A w of the length 1e30 has no hinge, at 1 − z‖w‖ = 0, but no member of the search sees it.
    solution = solve(ECSVM(1e-30, "linf"), [[2.0], [-1.0], [2.0]], [1, 0, 0])
    assert solution.status is Status.OPTIMAL_WITHIN
    assert solution.certificate.norm_bound < 1e30
    assert solution.objective > 0.3
