"""The user's own file in every format, and every way to get it wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from auclab._core.base import AuclabError
from auclab.datasets.file import load_file

TABLE = pd.DataFrame(
    {
        "size": [1.5, -2.0, np.nan, 4.25],
        "count": [1, 2, 3, 4],
        "colour": ["red", "blue", None, "red"],
        "y": ["n", "p", "n", "p"],
    }
)


def write(folder: Path, ending: str) -> Path:
    path = folder / f"my{ending}"
    if ending == ".parquet":
        TABLE.to_parquet(path)
    else:
        TABLE.to_csv(path, index=False, sep="\t" if ".tsv" in ending else ",")
    return path


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".CSV", ".tsv", ".tsv.gz", ".parquet"])
def test_tables_round_trip(tmp_path: Path, ending: str) -> None:
    dataset = load_file(write(tmp_path, ending), target="y", positive="p")
    assert dataset.y.tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(dataset.X["size"], TABLE["size"])
    np.testing.assert_array_equal(dataset.X["count"], TABLE["count"])
    assert dataset.X["colour"].isna().tolist() == [False, False, True, False]
    assert (dataset.name, dataset.positive, dataset.negative) == (f"my{ending}", "p", "n")


@pytest.mark.parametrize("ending", [".svmlight", ".libsvm", ".svm", ".svm.gz"])
def test_svmlight_round_trip(tmp_path: Path, ending: str) -> None:
    X = sp.csr_matrix(np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, -3.0], [1.0, 1.0, 1.0]]))
    plain = tmp_path / "plain"
    dump_svmlight_file(X, [1, -1, -1, 1], str(plain), zero_based=False)
    path = tmp_path / f"my{ending}"
    path.write_bytes(gzip.compress(plain.read_bytes()) if ending.endswith(".gz") else plain.read_bytes())
    dataset = load_file(path)
    assert sp.issparse(dataset.X)
    assert dataset.X.format == "csr"
    np.testing.assert_array_equal(dataset.X.toarray(), X.toarray())
    assert dataset.y.tolist() == [1, 0, 0, 1]
    assert load_file(path, positive="-1").y.tolist() == [0, 1, 1, 0]


def test_options(tmp_path: Path) -> None:
    path = write(tmp_path, ".csv")
    dataset = load_file(path, target="y", positive="p", nominal=["count"], drop=["size"], name="mine", citation="me")
    assert list(dataset.X) == ["count", "colour"]
    assert dataset.X["count"].tolist() == ["1", "2", "3", "4"]
    assert (dataset.nominal, dataset.name, dataset.citation) == (("count",), "mine", "me")
    assert load_file(path, target="y", positive="p", nominal="ALL").nominal == ("size", "count", "colour")
    assert load_file(path, target="y", positive="p", sha256=dataset.sha256).sha256 == dataset.sha256


def test_one_label_against_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "three.csv"
    path.write_text("x,y\n1,a\n2,b\n3,c\n4,a\n", encoding="utf-8")
    assert load_file(path, target="y", positive="a").y.tolist() == [1, 0, 0, 1]
    assert load_file(path, target="y", positive="a", negative="b").y.tolist() == [1, 0, 1]


def test_home_folder_and_unicode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "größe.csv").write_text("größe,ergebnis\n1,gut\n2,schlecht\n", encoding="utf-8-sig")
    assert load_file("~/größe.csv", target="ergebnis", positive="schlecht").X["größe"].tolist() == [1, 2]


def test_missing_markers(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("x, z, y\n1, ?, 0\nNA, 2, 1\n, 3, 1\n", encoding="utf-8")
    dataset = load_file(path, target="y")
    np.testing.assert_array_equal(dataset.X, [[1, np.nan], [np.nan, 2], [np.nan, 3]])


WRITTEN: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "semicolons": (b"gr;y\n1.5;0\n2.5;1\n", ("columns separated by semicolons",)),
    "decimal commas": (b"gr;y\n1,5;0\n2,5;1\n", ("columns separated by semicolons", "decimal commas")),
    "tabs": (b"gr\ty\n1.5\t0\n2.5\t1\n", ("columns separated by tabs",)),
    "bars": (b"gr|y\n1.5|0\n2.5|1\n", ("columns separated by bars",)),
    "mark": (b"\xef\xbb\xbfgr,y\n1.5,0\n2.5,1\n", ("encoding utf-8-sig",)),
    "utf-16": ("gr,y\n1.5,0\n2.5,1\n".encode("utf-16"), ("encoding utf-16",)),
    "old Mac": (b"gr,y\r1.5,0\r2.5,1\r", ()),
    "Windows": (b"gr , y\r\n 1.5, 0\r\n2.5,1\r\n\r\n", ("blanks around names of columns are left out ('gr ')",)),
    "quoted": (b'gr,y\n"1.5","0"\n"2.5","1"\n', ()),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_the_format_of_a_csv_is_found_and_noted(tmp_path: Path, kind: str) -> None:
    content, found = WRITTEN[kind]
    (tmp_path / "my.csv").write_bytes(content)
    dataset = load_file(tmp_path / "my.csv", target="y")
    assert dataset.frame["gr"].tolist() == [1.5, 2.5]
    assert dataset.y.tolist() == [0, 1]
    assert dataset.notes == tuple(f"my.csv: {each}" for each in found)


def test_an_encoding_of_offices_is_found(tmp_path: Path) -> None:
    table = "Größe;Währung;y\n1,5;€;gut\n2,5;$;schlecht\n"
    (tmp_path / "my.csv").write_bytes(table.encode("cp1252"))
    dataset = load_file(tmp_path / "my.csv", target="y", positive="gut")
    assert dataset.frame["Größe"].tolist() == [1.5, 2.5]
    assert dataset.frame["Währung"].tolist() == ["€", "$"]
    assert dataset.notes[-1] == "my.csv: encoding cp1252 (it is not UTF-8)"
    given = load_file(tmp_path / "my.csv", target="y", positive="gut", sep="semicolon", decimal=",", encoding="cp1252")
    pd.testing.assert_frame_equal(given.frame, dataset.frame)
    assert given.notes == ()


def test_semicolons_in_text_do_not_separate(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text('"a; b",c; d,y\n"x, 1","p;q",0\nz,r,1\n', encoding="utf-8")
    dataset = load_file(tmp_path / "my.csv", target="y")
    assert dataset.frame.to_numpy().tolist() == [["x, 1", "p;q"], ["z", "r"]]
    assert list(dataset.frame) == ["a; b", "c; d"]


def test_one_bad_cell_is_named_and_can_be_read_as_missing(tmp_path: Path) -> None:
    rows = [f"{k},{k % 2}" for k in range(40)]
    rows[16] = "unknown,1"
    (tmp_path / "my.csv").write_text("\n".join(["age,y", *rows]), encoding="utf-8")
    words = (
        r"column 'age' has 1 cell that is not a number among 39 that are: 'unknown' \(row 17\); 'dataset.missing=\[unk"
    )
    with pytest.raises(AuclabError, match=words):
        load_file(tmp_path / "my.csv", target="y")
    column = load_file(tmp_path / "my.csv", target="y", missing=["unknown"]).frame["age"]
    assert column.isna().sum() == 1
    assert np.isnan(column[16])
    assert column.sum() == sum(range(40)) - 16
    assert load_file(tmp_path / "my.csv", target="y", nominal=["age"]).frame["age"][16] == "unknown"


def test_numbers_as_missing_markers(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x,y\n1,0\n-999,1\n3,1\n", encoding="utf-8")
    assert load_file(tmp_path / "my.csv", target="y", missing=-999).frame["x"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (['"1,5"', '"2,5"', '"3,75"'], [1.5, 2.5, 3.75]),
        (["1.234.567", "2.000.000", "9"], [1_234_567, 2_000_000, 9]),
        (['"1,234"', '"12,500"', "7"], [1_234, 12_500, 7]),
        (["12 kg", "13 kg", "-1.5 kg"], [12, 13, -1.5]),
        (["12 %", "13%", ""], [12, 13, np.nan]),
        (["$67", "-$1", "−$2.5"], [67, -1, -2.5]),
        (['"$67,349"', "null  ", "$5"], [67_349, np.nan, 5]),
        (['"1.889,50"', '"12,5"', "3"], [1_889.5, 12.5, 3]),
        (["1 234", "12 000", "1'000"], None),
        (["EUR 5", "EUR 6", "$7"], None),
    ],
)
def test_numbers_with_signs_and_units_are_read_and_it_is_said(
    tmp_path: Path, cells: list[str], numbers: list[float] | None
) -> None:
    rows = [f"{cell},{k % 2}" for k, cell in enumerate(cells)]
    (tmp_path / "my.csv").write_text("\n".join(["x,y", *rows]), encoding="utf-8")
    if numbers is None:
        with pytest.raises(AuclabError, match=r"column 'x' has 1 cell that is not a number among 2 that are such as "):
            load_file(tmp_path / "my.csv", target="y")
        return
    dataset = load_file(tmp_path / "my.csv", target="y")
    np.testing.assert_array_equal(dataset.frame["x"], numbers)
    assert "column 'x' is read as numbers" in dataset.notes[-1]
    kept = load_file(tmp_path / "my.csv", target="y", nominal=["x"])
    assert "read as numbers" not in "".join(kept.notes)


def test_a_decimal_sign_that_is_given_decides_where_both_fit(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x;y\n1,234;0\n5,678;1\n", encoding="utf-8")
    assert load_file(tmp_path / "my.csv", target="y", decimal=",").frame["x"].tolist() == [1.234, 5.678]
    assert load_file(tmp_path / "my.csv", target="y", decimal=".").frame["x"].tolist() == [1_234, 5_678]


@pytest.mark.parametrize("cells", [["K-1", "K-2", "K-3"], ["1 dose", "2 doses", "3 doses"], ["10-20", "20-30", "1"]])
def test_codes_and_few_texts_are_categories(tmp_path: Path, cells: list[str]) -> None:
    rows = [f"{cell},{k % 2}" for k, cell in enumerate(cells * 3)]
    (tmp_path / "my.csv").write_text("\n".join(["x,y", *rows]), encoding="utf-8")
    assert load_file(tmp_path / "my.csv", target="y").frame["x"].tolist() == cells * 3


def test_blanks_are_left_out_everywhere_and_it_is_said(tmp_path: Path) -> None:
    rows = ["NULL  , 3 ,ckd\t", "7  ,n/a,ckd", "8,5, notckd", "9,n/A ,notckd"]
    (tmp_path / "my.csv").write_text("\n".join(["agent ,size,class\t", *rows]), encoding="utf-8")
    dataset = load_file(tmp_path / "my.csv", target="class", positive="ckd", missing=["5"])
    assert dataset.y.tolist() == [1, 1, 0, 0]
    np.testing.assert_array_equal(dataset.frame["agent"], [np.nan, 7, 8, 9])
    np.testing.assert_array_equal(dataset.frame["size"], [3, np.nan, np.nan, np.nan])
    assert dataset.notes[0] == r"my.csv: blanks around names of columns are left out ('agent ', 'class\t')"
    assert dataset.notes[1].startswith("blanks around the text of 5 cells are left out (agent 2")
    (tmp_path / "two.csv").write_text("a,a ,y\n1,2,0\n2,1,1\n", encoding="utf-8")
    with pytest.raises(AuclabError, match=r"columns of the same name: 'a' \(2 times\)"):
        load_file(tmp_path / "two.csv", target="y")


def test_the_usual_marks_are_gaps_in_any_case_but_none_is_a_category(tmp_path: Path) -> None:
    marks = ["NULL", "null", "n/a", "N/A", "NA", "NaN", "nan", "?", "#N/A", "<NA>", "None", ""]
    rows = [f"{mark},{mark},{k % 2}" for k, mark in enumerate(marks)]
    path = tmp_path / "my.csv"
    path.write_text("\n".join(["num,cat,y", *rows, "5,none,0", "6,a,1", "7,a,1"]), encoding="utf-8")
    frame = load_file(path, target="y").frame
    assert frame["num"].isna().tolist() == frame["cat"].isna().tolist() == [True] * 12 + [False] * 3
    assert frame["cat"].tolist()[12:] == ["none", "a", "a"]


def test_settings_of_csv_files_do_not_suit_parquet(tmp_path: Path) -> None:
    TABLE.to_parquet(tmp_path / "my.parquet")
    with pytest.raises(AuclabError, match=r"dataset.sep describes csv and tsv files"):
        load_file(tmp_path / "my.parquet", target="y", positive="p", sep=";")


@pytest.mark.needs_tables("keel/keel_abalone19.csv")
def test_keel_set(data_folder: Path) -> None:
    path = data_folder / "keel" / "keel_abalone19.csv"
    dataset = load_file(path, target="target", positive="positive")
    assert (dataset.n_pos, dataset.n_neg) == (32, 4142)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("x,y\n1,0\n2,1\n", {}, r"which column of .*my\.csv is the target\? .* columns are x, y"),
        ("x,y\n1,0\n2,1\n", {"target": "z"}, r"target column 'z' does not exist; columns are x, y"),
        (
            "x,y\n1,0\n2,1\n",
            {"target": "y", "positive": 2},
            r"label '2' does not occur in 'y'; labels are 0 \(1 row\)",
        ),
        ("x,y\n1,a\n2,b\n", {"target": "y"}, r"which label of 'y' is positive"),
        ("x,y\n1,0\n2,\n", {"target": "y"}, r"target column 'y' has 1 missing value"),
        ("x,y\n1,1\n2,1\n", {"target": "y", "positive": 1}, r"two classes are needed"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "nominal": ["z"]}, r"nominal column 'z' does not exist"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "drop": ["z"]}, r"column 'z', to be dropped, does not exist"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "sha256": "00"}, r"is not the file that was expected"),
        ("y\n0\n1\n", {"target": "y"}, r"no features"),
        ("x,y\n", {"target": "y"}, r"has no rows"),
        ("", {"target": "y"}, r"is empty"),
        ("\n\n", {"target": "y"}, r"cannot be read as a table"),
        ("x,y\n1,0\n1,2,3,4\n", {"target": "y"}, r"cannot be read as a table: row 2 has 4 fields"),
        ("x,y\n1,0\n1\n", {"target": "y"}, r"cannot be read as a table: row 2 has 1 fields.* header row has 2"),
        ("x,y\n1,0,3\n2,1,3\n", {"target": "y"}, r"cannot be read as a table: row 1 has 3 fields"),
        ("x,y,x,z,z\n1,0,1,1,1\n", {"target": "y"}, r"columns of the same name: 'x', 'z' \(2 times\)"),
        (
            "size,y\n1,0\n2,1\n",
            {"target": "y", "drop": "siez"},
            r"dropped, does not exist \(did you mean 'size'\?\); col",
        ),
        ("x,y\n1,0\n2,1\n", {"target": "y", "drop": "y"}, r"column 'y' is the target and to be dropped"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "sep": "ab"}, r"dataset.sep is 'ab'; it is one character"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "decimal": ";"}, r"dataset.decimal is ';'; the decimal separator"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "encoding": "utf9"}, r"'utf9', which Python .* \(did you mean 'utf-8'"),
        ("é,y\n1,0\n2,1\n", {"target": "y", "encoding": "ascii"}, r"it is not ascii; leave out dataset.encoding"),
        ("x,y\n1,a\n2,b\n3,c\n4,c\n5,c", {"target": "y"}, r"such as dataset.positive=a; labels are c \(3 .* negative"),
    ],
)
def test_csv_that_is_refused(tmp_path: Path, content: str, options: dict[str, Any], message: str) -> None:
    path = tmp_path / "my.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(AuclabError, match=message):
        load_file(path, **options)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("workbook.csv", b"PK\x03\x04\x00\x00rest"),
        ("not.csv.gz", b"plain text"),
        ("cut.csv.gz", gzip.compress(b"x,y\n1,0\n2,1\n" * 200, mtime=0)[:40]),
        ("not.parquet", b"plain text"),
        ("not.svm", b"plain text\n"),
    ],
)
def test_file_that_is_something_else(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(AuclabError, match=rf"{name} cannot be read as a table: .+; check the path and the format"):
        load_file(tmp_path / name, target="y", positive=1)


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AuclabError, match=r"which file\? Give dataset\.path"):
        load_file()
    with pytest.raises(AuclabError, match=r"gone\.csv cannot be read: No such file or directory"):
        load_file(tmp_path / "gone.csv", target="y")
    with pytest.raises(AuclabError, match=r"cannot be read: Is a directory"):
        load_file(tmp_path, target="y")
    (tmp_path / "my.doc").write_bytes(b"\xd0\xcf\x11\xe0\x00\x00")
    with pytest.raises(AuclabError, match=r"my.doc cannot be read as a table: it is not text; check the path"):
        load_file(tmp_path / "my.doc", target="y")


def test_a_target_of_many_values_is_no_choice_of_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x,y\n" + "".join(f"{k},{k / 7:.2f}\n" for k in range(40)), encoding="utf-8")
    with pytest.raises(AuclabError, match=r"'y' has 40 different values .*, but a target has two classes"):
        load_file(tmp_path / "my.csv", target="y")


def test_rows_without_a_target_are_refused_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text("x,days,died,y\n1,5,no,0\n2,,yes,1\n3,6,NULL,null \n4,7,yes,1\n", encoding="utf-8")
    words = (
        r"target column 'y' has 1 missing value \(first in row 3\); dataset.missing_target=drop leaves those rows out"
    )
    with pytest.raises(AuclabError, match=words):
        load_file(path, target="y", drop=["days", "died"])
    dataset = load_file(path, target="y", drop=["days", "died"], missing_target="drop")
    assert dataset.frame["x"].tolist() == [1, 2, 4]
    assert dataset.y.tolist() == [0, 1, 1]
    assert "1 row without a target left out (dataset.missing_target=drop)" in dataset.notes
    with pytest.raises(AuclabError, match=r"time column 'days' has 1 missing value .*event column 'died' has 1"):
        load_file(path, time="days", event="died", positive="yes", drop=["y"])
    times = load_file(path, time="days", event="died", positive="yes", drop=["y"], missing_target="drop")
    assert times.y.tolist() == [5, 7]
    with pytest.raises(AuclabError, match=r"dataset.missing_target is 'no'; choose refuse or drop"):
        load_file(path, target="y", missing_target="no")
