"""Rows of another length anywhere in a csv file are named, and numbers with zeros in front stay what they are."""

import gzip

import pytest

from auclab._core.base import AuclabError
from auclab.datasets.file import load_file


def write(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("row", "fields"), [("7,yes,9", 3), ("7", 1)])
@pytest.mark.parametrize("packed", [False, True])
def test_a_row_of_another_length_is_named_wherever_it_is(tmp_path, row, fields, packed):
    lines = ["size,y", *(f"{k % 17},{'yes' if k % 3 else 'no'}" for k in range(5_000))]
    path = write(tmp_path / "my.csv", [*lines[:4_322], row, *lines[4_322:]])
    if packed:
        packed_path = tmp_path / "my.csv.gz"
        packed_path.write_bytes(gzip.compress(path.read_bytes()))
        path = packed_path
    with pytest.raises(
        AuclabError, match=rf"row 4322 has {fields} fields, separated by comma, and the header row has 2"
    ):
        load_file(path, target="y", positive="yes")


def test_postal_codes_are_categories_and_it_is_said(tmp_path):
    """Also where the first zero comes late; columns without one, and fractions such as 0.5 or 00.5, are numbers."""
    rows = [f"{80_331 + k % 3},{k % 7},0{k % 9}.5,{'yes' if k % 3 else 'no'}" for k in range(1_200)]
    rows[1_150] = "01067,0,01.5,yes"
    rows[1_151] = "01067,,1.5,no"
    path = write(tmp_path / "my.csv", ["code,visits,share,y", *rows])
    dataset = load_file(path, target="y", positive="yes")
    assert dataset.X["code"].iloc[1_150] == "01067"
    assert dataset.X["visits"].dtype.kind == dataset.X["share"].dtype.kind == "f"
    (note,) = dataset.notes
    assert "column 'code' has numbers that start with 0, such as '01067', and is taken as categories" in note
    quiet = load_file(path, target="y", positive="yes", nominal=["code"])
    assert quiet.notes == ()
    assert quiet.X["code"].iloc[1_150] == "01067"


def test_separators_quotes_and_encodings_of_the_file_are_known(tmp_path):
    path = tmp_path / "my.csv"
    text = "Größe;Ort;y\n" + "".join(f'{k},5;"a;\nb";{"ja" if k % 2 else "nein"}\n' for k in range(1_500))
    path.write_bytes((text + "1,5;x\n").encode("latin-1"))
    with pytest.raises(AuclabError, match="row 1501 has 2 fields, separated by semicolon"):
        load_file(path, target="y", positive="ja")
    path.write_bytes(text.encode("latin-1"))
    assert len(load_file(path, target="y", positive="ja").y) == 1_500
