"""Stored runs over pairs within groups, of grades and of times: confirmed, and refuted where anything was changed."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab._core.base import AuclabError
from auclab.certificates.checker.correction import StoredPairs, at_pairs, balanced_pairs
from auclab.certificates.checker.data import Data
from auclab.certificates.checker.margins import DualScorer, RankedData
from auclab.certificates.checker.multipliers import at_scorers
from auclab.certificates.checker.program import Program, objective
from auclab.runs.checking.claims import Verdict
from auclab.runs.checking.command import check_folder, exit_code
from auclab.runs.checking.stored import prepare_training
from composed import run_here
from ranked_tables import KINDS
from ranked_tables import settings as read_table
from tampered_runs import (
    change_coef,
    change_multipliers,
    change_objective,
    change_penalty,
    copied_runs,
    edit_certificate,
    lower_gap,
    raise_bound,
    read_certificate,
    refuted,
    verdicts,
)

RANKED = {"class": "auclab.margins.ranked_pairs.RankedPairs", "kind": "grades"}
LOSSES = {
    "hinge": ["formulation=ranksvm", "formulation.penalty=0.03"],
    "squared hinge": [
        *("formulation=ranksvm", "formulation.penalty=0.03", "formulation.loss=squared_hinge", "formulation.norm=l1"),
    ],
    "no penalty": ["formulation=bauc"],
    "squared penalty": ["formulation=ranksvm", "formulation.squared=true", "formulation.norm=linf"],
}


#: Programs for solvers that have a multiplier for every pair, and for one whose dual point is that of scorers.
BY_PAIRS = {
    "clarabel": ["formulation=ranksvm", "formulation.penalty=0.03", "solver=clarabel"],
    "highs": ["formulation=ranksvm", "formulation.penalty=0.03", "formulation.norm=l1", "solver=highs"],
    "clarabel, no penalty": ["formulation=bauc", "solver=clarabel"],
    "highs, no penalty": ["formulation=bauc", "solver=highs"],
    "clarabel, z": ["formulation=generalized_bauc", "formulation.threshold=-0.2", "solver=clarabel"],
    "clarabel, squared hinge": [
        *("formulation=ranksvm", "formulation.penalty=0.03", "formulation.loss=squared_hinge", "solver=clarabel"),
    ],
    "cutting_plane, no penalty": ["formulation=bauc", "solver=cutting_plane"],
    "newton, z": ["formulation=generalized_bauc", "formulation.threshold=-0.2", "solver=newton"],
}
#: The kind whose runs these are made of; weights of groups and times are in one of them each.
OF_PAIRS = {name: "groups alike" if number % 2 else "times" for number, name in enumerate(BY_PAIRS)}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of every kind with the hinge and the squared hinge, and others of one kind."""
    place = tmp_path_factory.mktemp("checked")
    for kind in KINDS:
        for loss, overrides in LOSSES.items():
            if kind == "times" or loss in ("hinge", "squared hinge"):
                run_here(place / kind / loss, *read_table(place, kind), *overrides, "bounds=none", "split=none")
    for name, overrides in BY_PAIRS.items():
        kind = OF_PAIRS[name]
        run_here(place / kind / name, *read_table(place, kind), *overrides, "bounds=none", "split=none")
    return place


@pytest.fixture
def copied(made, tmp_path):
    """A copy of everything that may be changed, the data included."""
    return copied_runs(made, tmp_path / "copy")


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["hinge", "squared hinge"])
def test_a_run_is_confirmed(made, kind, loss):
    assert set(verdicts(made / kind / loss).values()) == {Verdict.CONFIRMED}
    assert exit_code(check_folder(made / kind / loss)) == 0


@pytest.mark.parametrize("loss", ["no penalty", "squared penalty"])
def test_other_regularisers_are_confirmed(made, loss):
    assert set(verdicts(made / "times" / loss).values()) == {Verdict.CONFIRMED}


