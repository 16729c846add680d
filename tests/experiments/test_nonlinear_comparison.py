"""Linear scorers, kernels and trees: the protocol is what it says, tests are by definition, pages are the results."""

import doctest
import math
import re

import numpy as np
import pandas as pd
import pytest
from experiments.which_formulation.nonlinear import answers, figures, pages, scorers, sets, splits, tables
from experiments.which_formulation.nonlinear.scorers import FAMILIES, SCORERS, Tuning
from experiments.which_formulation.nonlinear.sets import Entry, Parts
from experiments.which_formulation.nonlinear.splits import Result
from rich.console import Console
from scipy.stats import t, wilcoxon

from auclab import solve
from auclab._core.base import AuclabError, Status
from auclab.datasets.splits import kfold
from auclab.kernels import RBF, Precomputed
from auclab.metrics import auc_score


@pytest.fixture(scope="module")
def parts():
    """A disc in a ring of noise, which no line ranks, in 60 and 60 rows."""
    random = np.random.default_rng(0)
    X = random.standard_normal((120, 2))
    y = (np.linalg.norm(X, axis=1) + 0.2 * random.standard_normal(120) > 1.2).astype(int)
    return Parts(X[:60], y[:60], X[60:], y[60:])


@pytest.fixture(scope="module")
def values():
    return answers.kept_values()


@pytest.fixture(scope="module")
def text():
    """The page, from the results."""
    return pages.page()


@pytest.mark.parametrize("name", [key for key in SCORERS if key != "lightgbm"])
def test_every_scorer_ranks_what_it_can(parts, name):
    found = SCORERS[name](parts, 0, True)
    assert found.scores.shape == (60,)
    assert found.seconds >= found.fit_seconds > 0
    if name.endswith("_rbf") or name == "svc":
        assert auc_score(parts.y_test, found.scores) > 0.8
    if name.split("_")[0] in ("bauc", "ranksvm2", "csvm2", "partial"):
        assert 0 <= found.gap <= 1.01 * scorers.FINE
        assert found.limits == ""
    else:
        assert math.isnan(found.gap)


def test_trees_rank_where_they_are_installed(parts):
    pytest.importorskip("lightgbm")
    assert auc_score(parts.y_test, SCORERS["lightgbm"](parts, 0, False).scores) > 0.7


def test_without_lightgbm_there_is_a_row_with_the_reason(parts, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    row = splits.one(Entry("made", "made", 120, 50), parts, 0, "lightgbm")
    assert row.reason == "not installed: lightgbm"
    assert math.isnan(row.auc)


def test_a_scorer_that_fails_is_a_row_with_the_reason(parts, monkeypatch):
    def fails(parts, seed, trial):
        raise AuclabError("no\nlabels")

    monkeypatch.setitem(SCORERS, "svc", fails)
    row = splits.one(Entry("made", "made", 120, 50), parts, 3, "svc")
    assert (row.reason, row.split, row.n_train) == ("AuclabError: no labels", 3, 60)


@pytest.mark.parametrize("key", FAMILIES)
def test_from_share_one_on_zero_is_optimal_and_well_below_it_is_not(parts, key):
    """For a squared penalty h shrinks with λ and does not vanish: its objective is compared at twice that share."""
    family, kernel = FAMILIES[key], RBF(0.5)
    slope = scorers._kernel_slope(kernel.between(parts.X, parts.X), parts.y)
    weight = family.weight(parts.y)
    above, below = (
        solve(family.at(family.value(slope, share)), parts.X, parts.y, kernel=kernel, sample_weight=weight)
        for share in (1.02, 0.1)
    )
    if family.power == 1:
        assert above.length == 0
    assert below.length > 0.1 > above.length or below.length > 1.5 * above.length
    assert below.objective < above.objective


def test_svc_solves_the_same_program_as_csvm2(parts):
    family, K = FAMILIES["csvm2"], RBF(0.5).between(parts.X, parts.X)
    value = family.value(scorers._kernel_slope(K, parts.y), 0.1)
    model = scorers._as_svc(K, parts.y, value)
    model.tol = 1e-8
    model.fit(K, parts.y)
    ours = solve(
        family.at(value), K, parts.y, kernel=Precomputed(), tolerance=1e-8, sample_weight=family.weight(parts.y)
    )
    assert model.decision_function(K) == pytest.approx(ours.decision_function(K), abs=1e-3)


def test_the_span_of_inner_folds_is_that_of_the_kernel(parts):
    K = RBF(0.4).between(parts.X, parts.X)
    features, held = scorers._span(K, K[:5])
    assert features @ features.T == pytest.approx(K, abs=0.05)
    assert held == pytest.approx(features[:5])
    family = FAMILIES["ranksvm2"]
    value = family.value(scorers._kernel_slope(K, parts.y), 0.1)
    (rough,) = scorers._path(family, features, parts.y, [value])
    whole = solve(family.at(value), K, parts.y, kernel=Precomputed(), tolerance=1e-6)
    assert rough.objective == pytest.approx(whole.objective, rel=2 * scorers.ROUGH)


def test_the_candidate_is_that_of_a_plain_loop(parts):
    found = SCORERS["ranksvm2_linear"](parts, 5, False)
    family = FAMILIES["ranksvm2"]
    scores = []
    for share in family.linear_shares:
        each = []
        for fold in kfold(parts.y, n_folds=scorers.FOLDS, seed=5):
            X, y = parts.X[fold.train], parts.y[fold.train]
            value = family.value(np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)), share)
            coef = solve(family.at(value), X, y, tolerance=scorers.ROUGH).coef
            each.append(auc_score(parts.y[fold.test], parts.X[fold.test] @ coef))
        scores.append(np.mean(each))
    chosen = float(found.choice.removeprefix("share "))
    place = int(np.argmin([abs(chosen - share) for share in family.linear_shares]))
    assert scores[place] == pytest.approx(max(scores), abs=0.02)


