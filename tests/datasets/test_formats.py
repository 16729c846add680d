"""Files of other programs, packed files, files with odd names, and files without a header row."""

from __future__ import annotations

import bz2
import decimal
import lzma
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.datasets import inspect_file
from auclab.datasets.file import load_file, read_new_rows

TABLE = pd.DataFrame(
    {
        "size": [1.5, -2.0, np.nan, 4.25],
        "count": [1, 2, 3, 4],
        "colour": ["red", "blue ", "null", "red"],
        "price": ["$1,000", "$20", "$3.5", "$4"],
        "y": ["n", "p", "n", "p"],
    }
)
ARFF = """@relation toy
@attribute size numeric
@attribute colour {red, blue}
@attribute code {0, 1}
@attribute y {n, p}
@data
1.5, red, 0, n
?, blue, 1, p
3, ?, 0, n
"""
CSV = TABLE.to_csv(index=False).encode()


def as_read(path: Path, **options: Any) -> Any:
    dataset = load_file(path, target="y", positive="p", **options)
    assert dataset.y.tolist() == [0, 1, 0, 1]
    frame = dataset.frame
    np.testing.assert_array_equal(frame["size"], TABLE["size"])
    assert frame["count"].tolist() == [1, 2, 3, 4]
    assert frame["colour"].astype(object).where(frame["colour"].notna(), None).tolist() == ["red", "blue", None, "red"]
    assert frame["price"].tolist() == [1000, 20, 3.5, 4]
    return dataset


