"""Losses, norms and regularisers of a user are checked before a bound may rest on them."""

from dataclasses import dataclass

import numpy as np
import pytest

import auclab
from auclab._core.base import AuclabError
from auclab.formulations import Composed
from auclab.formulations.properties import check_own_pieces
from auclab.losses import Hinge, Loss
from auclab.regularisers import EUCLIDEAN, L2, ElasticNet, Norm, VectorNorm
from auclab.testing import check_regulariser


def sample():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4))
    return X, (X[:, 0] + rng.normal(size=30) > 0).astype(int)


class Own(L2):
    """‖w‖₂, in a module of a user."""

    is_euclidean = False
    exponent, of_dual, restriction = 1.0, 1.0, 1.0

    def __call__(self, w):
        return super().__call__(w) ** self.exponent

    def dual(self, g):
        return self.of_dual * super().dual(g)

    def restricted(self, columns):
        return self if self.restriction == 1.0 else EUCLIDEAN


class Power(Own):
    exponent = 1.5


class Negative(Own):
    def __call__(self, w):
        return -super().__call__(w)


class NoDual(Own):
    of_dual = 0.0


class UndefinedDual(Own):
    of_dual = np.nan


class OfTwoColumns(Own):
    def __call__(self, w):
        return float(np.linalg.norm(w @ np.eye(2)))


class Table(Loss):
    name, symbol = "table", "ℓ({})"

    def __init__(self, breakpoints, coefficients):
        self.of_table = breakpoints, coefficients

    def __repr__(self):
        return "Table()"

    def pieces(self):
        return self.of_table


class TooSmall(Table):
    """A conjugate below that of its table, by which a bound would be too large."""

    def conjugate(self, alpha):
        return super().conjugate(alpha) - 0.1


@dataclass(frozen=True)
class TooMuch(ElasticNet):
    """A bound of its own that is above what the elastic net allows."""

    def dual_value(self, gradient, slack, total, up=1.0):
        value, scale = super().dual_value(gradient, slack, total, up)
        return value + 0.5, scale


@pytest.mark.parametrize(
    ("norm", "words"),
    [
        (Power(), "‖−2w‖ = 2‖w‖ does not hold"),
        (Negative(), "‖w‖ ≥ 0 does not hold"),
        (NoDual(), "g·w ≤ ‖g‖_. ‖w‖ does not hold"),
        (UndefinedDual(), "‖g‖_. ≥ 0 does not hold"),
        (OfTwoColumns(), "OfTwoColumns raised ValueError of w with 4 columns"),
    ],
    ids=lambda case: type(case).__name__ if isinstance(case, VectorNorm) else "",
)
@pytest.mark.parametrize("penalty", [0.05, 2.0])
def test_a_norm_on_which_no_bound_can_rest_is_refused(norm, words, penalty):
    X, y = sample()
    with pytest.raises(AuclabError, match=words):
        auclab.solve(Composed("pairs", "hinge", Norm(norm, penalty)), X, y)


def test_a_norm_of_a_user_is_solved_and_proved():
    X, y = sample()
    own, same = (auclab.solve(Composed("pairs", "hinge", Norm(norm, 0.05)), X, y) for norm in (Own(), L2()))
    assert own.gap <= 1e-6
    assert own.objective == pytest.approx(same.objective, abs=1e-6)


def test_a_regulariser_with_too_large_a_bound_is_refused():
    X, y = sample()
    with pytest.raises(AuclabError, match="what dual_value proves does not hold"):
        auclab.solve(Composed("pairs", "hinge", TooMuch(0.05, 0.05)), X, y)


def test_a_restriction_to_columns_is_that_of_the_norm():
    check_regulariser(Own())

    class Doubled(Own):
        restriction = 2.0

        def __call__(self, w):
            return 2.0 * super().__call__(w)

        def dual(self, g):
            return super().dual(g) / 2.0

        def subgradient(self, w):
            return 2.0 * super().subgradient(w)

    with pytest.raises(AuclabError, match=r"restricted\(columns\) is ‖w‖ where the others are 0 does not hold"):
        check_regulariser(Doubled())