def test_of_equal_candidates_the_first_is_taken_and_limits_are_counted():
    tuning = Tuning(["a", "b", "c"])
    y = np.array([0, 1])
    tuning.add(y, [np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.0, 2.0])])
    assert tuning.best == 1
    tuning.count([Status.OPTIMAL, Status.OPTIMAL_WITHIN, Status.TIME_LIMIT])
    assert tuning.limits(Status.ITERATION_LIMIT) == "1 of 3 inner solves: limit; fit: iteration_limit"
    assert tuning.limits(Status.OPTIMAL) == "1 of 3 inner solves: limit"


@pytest.mark.slow
@pytest.mark.needs_tables
def test_every_set_is_once_there_with_a_source_or_a_reason():
    every = sets.entries()
    assert len({entry.name for entry in every}) == len(every) == len(sets.CATALOGUE) + 99
    assert all(entry.minority >= sets.LEAST_MINORITY for entry in every if not entry.left_out)
    assert {entry.name for entry in every if entry.left_out.startswith("the rows")} == set(sets.SAME)
    used = [entry for entry in every if not entry.left_out]
    assert [entry.name for entry in every[: len(used)]] == [entry.name for entry in used]
    assert set(sets.SAME.values()) <= {entry.name for entry in used}


@pytest.mark.needs_tables
def test_parts_are_within_their_limits_and_the_smaller_class_is_drawn_first():
    large = sets.split(sets.load_set("phoneme"), 1)
    assert (len(large.y), large.y.sum()) == (sets.MOST_TRAIN, sets.MOST_MINORITY)
    assert len(large.y_test) == 1802
    small = sets.split(sets.load_set("keel_iris0"), 0)
    assert (len(small.y), len(small.y_test)) == (100, 50)
    assert small.X.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    with pytest.raises(AuclabError, match="keel_none"):
        sets.load_set("keel_none")


def _row(name, split, scorer, **numbers):
    return Result(name, name[0], split, scorer, 90, 30, 4, 45, **numbers)


def test_a_run_goes_on_where_the_file_ends(tmp_path, monkeypatch):
    made = [Entry("a1", "a", 10, 5), Entry("b1", "b", 10, 5), Entry("c1", "c", 10, 2, "2 rows, fewer than 20")]
    seen = []

    def results(entry, number, names):
        seen.append((entry.name, number, tuple(names)))
        return (_row(entry.name, number, key, auc=0.5, seconds=0.0) for key in names)

    monkeypatch.setattr(splits, "entries", lambda: made)
    monkeypatch.setattr(splits, "results_of", results)
    path, console = tmp_path / "splits.csv", Console(quiet=True)
    splits.compute(path, 0.0, console)
    rows = splits.read(path)[2]
    late = "the time ended before split 0"
    assert [(row.set, row.reason) for row in rows] == [("c1", made[2].left_out), ("a1", late), ("b1", late)]
    splits.compute(path, 1.0, console)
    rows = splits.read(path)[2]
    assert len(rows) == 2 * splits.SPLITS * len(SCORERS) + 1
    assert rows[-1].reason == "2 rows, fewer than 20"
    before = len(seen)
    splits._write(path, rows[:5], "# command\n# origin\n")  # as if it had been ended in the first split
    splits.compute(path, 1.0, console)
    assert seen[before] == ("a1", 0, tuple(SCORERS)[5:])
    again = splits.read(path)[2]
    assert splits.read(path)[:2] == ("command", "origin")
    assert len({(row.set, row.split, row.scorer) for row in again}) == len(again) == len(rows)


