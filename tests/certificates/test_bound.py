"""Objective and bound in rational arithmetic, against their definitions."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import auclab
from auclab.certificates.checker.bound import proved_bound
from auclab.certificates.checker.correction import corrected
from auclab.certificates.checker.data import Data
from auclab.certificates.checker.multipliers import admissible
from auclab.certificates.checker.program import Program, objective
from programs import stored

FORMULATIONS = [
    auclab.BufferedAUC(),
    auclab.RankSVM(0.05),
    auclab.RankSVM(0.03, "l1"),
    auclab.RankSVM(0.01, "linf", True),
    auclab.GeneralizedBufferedAUC(-0.1),
    auclab.GeneralizedBufferedAUC(-0.1, "l1"),
    auclab.CSVM(0.02, "l2"),
    auclab.CSVM(0.02, "linf", True),
    auclab.ECSVM(0.0),
    auclab.ECSVM(-0.05, "l2"),
    auclab.PartialAUC(0.3),
    auclab.PartialAUC(0.25, 0.02),
]


def checked(formulation):
    """The checker's own record of a formulation."""
    return Program.from_stored(stored(formulation))


def overlapping(seed=0, size=40, features=3):
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 3 == 0
    return rng.standard_normal((size, features)) + 0.8 * y[:, None], y


def by_definition(formulation, X, y, coef, intercept):
    """The objective with every pair, in rationals; the length of w is a float where it is a root."""
    X, w = [[Fraction(float(x)) for x in row] for row in X], [Fraction(float(c)) for c in coef]
    scores = [sum(a * b for a, b in zip(row, w, strict=True)) for row in X]
    size = {"l1": sum(map(abs, w)), "linf": max(map(abs, w)), "l2": Fraction(float(np.linalg.norm(coef)))}
    size = size[formulation.regulariser.name]
    start = 1 - Fraction(formulation.threshold) * size
    pos = [s for s, positive in zip(scores, y, strict=True) if positive]
    neg = [s for s, positive in zip(scores, y, strict=True) if not positive]
    if formulation.comparisons.name == "points":
        losses = [max(0, start - (p + Fraction(intercept))) for p in pos]
        losses += [max(0, start + (n + Fraction(intercept))) for n in neg]
        hinge = sum(losses) / len(losses)
    else:
        losses = [sum(max(Fraction(0), start + n - p) for p in pos) / len(pos) for n in neg]
        left, hinge = Fraction(getattr(formulation, "max_fpr", 1.0)) * len(neg), Fraction(0)
        count = left
        for loss in sorted(losses, reverse=True):
            hinge += min(left, Fraction(1)) * loss
            left -= min(left, Fraction(1))
        hinge /= count
    return hinge + Fraction(formulation.regulariser.weight) * (size**2 if formulation.regulariser.squared else size)


def test_a_composed_program_is_the_one_of_its_pieces():
    """λ, norm and square are those of the regulariser, whatever is stored beside it."""
    pieces = {
        "comparisons": {"class": "auclab.margins.points.Points"},
        "loss": {"class": "auclab.losses.loss.Hinge"},
        "regulariser": {"class": "auclab.regularisers.regulariser.Norm", "name": "l1", "weight": 0.5, "squared": True},
    }
    composed = Program.from_stored({"name": "composed", "penalty": 0.1, "norm": "l2", "squared": False, **pieces})
    named = Program.from_stored({"name": "csvm", "penalty": 0.5, "norm": "l1", "squared": True})
    assert composed == replace(named, name="composed")


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_the_objective_is_that_of_the_definition(formulation):
    X, y = overlapping()
    coef = np.array([0.3, -1.7, 2.9])
    low, high = objective(checked(formulation), Data.of(X, y), coef, 0.1)
    expected = by_definition(formulation, X, y, coef, 0.1)
    regulariser = formulation.regulariser
    if regulariser.name == "l2" and (regulariser.weight or formulation.threshold) and not regulariser.squared:
        assert low <= high <= low * (1 + Fraction(1, 2**200))
        assert float(low) == pytest.approx(float(expected), rel=1e-14)
    else:
        assert float(low) == float(high) == pytest.approx(float(expected), rel=1e-14)
        if formulation.regulariser.name != "l2" or not (formulation.regulariser.weight or formulation.threshold):
            assert low == high == expected


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_the_bound_of_a_solution_is_proved_for_every_w(formulation):
    X, y = overlapping()
    solution = auclab.solve(formulation, X, y)
    program, data = checked(formulation), Data.of(X, y)
    value = objective(program, data, solution.coef, solution.intercept)[1]
    bound = prove(program, data, solution, enough=value - Fraction(1e-6) * max(value, Fraction(1e-3)))
    assert 0 <= float(value - bound.everywhere) <= 1e-6 * max(float(value), 1e-3)
    rng = np.random.default_rng(1)
    for length in (0.0, 1.0, 1e3, 1e9):
        w = solution.coef * length if length > 1 else rng.standard_normal(3) * length
        assert objective(program, data, w, solution.intercept * length)[1] >= bound.everywhere