@pytest.mark.parametrize(
    ("breakpoints", "coefficients", "words"),
    [
        ([0.0, 1.0], [[0.0, 1.0, 0.0], [np.nan, 2.0, 0.0]], "not finite in row 1"),
        ([0.0], [[0.0, np.inf, 0.0]], "not finite in row 0"),
        ([0.0], [[0.0, 0.0, 0.0]], "is 0 at w = 0"),
        ([1.0], [[-1.0, 1.0, 0.0]], "let it rise from a breakpoint below 1"),
        ([], [], "needs ascending breakpoints"),
        ([0.0], [[0.0, 1.0]], "cannot be read"),
        ([0.0, 1.0], [[0.0, 2.0, 0.0], [1.0, 1.0, 0.0]], "its slope falls at or after 1"),
    ],
)
def test_a_table_that_is_no_loss_is_refused(breakpoints, coefficients, words):
    with pytest.raises(AuclabError, match=words):
        Composed("pairs", Table(breakpoints, coefficients), Norm("l2", 0.1))


class Changing(Loss):
    """``s max(0, a)``, of which the parameter may be set."""

    symbol = "s [{}]₊"
    slope_of = 1.0

    def pieces(self):
        return [0.0], [[0.0, self.slope_of, 0.0]]


class CalledHinge(Changing):
    is_hinge, slope_of = True, 2.0


class WithTable(Changing):
    table, slope_of = Hinge().table, 2.0


def test_a_loss_whose_table_is_not_that_of_its_pieces_is_refused():
    X, y = sample()
    loss = Changing()
    auclab.solve(Composed("pairs", loss, Norm("l2", 0.1)), X, y)
    loss.slope_of = 3.0
    for wrong in (loss, WithTable()):
        with pytest.raises(AuclabError, match="a loss must not change"):
            auclab.solve(Composed("pairs", wrong, Norm("l2", 0.1)), X, y)
    with pytest.raises(AuclabError, match="leave is_hinge out"):
        auclab.solve(Composed("pairs", CalledHinge(), Norm("l2", 0.1)), X, y)


class WithoutColumn20(Own):
    """A seminorm: the column in the middle is free, and its dual says that it is not."""

    def __call__(self, w):
        return super().__call__(np.delete(w, 20))


class FirstOfSorted(Own):
    """Σ c_k |w|₍ₖ₎ with c from 2 down to ½; the dual has the first of its n terms alone."""

    def __call__(self, w):
        return float(np.linspace(2.0, 0.5, len(w)) @ np.sort(abs(w))[::-1])

    def dual(self, g):
        return float(abs(g).max(initial=0.0) / 2.0)


@pytest.mark.parametrize("norm", [WithoutColumn20(), FirstOfSorted()])
def test_a_dual_that_is_wrong_for_few_of_many_columns_is_refused(norm):
    with pytest.raises(AuclabError, match=r"does not hold at .*\.\.\."):
        check_own_pieces(Hinge(), Norm(norm, 0.1), 40)


def test_a_conjugate_that_is_not_of_its_table_is_refused():
    X, y = sample()
    with pytest.raises(AuclabError, match="does not hold"):
        auclab.solve(Composed("pairs", TooSmall([0.0], [[0.0, 1.0, 0.0]]), Norm("l2", 0.1)), X, y)


def test_a_class_in_place_of_an_object_is_named():
    with pytest.raises(AuclabError, match="loss is the class Table; give an object of it"):
        Composed("pairs", Table, Norm("l2", 0.1))


def test_a_symbol_that_is_a_sum_is_in_parentheses():
    class Sum(Own):
        symbol = "‖w‖₁ + c‖Dw‖₁"

    assert Composed("pairs", "hinge", Norm(Sum(), 0.1)).equation().endswith(" + 0.1 (‖w‖₁ + c‖Dw‖₁)")


def test_a_piece_is_checked_once_for_a_number_of_columns():
    class Counted(Own):
        calls = 0

        def dual(self, g):
            self.calls += 1
            return super().dual(g)

    norm = Counted()
    check_own_pieces(Hinge(), Norm(norm, 0.1), 4)
    first = norm.calls
    check_own_pieces(Hinge(), Norm(norm, 0.2), 4)
    assert norm.calls == first > 0
    check_own_pieces(Hinge(), Norm(norm, 0.2), 5)
    assert norm.calls > first