@pytest.mark.slow
def test_the_file_accounts_for_every_set_and_split():
    rows = splits.read()[2]
    keys = [(row.set, row.split, row.scorer) for row in rows]
    assert len(keys) == len(set(keys))
    complete = set(answers.kept_values()["set"])
    reasons = {row.set: row.reason for row in rows if not row.scorer}
    assert all(reasons.values())
    assert not complete & set(reasons)
    counts = pd.Series([row.set for row in rows if row.scorer]).value_counts()
    assert (counts[list(complete)] == splits.SPLITS * len(SCORERS)).all()
    assert all(row.reason for row in rows if row.scorer and math.isnan(row.auc))


@pytest.mark.slow
@pytest.mark.needs_tables
def test_the_file_leaves_out_the_sets_that_the_tables_give():
    every = {entry.name: entry for entry in sets.entries()}
    reasons = {row.set: row.reason for row in splits.read()[2] if not row.scorer}
    assert set(answers.kept_values()["set"]) | set(reasons) == set(every)
    assert {name for name, entry in every.items() if entry.left_out} == {
        name for name, reason in reasons.items() if not reason.startswith("the time ended")
    }


@pytest.mark.slow
@pytest.mark.needs_tables
@pytest.mark.parametrize("scorer", ["bauc_z_rbf", "csvm2_rbf", "partial_linear", "svc"])
def test_a_row_is_made_again_by_its_command(capsys, scorer):
    splits.main(["--set", "wpbc", "--split", "3", "--scorer", scorer])
    computed, stored = capsys.readouterr().out.strip().splitlines()
    assert (computed[:8], stored[:6]) == ("computed", "stored")
    pattern = r"  (?:auc|bauc|partial_auc|voros) ([\d.-]+)"
    again, kept = (list(map(float, re.findall(pattern, line))) for line in (computed, stored))
    assert len(kept) == 4
    assert again == pytest.approx(kept, abs=5e-3)
    (row,) = [each for each in splits.read()[2] if (each.set, each.split, each.scorer) == ("wpbc", 3, scorer)]
    assert [row.auc, row.bauc, row.partial_auc, row.voros] == pytest.approx(kept)


