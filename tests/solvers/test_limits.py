"""Every solver keeps its time limit, on tables that are too large for it."""

from __future__ import annotations

from time import perf_counter, process_time

import numpy as np
import pytest

from auclab import CSVM, AuclabError, BufferedAUC, PartialAUC, RankSVM, Status, solve

LIMIT = 2.0
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
SHAPES = {"many rows": (30_000, 300), "many columns": (1_200, 6_000)}


def table(n_rows, n_columns):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, n_columns)), rng.random(n_rows) < 0.4
    X[y, :20] += 0.1
    return X, y


@pytest.fixture(scope="module")
def tables():
    for program in PROGRAMS.values():  # loads libraries and compiled loops
        for solver in SOLVERS:
            try:
                solve(program, *table(60, 100), solver=solver, time_limit=20.0)
            except AuclabError:
                continue
    return {name: table(*shape) for name, shape in SHAPES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_limit_is_kept(name, solver, shape, tables):
    X, y = tables[shape]
    wall, processor = perf_counter(), process_time()
    try:
        found = solve(PROGRAMS[name], X, y, solver=solver, time_limit=LIMIT)
    except AuclabError:
        found = None
    # Where other processes wait for the same cores the wall has more, where there are two threads the processor.
    seconds = min(perf_counter() - wall, process_time() - processor)
    assert seconds <= 2.0 * LIMIT + 1.0  # benchmarks/time_limits.py measures 1.1 · limit + 0.5 on an idle machine
    if found is not None:
        assert found.objective <= 1.0 + 1e-9  # never worse than w = 0
        assert found.status is not Status.FAILED
