"""Constraints on w: agreement with CVXPY, points inside, certificates, refusals in words."""

import itertools

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import auclab
import auclab.metrics
from auclab import CSVM, ECSVM, BufferedAUC, Constraints, ExactAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, Status
from auclab.formulations import read_optimum
from auclab.formulations.constraints import ColumnConstraints
from auclab.solvers.path import solve_path

N = 4
SETS = {
    "signs": ColumnConstraints.of(N, lower=[0, -np.inf, 0, -np.inf], upper=[np.inf, np.inf, np.inf, 0]),
    "bounds": ColumnConstraints.of(N, lower=[-0.1, -np.inf, -0.1, 0.05], upper=[0.1, 0.1, np.inf, 0.2]),
    "rows": ColumnConstraints.of(N, matrix=[[1, 1, 1, 1], [1, -1, 0, 0]], limit=[0.2, 0.1]),
    "sum to one": ColumnConstraints.of(N, lower=[0] * N, matrix=[[1] * N], limit=[1], equal=[True]),
    "excluded": ColumnConstraints.of(N, lower=[0, -np.inf, -np.inf, 0], upper=[0, np.inf, np.inf, 0]),
    "without 0": ColumnConstraints.of(
        N, lower=[0.3, -np.inf, -np.inf, -np.inf], matrix=[[0, 1, 1, 0]], limit=[-0.2], equal=[True]
    ),
}
PROGRAMS = (
    BufferedAUC(), GeneralizedBufferedAUC(-0.2), GeneralizedBufferedAUC(-0.2, "l1"), RankSVM(0.05),
    RankSVM(0.05, "l1"), RankSVM(0.05, "linf"), RankSVM(0.05, squared=True), CSVM(0.05), ECSVM(-0.2, "linf"),
    PartialAUC(0.4, 0.01),
)  # fmt: skip
#: Sixty problems, each with one of the three solvers.
CASES = [
    (program, name, ("newton", "cutting_plane", "clarabel")[k % 3])
    for k, (program, name) in enumerate(itertools.product(PROGRAMS, SETS))
]


def sample(seed, m=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, N)) * [1.0, 2.0, 0.5, 1.0]
    y = (X @ [1.0, -0.5, 0.5, 0.3] + 1.5 * rng.normal(size=m) > 0).astype(int)
    return X, y


