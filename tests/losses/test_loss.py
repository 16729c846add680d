"""Losses by their table of pieces: values, slopes, conjugates and smoothings beside their definitions."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import CSVM, AuclabError, RankSVM, solve
from auclab.losses import Hinge, Loss, SquaredHinge


@dataclass(frozen=True)
class Sum(Loss):
    """``Σ_k jump_k [a − b_k]₊ + ½ curvature_k [a − b_k]₊²``: convex as long as no second derivative is negative."""

    terms: tuple[tuple[float, float, float], ...]

    symbol = "ℓ({})"

    def pieces(self):
        breakpoints, rows, total = [], [], np.zeros(3)
        for b, jump, curvature in self.terms:
            total = total + jump * np.array([-b, 1.0, 0.0]) + 0.5 * curvature * np.array([b * b, -2.0 * b, 1.0])
            breakpoints.append(b)
            rows.append(total)
        return breakpoints, rows

    def directly(self, a):
        above = [np.maximum(a - b, 0.0) for b, _, _ in self.terms]
        return sum(j * x + 0.5 * c * x * x for x, (_, j, c) in zip(above, self.terms, strict=True))


@st.composite
def losses(draw):
    starts = sorted(draw(st.lists(st.integers(-8, 8), min_size=1, max_size=4, unique=True)))
    terms, curvature = [], 0.0
    for start in starts:
        following = draw(st.integers(0, 4)) / 2.0
        terms.append((start / 4.0, draw(st.integers(0, 4)) / 2.0, following - curvature))
        curvature = following
    return Sum(tuple(terms))


def test_formulations_take_a_loss_by_its_name_or_as_an_object():
    loss = Sum(((0.0, 0.0, 2.0),))
    for kind in (RankSVM, CSVM):
        assert kind(0.1, loss="hinge") == kind(0.1).with_params(loss=Hinge()) == kind(0.1)
        assert kind(0.1, loss=loss).get_params()["loss"] is loss
        with pytest.raises(AuclabError, match="did you mean 'hinge'"):
            kind(0.1, loss="hing")


def test_the_squared_hinge_is_its_formula():
    loss, generator = SquaredHinge(), np.random.default_rng(0)
    a, alpha = generator.normal(size=200), generator.exponential(size=200)
    np.testing.assert_allclose(loss.value(a), np.maximum(a, 0.0) ** 2, rtol=1e-15)
    np.testing.assert_allclose(loss.slope(a), 2.0 * np.maximum(a, 0.0), rtol=1e-15)
    np.testing.assert_allclose(loss.conjugate(alpha), alpha**2 / 4.0, rtol=1e-14)
    assert loss.is_smooth


def test_the_level_of_the_null_solution_is_that_of_the_slope_at_1():
    X, y = [[0.0], [1.0], [2.0]], [0, 0, 1]
    assert RankSVM(1.0, loss="squared_hinge").null_penalty(X, y) == 2.0 * RankSVM(1.0).null_penalty(X, y) == 3.0
    for kind in (RankSVM, CSVM):
        program = kind(1.0, loss="squared_hinge")
        level = program.null_penalty(X, y)
        above, below = (solve(program.with_params(penalty=factor * level), X, y) for factor in (1.001, 0.999))
        assert not above.coef.any()
        assert below.coef.all()
        assert "w = 0 is optimal because" in above.notes[-1]


POINTS = np.linspace(-4.0, 4.0, 161)


@given(losses())
def test_value_and_slope_are_those_of_the_terms(loss):
    np.testing.assert_allclose(loss.value(POINTS), loss.directly(POINTS), atol=1e-12)
    middle, step = POINTS + 0.0125, 1e-6
    difference = (loss.directly(middle + step) - loss.directly(middle - step)) / (2.0 * step)
    np.testing.assert_allclose(loss.slope(middle), difference, atol=1e-8)


@given(losses())
def test_the_conjugate_is_the_largest_difference(loss):
    alpha = loss.slope(POINTS)
    grid = np.linspace(-12.0, 12.0, 4001)
    largest = (np.outer(alpha, grid) - loss.directly(grid)).max(axis=1)
    found = loss.conjugate(alpha)
    assert (found >= largest - 1e-9).all()
    np.testing.assert_allclose(found, alpha * POINTS - loss.value(POINTS), atol=1e-9)  # Fenchel's equality at a


@given(losses(), st.sampled_from([0.01, 0.1, 0.7]))
def test_a_smoothing_is_above_by_at_most_its_bound_and_charges_its_gap(loss, half_width):
    pieces = loss.smoothed(half_width)
    jumps = sum(jump for _, jump, _ in loss.terms)
    value, slope = pieces.at(POINTS, pieces.coefficients), pieces.at(POINTS, pieces.slopes)
    above = value - loss.value(POINTS)
    assert above.min() >= -1e-12
    assert above.max() <= jumps * half_width / 4.0 + 1e-12
    assert pieces.at(POINTS, pieces.gap).min() >= -1e-12
    # Any α proves Σ(αa − ℓ*(α)); what is charged for the slope of the smoothing is at least its conjugate.
    assert (pieces.at(POINTS, pieces.conjugates) >= loss.conjugate(slope) - 1e-9).all()
    middle, step = POINTS + 0.0125, 1e-7
    rise = (pieces.at(middle + step, pieces.coefficients) - pieces.at(middle - step, pieces.coefficients)) / (2 * step)
    np.testing.assert_allclose(pieces.at(middle, pieces.slopes), rise, atol=1e-5)


@given(losses())
def test_the_pieces_take_up_an_error_at_its_loss(loss):
    widths, slopes, curvatures = loss.filled()
    for error in (-1.0, 0.3, 2.0):
        left, cost = max(0.0, error - loss.table.breakpoints[0]), 0.0
        for width, slope, curvature in zip(widths, slopes, curvatures, strict=True):
            taken = min(left, width)
            cost, left = cost + slope * taken + 0.5 * curvature * taken**2, left - taken
        assert cost == pytest.approx(float(loss.directly(np.array(error))), abs=1e-9)


def test_the_hinge():
    hinge = Hinge()
    assert not hinge.is_smooth
    assert hinge.conjugate([0.0, 1.0, 1.1]).tolist() == [0.0, 0.0, np.inf]
    pieces = hinge.smoothed(0.5)  # (a + ½)²/2 between −½ and ½
    assert pieces.at(np.array([-0.5, 0.0, 0.5, 2.0]), pieces.coefficients).tolist() == [0.0, 0.125, 0.5, 2.0]


@dataclass(frozen=True)
class Table(Loss):
    """Any table, right or wrong."""

    breakpoints: tuple[float, ...]
    rows: tuple[tuple[float, float, float], ...]

    symbol = "ℓ({})"

    def pieces(self):
        return self.breakpoints, self.rows


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (Table((0.0,), ((1.0, 1.0, 0.0),)), "not continuous"),
        (Table((0.0, 1.0), ((0.0, 1.0, 0.0), (0.5, 0.5, 0.0))), "not convex"),
        (Table((0.0,), ((0.0, -1.0, 0.0),)), "not convex"),
        (Table((1.0, 0.0), ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))), "ascending"),
        (Table((0.0,), ((0.0, 1.0, 0.0), (0.0, 1.0, 0.0))), "ascending"),
    ],
)
def test_a_wrong_table_is_refused(loss, words):
    with pytest.raises(AuclabError, match=words):
        loss.value(1.0)