@pytest.mark.parametrize("name", BY_PAIRS)
def test_runs_with_a_multiplier_for_every_pair_are_confirmed(made, name):
    assert set(verdicts(made / OF_PAIRS[name] / name).values()) == {Verdict.CONFIRMED}


def test_only_models_of_every_pair_store_pairs(made):
    stored = {name for name in BY_PAIRS if (made / OF_PAIRS[name] / name / "pair_multipliers.parquet").exists()}
    assert {"clarabel", "highs", "clarabel, no penalty", "highs, no penalty", "clarabel, z"} <= stored
    assert not {"cutting_plane, no penalty", "newton, z"} & stored


def edit_pairs(folder, change):
    path = folder / "pair_multipliers.parquet"
    change(pd.read_parquet(path)).to_parquet(path, index=False)


#: Changes of stored pairs, and the claim that no longer holds.
OF_STORED_PAIRS = {
    "half as much": (lambda table: table.assign(multiplier=table["multiplier"] / 2), "lower bound"),
    "ten times as much": (lambda table: table.assign(multiplier=table["multiplier"] * 10), "lower bound"),
    "other sides": (lambda table: table.rename(columns={"upper": "lower", "lower": "upper"}), "lower bound"),
    "twice": (lambda table: pd.concat([table, table]), "lower bound"),
    "not finite": (lambda table: table.assign(multiplier=np.nan), "lower bound"),
    "none": (lambda table: table.iloc[:0], "lower bound"),
}


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("way", OF_STORED_PAIRS)
@pytest.mark.parametrize("name", ["clarabel", "highs, no penalty"])
def test_changed_pairs_prove_nothing(copied, name, way):
    """Ten times as much is cut to the weights of the pairs, and is another dual point."""
    change, claim = OF_STORED_PAIRS[way]
    folder = copied / OF_PAIRS[name] / name
    edit_pairs(folder, change)
    assert claim in refuted(folder)


def test_a_bound_that_stored_pairs_do_not_prove_is_refuted(copied):
    """None is above the objective; the bound of an interior point is so near to it that it may be raised up to it."""
    folder = copied / OF_PAIRS["clarabel"] / "clarabel"
    edit_certificate(folder, lower_bound=read_certificate(folder)["objective"] * (1 + 1e-6))
    assert "lower bound" in refuted(folder)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("way", ["coefficients", "objective", "multipliers", "gap"])
@pytest.mark.parametrize("name", ["clarabel", "highs, no penalty"])
def test_a_changed_run_with_pairs_is_refuted(copied, name, way):
    change, claim = OF_RUNS[way]
    folder = copied / OF_PAIRS[name] / name
    change(folder)
    assert claim in refuted(folder)


def test_pairs_of_other_rows_are_damage(copied):
    folder = copied / OF_PAIRS["clarabel"] / "clarabel"
    edit_pairs(folder, lambda table: table.assign(upper=table["upper"] + 10_000))
    with pytest.raises(AuclabError, match="a pair has a row that is not in"):
        check_folder(folder)


def test_weights_of_stored_scorers_add_up_to_one_at_most(made):
    """As rationals: the checker takes nothing for a dual point that exceeds 1 by rounding."""
    scorers = read_certificate(made / OF_PAIRS["cutting_plane, no penalty"] / "cutting_plane, no penalty")["scorers"]
    assert len(scorers) > 1
    assert 1 - Fraction(1, 2**40) < sum(Fraction(each["weight"]) for each in scorers) <= 1


#: Programs over the space of a kernel.
OVER_KERNELS = {
    "kernel": ["formulation=ranksvm", "formulation.penalty=0.03"],
    "kernel, squared hinge": [
        *("formulation=ranksvm", "formulation.penalty=0.03", "formulation.squared=true"),
        "formulation.loss=squared_hinge",
    ],
    "kernel, z": ["formulation=generalized_bauc", "formulation.threshold=-0.2"],
}


