"""Certificates with constraints on w, checked in rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

import auclab
from auclab.certificates.checker.bound import proved_bound
from auclab.certificates.checker.constraints import HeldConstraints, same_as_stored, violation
from auclab.certificates.checker.data import Data
from auclab.certificates.checker.program import Program
from auclab.formulations.constraints import ColumnConstraints
from programs import overlapping, stored

X, Y = overlapping(n_pos=8, n_neg=10)
FORMULATIONS = [
    auclab.BufferedAUC(),
    auclab.RankSVM(0.05),
    auclab.RankSVM(0.05, norm="l1"),
    auclab.RankSVM(0.02, squared=True),
    auclab.CSVM(0.05, norm="linf"),
    auclab.CSVM(0.02, squared=True),
]


def stated(seed):
    """Signs, bounds that are not 0, a row and an equation that a point satisfies."""
    rng = np.random.default_rng(seed)
    n = X.shape[1]
    inside, rows = rng.normal(0.0, 0.3, n), rng.normal(0.0, 1.0, (2, n))
    lower = np.where(rng.random(n) < 0.5, np.minimum(inside, 0.0), -np.inf)
    upper = np.where(rng.random(n) < 0.5, inside + 0.1, np.inf)
    kinds = [
        {"lower": lower},
        {"upper": upper},
        {"lower": lower, "upper": upper, "matrix": rows[:1], "limit": rows[:1] @ inside},
    ]
    kinds += [{"matrix": rows, "limit": rows @ inside + [0.2, 0.0], "equal": [False, True]}]
    return ColumnConstraints.of(n, **kinds[seed % 4])


def prove(formulation, constraints, multipliers, of_constraints, enough):
    return proved_bound(
        Program.from_stored(stored(formulation)),
        Data.of(X, Y == 1),
        multipliers,
        None,
        enough=Fraction(enough),
        radius=math.inf,
        spread=np.ones(X.shape[1]),
        held=HeldConstraints.of(constraints, of_constraints),
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: repr)
def test_the_bound_of_a_solution_is_proved(formulation, seed):
    constraints = stated(seed)
    solution = auclab.solve(formulation, X, Y, constraints=constraints)
    of_constraints = solution.constraint_multipliers
    bound = prove(formulation, constraints, solution.multipliers, of_constraints, solution.lower_bound)
    assert float(bound.everywhere) <= solution.objective + 1e-12
    assert float(bound.everywhere) >= solution.lower_bound - 1e-9
    worst, rounding = violation(constraints, solution.coef)
    assert worst <= solution.certificate.violation + rounding


@pytest.mark.slow
@pytest.mark.covering(seed=1)
@pytest.mark.parametrize("seed", range(4))
def test_any_multipliers_prove_no_more_than_the_optimum(seed):
    """50 random dual points and multipliers of constraints, most of them nonsense."""
    rng = np.random.default_rng(seed)
    for trial in range(50):
        formulation, constraints = FORMULATIONS[trial % 6], stated(trial % 7)
        optimum = auclab.solve(formulation, X, Y, constraints=constraints)
        near = 1.0 + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=Y.size)
        of_constraints = rng.choice([0.1, 1.0]) * rng.normal(size=constraints.all_rows()[1].size)
        bound = prove(formulation, constraints, optimum.multipliers * near, of_constraints, 10.0)
        assert float(bound.everywhere) <= optimum.objective + 1e-12


def test_stored_constraints_are_compared_entry_by_entry():
    constraints = stated(2)
    row = constraints.matrix[0]
    content = {
        "lower": [value if math.isfinite(value) else "-inf" for value in constraints.lower.tolist()],
        "upper": [value if math.isfinite(value) else "inf" for value in constraints.upper.tolist()],
        "rows": [{"columns": np.flatnonzero(row).tolist(), "values": row[row != 0].tolist()}],
        "limit": constraints.limit.tolist(),
        "equal": constraints.equal.tolist(),
        "max_features": None,
    }
    assert same_as_stored(constraints, content)
    assert not same_as_stored(constraints, {**content, "limit": [constraints.limit[0] + 1e-12]})
    assert not same_as_stored(constraints, None)
    assert not same_as_stored(None, content)
    assert same_as_stored(None, None)


def test_a_point_outside_is_found():
    constraints = ColumnConstraints.of(2, lower=[0.0, -math.inf], matrix=[[1.0, 1.0]], limit=[0.0])
    worst, rounding = violation(constraints, [-0.5, 0.0])
    assert worst == 0.5
    assert rounding < 1e-11
