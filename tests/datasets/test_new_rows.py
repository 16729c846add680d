"""Rows for a model, read as the training file was where they do not tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.datasets.csv_format import csv_format
from auclab.datasets.file import load_file, read_new_rows

GERMAN = {"sep": ";", "decimal": ",", "encoding": "cp1250"}


def write(folder: Path, *rows: str, encoding: str = "utf-8") -> Path:
    path = folder / "new.csv"
    path.write_text("\n".join(rows) + "\n", encoding=encoding)
    return path


def test_the_format_of_the_training_file_is_kept_with_the_data(tmp_path: Path) -> None:
    path = write(tmp_path, "a;y", "1,5;0", "2,5;1", "3,5;1")
    written = load_file(path, "y").written
    assert {key: written[key] for key in ("sep", "decimal", "encoding")} == {
        "sep": ";",
        "decimal": ",",
        "encoding": "utf-8",
    }


def test_commas_in_quotes_are_thousands_or_decimals_as_in_training(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b", '"1,234","0,5"', '"2,5",7')
    rows = read_new_rows(path, numbers=["a", "b"], expected=GERMAN)
    assert rows.to_numpy().tolist() == [[1.234, 0.5], [2.5, 7.0]]
    with pytest.raises(AuclabError, match=r"'a' needs numbers, and has '1,234' in row 1 .* dataset.decimal , reads"):
        read_new_rows(path, numbers=["a", "b"])


def test_a_thousand_with_a_point_is_not_one_and_a_bit_where_commas_are_decimal(tmp_path: Path) -> None:
    path = write(tmp_path, "a;b", "1.234;1", "2.500;2")
    assert read_new_rows(path, numbers=["a"])["a"].tolist() == [1.234, 2.5]
    with pytest.raises(AuclabError, match=r"'a' needs numbers, and has '1.234' in row 1 .*dataset.decimal \. reads"):
        read_new_rows(path, numbers=["a"], expected=GERMAN)


def test_what_the_file_tells_comes_before_what_is_expected(tmp_path: Path) -> None:
    path = write(tmp_path, "ä,b", "1.5,2", "2.5,3")
    found = csv_format(path, expected=GERMAN)
    assert (found.sep, found.decimal, found.encoding) == (",", ".", "utf-8")
    assert read_new_rows(path, numbers=["ä"], expected=GERMAN)["ä"].tolist() == [1.5, 2.5]
    polish = write(tmp_path, "b;miasto", "1;Łódź", encoding="cp1250")
    assert read_new_rows(polish, expected=GERMAN)["miasto"].tolist() == ["Łódź"]


@pytest.mark.parametrize(("cell", "count"), [("1.5", 1), ("n.v.", 1)])
def test_the_cell_that_is_named_is_the_wrong_one(tmp_path: Path, cell: str, count: int) -> None:
    rows = [f"{k},25;{k}" for k in range(9)]
    rows[6] = f"{cell};6"
    path = write(tmp_path, "a;b", *rows)
    with pytest.raises(AuclabError, match=rf"'a' needs numbers, and has '{cell}' in row 7 \({count} such cell, 8 numb"):
        read_new_rows(path, numbers=["a", "b"])
    rows = [f"{row};{k % 2}" for k, row in enumerate(rows)]
    message = rf"column 'a' has 1 cell that is not a number among 8 that are: '{cell}' \(row 7\)"
    with pytest.raises(AuclabError, match=message):  # in training too
        load_file(write(tmp_path, "a;b;y", *rows), "y")


def test_gaps_and_columns_that_are_not_there_are_left_to_the_model(tmp_path: Path) -> None:
    rows = read_new_rows(write(tmp_path, "a;c", "1,5;x", "?;y", ";z"), numbers=["a", "b"], text=["c"])
    np.testing.assert_array_equal(rows["a"], [1.5, np.nan, np.nan])
    assert list(rows) == ["a", "c"]


def test_parquet_and_svmlight_files_are_read_by_their_ending(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
    table.to_parquet(tmp_path / "new.parquet")
    pd.testing.assert_frame_equal(read_new_rows(tmp_path / "new.parquet"), table)
    (tmp_path / "new.svmlight").write_text("1 1:2.5\n-1 2:3\n", encoding="utf-8")
    assert read_new_rows(tmp_path / "new.svmlight", n_columns=3).toarray().tolist() == [[2.5, 0, 0], [0, 3.0, 0]]
    (tmp_path / "new.xyz").write_text("a,b\n1,x\n", encoding="utf-8")
    assert read_new_rows(tmp_path / "new.xyz").to_numpy().tolist() == [[1, "x"]]
