"""How an optimum is read (Prop. 5) and the maps between penalised and threshold programs (7.4)."""

import numpy as np
import pytest

from auclab import (
    CSVM,
    ECSVM,
    AuclabError,
    BufferedAUC,
    GeneralizedBufferedAUC,
    RankSVM,
    ranksvm_to_threshold,
    solve,
    threshold_to_ranksvm,
)
from auclab._core.base import NORMS, Status
from auclab.formulations import read_optimum
from auclab.metrics import bauc_score, bpoe
from programs import overlapping, separable, tied

ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("share", [0.02, 0.2, 0.8])
@pytest.mark.parametrize(("penalised", "by_threshold"), [(RankSVM, GeneralizedBufferedAUC), (CSVM, ECSVM)])
def test_ranksvm_is_bauc_at_a_threshold(penalised, by_threshold, share, norm):
    X, y = overlapping(5)
    penalty = share * penalised(1.0, norm).null_penalty(X, y)
    solution = solve(penalised(penalty, norm), X, y, solver="clarabel", tolerance=1e-8)
    mapped = ranksvm_to_threshold(solution)
    z = mapped.threshold
    assert z == pytest.approx(-penalty / solution.objective, rel=1e-12)
    assert isinstance(mapped.formulation, by_threshold)
    assert mapped.objective == pytest.approx(solution.objective, rel=1e-12)
    # The mapped point attains the value, and a solver that starts from the threshold finds the same value.
    assert mapped.formulation.value(mapped.coef, mapped.intercept, X, y) == pytest.approx(mapped.objective, rel=1e-9)
    direct = solve(by_threshold(z, norm), X, y, solver="clarabel", tolerance=1e-8)
    assert direct.objective == pytest.approx(solution.objective, rel=1e-7)
    back = threshold_to_ranksvm(mapped)
    assert back.penalty == pytest.approx(penalty, rel=1e-12)
    np.testing.assert_allclose(back.coef, solution.coef, rtol=1e-10)


def test_the_squared_penalty_maps_to_twice_the_length():
    X, y = overlapping(6)
    solution = solve(RankSVM(0.1, squared=True), X, y, tolerance=1e-8)
    length = np.linalg.norm(solution.coef)
    mapped = ranksvm_to_threshold(solution)
    hinge = RankSVM(0.0).value(solution.coef, 0.0, X, y)
    assert mapped.objective == pytest.approx(hinge + 0.2 * length**2, rel=1e-9)
    assert solve(GeneralizedBufferedAUC(mapped.threshold), X, y).objective == pytest.approx(mapped.objective, rel=1e-6)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("data", [overlapping(7), tied(7)], ids=["overlapping", "tied"])
def test_prop_5_reads_the_normalised_error(norm, data):
    X, y = data
    for solution in (
        solve(BufferedAUC(), X, y),
        solve(GeneralizedBufferedAUC(-0.05, norm), X, y, tolerance=1e-8),
        solve(RankSVM(0.05, norm), X, y, tolerance=1e-8),
    ):
        optimum = read_optimum(solution)
        program = solution.formulation
        unit = solution.coef / np.linalg.norm(solution.coef, ORDER[program.regulariser.name])
        scores = X @ unit
        errors = (scores[y == 0][None, :] - scores[y == 1][:, None]).ravel()
        assert bpoe(errors, optimum.threshold) == pytest.approx(optimum.bpoe, rel=1e-6)
        assert bauc_score(y, scores, threshold=optimum.threshold) == pytest.approx(optimum.level, rel=1e-6)
        # An element of [q_α, q_α⁺]: at most a share α lies strictly below, at least a share α at or below.
        slack = 1e-6
        assert (errors < optimum.quantile - slack).mean() <= optimum.level + slack
        assert (errors <= optimum.quantile + slack).mean() >= optimum.level - slack
        assert optimum.superquantile == optimum.threshold


def test_separable_and_null_solutions_are_read_in_words():
    X, y = separable()
    assert read_optimum(solve(BufferedAUC(), X, y)).statement.startswith("separated")
    assert read_optimum(solve(RankSVM(100.0), X, y)).statement.startswith("w = 0")


def test_maps_refuse_what_has_no_counterpart():
    X, y = separable()
    hard = solve(RankSVM(1e-4, "l1"), X, y)
    assert hard.status is Status.OPTIMAL
    with pytest.raises(AuclabError, match="the hinge loss is 0"):
        ranksvm_to_threshold(hard)
    with pytest.raises(AuclabError, match="a RankSVM or C-SVM solution is needed, got bauc"):
        ranksvm_to_threshold(solve(BufferedAUC(), X, y))
    with pytest.raises(AuclabError, match="w = 0 has no direction"):
        ranksvm_to_threshold(solve(RankSVM(100.0), X, y))
    with pytest.raises(AuclabError, match="generalised bAUC or EC-SVM"):
        threshold_to_ranksvm(hard)
    with pytest.raises(AuclabError, match="only z < 0"):
        threshold_to_ranksvm(solve(GeneralizedBufferedAUC(0.0), *overlapping()))
    with pytest.raises(AuclabError, match="no penalty corresponds"):
        threshold_to_ranksvm(solve(GeneralizedBufferedAUC(-100.0), *overlapping()))
