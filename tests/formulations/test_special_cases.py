"""What a program says about itself in place of a test for its type."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auclab
import reference_programs as reference
from auclab import CSVM, ECSVM, AuclabError, BufferedAUC, ExactAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import NORMS
from auclab.formulations.problem import Problem
from auclab.formulations.programs import row_with
from auclab.margins.pairs import admissible_shares
from auclab.samples.as_sample import as_sample
from auclab.solvers.registry import encodings
from programs import CONVEX, CVAR, equal_means, label, overlapping

SOURCE = Path(auclab.__file__).parent
#: A test for the type or the kind of a program.
TYPE_TEST = re.compile(
    r"isinstance\([\w.]+, *\(?(BufferedAUC|PartialAUC|ExactAUC|RankSVM|CSVM|ECSVM|Generalized)"
    r"|(program|formulation)\.kind\b"
)


def test_only_formulations_test_for_the_type_of_a_program():
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path.parent.name not in ("formulations", "checker", "checking")
        and TYPE_TEST.search(path.read_text(encoding="utf-8"))
    }
    # The check of stored runs shares no code with the programs. The others look the kind up in a table: which solvers
    # take it, which one is selected, what kernels and models refuse, which method fits, what is announced, and where
    # scores are kept at kinks.
    assert found <= {
        "solvers/registry.py",
        "solvers/integer/solver.py",
        "solvers/highs.py",
        "solvers/kernel/training.py",
        "solvers/rational_simplex.py",
        "solvers/portfolio.py",
        "solvers/reformulations.py",
        "solvers/verification.py",
        "certificates/scorers.py",
        "runs/screen/console.py",
        "runs/split/summarised_part.py",
        "runs/split/methods.py",
    }


@pytest.mark.parametrize(
    ("program", "kind", "known"),
    [
        (BufferedAUC(), "hinge", ("full", "dual", "aggregated")),
        (GeneralizedBufferedAUC(-0.1), "hinge", ("full", "dual", "aggregated")),
        (RankSVM(0.1), "hinge", ("full", "dual", "aggregated")),
        (CSVM(0.1), "hinge", ("full", "dual")),
        (ECSVM(-0.1), "hinge", ("full", "dual")),
        (PartialAUC(0.1), "cvar", ("full",)),
        (ExactAUC(), "mip", ()),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_kind_and_encodings(program, kind, known):
    assert (program.kind, encodings(program)) == (kind, known)


@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.1, 0.37, 1.0]))
def test_the_worst_negatives_attain_the_largest_mean(seed, share):
    rng = np.random.default_rng(seed)
    X, y = overlapping(seed, 5, 8)
    sample = as_sample(X, y, rng.uniform(0.1, 2.0, y.size))
    program, scores = PartialAUC(share), rng.normal(size=8)
    capacity, worst = program.comparisons.capacity(sample), program.comparisons.worst_negatives(scores, sample)
    assert worst.sum() == pytest.approx(1.0)
    assert (worst <= capacity * (1 + 1e-12)).all()
    # The superquantile of the scores is their largest admissible mean.
    assert worst @ scores == pytest.approx(reference.superquantile(scores, sample.share_neg, share))
    for _ in range(5):
        other = admissible_shares(rng.uniform(0, 1, 8) * capacity, capacity)
        assert other.sum() == pytest.approx(1.0)
        assert worst @ scores >= other @ scores - 1e-12


@pytest.mark.parametrize("program", CONVEX, ids=label)
def test_weights_of_the_negatives_are_their_shares_for_a_mean_over_all(program):
    X, y = overlapping()
    sample = as_sample(X, y)
    assert program.comparisons.capacity(sample) is None
    assert program.comparisons.worst_negatives(sample.X_neg @ np.ones(3), sample) is None
    problem = Problem(program, sample)
    assert problem.dual_problem(None, sample.share_neg) is problem


@pytest.mark.parametrize("program", CVAR, ids=label)
def test_the_dual_problem_is_a_plain_program_below_the_value(program):
    X, y = overlapping()
    problem = Problem(program, as_sample(X, y))
    coef = np.array([0.4, -0.1, 0.3])
    share = np.random.default_rng(0).uniform(0, 1, problem.sample.n_neg)
    dual = problem.dual_problem(share, np.zeros(problem.sample.n_neg))
    assert dual.program.kind == "hinge"
    assert (dual.program.regulariser.weight, dual.program.regulariser.name, dual.program.regulariser.squared) == (
        program.regulariser.weight, program.regulariser.name, program.regulariser.squared
    )  # fmt: skip
    assert (dual.sample.share_neg <= program.comparisons.capacity(problem.sample) * (1 + 1e-12)).all()
    assert dual.objective(coef, 0.0) <= problem.objective(coef, 0.0) + 1e-12


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("program", [*CONVEX, *CVAR], ids=label)
@pytest.mark.parametrize("data", [overlapping(), equal_means()], ids=["overlapping", "equal_means"])
def test_w_is_0_where_penalty_and_buffer_are_at_the_level(program, data):
    """It is exactly 0, with a proof and a reason, iff ``λ − zS`` is at least the level; with λ‖w‖² iff that is 0."""
    sample = as_sample(*data)
    problem, null = Problem(program, sample), program.null
    optimum = solve(program, *data)
    null_value = null.value(sample)
    assert problem.objective(np.zeros(sample.n_features), problem.null_intercept()) == pytest.approx(null_value)
    assert null.is_attained(null_value, sample)
    slope = program.regulariser.slope(0.0) - program.threshold * null_value
    assert optimum.coef.any() == (slope < null.level(sample) - 1e-7)
    assert optimum.gap <= 1e-6
    why = [note for note in optimum.notes if "w = 0 is optimal" in note]
    if optimum.coef.any():
        assert not null.is_attained(optimum.objective, sample)
        assert not why
    else:
        assert optimum.objective == pytest.approx(null_value, rel=1e-12)
        assert why


def test_a_count_of_pairs_has_no_dual_point():
    sample = as_sample(*overlapping())
    assert ExactAUC().null.multipliers(sample) is None
    assert not ExactAUC().null.is_attained(1 - 1e-12, sample)
    assert ExactAUC(2.0).of_length(np.array([0.5, -0.25])).tolist() == [2.0, -1.0]
    assert ExactAUC().of_length(np.zeros(2)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("norm", NORMS)
def test_the_convex_program_behind_a_positive_threshold(norm):
    assert row_with(GeneralizedBufferedAUC(0.3, norm), threshold=0.0).is_convex
    assert row_with(ECSVM(0.3, norm), threshold=0.0) == ECSVM(0.0, norm)


@pytest.mark.parametrize("limit", [{"solver": "highs", "time_limit": 1e-9}], ids=["time_limit"])
def test_nothing_says_that_w_is_optimal_where_a_limit_left_it_at_0(limit):
    X, y = overlapping(3, 25, 30)
    assert solve(PartialAUC(0.9), X, y).coef.any()
    stopped = solve(PartialAUC(0.9), X, y, **limit)
    assert not stopped.coef.any()
    assert not any("optimal" in note for note in stopped.notes)


def test_the_maps_are_found_where_the_formulations_are():
    from auclab.formulations import ranksvm_to_threshold, threshold_to_ranksvm

    assert auclab.ranksvm_to_threshold is ranksvm_to_threshold
    assert auclab.threshold_to_ranksvm is threshold_to_ranksvm
    with pytest.raises(AuclabError, match="got exact_auc"):
        ranksvm_to_threshold(solve(ExactAUC(), *equal_means()))
