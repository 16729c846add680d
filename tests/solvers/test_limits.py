"""Every solver ends soon after its time limit, by a clock set by hand; benchmarks/time_limits.py measures seconds."""

from __future__ import annotations

import sys
from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp

from auclab import CSVM, AuclabError, BufferedAUC, PartialAUC, RankSVM, Status, solve

#: Made seconds of the limit, and for each look at the clock; looks that verify the point when the limit is reached.
LIMIT, LOOK, LAST_LOOKS = 2.0, 0.05, 25
SOLVERS = ("auto", "highs", "newton", "interior", "cutting_plane", "clarabel", "scs")
PROGRAMS = {
    "RankSVM l1": RankSVM(1e-3, "l1"),
    "RankSVM linf": RankSVM(1e-3, "linf"),
    "RankSVM²": RankSVM(1e-3, squared=True),
    "CSVM linf": CSVM(1e-3, "linf"),
    "CSVM²": CSVM(1e-3, squared=True),
    "partial AUC l1": PartialAUC(0.1, 1e-3, "l1"),
    "bAUC": BufferedAUC(),
}
SHAPES = {"many columns": (80, 300), "many rows": (600, 40)}


def table(n_rows, n_columns):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, n_columns)), rng.random(n_rows) < 0.4
    X[y, :20] += 0.1
    return X, y


@pytest.fixture
def looks(monkeypatch):
    """The looks at the clock until now, made by all modules of the package."""
    for solver in SOLVERS:
        solve(RankSVM(1e-3, "l1"), *table(60, 10), solver=solver)  # loads them
    looks = count()
    for name, module in list(sys.modules.items()):
        if name.startswith("auclab.") and hasattr(module, "perf_counter"):
            monkeypatch.setattr(module, "perf_counter", lambda: LOOK * next(looks))
    return looks


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_is_kept(solver, shape, looks):
    X, y = table(*SHAPES[shape])
    reached = []
    for name, program in PROGRAMS.items():
        first = next(looks)
        try:
            found = solve(program, X, y, solver=solver, time_limit=LIMIT)
        except AuclabError:
            continue
        assert next(looks) - first <= LIMIT / LOOK + LAST_LOOKS, name
        assert found.objective <= 1.0 + 1e-9, name  # never worse than w = 0
        assert found.status is not Status.FAILED, name
        reached.append(found.status is Status.TIME_LIMIT)
    assert reached
    if solver in ("newton", "cutting_plane"):
        assert any(reached)


@pytest.mark.slow
def test_a_limit_within_a_sum_of_products_ends_the_solve(looks, monkeypatch):
    """Sums over many sparse rows look at the clock in the middle, here after far fewer rows."""
    monkeypatch.setattr("auclab._core.rows._AT_A_TIME", 2**16)
    rng = np.random.default_rng(0)
    X = sp.random_array((40_000, 60), density=0.1, rng=rng, format="csr")
    y = X @ rng.normal(size=60) + 0.5 * rng.normal(size=40_000) > 0.2
    for limit in (0.1, 1.0, 2.0):
        found = solve(PartialAUC(0.3), X, y, solver="newton", time_limit=limit)
        assert found.status is Status.TIME_LIMIT
        assert found.lower_bound <= found.objective <= 1.0 + 1e-9