@pytest.fixture(scope="module")
def over_kernels(tmp_path_factory):
    """Runs over a Gaussian kernel, of groups and of times."""
    place = tmp_path_factory.mktemp("kernels")
    for name, overrides in OVER_KERNELS.items():
        for kind in ("groups alike", "times"):
            table = read_table(place, kind)
            run_here(place / kind / name, *table, *overrides, "kernel=rbf", "bounds=none", "split=none")
    return place


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("kind", ["groups alike", "times"])
@pytest.mark.parametrize("name", OVER_KERNELS)
def test_runs_over_a_kernel_are_confirmed(over_kernels, kind, name):
    folder = over_kernels / kind / name
    assert set(verdicts(folder).values()) == {Verdict.CONFIRMED}
    scorers = read_certificate(folder)["scorers"]
    assert sum(Fraction(each["weight"]) for each in scorers) <= 1
    assert all(len(each["places"]) == len(each["coef"]) for each in scorers)


def change_landmark(folder):
    path = folder / "landmarks.csv"
    table = pd.read_csv(path)
    table["coefficient"] *= 1.01
    table.to_csv(path, index=False)


def change_functions(folder):
    """Slopes at other functions prove less."""
    scorers = read_certificate(folder)["scorers"]
    edit_certificate(folder, scorers=[each | {"coef": [2.0 * c for c in each["coef"]]} for each in scorers])


OF_KERNELS = {
    "coefficients": (change_landmark, "objective"),
    "objective": (change_objective, "objective"),
    "multipliers": (change_multipliers, "multipliers"),
    "gap": (lower_gap, "gap"),
    "kind": (lambda folder: change_kind(folder), "comparison"),
}


@pytest.mark.parametrize("way", OF_KERNELS)
def test_a_changed_run_over_a_kernel_is_refuted(over_kernels, tmp_path, way):
    change, claim = OF_KERNELS[way]
    folder = copied_runs(over_kernels, tmp_path / "copy") / "times" / "kernel"
    change(folder)
    assert claim in refuted(folder)
    assert exit_code(check_folder(folder)) == 1


@pytest.mark.parametrize("stored", [{"coef": [1.0], "places": [10_000]}, {"coef": [1.0], "places": [-1]}])
def test_functions_of_other_rows_prove_nothing(over_kernels, tmp_path, stored):
    """The bound may be that of other functions than the ones stored, so that it is not refuted."""
    folder = copied_runs(over_kernels, tmp_path / "copy") / "times" / "kernel"
    edit_certificate(folder, scorers=[read_certificate(folder)["scorers"][0] | stored])
    assert verdicts(folder)["lower bound"] is Verdict.UNCHECKED
    assert exit_code(check_folder(folder)) != 0


def test_other_functions_prove_less(over_kernels, tmp_path):
    folder = copied_runs(over_kernels, tmp_path / "copy") / "times" / "kernel"
    change_functions(folder)
    assert verdicts(folder)["lower bound"] is Verdict.UNCHECKED
    assert exit_code(check_folder(folder)) != 0


def change_event(folder):
    """One event of the stored rows."""
    path = folder / "multipliers.parquet"
    table = pd.read_parquet(path)
    table.loc[0, "event"] = not table.loc[0, "event"]
    table.to_parquet(path, index=False)


def change_scorers(folder):
    """Slopes at another scorer prove less."""
    scorers = read_certificate(folder).get("scorers") or [{"weight": 1.0, "coef": [0.0] * 6, "half_width": 0.0}]
    changed = [each | {"coef": [2.0 * w for w in each["coef"]]} for each in scorers]
    edit_certificate(folder, scorers=changed)


def change_kind(folder):
    """A program over other pairs than those of the data."""
    program = read_certificate(folder)["program"]
    edit_certificate(folder, program=program | {"comparisons": program["comparisons"] | {"kind": "grades"}})


