"""Minima of smoothed programs along λ and z: where they end, and when they prove that w = 0 is optimal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import auclab
from auclab import CSVM, ECSVM, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab.formulations import Program
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.newton import minimise
from auclab.solvers.newton.minimise import DampedNewton
from auclab.solvers.path import WIDTHS, InnerPath, SmoothedPath, is_smooth_path
from auclab.solvers.smoothed.pair_loss import PairLoss

PROGRAMS: list[tuple[Program, str, list[float]]] = [
    (RankSVM(1.0), "penalty", [0.3, 0.03]),
    (RankSVM(1.0, squared=True), "penalty", [0.3, 0.03]),
    (CSVM(1.0), "penalty", [0.1, 0.01]),
    (PartialAUC(0.3, 1.0), "penalty", [0.3, 0.03]),
    (PartialAUC(0.3, 1.0, squared=True), "penalty", [0.3, 0.03]),
    (GeneralizedBufferedAUC(-1.0), "threshold", [-0.5, -0.05]),
    (ECSVM(-1.0), "threshold", [-0.5, -0.05]),
]
IDS = [f"{program.name}{'²' * program.regulariser.squared}" for program, _, _ in PROGRAMS]


def data(seed: int = 0, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes, a half positive, with a binary column and one that few rows have."""
    rng = np.random.default_rng(seed)
    y, shift = np.arange(n) % 2, 1.0
    X = np.c_[rng.normal(size=(n, 3)) + shift * y[:, None], rng.random(n) < 0.4, rng.random(n) < 0.05]
    return X, y


@pytest.mark.parametrize(("program", "parameter", "values"), PROGRAMS, ids=IDS)
def test_minima_reach_the_certified_optimum(program: Program, parameter: str, values: list[float]) -> None:
    X, y = data()
    path = InnerPath(program, X, y, values, parameter=parameter)
    for k in path.order:
        solution = auclab.solve(program.with_params(**{parameter: values[k]}), X, y)
        for _ in WIDTHS:
            point = path.refined(k)
            assert point.minima, "the minimum of the smoothed program, and no other solver"
            objective = point.formulation.value(point.coef, point.intercept, X, y)
            assert objective >= solution.lower_bound - 1e-12
            assert objective - solution.objective <= 1.1 * point.gap * max(objective, 1e-3) + 1e-9
            if path.is_final(k):
                break
        assert point.gap <= 1e-6


def test_neighbouring_minima_share_hessians(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps with the last Hessian are taken as long as they converge."""
    X, y = data(n=2_000)
    counts = {"hessians": 0, "steps": 0}
    for owner, name, what in ((PairLoss, "hessian", "hessians"), (DampedNewton, "_searched", "steps")):
        plain = getattr(owner, name)

        def counted(*given: object, plain: Callable[..., object] = plain, what: str = what) -> object:
            counts[what] += 1
            return plain(*given)

        monkeypatch.setattr(owner, name, counted)
    path = InnerPath(RankSVM(1.0, squared=True), X, y, [0.03, 0.02, 0.01, 0.007], parameter="penalty")
    for _ in range(4):
        for k in path.order:
            path.refined(k)
    assert counts["hessians"] < 0.6 * counts["steps"], counts


@pytest.mark.parametrize(("program", "parameter", "values"), PROGRAMS, ids=IDS)
def test_slopes_of_the_smoothed_program_vanish_at_minima(program: Program, parameter: str, values: list[float]) -> None:
    X, y = data(1)
    sample = as_sample(X, y)
    problems = [Problem(program.with_params(**{parameter: value}), sample) for value in values]
    assert is_smooth_path(problems)
    path = SmoothedPath(problems, 1e-6)
    for k in range(len(values)):
        found = path.minimum(k, 1, None, None)
        assert found is not None
        assert found.theta[-1] == pytest.approx(float(np.linalg.norm(found.theta[:-2])), rel=1e-12)
        # Finite differences, which share nothing with the Hessian and the slopes of the method.
        for column in range(found.theta.size - (1 if not problems[k].over_pairs else 2)):
            values_beside = []
            for side in (-1e-5, 1e-5):
                theta = found.theta.copy()
                theta[column] += side
                theta[-1] = np.linalg.norm(theta[:-2])
                values_beside.append(path._value(k, path._loss(k).evaluate(theta, found.width)))
            here = path._value(k, path._loss(k).evaluate(found.theta, found.width))
            assert min(values_beside) >= here - 1e-3 * found.gap


@pytest.mark.parametrize(
    ("program", "parameter"),
    [(CSVM(1.0), "penalty"), (PartialAUC(0.3, 1.0), "penalty"), (ECSVM(-1.0), "threshold")],
    ids=["csvm", "partial_auc", "ecsvm"],
)
@pytest.mark.parametrize("seed", range(3))
def test_w_0_is_proved_above_its_level_and_not_below(program: Program, parameter: str, seed: int) -> None:
    X, y = data(seed)
    level = program.null_penalty(X, y) if parameter == "penalty" else -program.null_threshold(X, y)
    assert abs(level) > 0.01
    path = InnerPath(program, X, y, [1.02 * level, 0.98 * level], parameter=parameter)
    for k in path.order:
        point = path.refined(k)
        while not path.is_final(k):
            point = path.refined(k)
        assert point.coef.any() == (k == 1)


def test_giving_up_a_hessian_with_which_steps_converge_slowly_saves_evaluations(monkeypatch):
    X, y = data(n=400)
    evaluations: list[float] = []
    evaluate = PairLoss.evaluate
    monkeypatch.setattr(PairLoss, "evaluate", lambda *args: evaluations.append(args[2]) or evaluate(*args))

    def number() -> int:
        evaluations.clear()
        path = InnerPath(RankSVM(1.0), X, y, np.geomspace(1.0, 1e-3, 10).tolist())
        for _ in range(4):
            for k in path.order:
                path.refined(k)
        return len(evaluations)

    with_rule = number()
    monkeypatch.setattr(minimise, "_CHORD_RATE", np.inf)
    assert number() >= 1.1 * with_rule, with_rule
