"""Where w = 0 is the optimum it is returned exactly and certified by the solver's multipliers; its reason is true."""

import numpy as np
import pytest

import auclab
from auclab.formulations import CSVM, ECSVM, Composed, PartialAUC
from auclab.margins import Points
from auclab.regularisers import ElasticNet
from auclab.solvers.path import InnerPath

rng = np.random.default_rng(0)
#: 8 positives of 100 in the middle of the negatives, less one unit of the first column: λ_max = 0.
X = rng.normal(size=(100, 3))
Y = np.r_[np.ones(8), np.zeros(92)]
X[:8] = 0.2 * X[:8] + [1.0, 0.0, 0.0]
HOPELESS = [
    CSVM(1e-3),
    CSVM(1e-3, "l1"),
    CSVM(1e-3, squared=True),
    CSVM(0.0),
    ECSVM(-1e-3),
    PartialAUC(0.2, 1e-3),
    PartialAUC(0.2, 1e-3, squared=True),
    PartialAUC(0.2),
    Composed(Points(), regulariser=ElasticNet(1e-3, 0.5)),
]
#: Less separate classes have a λ_max, or z_max, > 0.
AWAY = X + np.outer(Y, [5.0, 0.0, 0.0])


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("solver", ["auto", "newton", "cutting_plane", "clarabel"])
@pytest.mark.parametrize("program", HOPELESS, ids=lambda program: program.equation())
def test_w_is_proved_to_be_0_by_the_multipliers_of_the_solver(program, solver):
    found = auclab.solve(program, X, Y, solver=solver)
    assert not found.coef.any()
    assert found.status is auclab.Status.OPTIMAL
    assert found.gap <= 1e-6
    assert any("w = 0 is optimal" in note for note in found.notes)


@pytest.mark.parametrize("solver", ["auto", "newton", "clarabel"])
@pytest.mark.parametrize("family", [CSVM, lambda penalty: PartialAUC(0.2, penalty)], ids=["csvm", "partial_auc"])
def test_from_the_level_on_and_not_below(family, solver):
    level = family(1.0).null_penalty(AWAY, Y)
    assert level > 0
    above, below = (auclab.solve(family(factor * level), AWAY, Y, solver=solver) for factor in (1.01, 0.99))
    assert not above.coef.any()
    assert below.coef.any()
    assert above.gap <= 1e-6 >= below.gap
    assert not above.null_for_every_value
    assert f"w = 0 is optimal because λ = {1.01 * level:g} ≥ λ_max" in " ".join(above.notes)


def test_without_a_penalty_the_multipliers_show_it_for_every_value():
    found = auclab.solve(PartialAUC(0.2), X, Y)
    assert found.null_for_every_value
    assert any(note.startswith("w = 0 is optimal: a weighted mean of negatives equals") for note in found.notes)


def test_weights_of_the_classes_and_other_rows_are_not_hopeless():
    balanced = np.where(Y == 1, 92 / 8, 1.0)
    assert auclab.solve(CSVM(1e-3), X, Y, sample_weight=balanced).coef.any()
    for program in (CSVM(1e-3), PartialAUC(0.2, 1e-3)):
        assert auclab.solve(program, AWAY, Y).coef.any()


def test_constraints_that_exclude_0_exclude_the_answer():
    at_least = auclab.Constraints(lower={0: 0.1})
    found = auclab.solve(CSVM(1e-3), X, Y, constraints=at_least)
    assert found.coef[0] >= 0.1 - 1e-9
    allowed = auclab.solve(CSVM(1e-3), X, Y, constraints=auclab.Constraints(nonnegative=[0]))
    assert not allowed.coef.any()
    assert str(allowed.status) == "optimal"


def test_a_path_of_values_ends_at_w_0():
    path = InnerPath(ECSVM(-1.0), X, Y, [-1.0, -0.01], parameter="threshold")
    for k in path.order:
        while not path.refined(k).gap <= 1e-6 and not path.is_final(k):
            pass
        assert not path.point(k).coef.any()