@pytest.mark.parametrize("ending", [".feather", ".orc", ".dta", ".parquet"])
def test_formats_of_other_programs_are_read_alike(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"my{ending}"
    write = {".feather": TABLE.to_feather, ".orc": TABLE.to_orc, ".dta": TABLE.to_stata, ".parquet": TABLE.to_parquet}
    write[ending](path, **({"write_index": False} if ending == ".dta" else {}))
    dataset = as_read(path)
    assert "column 'price' is read as numbers: '$1,000' is 1000" in dataset.notes
    assert any(note.startswith("blanks around the text of 1 cell") for note in dataset.notes)
    assert read_new_rows(path)["colour"].tolist()[:2] == ["red", "blue"]
    assert [column.kind for column in inspect_file(path).columns][-1] == "target"
    with pytest.raises(AuclabError, match=r"dataset.sep describes csv and tsv files"):
        load_file(path, target="y", sep=";")


def test_excel_is_read_or_its_library_is_named(tmp_path: Path) -> None:
    path = tmp_path / "my.xlsx"
    try:
        TABLE.to_excel(path, index=False)
    except ImportError:
        path.write_bytes(b"PK\x03\x04")
        with pytest.raises(
            AuclabError, match=r"my.xlsx (needs a library .*openpyxl.*'auclab\[tables\]'|cannot be read)"
        ):
            load_file(path, target="y")
    else:
        as_read(path)


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyreadstat", "zstandard"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    for name in ("my.sav", "my.csv.zst"):
        (tmp_path / name).write_bytes(b"some bytes")
        with pytest.raises(AuclabError, match=rf"{name} needs a library .*pip install 'auclab\[tables\]'"):
            load_file(tmp_path / name, target="y")


def test_spss_is_read(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(TABLE, str(tmp_path / "my.sav"))
    as_read(tmp_path / "my.sav")


@pytest.mark.parametrize("name", ["my.arff", "my.arff.bz2"])
def test_nominal_attributes_of_arff_are_categories(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(bz2.compress(ARFF.encode()) if name.endswith("2") else ARFF.encode())
    dataset = load_file(tmp_path / name, target="y", positive="p")
    assert dataset.y.tolist() == [0, 1, 0]
    np.testing.assert_array_equal(dataset.frame["size"], [1.5, np.nan, 3])
    assert dataset.frame["code"].tolist() == ["0", "1", "0"]
    assert dataset.frame["colour"].isna().tolist() == [False, False, True]


def test_text_in_arff_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "my.arff").write_text(ARFF.replace("size numeric", "size string"), encoding="utf-8")
    with pytest.raises(AuclabError, match=r"my.arff cannot be read as a table: .*; save it as csv or parquet"):
        load_file(tmp_path / "my.arff", target="y")


def test_text_of_digits_in_a_typed_file_is_read_as_numbers_and_it_is_said(tmp_path: Path) -> None:
    pd.DataFrame({"a": ["7", "8"], "b": ["07", "08"], "y": [0, 1]}).to_parquet(tmp_path / "my.parquet")
    dataset = load_file(tmp_path / "my.parquet", target="y")
    assert dataset.frame["a"].tolist() == [7, 8]
    assert dataset.frame["b"].tolist() == ["07", "08"]
    assert "column 'a' is read as numbers: '7' is 7" in dataset.notes
    assert load_file(tmp_path / "my.parquet", target="y", nominal=["a"]).frame["a"].tolist() == ["7", "8"]


def test_value_labels_of_stata_are_noted(tmp_path: Path) -> None:
    coded = TABLE.assign(colour=pd.Categorical(["red", "blue", None, "red"]))
    coded.to_stata(tmp_path / "my.dta", write_index=False)
    assert "my.dta: value labels stand for the numbers of colour" in as_read(tmp_path / "my.dta").notes


def test_decimals_and_days_are_numbers_and_dates(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [decimal.Decimal("1.5"), None], "d": [date(2024, 5, 1), date(2024, 5, 2)], "y": [0, 1]})
    for name, write in (("my.parquet", frame.to_parquet), ("my.feather", frame.to_feather)):
        write(tmp_path / name)
        found = load_file(tmp_path / name, target="y").frame
        assert (found["a"].dtype.kind, found["d"].dtype.kind) == ("f", "M")


@pytest.mark.parametrize("ending", [".bz2", ".xz", ".zip"])
def test_packed_csv_files_are_unpacked(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"my.csv{ending}"
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("my.csv", CSV)
    else:
        path.write_bytes({".bz2": bz2.compress, ".xz": lzma.compress}[ending](CSV))
    as_read(path)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(AuclabError, match="cannot be read as a table"):
        load_file(path, target="y")


def test_two_files_in_a_zip_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "my.zip", "w") as archive:
        archive.writestr("a.csv", CSV)
        archive.writestr("b.csv", CSV)
    with pytest.raises(AuclabError, match=r"my.zip has 2 files, and one table is read"):
        load_file(tmp_path / "my.zip", target="y")


@pytest.mark.parametrize("name", ["my.data", "my.test", "my.txt", "my"])
def test_other_endings_are_tried_as_csv_and_it_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(CSV.replace(b"blue ", b"blue"))
    assert as_read(tmp_path / name).notes[0] == f"{name}: read as csv, which its ending does not say"


IRIS = "5.1,3.5,a\n4.9,?,b\n4.7,3.2,a\n4.6,3.1,b\n"


def test_a_file_without_a_header_row(tmp_path: Path) -> None:
    path = tmp_path / "iris.csv"
    path.write_text(IRIS, encoding="utf-8")
    with pytest.raises(AuclabError, match=r"no header row: its first row is '5.1', '3.5', 'a'; dataset.header=false"):
        load_file(path, target="x2")
    dataset = load_file(path, target="x2", positive="a", header=False)
    assert dataset.frame["x0"].tolist() == [5.1, 4.9, 4.7, 4.6]
    assert dataset.y.tolist() == [1, 0, 1, 0]
    assert dataset.written["header"] is False
    assert len(read_new_rows(path, expected={"header": False})) == 4
    assert list(load_file(path, target="a", positive="b", header=True).frame) == ["5.1", "3.5"]
    path.write_text(IRIS + "1,2\n", encoding="utf-8")
    with pytest.raises(AuclabError, match="row 5 has 2 fields"):
        load_file(path, target="x2", positive="a", header=False)


@pytest.mark.parametrize(
    ("header", "noted"), [("name,2019,2020", True), ("name,size,y", False), ("1,2,y", False), (",x1,x2", False)]
)
def test_names_that_are_numbers_are_noted(tmp_path: Path, header: str, noted: bool) -> None:
    (tmp_path / "my.csv").write_text(f"{header}\na,1,0\nb,2,1\n", encoding="utf-8")
    dataset = load_file(tmp_path / "my.csv", target=header.split(",")[-1])
    assert any("names of columns are numbers ('2019', '2020')" in note for note in dataset.notes) == noted


SVMLIGHT = "2 qid:1 1:0.5 3:1\n1 qid:1 2:1\n0 qid:2 1:1\n1 qid:2 3:2\n"


def test_queries_of_svmlight_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "my.svmlight"
    path.write_text(SVMLIGHT, encoding="utf-8")
    dataset = load_file(path, graded=True)
    assert dataset.target.kind == "groups"
    assert dataset.target.groups.tolist() == ["1", "1", "2", "2"]
    assert dataset.y.tolist() == [2, 1, 0, 1]
    assert dataset.notes == ("my.svmlight: rows are compared within its queries (qid); dataset.drop=qid ignores them",)
    apart = load_file(path, positive=[1, 2], drop="qid")
    assert (apart.target.kind, apart.y.tolist(), apart.notes) == ("classes", [1, 1, 0, 1], ())
