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

from auclab.datasets.file import load_file
from auclab.types import AuclabError

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


def test_keel_set(data_folder: Path) -> None:
    path = data_folder / "keel" / "keel_abalone19.csv"
    dataset = load_file(path, target="target", positive="positive")
    assert (dataset.n_pos, dataset.n_neg) == (32, 4142)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("x,y\n1,0\n2,1\n", {}, r"which column of .*my\.csv is the target\? .* columns are x, y"),
        ("x,y\n1,0\n2,1\n", {"target": "z"}, r"target column 'z' is not there; columns are x, y"),
        (
            "x,y\n1,0\n2,1\n",
            {"target": "y", "positive": 2},
            r"label '2' does not occur in 'y'; labels are 0 \(1 rows\)",
        ),
        ("x,y\n1,a\n2,b\n", {"target": "y"}, r"which label of 'y' is positive"),
        ("x,y\n1,0\n2,\n", {"target": "y"}, r"target column 'y' has 1 missing values"),
        ("x,y\n1,1\n2,1\n", {"target": "y", "positive": 1}, r"two classes are needed"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "nominal": ["z"]}, r"nominal column 'z' is not there"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "drop": ["z"]}, r"column 'z', to be dropped, is not there"),
        ("x,y\n1,0\n2,1\n", {"target": "y", "sha256": "00"}, r"is not the file that was expected"),
        ("y\n0\n1\n", {"target": "y"}, r"no features"),
        ("x,y\n", {"target": "y"}, r"has no rows"),
        ("", {"target": "y"}, r"is empty"),
        ("\n\n", {"target": "y"}, r"cannot be read as a table"),
        ("x,y\n1,0\n1,2,3,4\n", {"target": "y"}, r"cannot be read as a table: .*line 3"),
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
        ("latin.csv", "größe,y\n1,0\n".encode("latin-1")),
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
    (tmp_path / "my.xlsx").write_bytes(b"PK")
    with pytest.raises(AuclabError, match=r"an unknown ending; a file ends in one of \.csv"):
        load_file(tmp_path / "my.xlsx", target="y")