def prove(program, data, solution, *, enough=Fraction(10), radius=np.inf, spread=None):
    return proved_bound(
        program,
        data,
        solution.multipliers,
        solution.shares_neg,
        enough=enough,
        radius=radius,
        spread=np.ones(data.n_features) if spread is None else spread,
    )


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("penalty", [0.1, 0.4, 10.0])
def test_the_bound_of_all_pairs_with_their_full_weights(norm, squared, penalty):
    """``Σq = 1`` and ``Σ q d = Δ``, the difference of the class means: τ or τ − τ²‖Δ‖²/(4λ), by hand."""
    X, y = overlapping(size=48)  # 16 and 32 observations: their shares are floats
    formulation = auclab.RankSVM(penalty, norm, squared)
    full = SimpleNamespace(multipliers=np.where(y, 1 / y.sum(), 1 / (~y).sum()), shares_neg=None)
    means = [[sum(Fraction(float(x)) for x in column) / len(column) for column in X[side].T] for side in (y, ~y)]
    delta = [abs(a - b) for a, b in zip(*means, strict=True)]
    size = max(delta) if norm == "l1" else sum(delta)
    factor = min(Fraction(1), (2 * Fraction(penalty) / size**2) if squared else Fraction(penalty) / size)
    expected = factor - factor**2 * size**2 / (4 * Fraction(penalty)) if squared else factor
    bound = prove(checked(formulation), Data.of(X, y), full)
    assert bound.everywhere == bound.within == expected


def test_weights_of_the_negatives_are_cut_to_their_bounds():
    """All weight on one negative of four, though it may have twice its share; the rest goes to the others."""
    y = np.array([True, False, False, False, False])
    program, data = Program.from_stored({"name": "partial_auc", "max_fpr": 0.5}), Data.of(np.zeros((5, 1)), y)
    point = admissible(program, data, np.array([1.0, 1.0, 0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    shares = [Fraction(int(share), int(point.share_neg.sum())) for share in point.share_neg]
    assert shares[0] == Fraction(1, 2)
    assert sum(shares) == 1
    assert max(shares) == Fraction(1, 2)
    assert point.total(program, data) == Fraction(1, 2)


def test_any_multipliers_prove_no_more_than_the_optimum():
    X, y = overlapping()
    rng = np.random.default_rng(0)
    for formulation in FORMULATIONS:
        solution = auclab.solve(formulation, X, y, tolerance=1e-6)
        program, data = checked(formulation), Data.of(X, y)
        for scale in (1e-12, 1e-3, 1.0, 1e3):
            noisy = solution.multipliers * (1 + scale * rng.standard_normal(y.size))
            made_up = SimpleNamespace(multipliers=noisy, shares_neg=solution.shares_neg)
            assert prove(program, data, made_up).everywhere <= Fraction(solution.objective) + Fraction(1e-15)


def test_margins_too_small_to_see_are_not_overlooked():
    """Separable by 1e-9: the optimum is 0 at w = 1e9, though every w of ordinary length has a value near 2/3."""
    X, y = np.array([[1 + 1e-9], [1.0], [1e-9], [0.0], [1.0], [0.0]]), np.array([1, 0, 1, 0, 1, 0], dtype=bool)
    X[4:] = [[2.0], [0.5]]
    program, data = Program.from_stored({"name": "bauc"}), Data.of(X, y)
    share = np.where(y, 1 / 3, 1 / 3)
    made_up = SimpleNamespace(multipliers=share * 0.9, shares_neg=None)
    bound = prove(program, data, made_up, radius=10.0)
    best = min(objective(program, data, np.array([w]), 0.0)[1] for w in np.geomspace(1e-3, 1e12, 200))
    assert bound.everywhere <= best


def test_the_constraint_is_satisfied_exactly():
    X, y = overlapping(size=150)
    X = np.c_[X, np.eye(3)[np.arange(150) // 7 % 3], np.full(150, 0.1)]  # the equations depend
    solution = auclab.solve(auclab.BufferedAUC(), X, y)
    program, data = Program.from_stored({"name": "bauc"}), Data.of(X, y)
    point = corrected(program, data, admissible(program, data, solution.multipliers))
    assert point is not None
    assert set(data.combine(point.values, point.unit)) == {Fraction(0)}
    assert point.values[y].sum() == point.values[~y].sum()


def test_sparse_rows_and_tables_in_blocks_are_the_same_rows(tmp_path):
    import pandas as pd

    from auclab.samples.blocks import open_parquet

    X, y = overlapping()
    X[np.abs(X) < 0.5] = 0.0
    solution = auclab.solve(auclab.BufferedAUC(), X, y)
    pd.DataFrame(X, columns=list("abc")).assign(y=y.astype(int)).to_parquet(tmp_path / "part.parquet")
    tables = [X, sp.csr_array(X), open_parquet(tmp_path / "part.parquet", target="y")[0]]
    program = Program.from_stored({"name": "bauc"})
    values = {
        (objective(program, Data.of(table, y), solution.coef, 0.0), prove(program, Data.of(table, y), solution))
        for table in tables
    }
    assert len(values) == 1


def test_multipliers_that_are_no_numbers_prove_nothing():
    X, y = overlapping()
    made_up = SimpleNamespace(multipliers=np.full(y.size, np.nan), shares_neg=None)
    assert prove(Program.from_stored({"name": "bauc"}), Data.of(X, y), made_up) is None


def test_weights_act_as_repeated_rows():
    X, y = overlapping(size=12)
    weight = np.arange(12.0) % 4
    repeated = np.repeat(np.arange(12), weight.astype(int))
    for name in ("bauc", "csvm", "partial_auc", "exact_auc"):
        program = Program.from_stored({"name": name, "max_fpr": 0.3 if name == "partial_auc" else None})
        coef = np.array([1.0, 0.5, -0.25])
        weighted = objective(program, Data.of(X, y, weight), coef, 0.5)
        assert weighted == objective(program, Data.of(X[repeated], y[repeated]), coef, 0.5)
