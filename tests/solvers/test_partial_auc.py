"""The hinge over the hardest negatives: its optimum, its certificate, its bound on the partial AUC."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_programs as reference
from auclab import AuclabError, BufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import NORMS, Status
from auclab.formulations.problem import Problem
from auclab.metrics import partial_auc
from auclab.samples.as_sample import as_sample
from auclab.solvers.registry import is_linear
from auclab.solvers.solution import RawSolution
from auclab.solvers.verification import verify
from composed import run_here
from programs import CVAR, PROBLEMS, equal_means, label, overlapping, tied

LINEAR = [program for program in CVAR if is_linear(program)]


@pytest.mark.parametrize("data", PROBLEMS)
@pytest.mark.parametrize("program", LINEAR, ids=label)
def test_the_optimum_is_that_of_the_dual_with_all_pairs(program, data):
    X, y = PROBLEMS[data]
    expected = reference.optimal_cvar(program, X, y)
    for solver in ("highs", "cutting_plane", "newton"):
        solution = solve(program, X, y, solver=solver)
        assert solution.status is Status.OPTIMAL
        assert solution.objective == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert expected >= solution.lower_bound - 1e-9


@pytest.mark.parametrize("program", LINEAR, ids=label)
def test_weighted_optimum(program):
    X, y = overlapping(31, 9, 12)
    weight = np.random.default_rng(31).uniform(0.1, 3.0, y.size)
    expected = reference.optimal_cvar(program, X, y, weight)
    for solver in ("highs", "cutting_plane", "newton"):
        assert solve(program, X, y, solver=solver, sample_weight=weight).objective == pytest.approx(expected, rel=1e-6)


def test_all_negatives_are_the_plain_programs():
    X, y = overlapping(32)
    assert solve(PartialAUC(1.0), X, y).objective == pytest.approx(solve(BufferedAUC(), X, y).objective, rel=2e-6)
    for norm in NORMS:
        for squared in (False, True):
            plain = solve(RankSVM(0.05, norm, squared), X, y).objective
            assert solve(PartialAUC(1.0, 0.05, norm, squared), X, y).objective == pytest.approx(plain, rel=2e-6)


def test_the_hardest_negative_alone():
    # One of four negatives: the loss is that of the highest score, here of x = 1 for w > 0; positives 2 and 4.
    X, y = [[2.0], [4.0], [1.0], [0.0], [-1.0], [-5.0]], [1, 1, 0, 0, 0, 0]
    program = PartialAUC(0.25)
    assert program.value([0.5], 0.0, X, y) == 0.25  # hinges ½ and 0
    assert program.value([-0.5], 0.0, X, y) == 5.0  # x = −5 is the highest then: hinges 4.5 and 5.5
    assert PartialAUC(0.5).value([0.5], 0.0, X, y) == 0.125  # the next one has no hinge left
    assert PartialAUC(0.375).value([0.5], 0.0, X, y) == pytest.approx(0.25 * 2 / 3, rel=1e-15)  # 1 and ½ negatives
    assert solve(program, X, y).objective == 0.0


@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.01, 0.2, 0.35, 0.5, 1.0]))
def test_the_value_bounds_the_partial_auc_and_falls_with_the_share(seed, share):
    X, y = (overlapping if seed % 2 else tied)(seed)
    coef = np.random.default_rng(seed).normal(size=3)
    value = PartialAUC(share).value(coef, 0.0, X, y)
    area = partial_auc(y, X @ coef, max_fpr=share, standardized="area")
    # The metric counts ties ½ and draws the polygon between; both only add to the strict step curve.
    assert area >= 1 - value - 1e-12
    assert PartialAUC(min(1.0, 1.5 * share)).value(coef, 0.0, X, y) <= value + 1e-12
    assert PartialAUC(share).value(coef, 3.0, X + 7.0, y) == pytest.approx(value, rel=1e-9)


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
def test_no_claim_whatever_proves_a_bound_above_the_optimum(seed):
    X, y = overlapping(33, 8, 11)
    rng = np.random.default_rng(seed)
    program = CVAR[rng.integers(len(CVAR))]
    best = _OPTIMA.setdefault(label(program), solve(program, X, y, solver="clarabel"))
    sample = as_sample(X, y)
    noise = rng.choice([0.0, 1e-6, 0.1, 2.0])
    pos, neg = (
        np.abs(m) + noise * rng.normal(size=m.size) for m in (best.multipliers[y == 1], best.multipliers[y == 0])
    )
    share = rng.uniform(-0.1, 1, neg.size) ** 3
    verified = verify(
        Problem(program, sample), RawSolution(best.coef, 0.0, Status.OPTIMAL, (pos, neg), share_neg=share), "x", 1e-6
    )
    assert verified.lower_bound <= best.objective * (1 + 1e-7)


_OPTIMA: dict = {}


@pytest.mark.parametrize("norm", NORMS)
def test_null_penalty_is_sharp(norm):
    X, y = overlapping(34, 20, 20)
    X[y == 1] += 1.0
    level = PartialAUC(0.5, 1.0, norm).null_penalty(X, y)
    above, below = (solve(PartialAUC(0.5, factor * level, norm), X, y) for factor in (1.001, 0.98))
    assert level > 0
    assert not above.coef.any()
    assert (above.objective, above.status) == (1.0, Status.OPTIMAL)
    assert any("w = 0 is optimal because λ" in note for note in above.notes)
    assert below.coef.any()
    assert below.objective < 1.0
    assert PartialAUC(0.5, 1.0, norm, squared=True).null_penalty(X, y) == np.inf


def test_a_mean_of_hardest_negatives_leaves_nothing_to_gain():
    X, y = equal_means()
    solution = solve(PartialAUC(0.5), X, y)
    assert not solution.coef.any()
    assert solution.objective == 1.0
    assert solution.gap <= 1e-9
    assert any("w = 0 is optimal" in note for note in solution.notes)
    # Means differ here, but not from every mean of half of the negatives.
    X, y = np.array([[0.5], [0.0], [1.0]]), np.array([1, 0, 0])
    assert solve(PartialAUC(0.5), X + 0.0, y).objective == 1.0


def test_many_pairs_are_never_formed():
    X, y = overlapping(35, 3000, 3000)
    solution = solve(PartialAUC(0.2, 0.01), X, y)
    assert solution.solver in ("newton", "cutting_plane")
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.norm_bound == np.inf


def test_refusals():
    X, y = overlapping()
    for share in (0.0, -0.1, 1.1, float("nan")):
        with pytest.raises(AuclabError, match=r"max_fpr is a false positive rate in \(0, 1\]"):
            PartialAUC(share)
    with pytest.raises(AuclabError, match="penalty λ"):
        PartialAUC(0.5, -1.0)
    with pytest.raises(AuclabError, match="use encoding=full, or solver=cutting_plane"):
        solve(PartialAUC(0.5), X, y, solver="highs", encoding="dual")


def test_an_experiment(tmp_path):
    small = ["dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=40", "dataset.n_features=3"]
    result = run_here(tmp_path, *small, "formulation=partial_auc", "formulation.max_fpr=0.5", "metrics=[partial_auc]")
    (fold,) = result.folds
    assert fold.solution.status is Status.OPTIMAL
    assert fold.solution.gap <= 1e-6
    train = fold.parts["train"]
    area = partial_auc(train.y_true, train.y_score, max_fpr=0.5, standardized="area")
    assert fold.optimum.level == pytest.approx(1 - fold.solution.objective, abs=1e-9)
    assert area >= fold.optimum.level - 1e-9


@pytest.mark.parametrize("scale", [1e-9, 1e9, np.array([1e-6, 1.0, 1e6])], ids=["tiny", "huge", "mixed"])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_units_of_the_features_do_not_matter_without_a_penalty(share, scale):
    X, y = overlapping(3, 25, 30)  # at 0.5 the optimum is w = 0, at 0.9 it is not
    expected = solve(PartialAUC(share), X, y).objective
    solution = solve(PartialAUC(share), X * scale, y)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.02), PartialAUC(0.9), PartialAUC(0.9, 0.02)], ids=label)
def test_an_offset_never_makes_a_wrong_certificate(program):
    X, y = overlapping(3, 25, 30)
    expected = solve(program, X, y, solver="cutting_plane").objective
    for offset in (1e6, 1e9):
        for solver in ("auto", "cutting_plane"):
            solution = solve(program, X + offset, y, solver=solver)
            assert solution.objective == pytest.approx(expected, rel=1e-5)
            assert solution.lower_bound <= expected * (1 + 1e-5)
