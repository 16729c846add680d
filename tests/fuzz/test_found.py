"""Cases that the fuzzer found, each a regression test for every solver."""

import numpy as np
import pytest

from auclab import CSVM, BufferedAUC, PartialAUC, RankSVM, solve
from fuzz.nasty import Case
from fuzz.programs import SOLVERS, answer, found_cases, verdicts


def case(kind, X, y, weight=None, **parameters):
    return Case(np.array(X, float), np.array(y, float), weight, kind, parameters, "")


def wrong_answers(one, solvers=SOLVERS):
    """Solvers with their defects, and how every one ended."""
    answers = [answer(one, solver) for solver in solvers]
    found = verdicts(one, answers)
    return [(a.solver, v.defects, a.message) for a, v in zip(answers, found, strict=True) if v.defects], answers


def ends(answers):
    return {a.solver: a.status or a.end for a in answers if a.end != "unable"}


@pytest.mark.slow
@pytest.mark.parametrize("one", found_cases(), ids=lambda one: one.words)
def test_found_case(one):
    wrong, answers = wrong_answers(one)
    assert not wrong, ends(answers)


def test_buffered_auc_with_margins_of_1e_9():
    """Two pairs with margins of 1e-9: the optimum is 0 at w = 1e9, not 0.667 near w = 1."""
    one = case(BufferedAUC, [[1 + 1e-9], [1.0], [1.0], [1e-9]], [1, 0, 0, 0])
    wrong, answers = wrong_answers(one)
    assert not wrong, ends(answers)
    assert answers[0].status == "optimal"
    assert answers[0].objective < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [5e-324, 1e-300, 1e-100])
def test_csvm_with_a_tiny_penalty(penalty):
    """Subnormal and tiny λ: refused in words, or solved."""
    generator = np.random.default_rng(0)
    y = np.repeat([1, 0], 5)
    wrong, answers = wrong_answers(case(CSVM, generator.normal(size=(10, 2)) + 0.3 * y[:, None], y, penalty=penalty))
    assert not wrong, ends(answers)


@pytest.mark.parametrize("n_features", [1, 2, 3])
@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.1, "l1"), CSVM(0.1, "linf"), CSVM(0.0)], ids=repr)
@pytest.mark.parametrize("constant", [0.0, 7.0])
def test_highs_full_with_a_constant_column(program, n_features, constant):
    """A variable that no row uses is not in the solver's model; its coefficient is 0."""
    generator = np.random.default_rng(0)
    y = np.repeat([1, 0], 5)
    X = np.c_[generator.normal(size=(10, n_features - 1)), np.full(10, constant)]
    solution = solve(program, X, y, solver="highs", encoding="full")
    assert str(solution.status) == "optimal"
    assert solution.coef[-1] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e150, 1e-150])
@pytest.mark.parametrize("penalty", [1e-140, 0.1])
def test_newton_with_extreme_data(scale, penalty):
    """Data near both ends of the floats: refused in words, or solved."""
    generator = np.random.default_rng(0)
    y = np.repeat([1, 0], 5)
    X = scale * np.clip(generator.normal(size=(10, 2)) + 0.3 * y[:, None], -1, 1)
    wrong, answers = wrong_answers(case(RankSVM, X, y, penalty=penalty), ("newton", "auto"))
    assert not wrong, ends(answers)


def test_objective_with_an_offset_of_1e8():
    """The pair objective does not depend on the offset."""
    generator = np.random.default_rng(0)
    y = np.repeat([1, 0], 6)
    X = 1e8 + generator.integers(-3, 4, size=(12, 2)) + y[:, None]
    at_zero = BufferedAUC().value([0.25, 0.125], 0.0, X - 1e8, y)
    assert BufferedAUC().value([0.25, 0.125], 0.0, X, y) == pytest.approx(at_zero, rel=1e-12)
    wrong, answers = wrong_answers(case(BufferedAUC, X, y))
    assert not wrong, ends(answers)


def test_columns_of_very_different_scale_with_an_offset():
    generator = np.random.default_rng(3)
    y = np.repeat([1, 0], 6)
    normal = generator.normal(size=(12, 3)) + 0.7 * y[:, None]
    X = normal * [1e-8, 1e9, 1.0] + [0.0, 0.0, 1e8]
    wrong, answers = wrong_answers(case(BufferedAUC, X, y))
    assert not wrong, ends(answers)
    plain = solve(BufferedAUC(), normal, y)
    assert answers[0].objective == pytest.approx(plain.objective, abs=1e-6)


def test_partial_auc_with_an_offset_of_1e8():
    """Hardest negatives are found among scores that differ in their last digits."""
    generator = np.random.default_rng(1)
    y = np.repeat([1, 0], 6)
    X = 1e8 + generator.integers(-3, 4, size=(12, 2)) + 2.0 * y[:, None]
    program = PartialAUC(0.5)
    at_zero = program.value([0.25, 0.125], 0.0, X - 1e8, y)
    assert program.value([0.25, 0.125], 0.0, X, y) == pytest.approx(at_zero, rel=1e-12)
    wrong, answers = wrong_answers(case(PartialAUC, X, y, max_fpr=0.5))
    assert not wrong, ends(answers)