def change_to_classes(folder):
    program = {key: value for key, value in read_certificate(folder)["program"].items() if key != "comparisons"}
    edit_certificate(folder, program=program)


OF_RUNS = {
    "coefficients": (change_coef, "objective"),
    "objective": (change_objective, "objective"),
    "lower bound": (raise_bound, "lower bound"),
    "multipliers": (change_multipliers, "multipliers"),
    "penalty": (change_penalty, "objective"),
    "gap": (lower_gap, "gap"),
    "event": (change_event, "rows"),
    "kind": (change_kind, "comparison"),
    "scorers": (change_scorers, "lower bound"),
    "classes": (change_to_classes, "comparison"),
}


@pytest.mark.parametrize("way", OF_RUNS)
def test_a_changed_run_is_refuted(copied, way):
    change, claim = OF_RUNS[way]
    folder = copied / "times" / "hinge"
    change(folder)
    assert claim in refuted(folder)
    assert exit_code(check_folder(folder)) == 1


def test_weights_beyond_one_prove_nothing(copied):
    """Twice the weight would double the bound, and is no dual point."""
    folder = copied / "times" / "hinge"
    (scorer,) = read_certificate(folder)["scorers"]
    edit_certificate(folder, scorers=[scorer | {"weight": 1.0 + 2.0**-50}])
    assert "lower bound" in refuted(folder)


def test_a_bound_without_a_stored_dual_point_is_not_checked(copied):
    """A model of every pair proves by a multiplier for each, and keeps none."""
    folder = copied / "times" / "hinge"
    certificate = read_certificate(folder)
    del certificate["scorers"]
    (folder / "certificate.json").write_text(json.dumps(certificate | {"solver": "clarabel"}), encoding="utf-8")
    found = verdicts(folder)
    assert found["objective"] is Verdict.CONFIRMED
    assert found["lower bound"] is Verdict.UNCHECKED
    assert exit_code(check_folder(folder)) == 2


@pytest.mark.parametrize(
    ("kind", "column"), [("times", "days"), ("times", "died"), ("groups", "query"), ("groups", "a")]
)
def test_a_changed_cell_of_the_data_is_refuted(copied, kind, column):
    path = copied / ("patients.csv" if kind == "times" else "queries.csv")
    table = pd.read_csv(path)
    other = {"days": 7.77, "died": "no" if table.loc[3, "died"] == "yes" else "yes"} if kind == "times" else {}
    table.loc[3, column] = other.get(column, "q1" if column == "query" else 0.123)
    table.to_csv(path, index=False)
    folder = copied / kind / "hinge"
    assert {"data set", "training part"} <= refuted(folder)
    # with checksums and rows forged, what is claimed about the solution is still refuted
    (training,) = prepare_training(folder, [0])
    stored = read_certificate(folder)["data"]
    sums = {"dataset_sha256": training.dataset_sha256, "training_sha256": training.sha256}
    edit_certificate(folder, data=stored | sums)
    rows = pd.read_parquet(folder / "multipliers.parquet").assign(**training.target.columns)
    rows.to_parquet(folder / "multipliers.parquet", index=False)
    assert "objective" in refuted(folder)


def test_a_program_that_is_not_over_pairs_has_no_ranked_twin():
    with pytest.raises(AuclabError, match="does not support"):
        Program.from_stored({"name": "ranksvm", "comparisons": {"class": "mine.RankedPairs"}, "loss": "mine"})
    assert not Program.from_stored({"name": "csvm", "comparisons": RANKED}).is_ranked
    assert Program.from_stored({"name": "bauc", "comparisons": RANKED}).is_ranked


@st.composite
def small_samples(draw):
    """A few rows with small whole numbers, in groups and censored."""
    m = draw(st.integers(3, 9))
    numbers = st.lists(st.integers(-3, 3), min_size=m, max_size=m)
    X = np.array([draw(numbers), draw(numbers)], dtype=float).T
    y, groups = np.array(draw(numbers), dtype=float), np.array(draw(numbers)) % 2
    event = np.array(draw(numbers)) > -1 if draw(st.booleans()) else None
    return X, y, groups if draw(st.booleans()) else None, event


