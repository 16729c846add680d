"""Programs with a threshold and a penalty at once: their dual, their threshold form, and when w = 0 is optimal."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest

import auclab
from auclab._core.base import NORMS, Norm
from auclab.formulations import Composed, HingeProgram, read_optimum
from auclab.formulations.programs import row_with
from auclab.losses import Hinge
from auclab.margins import AllPairs
from auclab.regularisers import Norm as Regulariser
from programs import overlapping

_DUAL = {"l1": "inf", "l2": 2, "linf": 1}


def largest_dual_value(program, X, y):
    """``max S − max(0, ‖g‖_* + zS)²/(4λ)`` over 0 ≤ q ≤ c, or S with ‖g‖_* + zS ≤ λ, a variable for every margin."""
    pos, neg = X[y == 1], X[y == 0]
    if program.comparisons.name == "pairs":
        directions, signs = (pos[:, None] - neg[None]).reshape(-1, X.shape[1]), None
    else:
        signs = np.where(y == 1, 1.0, -1.0)
        directions = signs[:, None] * X
    q = cp.Variable(len(directions), nonneg=True)
    rows = [q <= 1.0 / len(directions)]
    if signs is not None:
        rows.append(signs @ q == 0)
    excess = cp.norm(directions.T @ q, _DUAL[program.regulariser.name]) + program.threshold * cp.sum(q)
    value = cp.sum(q)
    if program.regulariser.squared:
        value = value - cp.square(cp.pos(excess)) / (4 * program.regulariser.weight)
    else:
        rows.append(excess <= program.regulariser.weight)
    return float(cp.Problem(cp.Maximize(value), rows).solve(solver="CLARABEL"))


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", ["pairs", "points"])
def test_the_certified_bound_is_the_largest_dual_value(kind, norm, squared):
    X, y = overlapping(3, 9, 11)
    program = Composed(kind, Hinge(), Regulariser(norm, 0.03, squared), -0.15)
    solution = auclab.solve(program, X, y)
    assert solution.gap <= 1e-6
    assert solution.lower_bound == pytest.approx(largest_dual_value(program, X, y), abs=1e-6)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(("kind", "by_threshold"), [("pairs", auclab.GeneralizedBufferedAUC), ("points", auclab.ECSVM)])
def test_the_threshold_form_is_an_optimum_of_the_threshold_program(kind, by_threshold, squared):
    X, y = overlapping(1)
    solution = auclab.solve(Composed(kind, Hinge(), Regulariser("l2", 0.02, squared), -0.05), X, y)
    form = solution.formulation.as_threshold(solution.objective, solution.coef)
    equivalent = auclab.solve(by_threshold(form.threshold), X, y)
    assert form.threshold < -0.05
    assert equivalent.objective == pytest.approx(form.value, abs=1e-6)
    assert by_threshold(form.threshold).value(solution.coef * form.scale, equivalent.intercept, X, y) == pytest.approx(
        form.value, abs=1e-5
    )
    assert read_optimum(solution).bpoe == pytest.approx(form.value)


@pytest.mark.parametrize("squared", [False, True])
def test_no_scorer_is_better_than_none_from_the_distance_of_the_means_on(squared):
    X, y = overlapping(2)
    level = float(np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)))
    penalty = 0.01
    z = -level if squared else penalty - level  # ‖Δ‖ = −z, or λ − z
    size = Regulariser("l2", penalty, squared)
    beyond, before = (auclab.solve(Composed("pairs", Hinge(), size, f * z), X, y) for f in (1.1, 0.8))
    assert beyond.objective == 1.0
    assert not beyond.coef.any()
    assert beyond.gap <= 1e-6
    assert any("w = 0 is optimal because" in note for note in beyond.notes)
    assert before.objective < 1.0
    assert before.gap <= 1e-6


@dataclass(frozen=True)
class _ByRadius(HingeProgram):
    """A row whose z is made of a parameter of its own."""

    radius: float = 0.1
    norm: Norm = "l2"

    name = "by_radius"
    comparisons = AllPairs()
    penalty = 0.0
    squared = False

    @property
    def threshold(self):
        return -2 * self.radius


@dataclass(frozen=True)
class _WithPenalty(HingeProgram):
    """z and λ, of parameters."""

    radius: float = 0.1
    norm: Norm = "l2"
    penalty: float = 0.1
    squared: bool = False

    name = "with_penalty"
    comparisons = AllPairs()

    @property
    def threshold(self):
        return -2 * self.radius


@pytest.mark.parametrize("program", [_ByRadius, _WithPenalty])
@pytest.mark.parametrize("given", [{"norm": "l1"}, {"norm": "linf"}, {}])
def test_the_parameters_of_a_formulation_of_ones_own_are_those_of_its_program(program, given):
    X, y = overlapping(0)
    formulation = program(0.05, **given)
    pieces = Regulariser(given.get("norm", "l2"), formulation.penalty, formulation.squared)
    composed = auclab.solve(Composed("pairs", "hinge", pieces, threshold=-0.1), X, y)
    assert auclab.solve(formulation, X, y).objective == pytest.approx(composed.objective, rel=1e-6)
    w = np.arange(1.0, 1.0 + X.shape[1])
    assert formulation.value(w, 0.0, X, y) == composed.formulation.value(w, 0.0, X, y)
    with pytest.raises(auclab.AuclabError, match="'l7' is unknown"):
        program(0.05, norm="l7")


def test_a_formulation_that_makes_its_threshold_is_solved_in_any_unit():
    X, y = overlapping(0)
    plain = auclab.solve(_ByRadius(0.05), X, y)
    small = auclab.solve(_ByRadius(0.05e-6), 1e-6 * X, y, solver="newton")
    assert small.gap <= 1e-6
    assert small.objective == pytest.approx(plain.objective, abs=1e-7)
    assert row_with(_ByRadius(0.05), threshold=-0.3) == Composed("pairs", Hinge(), Regulariser("l2"), -0.3)
