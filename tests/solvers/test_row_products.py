"""Products of rows in parts are those of all rows, and end between two parts where a solve has to."""

import numpy as np
import pytest
import scipy.sparse as sp

from auclab import CSVM, PartialAUC, RankSVM
from auclab._core.rows import row_products
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.samples.as_sample import as_sample
from auclab.solvers.monitor import Monitor, OutOfTime
from auclab.solvers.newton.minimise import DampedNewton
from auclab.solvers.smoothed import smooth_loss


@pytest.fixture
def few_at_a_time(monkeypatch):
    monkeypatch.setattr("auclab._core.rows._AT_A_TIME", 20)


def rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)) * (rng.random((40, 3)) < 0.6), np.arange(40) % 3 == 0
    return X, y


@pytest.mark.usefixtures("few_at_a_time")
def test_products_in_parts_are_those_of_all_rows():
    X, _ = rows()
    weight = np.random.default_rng(1).random(40)
    looks = []
    found = row_products(X, weight, lambda: looks.append(1))
    np.testing.assert_allclose(found, X.T @ np.diag(weight) @ X, atol=1e-13)
    assert len(looks) == 20  # 2 rows of 9 products at a time


@pytest.mark.usefixtures("few_at_a_time")
def test_products_of_rows_with_themselves_are_symmetric():
    X, _ = rows()
    weight = np.random.default_rng(1).random(40)
    weight[::5] = 0.0
    found = row_products(X, weight, lambda: None)
    np.testing.assert_allclose(found, X.T @ np.diag(weight) @ X, atol=1e-13)
    assert (found == found.T).all()


@pytest.mark.parametrize("program", [RankSVM(0.1), CSVM(0.1), PartialAUC(0.4)], ids=lambda p: p.name)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_hessian_in_parts_is_that_of_all_rows(program, kind, monkeypatch):
    X, y = rows()
    problem = Problem(program, as_sample(kind(X), y))
    loss = smooth_loss(problem, problem.sample)
    evaluation = loss.evaluate(np.array([0.5, -0.3, 0.2, 0.1, 0.0]), 0.4)
    whole = loss.hessian(evaluation)
    monkeypatch.setattr("auclab._core.rows._AT_A_TIME", 20)
    np.testing.assert_allclose(loss.hessian(evaluation), whole, atol=1e-14)

    def leave():
        raise OutOfTime

    with pytest.raises(OutOfTime):
        smooth_loss(problem, problem.sample, leave).hessian(evaluation)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_no_step_is_taken_out_of_time(norm):
    X, y = rows()
    problem = Problem(RankSVM(0.1, norm=norm), as_sample(X, y))
    monitor = Monitor(clock=Clock(-1.0))
    method = DampedNewton(problem.program, problem.sample.spread, monitor)
    theta = method.on_cone(np.array([0.5, -0.3, 0.2, 0.0, 0.0]))
    assert not method.step(np.eye(5), np.ones(5), theta).any()
    loss = smooth_loss(problem, problem.sample, monitor.check)
    iterate = method.minimise(loss, loss.evaluate(theta, 0.4))
    assert (iterate.theta == theta).all()
    assert not iterate.converged
