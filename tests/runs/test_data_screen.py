"""A table as users bring it: what is said of its data before a solve, and the scorer without and with its dates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import stranger
from auclab.cli import main as cli
from auclab.cli.run import main
from auclab.datasets.columns import sort_columns
from auclab.datasets.records import Dataset
from auclab.runs.config.checks import check_data
from auclab.runs.screen.console import data_notes
from composed import composed, run_here

ROWS = 1_000


@pytest.fixture(scope="module")
def own_file(tmp_path_factory):
    return stranger.write_csv(tmp_path_factory.mktemp("own"), ROWS)


def words(path, *more):
    own = ["dataset=file", f"dataset.path={path}", f"dataset.target={stranger.TARGET}"]
    return [*own, f"dataset.positive={stranger.POSITIVE}", *more]


DROP = f"dataset.drop=[{stranger.IDENTIFIER},{stranger.NAMES}]"


def test_the_table_is_the_same_every_time_and_has_what_tables_have(own_file):
    frame = pd.read_csv(own_file)
    pd.testing.assert_frame_equal(frame.head(50), pd.read_csv(own_file).head(50))
    assert stranger.table(50).equals(stranger.table(60).head(50))
    assert set(frame[stranger.TARGET]) == set(stranger.VALUES)
    assert frame[stranger.IDENTIFIER].is_unique
    assert 0 < frame.isna().to_numpy().mean() < 0.1
    assert frame[stranger.NAMES].str.contains(",").all()


def test_all_that_cannot_be_used_is_said_at_once(own_file, capsys):
    with pytest.raises(SystemExit):
        main(["tracking=none", *words(own_file)])
    (line,) = capsys.readouterr().err.splitlines()
    for part in (DROP, "column 'signup_date' holds dates", "preprocess.dates=[year,month,age]"):
        assert part in line


def test_constant_columns_are_not_counted_as_encoded():
    """They are dropped, and a note says so."""
    X = pd.DataFrame({"plan": [*"abab"], "country": ["CH"] * 4, "code": [7.0] * 4, "age": [1.0, 2.0, 3.0, 4.0]})
    dataset = Dataset("own", X, np.array([0, 1, 0, 1]))
    columns = sort_columns(dataset)
    assert columns.widths == {"plan": 2, "age": 1}


def test_labels_that_are_numbers_are_marked_as_labels():
    X, y = np.eye(3), np.array([0, 1, 1])
    assert Dataset("own", X, y, positive="2", negative="1").census == "2 labelled 2 (positive), 1 labelled 1"
    assert Dataset("own", X, y, positive="yes", negative="no").census == "2 yes (positive), 1 no"


def test_width_and_notes_come_before_the_solve(own_file):
    experiment = composed(words(own_file, DROP, "preprocess.dates=[year,month]", "preprocess.max_categories=20"))
    notes = data_notes(*check_data(experiment))
    assert notes[0][0] == "encoded"
    assert notes[0][1].startswith("8 columns as 50 features; the widest: city 20, signup_date 13, region 8, ")
    frame = pd.read_csv(own_file)
    gaps = frame[["age", "income (€, year)", "visits", "region", "plan", "city", "newsletter"]].isna().sum()
    named = ", ".join(f"{name} {count}" for name, count in gaps[gaps > 0].sort_values(ascending=False).items())
    assert [text for _, text in notes[1:]] == [
        f"filled {gaps.sum()} gaps in {(gaps > 0).sum()} columns ({named}) with the median or the most frequent value "
        "of the training part",
        f"column 'city' has {pd.read_csv(own_file)['city'].nunique()} categories: the 19 most frequent have a feature "
        f"each, the rest share one; preprocess.max_categories={pd.read_csv(own_file)['city'].nunique()} keeps all",
        "column 'signup_date' holds dates; made of it: year, month",
    ]


def test_many_features_for_few_rows_are_said():
    X = pd.DataFrame({"code": [f"c{k % 30}" for k in range(90)]})
    dataset = Dataset(name="codes", X=X, y=np.arange(90) % 2)
    assert data_notes(dataset, sort_columns(dataset))[1][1].startswith("30 features are many for 90 rows")


def test_whole_numbers_that_are_different_in_each_row_are_pointed_out():
    X = pd.DataFrame({"number": 1_000 + np.arange(90), "size": np.arange(90) / 2})
    (note,) = sort_columns(Dataset(name="numbers", X=X, y=np.arange(90) % 2)).notes
    assert note.startswith("an identifier? Column 'number' (different in every row, like an identifier)")
    assert note.endswith("'dataset.drop=[number]' leaves it out")


def test_a_table_of_numbers_needs_no_words():
    assert data_notes(*check_data(composed(["dataset=breast_cancer"]))) == []


@pytest.mark.slow
def test_such_a_table_is_solved(own_file, tmp_path):
    more = ["preprocess.dates=[age,month]", "preprocess.missing_indicators=true", "formulation=ranksvm", "bounds=none"]
    more += ["formulation.penalty=0.1"]
    result = run_here(tmp_path / "out", *words(own_file, DROP, *more))
    (fold,) = result.folds
    assert 0.6 < fold.parts["test"].metrics["auc"] < 0.85
    assert {"signup_date_age", "age_missing", "plan_plus, yearly", "income (€, year)"} <= set(fold.features)
    assert len(fold.features) < 100


@pytest.mark.slow
def test_gaps_and_columns_left_out_are_said_and_kept_in_the_run(tmp_path, capsys):
    X = pd.DataFrame({"a": np.arange(60.0), "b": 1.0, "c": np.nan, "d": ["red", "blue", None] * 20})
    X.loc[:6, "a"] = np.nan
    X.assign(y=np.arange(60) % 2).to_csv(tmp_path / "my.csv", index=False)
    said = (
        "filled 7 gaps in 1 column (a 7) with the median or the most frequent value of the training part; "
        "dropped columns 'b' (one value), 'c' (empty)"
    )
    own = ["dataset=file", f"dataset.path={tmp_path / 'my.csv'}", "dataset.target=y", "formulation=bauc", "bounds=none"]
    assert ("note:", said) in data_notes(*check_data(composed(own)))
    store = ["tracking=mlflow", f"tracking.dir={tmp_path / 'mlruns'}", "decision.probability=none"]
    result = run_here(tmp_path / "out", *own, *store)
    assert result.prepared == (said,)
    assert result.folds[0].features == ("a", "d_blue", "d_missing", "d_red")
    capsys.readouterr()
    with pytest.raises(SystemExit):
        cli.main(["show", "last", "--store", str(tmp_path / "mlruns")])
    assert said in " ".join(capsys.readouterr().out.split())
    notes = data_notes(*check_data(composed([*own, "preprocess=none"])))
    assert ("note:", "gaps are a category of their own in 1 column (d 33%)") in notes
    (unscaled,) = [text for _, text in notes if "filled" in text]
    assert unscaled.startswith("filled 67 gaps in 2 columns (c 60, a 7)")
    assert "dropped" not in unscaled
