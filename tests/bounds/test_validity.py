"""The simulation of benchmarks/bound_validity.py, small: no proved bound fails more often than it may.

Its truths are exact sums over finitely many points; they are checked here against twins over all pairs.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import reference
import reference_bounds

PATH = Path(__file__).parents[2] / "benchmarks" / "bound_validity.py"


@pytest.fixture(scope="module")
def validity():
    spec = importlib.util.spec_from_file_location("bound_validity", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["bound_validity"] = module  # dataclasses look themselves up there
    sys.path.insert(0, str(PATH.parent))  # and scripts import `measured` from their own folder
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(PATH.parent))
    del sys.modules["bound_validity"]


def test_truths_are_exact(validity):
    population = validity.populations()[2]
    w = np.array([1.0, 0.25])
    truth = population.truth(w)
    pos, neg = population.pos @ w, population.neg @ w
    errors = reference.pair_errors(pos, neg, population.share_pos, population.share_neg)
    assert truth.auc == pytest.approx(float(reference.auc(errors, "half")), abs=1e-12)
    assert truth.bauc == pytest.approx(1 - float(reference.buffered(errors, 0.0).bpoe), abs=1e-12)

    def integral(s):  # of the ramp from 0.7 to 0.9
        over = max(s - 0.7, 0.0)
        return over**2 / 0.4 if over < 0.2 else over - 0.1

    shares = population.share_pos, population.share_neg
    step = reference_bounds.averaged_auc(pos, neg, *shares, integral, lambda t: float(t > 0))
    assert truth.averaged == pytest.approx(step, abs=1e-12)
    ranked = reference_bounds.max_rank_auc(
        pos, neg, *shares, lambda s: min(max(s - 0.7, 0.0) / 0.2, 1.0), lambda t: float(t > 0)
    )
    assert truth.max_rank == pytest.approx(ranked, abs=1e-12)
    width = validity.ell_width(population, w)
    smooth = reference_bounds.averaged_auc(pos, neg, *shares, integral, lambda t: min(max(t / width, 0.0), 1.0))
    assert truth.smooth == pytest.approx(smooth, abs=1e-7)
    # specificity 0.8: negatives −½ − 0, −0.45 and 0 with shares 0.6, 0.3, 0.1: the 0.8-quantile is −0.45
    assert truth.roc == pytest.approx(1.0)


@pytest.mark.weekly
def test_no_proved_bound_fails_too_often(validity):
    cells = [(0, 0.5, 0.3), (1, 0.05, 3.0), (2, 0.5, 3.0), (3, 0.2, 0.03)]
    rows = validity.simulate(12, 600, cells)
    assert {row.name for row in rows} == set(validity.BOUNDS)
    for row in rows:
        if validity.BOUNDS[row.name][1]:
            assert row.violated <= row.rho, row
    # the simulation can tell: an eighth of the slack would not do, and no slack is used up
    by_name = {row.name: row for row in rows if row.rho == validity.RHOS[0]}
    for name in ("held out, AUC (8.5)", "weighted AUC, dkw (9.1)", "weighted AUC, mcdiarmid"):
        assert 1 / 8 < by_name[name].used < 1
    assert by_name["peeled margin, l2"].vacuous < 1
    assert by_name["peeled stability (8.3)"].vacuous <= 1


def test_a_table_has_a_line_for_every_bound(validity):
    rows = [validity.Row(name, rho, 0.0, 0.1, 0.5, 0.2) for name in validity.BOUNDS for rho in validity.RHOS]
    lines = validity.table(rows).splitlines()
    assert len(lines) == 2 + len(validity.BOUNDS)
    assert len({line.count("|") for line in lines}) == 1