def pairs_of(y, groups, event):
    """Every pair, one by one."""
    m = y.size
    same = np.ones((m, m), bool) if groups is None else groups[:, None] == groups[None, :]
    lead = y[:, None] > y[None, :] if event is None else (y[:, None] < y[None, :]) & event[:, None]
    return np.argwhere(same & lead)


@given(small_samples(), st.integers(-8, 8), st.sampled_from(["hinge", "squared_hinge"]), st.sampled_from([0, 1, 3]))
@settings(max_examples=120, deadline=None)
def test_sums_over_sides_are_those_over_pairs(sample, slope, loss, quarters):
    """Objective and dual point of a scorer, pair by pair in fractions."""
    X, y, groups, event = sample
    pairs = pairs_of(y, groups, event)
    data = RankedData.comparing(X, y, groups, event)
    assert sorted((int(i), int(j)) for upper, lower in data.sides for i in upper for j in lower) == sorted(
        map(tuple, pairs.tolist())
    )
    if not len(pairs):
        return
    w, h = np.array([slope / 4.0, 0.25]), Fraction(quarters, 4)
    program = Program.from_stored({"name": "bauc", "loss": loss, "comparisons": RANKED})
    scores = [Fraction(float(row @ w)) for row in X]
    errors = [1 - scores[i] + scores[j] for i, j in pairs]
    power = 2 if loss == "squared_hinge" else 1
    mean = sum((max(error, Fraction(0)) ** power for error in errors), Fraction(0)) / len(pairs)
    assert objective(program, data, w, 0.0) == (mean, mean)

    def alpha(error):
        if power == 2:
            return 2 * max(error, Fraction(0))
        return min(Fraction(1), max(Fraction(0), (error + h) / (2 * h))) if h else Fraction(int(error > 0))

    point = at_scorers(program, data, [DualScorer(Fraction(1, 2), w, h), DualScorer(Fraction(1, 4), w, Fraction(0))])
    slopes = [Fraction(1, 2) * alpha(error) for error in errors]
    h = Fraction(0)
    slopes = [first + Fraction(1, 4) * alpha(error) for first, error in zip(slopes, errors, strict=True)]
    assert point.total(program, data) == sum(slopes) / len(pairs)
    for row in range(y.size):
        as_upper = sum((s for s, (i, _) in zip(slopes, pairs, strict=True) if i == row), Fraction(0))
        as_lower = sum((s for s, (_, j) in zip(slopes, pairs, strict=True) if j == row), Fraction(0))
        assert Fraction(int(point.values[row]), point.unit) == (as_upper - as_lower) / len(pairs)
    charged = sum((max(error, Fraction(0)) ** 2 for error in errors), Fraction(0)) * Fraction(3, 4) / len(pairs)
    assert point.conjugate == (charged if power == 2 else 0)


