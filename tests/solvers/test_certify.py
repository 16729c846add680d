"""`auclab.certify` on points of others: what it proves, up to which w, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

import auclab
from auclab import CSVM, BufferedAUC, ExactAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, Status, solve
from auclab.certificates.value import moments
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.certificate import far_away
from programs import CONVEX, CVAR, label, overlapping


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("program", [*CONVEX, *CVAR], ids=label)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_a_solution_is_certified_again(program, offset):
    X, y = overlapping(3)
    X = X + offset
    solution = solve(program, X, y)
    found = auclab.certify(
        program, X, y, solution.coef, solution.intercept, solution.multipliers, shares_neg=solution.shares_neg
    )
    assert found.objective == pytest.approx(solution.objective, abs=1e-12)
    assert found.gap <= 1e-6
    assert found.norm_bound == np.inf


def test_the_bound_of_any_multipliers_holds():
    """Multipliers at random are cut and corrected until they prove something, never too much."""
    X, y = overlapping(4)
    rng = np.random.default_rng(0)
    for program in (BufferedAUC(), RankSVM(0.1), CSVM(0.1), GeneralizedBufferedAUC(-0.2), PartialAUC(0.4)):
        best = solve(program, X, y)
        for _ in range(5):
            found = auclab.certify(program, X, y, best.coef, best.intercept, rng.exponential(size=y.size))
            assert found.lower_bound <= best.objective + 1e-12


def test_a_violation_limits_the_radius():
    """One feature and two pairs with differences 1 and 1e-9: full multipliers on the second leave Σ q d = 5e-10."""
    X, y = [[1.0], [1e-9], [0.0]], [1, 1, 0]
    found = auclab.certify(BufferedAUC(), X, y, [1.0], multipliers=[0.0, 0.5, 0.5])
    assert found.lower_bound == pytest.approx(0.5, abs=1e-6)
    assert 10 < found.norm_bound < 1e9
    # At w = 1e9 the second hinge is 0: that is outside of the radius.
    assert BufferedAUC().value([1e9], 0.0, X, y) == 0.0


def test_without_multipliers_there_is_no_bound():
    X, y = overlapping(5)
    assert np.isnan(auclab.certify(BufferedAUC(), X, y, np.ones(X.shape[1])).lower_bound)
    assert np.isnan(auclab.certify(ExactAUC(), X, y, np.ones(X.shape[1]), multipliers=np.ones(y.size)).gap)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"coef": [1.0]}, r"coef has shape \(1,\)"),
        ({"multipliers": [1.0]}, r"multipliers has shape \(1,\)"),
        ({"multipliers": [np.nan] * 5}, "multipliers has entries that are not finite"),
        ({"tolerance": 0.0}, "tolerance must be a positive number"),
    ],
)
def test_refusals(arguments, message):
    X, y = np.eye(5)[:, :2], [1, 1, 0, 0, 0]
    with pytest.raises(auclab.AuclabError, match=message):
        auclab.certify(BufferedAUC(), X, y, **{"coef": [1.0, 1.0], **arguments})


def test_moments_are_those_of_exact_arithmetic():
    X, y = overlapping(6)
    sample = as_sample(X, y)
    rng = np.random.default_rng(0)
    pos, neg = rng.random(sample.n_pos), rng.random(sample.n_neg)
    sums = moments(sample, pos, neg)
    for k in range(X.shape[1]):
        true = sum(Fraction(a) * Fraction(x) for a, x in zip(pos, sample.X_pos[:, k], strict=True))
        true -= sum(Fraction(b) * Fraction(x) for b, x in zip(neg, sample.X_neg[:, k], strict=True))
        assert abs(true - Fraction(sums.high[k]) - Fraction(sums.low[k])) <= Fraction(sums.error[k])


@pytest.mark.slow
def test_a_sum_of_columns_that_was_rounded():
    """A w of 1e16 uses the rounding of the third column: the claim ends before."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    X, y = np.c_[X, X.sum(axis=1)], np.arange(60) % 3 == 0
    solution = solve(BufferedAUC(), X, y)
    assert solution.status is Status.OPTIMAL_WITHIN
    assert solution.certificate.norm_bound < far_away(Problem(BufferedAUC(), as_sample(X, y)))
    exact = np.round(64 * X[:, :2])
    solution = solve(BufferedAUC(), np.c_[exact, exact.sum(axis=1)], y)
    assert solution.status is Status.OPTIMAL
