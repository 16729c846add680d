"""`auclab compare --out results.parquet` and `--pairs`, from the command line."""

from __future__ import annotations

import pandas as pd
import pytest

from auclab.cli import commands, main
from made_runs import table_of

SCORES = {
    (data, name): [0.6 + 0.01 * row + lead, 0.65 + 0.01 * row + lead]
    for row, data in enumerate("uvwxyz")
    for name, lead in (("a", 0.05), ("b", 0.03), ("c", 0.0))
}


@pytest.fixture
def compare(monkeypatch, capsys):
    """Call ``auclab compare`` on made-up runs; its exit code, output and errors."""
    runs = table_of(SCORES)
    runs["test/bauc"] = runs["test/auc"] / 2
    monkeypatch.setattr(commands, "read_runs", lambda *_, **__: runs)

    def call(*words):
        try:
            code = main.main(["compare", *map(str, words)])
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return call


def test_long_form_is_written_as_parquet(compare, tmp_path):
    code, text, _ = compare("--out", tmp_path / "new" / "results.parquet")
    assert code == 0
    assert "written:" in text
    table = pd.read_parquet(tmp_path / "new" / "results.parquet")
    assert table.columns.to_list() == ["method", "task", "fold", "metric", "value", "seconds", "gap"]
    assert len(table) == 2 * 6 * 3 * 2
    means = table[table["metric"] == "test/auc"].pivot_table(index="task", columns="method", values="value")
    assert (means["a"] - means["c"]).to_list() == pytest.approx([0.05] * 6)


def test_pairs_on_the_screen_and_in_a_file(compare, tmp_path):
    code, text, _ = compare("--pairs", tmp_path / "pairs.csv", "--rope", "0.04")
    assert code == 0
    assert "P(second better)" in text
    assert "within ±0.04" in text
    table = pd.read_csv(tmp_path / "pairs.csv").set_index(["first", "second"])
    assert table["p_value"].to_list() == [0.03125] * 3  # 2/2⁶
    assert table["p_holm"].to_list() == [0.09375] * 3
    assert table.at[("a", "c"), "first_better"] > 0.9
    assert table.at[("a", "b"), "equal"] > 0.9
    assert "P(equal)" in compare("--pairs")[1]
    assert "P(equal)" not in compare()[1]


def test_pairs_in_another_format_need_a_file(compare, tmp_path):
    code, text, error = compare("--pairs", "--format", "csv")
    assert (code, text) == (1, "")
    assert "name one with --pairs FILE.csv" in error
    code, text, _ = compare("--pairs", tmp_path / "pairs.csv", "--format", "csv")
    assert code == 0
    assert text.startswith("row,column")
    assert "P(equal)" not in text
    assert (tmp_path / "pairs.csv").read_text(encoding="utf-8").count("\n") == 4
