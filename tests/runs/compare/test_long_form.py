"""Every value of every metric in a line of its own, and what the command writes."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from auclab.runs import compare_runs, long_form
from auclab.runs.compare import formats
from auclab.runs.compare.paired import compare_columns
from made_runs import fake, table_of

SCORES = {
    ("one", "a"): [0.9, 0.8, 0.85],
    ("one", "b"): [0.7, 0.75, None],
    ("two", "a"): [0.6, 0.65, 0.7],
    ("two", "b"): [0.5, 0.6, 0.55],
}


def test_a_line_per_value():
    runs = table_of(SCORES)
    runs["test/bauc"] = runs["test/auc"] - 0.1
    runs["test/auc_se"], runs["train/auc"] = 0.01, 0.99
    runs.loc[0, "test/bauc"] = float("nan")
    table, notes = long_form(runs, compare_runs(runs).cells)
    assert list(table) == ["method", "task", "fold", "metric", "value", "seconds", "gap"]
    assert notes == ()
    auc = table[table["metric"] == "test/auc"]
    wanted = {(row, column, f"seed {seed}"): value for (row, column), values in SCORES.items()
              for seed, value in enumerate(values) if value is not None}  # fmt: skip
    assert dict(zip(zip(auc["task"], auc["method"], auc["fold"], strict=True), auc["value"], strict=True)) == wanted
    assert (table["metric"] == "test/bauc").sum() == len(wanted) - 1
    assert set(table["metric"]) == {"test/auc", "test/bauc"}
    assert set(table["seconds"]) == {1.0}  # 3 less 2 of compilation
    assert set(table["gap"]) == {1e-9}


def test_a_metric_that_would_mix_settings_is_named():
    runs = pd.DataFrame(
        [fake(auc=0.8, seed=seed, **{"test/bauc": 0.5, "metrics.bauc.threshold": float(seed)}) for seed in range(3)]
    )
    table, notes = long_form(runs, compare_runs(runs).cells)
    assert set(table["metric"]) == {"test/auc"}
    assert notes[0].startswith("test/bauc is left out: a row mixes")
    assert "metrics.bauc.threshold" in notes[0]


def test_csv_has_intervals_of_the_means():
    runs = table_of({("one", "a"): [1.0, 2.0, 3.0], ("one", "b"): [1.0, 1.0, 1.0]})
    for test, ratio in (("t", 0.0), ("corrected-t", 3 / 7), ("wilcoxon", 3 / 7)):
        line = next(csv.DictReader(io.StringIO(formats.to_csv(compare_runs(runs, test=test)))))
        half = 4.302652729911275 * (1 / 3 + ratio) ** 0.5
        assert float(line["mean_low"]) == pytest.approx(2 - half)
        assert float(line["mean_high"]) == pytest.approx(2 + half)


def test_csv_of_pairs_has_no_formula():
    means = pd.DataFrame({"=1+1": [0.9, 0.8], "b": [0.7, 0.6]})
    line = next(csv.DictReader(io.StringIO(formats.pairs_to_csv(compare_columns(means)))))
    assert line["first"] == "'=1+1"
    assert (line["wins"], line["losses"]) == ("2", "0")
