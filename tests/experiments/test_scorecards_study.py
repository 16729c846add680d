"""The page on scorecards is what the results give, its tests are by definition, its words agree with the numbers."""

import doctest

import numpy as np
import pandas as pd
import pytest
from experiments.scorecards import differences, page
from experiments.scorecards.splits import MOST_TEST, MOST_TRAIN, SECONDS, SETS
from scipy.stats import t, wilcoxon
from sklearn.model_selection import train_test_split

from auclab._core.base import AuclabError
from auclab.datasets import load


@pytest.fixture(scope="module")
def values():
    return differences.kept_values()


def found(values, measure, first, second):
    return differences.difference(values, measure, first, second)


def test_the_page_is_the_one_that_the_file_gives():
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_the_figure_is_drawn_from_the_results_kept_small_and_shown():
    figure = page.differences()
    for ax in figure.axes:
        dots = [line for line in ax.lines if line.get_marker() in ("o", "^")]
        assert len(dots) == len(differences.PAIRS) * len(SETS)
    picture = page.PLACE / "differences.png"
    assert picture.stat().st_size < 150_000
    assert "](scorecards/differences.png)" in page.page()


def test_the_file_has_every_scorer_on_every_split(values):
    counts = values.groupby(["set", "measure", "scorer"]).size()
    assert (counts == 10).all()
    assert len(counts) == len(SETS) * (4 * len(differences.SCORERS) + 2)


def test_tests_are_those_of_the_definition(values):
    table = values[(values["measure"] == "auc") & (values["set"] == "pima")].pivot_table(
        index="seed", columns="scorer", values="value"
    )
    d = (table["card10"] - table["logistic"]).to_numpy()
    each = found(values, "auc", "card10", "logistic")
    statistic = d.mean() / np.sqrt((1 / 10 + 231 / 537) * d.var(ddof=1))
    assert each.by_set["pima"] == pytest.approx(d.mean())
    assert each.p_values["pima"] == pytest.approx(2 * t.sf(abs(statistic), 9))
    assert each.mean == pytest.approx(each.by_set.mean())
    assert each.signed_rank == pytest.approx(wilcoxon(each.by_set).pvalue)


def test_the_page_of_scorecards_says_what_the_study_found(values):
    text = " ".join((page.PAGE.parent / "scorecards.md").read_text(encoding="utf-8").split())
    gaps = values[values["measure"] == "gap"]["value"]
    proved = int((gaps <= page.TOLERANCE).sum())
    assert SECONDS["default"] == 10
    assert f"(proved in {proved} of {len(gaps)} searches of ten seconds)" in text
    auc, bauc = (differences.means(values, measure).mean() for measure in ("auc", "bauc"))
    assert "on average a slightly smaller test AUC and bAUC than rounded logistic regressions" in text
    for items in (5, 10):
        assert auc[f"card{items}"] < auc[f"rounded{items}"]
        assert bauc[f"card{items}"] < bauc[f"rounded{items}"]


@pytest.mark.needs_tables
def test_ratios_are_those_of_the_splits():
    for name in SETS:
        y = load(name).y
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0, stratify=y)
        assert differences.ratio(name) == len(test[:MOST_TEST]) / len(train[:MOST_TRAIN])


def test_what_the_text_says_in_words_is_so(values):
    five, ten = found(values, "auc", "card5", "rounded5"), found(values, "auc", "card10", "rounded10")
    assert (ten.by_set < 0).all()
    assert ten.by_set.min() > -0.012
    assert not ten.significant.any()
    assert set(five.by_set.index[five.by_set > 0]) == {"breast_cancer", "breast_wisconsin_original"}
    assert (five.by_set < -0.01).sum() == 4
    assert five.by_set["german_credit"] == five.by_set.min() == pytest.approx(-0.036, abs=5e-4)
    assert found(values, "auc", "card10", "ranksvm").better == 1
    mean = differences.means(values, "auc").mean().drop("ranksvm")
    assert mean.max() - mean.min() < 0.021
    gaps = values[values["measure"] == "gap"]
    largest = gaps.loc[gaps["value"].idxmax()]
    assert (largest["set"], largest["scorer"]) == ("breast_cancer", "card5")


def test_two_comparisons_stay_significant_after_holm(values):
    every = {
        (measure, *pair): found(values, measure, *pair).signed_rank
        for measure in ("auc", "bauc")
        for pair in differences.PAIRS
    }
    stay, count = [], len(every)
    for rank, key in enumerate(sorted(every, key=every.get)):
        if every[key] * (count - rank) >= differences.LEVEL:
            break
        stay.append(key)
    assert sorted(stay) == [("auc", "card10", "rounded10"), ("bauc", "card10", "rounded10")]


def test_means_are_of_splits_and_in_the_order_of_the_study():
    rows = [(name, "auc", "card5", seed, float(seed)) for name in SETS for seed in (0, 1)]
    table = differences.means(pd.DataFrame(rows, columns=["set", "measure", "scorer", "seed", "value"]), "auc")
    assert table.index.tolist() == list(SETS)
    assert table["card5"].tolist() == [0.5] * len(SETS)


def test_the_page_needs_results(tmp_path, monkeypatch):
    monkeypatch.setattr(differences, "SPLITS", tmp_path / "splits.csv")
    with pytest.raises(AuclabError, match="experiment=scorecards_splits"):
        differences.kept_values()


def test_docstrings_run():
    assert doctest.testmod(differences).failed == 0
