"""The value of every formulation against the brute force that forms every margin."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference_programs as reference
from auclab import CSVM, ECSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, RankSVM
from auclab._core.base import NORMS
from programs import CONVEX, CVAR, label, overlapping, tied

SHIFTED = [family(0.3, norm) for family in (GeneralizedBufferedAUC, ECSVM) for norm in NORMS]
ALL = [*CONVEX, *CVAR[:4], *SHIFTED]


@pytest.mark.parametrize("program", ALL, ids=label)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-6, 0.3, 1.0, 50.0]))
def test_value_is_that_of_the_formed_margins(program, seed, scale):
    X, y = (overlapping if seed % 2 else tied)(seed)
    rng = np.random.default_rng(seed)
    coef, intercept = scale * rng.normal(size=X.shape[1]), float(rng.normal())
    weight = rng.integers(0, 4, y.size).astype(float)
    weight[[0, -1]] = 1.0
    assert program.value(coef, intercept, X, y) == pytest.approx(
        reference.objective(program, coef, intercept, X, y), rel=1e-12, abs=1e-14
    )
    assert program.value(coef, intercept, X, y, weight) == pytest.approx(
        reference.objective(program, coef, intercept, X, y, weight), rel=1e-12, abs=1e-14
    )


@pytest.mark.parametrize("program", ALL, ids=label)
def test_weights_are_repetitions_and_sparse_is_dense(program):
    X, y = overlapping(3)
    weight = np.random.default_rng(3).integers(0, 4, y.size)
    weight[[0, -1]] = 2
    coef = np.array([0.3, -0.2, 0.5])
    expected = program.value(coef, 0.1, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert program.value(coef, 0.1, X, y, weight) == pytest.approx(expected, rel=1e-13)
    assert program.value(coef, 0.1, sp.csr_array(X), y, weight) == pytest.approx(expected, rel=1e-13)


def test_pairs_do_not_see_the_intercept_and_labels_may_be_signs_or_booleans():
    X, y = overlapping()
    coef = np.array([1.0, 0.5, 0.0])
    value = BufferedAUC().value(coef, 0.0, X, y)
    assert BufferedAUC().value(coef, 7.0, X, y) == value
    assert BufferedAUC().value(coef, 0.0, X, 2 * y - 1) == value
    assert BufferedAUC().value(coef, 0.0, X, y.astype(bool)) == value


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RankSVM(-1.0), "penalty λ must be finite and ≥ 0, got -1.0"),
        (lambda: CSVM(float("nan")), "penalty"),
        (lambda: GeneralizedBufferedAUC(float("inf")), "threshold z must be finite"),
        (lambda: RankSVM(1.0, norm="l3"), "choose one of l1, l2, linf"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(AuclabError, match=message.replace("(", r"\(")):
        make()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [1.0]], [1, 1], "two classes are needed, but all 2 labels are 1"),
        ([[0.0], [np.nan]], [0, 1], "X contains NaN, first at row 1, column 0"),
        ([[np.inf], [0.0]], [0, 1], "X contains an infinite value, first at row 0, column 0"),
        ([[0.0], [1.0]], [0, 1, 1], "X has 2 rows, but there are 3 labels"),
        ([["a"], ["b"]], [0, 1], "X must be numeric"),
        ([0.0, 1.0], [0, 1], "shape"),
        ([[0.0], [1.0], [2.0]], [0, 1, 2], "got 3"),
    ],
)
def test_bad_samples_are_named(X, y, message):
    with pytest.raises(AuclabError, match=message):
        BufferedAUC().value([1.0], 0.0, X, y)


def test_weights_of_one_class_only_are_refused():
    with pytest.raises(AuclabError, match="positive class are all zero"):
        BufferedAUC().value([1.0], 0.0, [[0.0], [1.0]], [0, 1], [1.0, 0.0])
    with pytest.raises(AuclabError, match="must be ≥ 0"):
        BufferedAUC().value([1.0], 0.0, [[0.0], [1.0]], [0, 1], [1.0, -1.0])


def test_the_equation_shows_the_row_of_the_table():
    assert BufferedAUC().equation() == "min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊"
    assert ECSVM(-0.1, "l1").equation() == "min  mean_k [1 − y_k (w·x_k + b) + 0.1 ‖w‖₁]₊"
    assert GeneralizedBufferedAUC(0.5).equation() == "min  mean_ij [1 − w·(x_i⁺ − x_j⁻) − 0.5 ‖w‖₂]₊"
    assert CSVM(2.0, "linf", squared=True).equation() == "min  mean_k [1 − y_k (w·x_k + b)]₊ + 2 ‖w‖∞²"


def test_squared_hinges_beside_far_rows_keep_their_digits():
    """Sums of squares of scores up to 3e7 cancel: 0.69715 in working precision, where the value is 0.70137."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(6, 1)), [[3e8]], rng.normal(size=(5, 1)), [[-4e8]]]
    y, w = np.r_[np.ones(7), np.zeros(6)], 0.0847
    scores = [Fraction(x) * Fraction(w) for x in X[:, 0].tolist()]
    hinges = [max(Fraction(0), 1 - (i - j)) ** 2 for i in scores[:7] for j in scores[7:]]
    exact = float(sum(hinges) / len(hinges) + Fraction(0.1) * Fraction(w) ** 2)
    program = RankSVM(0.1, squared=True, loss="squared_hinge")
    assert program.value([w], 0.0, X, y) == pytest.approx(exact, rel=1e-9)