@pytest.mark.slow
@pytest.mark.needs_tables
def test_smoke_writes_nothing(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(splits, "RESULTS", tmp_path / "splits.csv")
    monkeypatch.setattr(splits, "SMALL", ("heart_statlog",))
    splits.main(["--scale", "smoke"])
    assert len(capsys.readouterr().out.strip().splitlines()) == len(SCORERS)
    assert not (tmp_path / "splits.csv").exists()


def test_differences_and_tests_are_those_of_the_definition(values):
    name = str(values["set"].iloc[0])
    one = values[values["set"] == name].pivot_table(index="split", columns="scorer", values="auc")
    d = (one["ranksvm2_linear"] - one["lightgbm"]).to_numpy()
    found = answers.difference(values, "auc", "ranksvm2_linear", "lightgbm")
    rows = values[values["set"] == name].iloc[0]
    if np.ptp(d) > 0:
        statistic = d.mean() / np.sqrt((1 / 10 + rows["n_test"] / rows["n_train"]) * d.var(ddof=1))
        assert found.p_values[name] == pytest.approx(2 * t.sf(abs(statistic), 9))
    assert found.by_set[name] == pytest.approx(d.mean())
    assert found.by_source[rows["source"]] == pytest.approx(
        found.by_set[answers.sources(values)[answers.sources(values) == rows["source"]].index].mean()
    )
    assert found.mean == pytest.approx(found.by_source.mean())
    assert found.signed_rank == pytest.approx(wilcoxon(found.by_source).pvalue)
    half = t.isf(0.025, len(found.by_source) - 1) * found.by_source.std(ddof=1) / math.sqrt(len(found.by_source))
    assert found.interval == pytest.approx((found.mean - half, found.mean + half))


def _made_values(tmp_path):
    """Three sets of two sources and one that lacks a split; scorer k is better by k thousandths, on c1 by 2 k."""
    rows = []
    for name in ("a1", "a2", "c1", "d1"):
        for number in range(splits.SPLITS - (name == "d1")):
            for k, scorer in enumerate(SCORERS):
                gain = 0.001 * k * (2 if name == "c1" else 1) * (1 + 0.01 * number)
                rows.append(_row(name, number, scorer, auc=0.5 + gain, bauc=0.3, partial_auc=0.2, voros=0.9,
                                 seconds=1.0 + k, fit_seconds=0.5, gap=1e-4, size=3))  # fmt: skip
    rows.append(Result("e1", "e", reason="3 rows of the smaller class, fewer than 20"))
    rows.append(Result("d1", "d", reason="the time ended before split 9"))
    splits._write(tmp_path / "splits.csv", rows, "# command\n# origin\n")
    return tmp_path / "splits.csv"


def test_made_values(tmp_path):
    path = _made_values(tmp_path)
    values = answers.kept_values(path)
    assert set(values["set"]) == {"a1", "a2", "c1"}
    assert [row.set for row in answers.left_out(path)] == ["e1", "d1"]
    found = answers.difference(values, "auc", "ranksvm2_linear", "bauc_z_linear")
    assert found.by_source["c"] == pytest.approx(2 * found.by_source["a"])
    assert found.wins == (2, 0)
    assert found.significant() == found.significant(corrected=True) == (3, 0)
    names = list(SCORERS)
    assert list(answers.ranking(values, "auc").average_ranks.index) == names[::-1]
    assert answers.seconds(values)[names[2]] == 3
    assert answers.certificates(values, 1e-3)["proved"].tolist() == [30] * len(names)
    every = answers.differences(values, answers.KERNEL_PAIRS)
    assert all(each.adjusted >= each.signed_rank for each in every["auc"])


def test_numbers_are_written_without_the_zero():
    assert [tables.number(0.1234), tables.number(1.0), tables.signed(-1.25, 1)] == [".123", "1.000", "−1.2"]
    assert [tables.probability(p) for p in (0.0001, 0.034, 0.34)] == ["< .001", ".034", ".34"]


@pytest.mark.weekly
def test_the_page_is_the_one_that_the_file_gives(text):
    assert (pages.DOCS / "linear_or_kernel.md").read_text(encoding="utf-8") == text


@pytest.mark.slow
@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_are_drawn_from_the_results_kept_small_and_shown(name, text):
    assert figures.FIGURES[name]().axes
    assert (pages.DOCS / "linear_or_kernel" / f"{name}.png").stat().st_size < 150_000
    assert f"](linear_or_kernel/{name}.png)" in text


def test_docstrings_run():
    for module in (answers, tables, scorers, sets):
        assert doctest.testmod(module).failed == 0


@pytest.mark.slow
def test_what_the_text_on_kernels_says_in_words_is_so(values):
    found = answers.differences(values, answers.KERNEL_PAIRS)
    programs = {each.first: each for each in found["auc"]}
    kernel = programs["ranksvm2_rbf"]
    assert abs(kernel.median) < 0.005 < kernel.mean  # little on most sets, much on a few
    assert kernel.clear[0]
    assert all(each.clear[1] == [] for each in found["auc"])
    assert all(set(programs[key].clear[0]) & set(kernel.clear[0]) for key in ("bauc_z_rbf", "csvm2_rbf", "svc"))
    clear = {each.first for each in found["auc"] if each.adjusted < 0.05}
    assert {"ranksvm2_rbf", "partial_rbf"} <= clear
    proved = answers.certificates(values, scorers.FINE)["null"]
    assert proved["partial_linear"] > 0.05 * len(values) / len(SCORERS) > proved["partial_rbf"]


@pytest.mark.slow
def test_what_the_text_on_trees_says_in_words_is_so(values):
    found = answers.differences(values, answers.TREES_PAIRS)
    assert [(each.first, each.mean < 0) for each in found["auc"] if each.adjusted < 0.05] == [("partial_rbf", True)]
    by_first = {each.first: each for each in found["auc"]}
    kernel = by_first["ranksvm2_rbf"]
    assert kernel.wins[0] > kernel.wins[1]
    assert kernel.interval[0] < 0 < kernel.interval[1]
    assert kernel.clear[0] == []
    assert by_first["ranksvm2_linear"].clear[1]
    losses = answers.differences(values, answers.LOSS_PAIRS)
    assert all(abs(each.mean) < 0.005 for each in losses["auc"][:2])
    assert losses["auc"][2].mean > 0
    assert losses["auc"][2].adjusted > 0.05 > losses["bauc"][2].adjusted
    assert losses["auc"][4].mean < 0 > losses["partial_auc"][4].mean
    assert losses["auc"][4].adjusted < 0.05 < losses["partial_auc"][4].adjusted
    spent = answers.seconds(values)
    assert spent["svc"] < 0.25 * spent["ranksvm2_rbf"]