def optimum(program, X, y, c, weight=None):
    """The optimum, written down in CVXPY pair by pair."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    size = {"l1": cp.norm1, "l2": cp.norm2, "linf": cp.norm_inf}[program.regulariser.name](w)
    shift = 1.0 - program.threshold * size
    weight = np.ones(y.size) if weight is None else weight
    pos, neg = X[y == 1], X[y == 0]
    u, v = weight[y == 1] / weight[y == 1].sum(), weight[y == 0] / weight[y == 0].sum()
    if program.comparisons.name == "points":
        hinges, weights = cp.pos(shift - cp.multiply(2 * y - 1, X @ w + b)), weight / weight.sum()
        loss = weights @ hinges
    else:
        differences = (pos[:, None, :] - neg[None, :, :]).reshape(-1, X.shape[1])
        hinges = cp.pos(shift - differences @ w)
        if program.kind == "cvar":
            each = cp.reshape(hinges, (len(pos), len(neg)), order="C").T @ u
            level = cp.Variable()
            loss = level + (v / program.max_fpr) @ cp.pos(each - level)
        else:
            loss = np.outer(u, v).ravel() @ hinges
    penalty = program.regulariser.weight * (cp.square(size) if program.regulariser.squared else size)
    rows = [c.matrix[k] @ w == c.limit[k] if c.equal[k] else c.matrix[k] @ w <= c.limit[k] for k in range(c.limit.size)]
    rows += [w[k] <= c.upper[k] for k in np.flatnonzero(np.isfinite(c.upper))]
    rows += [w[k] >= c.lower[k] for k in np.flatnonzero(np.isfinite(c.lower))]
    problem = cp.Problem(cp.Minimize(loss + penalty), rows)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert problem.status == "optimal"
    return problem.value


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(("program", "name", "solver"), CASES, ids=lambda value: str(value))
def test_agrees_with_cvxpy(program, name, solver):
    X, y = sample(sum(map(ord, name)))
    constraints = SETS[name]
    solution = auclab.solve(program, X, y, solver=solver, constraints=constraints, tolerance=1e-8)
    assert solution.objective == pytest.approx(optimum(program, X, y, constraints), abs=1e-7)
    assert solution.gap <= 1e-7
    assert solution.certificate.norm_bound == np.inf
    c = constraints
    assert ((solution.coef >= c.lower) & (solution.coef <= c.upper)).all()
    assert solution.certificate.violation <= 1e-12
    # No coefficient is nearly at a bound.
    distance = np.minimum(solution.coef - c.lower, c.upper - solution.coef)
    assert ((distance == 0) | (distance > 1e-6)).all()


@pytest.mark.parametrize("solver", ["highs", "scs"])
def test_the_other_solvers_agree(solver):
    X, y = sample(1)
    for name, constraints in SETS.items():
        solution = auclab.solve(BufferedAUC(), X, y, solver=solver, constraints=constraints, tolerance=1e-5)
        assert solution.objective == pytest.approx(optimum(BufferedAUC(), X, y, constraints), abs=1e-5), name
        assert solution.gap <= 1e-5


@pytest.mark.parametrize("encoding", ["full", "dual", "aggregated"])
def test_every_encoding_takes_constraints(encoding):
    X, y = sample(2)
    for name, constraints in SETS.items():
        solution = auclab.solve(RankSVM(0.05, "l1"), X, y, solver="highs", encoding=encoding, constraints=constraints)
        assert solution.objective == pytest.approx(optimum(RankSVM(0.05, "l1"), X, y, constraints), abs=1e-8), name
        assert solution.status is Status.OPTIMAL


@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.05, squared=True), CSVM(0.05)], ids=str)
def test_weights_and_csr_rows(program):
    X, y = sample(3)
    weight = np.random.default_rng(0).integers(0, 3, size=y.size).astype(float)
    X = np.where(abs(X) > 0.8, X, 0.0)
    for name in ("signs", "sum to one"):
        expected = optimum(program, X, y, SETS[name], weight)
        for rows in (X, sp.csr_array(X)):
            for solver in ("newton", "cutting_plane"):
                found = auclab.solve(program, rows, y, solver=solver, constraints=SETS[name], sample_weight=weight)
                assert found.objective == pytest.approx(expected, abs=2e-6)
                assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.01), RankSVM(0.01, squared=True), CSVM(0.01)], ids=str)
@pytest.mark.parametrize("name", ["signs", "bounds", "sum to one"])
def test_many_observations_take_subsamples_and_narrow_bands(program, name):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(24_000, N)) + 0.4 * (np.arange(24_000) % 2)[:, None] * [1.0, -1.0, 0.5, -0.2]
    y = np.arange(24_000) % 2
    solutions = [
        auclab.solve(program, X, y, solver=solver, constraints=SETS[name]) for solver in ("newton", "cutting_plane")
    ]
    assert all(solution.status is Status.OPTIMAL for solution in solutions)
    assert solutions[0].objective == pytest.approx(solutions[1].objective, rel=2e-6)
    c, coef = SETS[name], solutions[0].coef
    assert ((coef >= c.lower) & (coef <= c.upper)).all()
    # A multiplier belongs to a constraint that is satisfied with equality.
    matrix, limit, _ = c.all_rows()
    slack = limit - matrix @ coef
    assert (slack[abs(solutions[0].constraint_multipliers) > 1e-4] <= 1e-9).all()


def test_columns_of_any_unit_have_the_constraints_of_their_units():
    X, y = sample(5)
    unit = np.array([1e6, 1e-6, 1.0, 1e3])
    for name in ("signs", "bounds", "rows", "without 0"):
        plain = auclab.solve(BufferedAUC(), X, y, constraints=SETS[name])
        # x in other units: the constraint on its coefficient is in the inverse ones.
        scaled = auclab.solve(BufferedAUC(), X * unit, y, constraints=SETS[name].in_units(1.0 / unit))
        assert scaled.objective == pytest.approx(plain.objective, rel=2e-6)
        assert scaled.status is Status.OPTIMAL


def test_the_bound_is_the_lagrangian_by_hand():
    """The bound of the multipliers that are returned, for two observations: margin 2 w₁ + w₂.

    Minimise [1 − 2 w₁ − w₂]₊ + ½(|w₁| + |w₂|) with w₁ ≤ ¼: both w = (¼, 0) with value ½ + ⅛ and w = (¼, ½) with ⅜.
    With q = ½, multiplier ν of the bound: g − ν = (1 − ν, ½), feasible for ν ≥ ½; bound q − ν/4 = ⅜.
    """
    constraints = ColumnConstraints.of(2, upper=[0.25, np.inf])
    for solver in ("highs", "newton", "cutting_plane", "clarabel"):
        found = auclab.solve(
            RankSVM(0.5, "l1"), [[0.0, 0.0], [2.0, 1.0]], [0, 1], solver=solver, constraints=constraints
        )
        assert found.objective == pytest.approx(0.375, abs=1e-6)
        assert found.constraint_multipliers == pytest.approx([0.5], abs=1e-5)
        q, nu = found.multipliers[1], found.constraint_multipliers[0]
        assert found.lower_bound <= q - 0.25 * nu + 1e-12
        assert max(abs(2 * q - nu), q) <= 0.5 + 1e-12


def test_a_point_of_others_is_certified_under_constraints():
    X, y = sample(6)
    constraints = Constraints(nonnegative=[0, 1], rows=[{"coefficients": {2: 1.0, 3: 1.0}, "at_most": 0.3}])
    for program in (BufferedAUC(), RankSVM(0.05, squared=True), PartialAUC(0.4, 0.01)):
        best = auclab.solve(program, X, y, constraints=constraints)
        found = auclab.certify(
            program, X, y, best.coef, best.intercept, best.multipliers, shares_neg=best.shares_neg,
            constraints=constraints,
        )  # fmt: skip
        assert found.gap <= 1e-6
        assert found.violation <= 1e-15
        assert found.norm_bound == np.inf
        free = auclab.certify(program, X, y, best.coef, best.intercept, best.multipliers, shares_neg=best.shares_neg)
        assert free.lower_bound <= found.lower_bound
        outside = auclab.certify(program, X, y, best.coef - 0.5, constraints=constraints)
        assert outside.violation >= 0.5 - 1e-12


@pytest.mark.slow
def test_multipliers_at_random_prove_nothing_false():
    X, y = sample(7)
    rng = np.random.default_rng(0)
    for program in PROGRAMS:
        for name, constraints in SETS.items():
            best = auclab.solve(program, X, y, constraints=constraints)
            found = auclab.certify(
                program, X, y, best.coef, best.intercept, rng.exponential(size=y.size), constraints=constraints
            )
            assert found.lower_bound <= best.objective + 1e-12, (program, name)


def test_names_of_a_data_frame_and_numbers_of_an_array():
    X, y = sample(8)
    frame = pd.DataFrame(X, columns=["age", "debt", "income", "late"])
    by_name = auclab.solve("ranksvm", frame, y, constraints=Constraints(nonnegative=["debt"], upper={"late": 0.1}))
    by_number = auclab.solve("ranksvm", X, y, constraints=Constraints(nonnegative=[1], upper={3: 0.1}))
    assert by_name.coef == pytest.approx(by_number.coef, abs=1e-12)
    assert by_name.coef[1] >= 0
    assert by_name.coef[3] <= 0.1
    with pytest.raises(auclab.AuclabError, match="did you mean debt"):
        auclab.solve("ranksvm", frame, y, constraints=Constraints(nonnegative=["debts"]))


def test_what_is_refused():
    X, y = sample(9, m=12)
    signs = Constraints(nonnegative=[0])
    with pytest.raises(auclab.AuclabError, match=r"takes no constraints on w: z = 0\.1 > 0"):
        auclab.solve(GeneralizedBufferedAUC(0.1), X, y, constraints=signs)
    with pytest.raises(auclab.AuclabError, match="takes no constraints on w: it counts pairs"):
        auclab.solve(ExactAUC(), X, y, constraints=signs)
    rows = [{"coefficients": {0: 1.0, 1: 1.0}, "at_least": 2.0}, {"coefficients": {0: 1.0}, "at_most": 0.5}]
    empty = Constraints(rows=rows, upper={1: 1.0})
    with pytest.raises(auclab.AuclabError, match="contradict each other: no coefficients satisfy row 0 and row 1"):
        auclab.solve(BufferedAUC(), X, y, constraints=empty)
    with pytest.raises(auclab.AuclabError, match="on 3 columns, but X has 4"):
        auclab.solve(BufferedAUC(), X, y, constraints=ColumnConstraints.of(3))
    with pytest.raises(auclab.AuclabError, match="constraints are a dict"):
        auclab.solve(BufferedAUC(), X, y, constraints={"nonnegative": [0]})


def test_an_optimum_at_zero_says_so():
    X, y = sample(10)
    wrong = np.where(np.array([1.0, -0.5, 0.5, 0.3]) > 0, -1, 1)
    opposite = Constraints(
        nonnegative=[k for k in range(N) if wrong[k] > 0], nonpositive=[k for k in range(N) if wrong[k] < 0]
    )
    for solver in ("newton", "cutting_plane", "clarabel"):
        found = auclab.solve(RankSVM(0.3), X, y, constraints=opposite, solver=solver)
        assert not found.coef.any()
        assert found.objective == 1.0
        assert found.status is Status.OPTIMAL
        assert "under the constraints" in found.notes[-1]


def test_a_path_under_constraints():
    X, y = sample(11)
    values = [0.3, 0.1, 0.03]
    path = solve_path(RankSVM(1.0), X, y, values, constraints=SETS["signs"])
    for value, solution in zip(values, path, strict=True):
        alone = auclab.solve(RankSVM(value), X, y, constraints=SETS["signs"])
        assert solution.objective == pytest.approx(alone.objective, rel=2e-6)
        assert solution.constraints is SETS["signs"]


def test_excluded_columns_are_those_of_a_smaller_sample():
    X, y = sample(12)
    for program in (BufferedAUC(), RankSVM(0.05), CSVM(0.05, "linf")):
        found = auclab.solve(program, X, y, constraints=Constraints(excluded=[1, 2]))
        smaller = auclab.solve(program, X[:, [0, 3]], y)
        assert (found.coef[[1, 2]] == 0).all()
        assert found.objective == pytest.approx(smaller.objective, rel=2e-6)


def test_an_optimum_is_read_with_its_constraints():
    X, y = sample(13)
    program = BufferedAUC()
    signs = auclab.solve(program, X, y, constraints=SETS["signs"])
    # The length is free: the value is the buffered probability of the scorer itself.
    assert auclab.metrics.bauc_score(y, X @ signs.coef) == pytest.approx(1 - signs.objective, abs=1e-6)
    assert "α* = " in read_optimum(signs).statement
    short = auclab.solve(program, X, y, constraints=SETS["bounds"])
    assert auclab.metrics.bauc_score(y, X @ short.coef) > 1 - short.objective + 1e-3
    assert f"is at least {1 - short.objective:.4f}" in read_optimum(short).statement
    with pytest.raises(auclab.AuclabError, match="fix the length of w"):
        auclab.ranksvm_to_threshold(auclab.solve(RankSVM(0.05), X, y, constraints=SETS["bounds"]))
    mapped = auclab.ranksvm_to_threshold(auclab.solve(RankSVM(0.05), X, y, constraints=SETS["signs"]))
    again = auclab.solve(mapped.formulation, X, y, constraints=SETS["signs"])
    assert again.objective == pytest.approx(mapped.objective, rel=2e-6)


def test_newton_with_many_features_says_what_to_use():
    X = sp.random_array((12, 2_001), density=0.01, format="csr", rng=np.random.default_rng(0))
    with pytest.raises(auclab.AuclabError, match=r"n × n matrix for constraints on w .* use solver=cutting_plane"):
        auclab.solve(RankSVM(0.1), X, np.arange(12) % 2, solver="newton", constraints=Constraints(nonnegative=[0]))


def test_a_bound_for_short_w_proves_nothing_about_long_ones():
    """No penalty, and an optimum a thousand times as long as the first point: bounds of first steps were kept."""
    X = np.array([
        [-0.107, 0.391, -0.663, 0.017, -0.427], [-0.050, -0.874, -0.295, 1.262, -0.960],
        [0.515, 0.232, -0.247, -0.217, -0.185], [-0.254, 0.063, 0.188, 0.548, 0.439],
        [-0.607, -0.397, 0.565, -0.980, -1.916], [-1.006, 2.920, 0.660, 0.747, 0.500],
        [0.534, 0.966, -0.052, -0.830, 0.562],
    ])  # fmt: skip
    y, weight = np.array([0, 1, 0, 0, 0, 0, 1]), np.array([2.0, 2.0, 3.0, 2.0, 2.0, 1.0, 2.0])
    bounds = ColumnConstraints.of(
        5, lower=[0, *[-np.inf] * 4], upper=[np.inf, 0, 0.3, np.inf, np.inf], matrix=[[-1, 1, 0, 0, 0]], limit=[0]
    )
    found = auclab.solve(CSVM(0.0), X, y, solver="newton", sample_weight=weight, constraints=bounds)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(optimum(CSVM(0.0), X, y, bounds, weight), abs=1e-6)


def test_a_small_entry_of_a_row_is_an_entry():
    """w₀ = 4.1e7 satisfies it with w₂ ≤ 0; 4.9e-8 was read as 0, and the row refused."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = (X[:, 0] + rng.normal(size=20) > 0).astype(int)
    row = {"coefficients": {0: 4.9e-8, 2: 98333.2}, "equals": 2.0}
    constraints = auclab.Constraints(nonpositive=[2], rows=[row])
    solution = auclab.solve(auclab.RankSVM(0.1), X, y, constraints=constraints)
    assert solution.coef[2] <= 0
    assert 4.9e-8 * solution.coef[0] + 98333.2 * solution.coef[2] == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("factor", [1.0, 1e9, 1e-9])
@pytest.mark.parametrize(
    ("rows", "bounds"),
    [
        ([({0: 0.1, 1: 0.2}, "at_most", 1.0), ({0: 0.3, 1: 0.6}, "at_least", 3.1)], {}),
        ([({0: 1.0, 1: 1.0}, "equals", -1.0)], {"nonnegative": [0, 1]}),
        ([({0: 1.0, 1: 1.0}, "at_least", 3.0)], {"upper": {0: 1.0, 1: 1.0}}),
        (
            [({0: 1.0, 1: 1.0}, "equals", 1.0), ({1: 1.0, 2: 1.0}, "equals", 1.0), ({0: 1.0, 2: -1.0}, "equals", 1.0)],
            {},
        ),
    ],
)
def test_contradictions_are_found_in_any_unit(rows, bounds, factor):
    X, y = np.eye(3), [1, 0, 0]
    scaled = [{"coefficients": {k: factor * a for k, a in terms.items()}, kind: factor * c} for terms, kind, c in rows]
    constraints = auclab.Constraints(rows=scaled, **bounds)
    with pytest.raises(auclab.AuclabError, match="contradict each other: no coefficients satisfy row 0"):
        auclab.solve(auclab.RankSVM(0.1), X, y, constraints=constraints)