@given(small_samples(), st.integers(0, 2**32 - 1), st.sampled_from(["hinge", "squared_hinge"]))
@settings(max_examples=80, deadline=None)
def test_stored_pairs_are_cut_and_summed_as_every_pair_is(sample, seed, loss):
    """In fractions, pair by pair: those that are not compared count for nothing."""
    X, y, groups, event = sample
    compared, m = set(map(tuple, pairs_of(y, groups, event).tolist())), y.size
    data = RankedData.comparing(X, y, groups, event)
    if not compared:
        return
    rng = np.random.default_rng(seed)
    keys = rng.choice(m * m, rng.integers(0, m * m), replace=False)
    stored = StoredPairs(*np.divmod(keys, m), rng.integers(-8, 24, keys.size) / 64)
    program = Program.from_stored({"name": "bauc", "loss": loss, "comparisons": RANKED})
    point, capacity = at_pairs(program, data, stored), Fraction(1, len(compared))
    least, sums, total, charged = Fraction(1, 2**150), [Fraction(0)] * m, Fraction(0), Fraction(0)
    for i, j, given_q in zip(stored.upper.tolist(), stored.lower.tolist(), stored.multiplier, strict=True):
        q = max(Fraction(0), Fraction(float(given_q))) if (i, j) in compared else Fraction(0)
        q = min(q, capacity) if loss == "hinge" else q
        sums[i], sums[j], total = sums[i] + q, sums[j] - q, total + q
        charged += 0 if loss == "hinge" else q * q / (4 * capacity)
    assert abs(point.total(program, data) - total) <= least
    assert all(abs(Fraction(int(v), point.unit) - s) <= least for v, s in zip(point.values, sums, strict=True))
    assert -least <= point.conjugate - charged <= least


@given(small_samples(), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_balanced_pairs_satisfy_the_equation_and_stay_within_their_weights(sample, seed):
    """``Σ q d = 0`` exactly, from multipliers that satisfy it up to a millionth."""
    X, y, groups, event = sample
    compared = pairs_of(y, groups, event)
    if not len(compared):
        return
    data, rng = RankedData.comparing(X, y, groups, event), np.random.default_rng(seed)
    D, top = X[compared[:, 0]] - X[compared[:, 1]], 1.0 / len(compared)
    near = np.clip(0.5 * top + 1e-6 * top * rng.normal(size=len(compared)), 0, top)
    stored = StoredPairs(compared[:, 0], compared[:, 1], near)
    program = Program.from_stored({"name": "bauc", "comparisons": RANKED})
    start = at_pairs(program, data, stored)
    for point in balanced_pairs(program, data, start, None):
        assert data.combine(point.values, point.unit) == [0, 0]
        assert 0 <= point.total(program, data) <= 1
        value = float(point.total(program, data) - point.conjugate)
        assert value <= np.maximum(0.0, 1.0 - D @ rng.normal(size=2)).mean() + 1e-12


def test_balanced_pairs_by_hand():
    """One column, differences 1 and −1 with multipliers 1/4 and 1/8: one of them is moved onto the other."""
    X, y = np.array([[0.0], [1.0], [3.0], [2.0]]), np.array([0.0, 1.0, 0.0, 1.0])
    data = RankedData.comparing(X, y, np.array([0, 0, 1, 1]), None)
    program = Program.from_stored({"name": "bauc", "comparisons": RANKED})
    start = at_pairs(program, data, StoredPairs(np.array([1, 3]), np.array([0, 2]), np.array([0.25, 0.125])))
    assert data.combine(start.values, start.unit) == [Fraction(1, 8)]
    (point,) = balanced_pairs(program, data, start, None)
    assert data.combine(point.values, point.unit) == [0]
    assert point.total(program, data) in (Fraction(1, 4), Fraction(1, 2))


def test_two_classes_are_the_pairs_of_one_cut():
    """As all pairs of two classes have them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.integers(0, 2, 20)
    w = np.array([0.3, -0.7])
    ranked = objective(
        Program.from_stored({"name": "bauc", "comparisons": RANKED}), RankedData.comparing(X, y, None, None), w, 0.0
    )
    assert ranked == objective(Program.from_stored({"name": "bauc"}), Data.of(X, y == 1), w, 0.0)


def test_the_certificate_keeps_what_proves_it(made):
    """Scorers of the dual point with the hinge; that of the squared hinge is the scorer itself."""
    hinge = json.loads((made / "times" / "hinge" / "certificate.json").read_text(encoding="utf-8"))
    assert hinge["program"]["comparisons"]["kind"] == "times"
    assert [set(each) for each in hinge["scorers"]] == [{"weight", "coef", "half_width"}]
    assert "scorers" not in read_certificate(made / "times" / "squared hinge")
