"""Pairs within groups, of grades and of censored times: solved, certified, and confirmed by CVXPY pair by pair."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import auclab
from auclab import CSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab.formulations import Composed
from auclab.formulations.problem import Problem, Ranking
from auclab.losses import Hinge
from auclab.regularisers import Norm
from auclab.solvers.path import InnerPath
from auclab.solvers.smoothed import smooth_loss
from auclab.solvers.smoothed.pair_loss import PairLoss
from extension.huber_hinge import HuberHinge
from reference_ranked import KINDS, data

SOLVERS = ("newton", "cutting_plane", "clarabel")
LOSSES = {"hinge": Hinge(), "huber": HuberHinge(0.7)}
ORDERS = {"l1": 1, "l2": 2, "linf": "inf"}


def optimum(program, X, pairs, nonnegative=()):
    """The least value by CVXPY, with a term for every pair, and some columns whose coefficient is not negative."""
    upper, lower, weight = pairs
    w = cp.Variable(X.shape[1])
    norm, regulariser = cp.norm(w, ORDERS[program.regulariser.norm.name]), program.regulariser
    error = cp.pos(1.0 - (X[upper] - X[lower]) @ w - program.threshold * norm)
    if not program.loss.is_hinge:
        error = cp.huber(error, program.loss.delta) / (2.0 * program.loss.delta)
    cost = regulariser.weight * (cp.square(norm) if regulariser.squared else norm)
    signs = [w[k] >= 0 for k in nonnegative]
    return float(cp.Problem(cp.Minimize(weight @ error + cost), signs).solve(solver="CLARABEL"))


def programs(loss, seed):
    """A norm penalty, a squared one, and a buffer."""
    generator, norm = np.random.default_rng([seed, 7]), ("l1", "l2", "linf")[seed % 3]
    penalty = float(generator.uniform(0.005, 0.1))
    return [
        Composed("pairs", LOSSES[loss], Norm(norm, penalty)),
        Composed("pairs", LOSSES[loss], Norm(norm, penalty, squared=True)),
        Composed("pairs", LOSSES[loss], Norm(norm, 0.0), threshold=-penalty),
    ]


@pytest.mark.slow
@pytest.mark.covering(seed=3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_solver_certifies_what_cvxpy_finds_pair_by_pair(kind, loss, seed):
    X, y, given, pairs = data(kind, seed)
    for k, program in enumerate(programs(loss, seed)):
        least = optimum(program, X, pairs)
        for solver in SOLVERS if k == seed % 3 else SOLVERS[:1]:
            for rows in (X, sp.csr_array(X)):
                solution = auclab.solve(program, rows, y, solver=solver, **given)
                assert str(solution.status).startswith("optimal")
                assert solution.gap <= 1e-6
                assert solution.objective == pytest.approx(least, abs=2e-6)
                assert solution.lower_bound <= least + 1e-7


@pytest.mark.parametrize(("kind", "seed"), [("grades", 17), ("groups", 23)])
def test_multipliers_of_cutting_planes_are_as_accurate_as_they_are_certified(kind, seed):
    """Sums of the same slopes in working precision were off by 1e-9, which ten lengths of w were charged for."""
    X, y, given, pairs = data(kind, seed)
    program = programs("hinge", seed)[2]
    solution = auclab.solve(program, X, y, solver="cutting_plane", **given)
    assert str(solution.status).startswith("optimal")
    assert solution.gap <= 1e-6
    assert solution.objective == pytest.approx(optimum(program, X, pairs), abs=1e-8)


@pytest.mark.parametrize("solver", ["newton", "highs"])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_programs_without_a_penalty_hold_for_every_w(kind, solver):
    for seed in range(3):
        X, y, given, pairs = data(kind, seed, 60)
        for program in (BufferedAUC(), GeneralizedBufferedAUC(-0.05, "l1"), GeneralizedBufferedAUC(-0.05, "linf")):
            least = optimum(program, X, pairs)
            solution = auclab.solve(program, X, y, solver=solver, **given)
            assert solution.status == "optimal"
            assert solution.gap <= 1e-6
            assert solution.lower_bound <= least + 1e-7
            assert solution.objective == pytest.approx(least, abs=2e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_more", "tolerance"), [(0, 1e-12), (40, 1e-10)])
def test_newton_reaches_tight_tolerances_with_margins_tied_at_the_kink(kind, n_more, tolerance):
    """The minimum over a band lies beside the kink by its half-width, and rounding grows as the band narrows."""
    X, y, given, _ = data(kind, 2, 30)
    X = np.c_[X, np.random.default_rng(2).uniform(0.0, 1.0, (len(X), n_more))]
    for rows in (X, sp.csr_array(X)):
        solution = auclab.solve(RankSVM(0.01, squared=True), rows, y, solver="newton", tolerance=tolerance, **given)
        assert solution.status == "optimal"
        assert solution.gap <= tolerance
        assert solution.iterations <= 240  # 225 at most when it was measured


@pytest.mark.parametrize("kind", KINDS)
def test_scorers_on_a_path_approach_the_optimum_of_every_penalty_as_fast_as_of_two_classes(kind):
    """Minima over a band that narrows, and of the squared hinge the minimum itself."""
    X, y, given, _ = data(kind, 2, 60)
    for loss in ("hinge", "squared_hinge"):
        path = InnerPath(RankSVM(1.0, squared=True, loss=loss), X, y, [1e-3, 1e-2, 0.1], **given)
        points = [path.refined(k) for k in path.order]
        assert all(point.minima for point in points)
        while not path.is_final(0):
            path.refined(0)
        for k, penalty in enumerate([1e-3, 1e-2, 0.1]):
            best = auclab.solve(RankSVM(penalty, squared=True, loss=loss), X, y, **given)
            value = auclab.certify(best.formulation, X, y, path.point(k).coef, **given).objective
            assert best.lower_bound <= value <= best.objective + max(2.0 * path.point(k).gap, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_any_point_is_certified_with_the_same_arguments(kind):
    X, y, given, pairs = data(kind, 4)
    solution = auclab.solve(RankSVM(0.02), X, y, solver="newton", **given)
    found = auclab.certify(RankSVM(0.02), X, y, solution.coef, **given)
    assert found.objective == pytest.approx(solution.objective, abs=1e-12)
    assert found.gap <= 1e-6
    other = auclab.certify(RankSVM(0.02), X, y, solution.coef + 0.3, **given)
    assert other.lower_bound <= optimum(RankSVM(0.02), X, pairs) + 1e-7 < other.objective


def test_two_classes_and_one_group_are_the_program_over_all_pairs():
    X, y, _, _ = data("groups", 1, 80)
    plain = auclab.solve(RankSVM(0.05), X, y)
    for given in ({"ordered": True}, {"groups": np.zeros(80)}, {"groups": np.full(80, "a"), "group_weights": "groups"}):
        assert auclab.solve(RankSVM(0.05), X, y, **given).objective == pytest.approx(plain.objective, rel=2e-6)
    events = auclab.solve(RankSVM(0.05), X, 2.0 - y, event=np.ones(80))
    assert events.objective == pytest.approx(plain.objective, rel=2e-6)


def test_weights_are_repetitions_and_rows_of_weight_0_are_not_there():
    X, y, given, _ = data("strata of times", 1)
    weight = given.pop("sample_weight").astype(int)
    events, groups = given.pop("event"), given.pop("groups")
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = auclab.solve(RankSVM(0.05), X, y, event=events, groups=groups, sample_weight=weight, **given)
    repeated = auclab.solve(RankSVM(0.05), X[rows], y[rows], event=events[rows], groups=groups[rows], **given)
    assert weighted.objective == pytest.approx(repeated.objective, rel=2e-6)


def test_w_is_0_from_the_length_of_the_mean_difference_on():
    X, y, given, (upper, lower, weight) = data("times", 2)
    level = float(np.linalg.norm(weight @ (X[upper] - X[lower])))
    above, below = (auclab.solve(RankSVM(level * part), X, y, **given) for part in (1.001, 0.9))
    assert not above.coef.any()
    assert above.gap <= 1e-12
    assert any("w = 0 is optimal because" in note for note in above.notes)
    assert below.coef.any()


@pytest.mark.slow
def test_separable_pairs_have_no_loss_left_and_an_offset_of_a_group_does_not_matter():
    generator = np.random.default_rng(0)
    X, groups = generator.normal(size=(60, 2)), np.repeat(np.arange(6), 10)
    y = X[:, 0] > 0
    shifted = X + 1e6 * groups[:, None]
    for rows in (X, shifted):
        solution = auclab.solve(BufferedAUC(), rows, y, groups=groups, solver="newton")
        assert solution.status == "optimal"
        assert solution.objective <= 1e-9
    values = [auclab.solve(RankSVM(0.1), rows, y, groups=groups).objective for rows in (X, shifted)]
    assert values[0] == pytest.approx(values[1], rel=2e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": [0, 1, 0, 1], "groups": [0, 1, 2, 3]}, "two rows of one group"),
        ({"y": [0, 0, 1, 1], "groups": [0, 0, 1, 1]}, "two rows of one group"),
        ({"y": [3.0, 3.0, 3.0, 3.0], "event": [1, 1, 1, 1]}, "event before the time"),
        ({"y": [1.0, 2.0, 3.0, 4.0], "event": [0, 0, 0, 1]}, "event before the time"),
        ({"y": [1.0, 2.0, 3.0, 4.0], "event": [0, 0, 0, 2]}, "0 or 1"),
        ({"y": [2, 2, 2, 2], "ordered": True}, "two different values"),
        ({"y": [0, 1, 0, 1], "groups": [0, 0]}, "a group for each row"),
        ({"y": [0, 1, 0, 1, 1], "ordered": True}, "4 rows, but there are 5"),
        ({"y": [0, 1, 2, 1], "ordered": True, "formulation": PartialAUC(0.5)}, "hardest share"),
        ({"y": [0, 1, 2, 1], "ordered": True, "formulation": CSVM()}, "not a mean over pairs"),
        ({"y": [0, 1, 2, 1], "ordered": True, "formulation": "exact_auc"}, "count the pairs of two classes"),
        ({"y": [0, 1, 2, 1], "ordered": True, "formulation": GeneralizedBufferedAUC(0.1)}, "z ≤ 0"),
        ({"y": [0, 1, 2, 1], "ordered": True, "solver": "highs"}, "not linear"),
        ({"y": [0, 1, 0, 1], "groups": [0, 0, 1, 1], "group_weights": "all"}, "group_weights"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_sentence(given, message):
    X, formulation = np.arange(8.0).reshape(4, 2), given.pop("formulation", RankSVM(0.1))
    with pytest.raises(AuclabError, match=message):
        auclab.solve(formulation, X, **given)


def test_the_smallest_samples_are_solved():
    for given in (
        {"y": [0, 1], "ordered": True},
        {"y": [1.0, 2.0], "event": [1, 0]},
        {"y": [0, 1, 1], "groups": [0, 0, 1]},
        {"y": [5.0, 5.0, 7.0], "event": [1, 0, 0]},
    ):
        X = np.arange(float(len(given["y"])))[:, None]
        for program in (RankSVM(0.1), RankSVM(0.1, squared=True), BufferedAUC()):
            solution = auclab.solve(program, X, **given)
            assert str(solution.status).startswith("optimal")
            assert solution.gap <= 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_constraints_on_w_are_kept_and_part_of_the_bound(kind, solver):
    X, y, given, pairs = data(kind, 5)
    X = X * [-1.0, 1.0, -1.0]
    for program in (RankSVM(0.02), RankSVM(0.02, "l1", squared=True)):
        least = optimum(program, X, pairs, (0, 1, 2))
        stated = auclab.Constraints(nonnegative=[0, 1, 2])
        solution = auclab.solve(program, X, y, solver=solver, constraints=stated, **given)
        assert (solution.coef >= 0).all()
        assert solution.gap <= 1e-6
        assert solution.objective == pytest.approx(least, abs=2e-6)
        assert solution.lower_bound <= least + 1e-7


def test_many_small_groups_need_no_hessian_of_all_rows_in_a_wide_band(monkeypatch):
    """The Hessian of 300 groups, of which few pairs are in the band, led past the minimum, and widths began again."""
    generator, widths = np.random.default_rng(0), []
    X, groups = generator.normal(size=(50_000, 4)), np.repeat(np.arange(5_000), 10)
    y = (X.sum(axis=1) + 2.0 * generator.normal(size=50_000) > 0).astype(int)
    hessian = PairLoss.hessian

    def counted(loss, evaluation):
        if loss.sample.n_pos == groups.size:
            widths.append(evaluation.width)
        return hessian(loss, evaluation)

    monkeypatch.setattr(PairLoss, "hessian", counted)
    solution = auclab.solve(RankSVM(0.01, squared=True), X, y, groups=groups)
    assert str(solution.status) == "optimal"
    assert solution.gap <= 1e-6
    assert len(widths) <= 5
    assert max(widths, default=0.0) < 0.01


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("half_width", [0.1, 6.0])
def test_hessians_are_sums_over_the_pairs_in_the_band(kind, half_width):
    X, y, given, (upper, lower, weight) = data(kind, 3, 72)
    z, w = -0.1, np.linspace(-0.3, 0.4, X.shape[1])
    weights, program = given.pop("sample_weight"), Composed("pairs", Hinge(), Norm("l2", 0.0), threshold=z)
    program, sample = Ranking(**given).problem_parts(program, X, y, weights)
    inside = abs(1.0 - (X[upper] - X[lower]) @ w - z * np.linalg.norm(w)) < half_width
    assert inside.sum() > 0
    assert inside.all() == (half_width > 1.0)
    D = np.c_[X[upper] - X[lower], np.zeros(weight.size), np.full(weight.size, z)][inside]
    for rows in (sample, sample.of_rows(sp.csr_array(sample.X_pos))):
        loss = smooth_loss(Problem(program, rows), rows)
        evaluation = loss.evaluate(np.r_[w, 0.0, np.linalg.norm(w)], half_width)
        expected = (D * (weight[inside] / (2.0 * half_width))[:, None]).T @ D
        np.testing.assert_allclose(loss.hessian(evaluation), expected, atol=1e-12)
