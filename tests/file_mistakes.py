"""Mistakes with files of rows, and the files, by their names."""

from __future__ import annotations

from typed_mistake import file_mistake, mistake

ROWS = [f"{k % 7}.5,{'red' if k % 3 else 'blue'},{k % 2}" for k in range(60)]
PLAIN = "\n".join(["size,colour,y", *ROWS])


def _with(row: int, text: str, rows: list[str] = ROWS, header: str = "size,colour,y") -> str:
    return "\n".join([header, *rows[:row], text, *rows[row + 1 :]])


def _column(name: str, cells: list[str]) -> str:
    return "\n".join([f"size,{name},y", *(f"{k % 7},{cell},{k % 2}" for k, cell in enumerate(cells))])


#: Files by their name; those of `FILES` are named in the words.
CONTENTS: dict[str, str | bytes] = {
    "plain.csv": PLAIN,
    "empty.csv": "",
    "header.csv": "size,colour,y\n",
    "three_values.csv": "\n".join(["x,y", *(f"{k},{'abc'[k % 3]}" for k in range(30))]),
    "one_class.csv": "x,y\n1,1\n2,1\n3,1\n",
    "gap_in_target.csv": _with(4, "1.5,red,"),
    "twice.csv": "size,size,y\n1,2,0\n2,1,1\n",
    "short_row.csv": _with(6, "1.5,red"),
    "long_row.csv": _with(6, "1.5,red, dark,1"),
    "no_quotes.csv": "\n".join(["size,name,y", *(f"{k},Meier, Anna,{k % 2}" for k in range(9))]),
    "bad_cell.csv": _with(16, "unknown,red,1"),
    "units.csv": _column("weight", ["heavy", *(f"{k} kg" for k in range(1, 60))]),
    "dates.csv": _column("since", [f"2024-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in range(60)]),
    "us_dates.csv": _column("since", [f"{k % 12 + 1}/{k % 11 + 1}/2024" for k in range(60)]),
    "bad_date.csv": _column("since", ["soon", *(f"2024-{k % 12 + 1:02d}-01" for k in range(59))]),
    "identifier.csv": _column("id", [f"K-{k}" for k in range(120)]),
    "workbook.csv": b"PK\x03\x04\x14\x00\x06\x00\x08\x00rest of a workbook",
    "latin.csv": ("größe,y\n" + "1,0\n2,1\n" * 6).encode("latin-1"),
    "three_rows.csv": "x,y\n1,0\n2,1\n3,1\n",
    "constant.csv": "\n".join(["x,z,y", *(f"1,a,{k % 2}" for k in range(30))]),
    "huge.csv": _with(3, "1e300,red,1"),
    "infinite.csv": _with(3, "inf,red,1"),
    "only_target.csv": "y\n0\n1\n",
    "plain.xlsx": b"PK\x03\x04",
    "broken.parquet": b"PAR1 and nothing else",
    "broken.svm": b"what is this\n",
    "cut.csv.gz": b"\x1f\x8b\x08\x00\x00\x00",
}


FILES = (
    mistake("dataset=file", r"which file\? Give dataset.path="),
    file_mistake("gone.csv", "", r"gone.csv cannot be read: No such file"),
    file_mistake(
        "workbok.csv",
        "",
        r"workbok.csv cannot be read: No such .*",
    ),
    file_mistake(".", "", r"cannot be read: Is a directory"),
    file_mistake("https://example.org/my.csv", "", r"is an address, .* download it"),
    file_mistake("plain.xlsx", "", r"plain.xlsx (cannot be read as a table|needs a library that is not installed)"),
    file_mistake("empty.csv", "", r"empty.csv is empty"),
    file_mistake("header.csv", "", r"has no rows"),
    file_mistake("workbook.csv", "", r"workbook.csv cannot be read as a table: it is not text; check"),
    file_mistake("broken.parquet", "", r"broken.parquet cannot be read as a table"),
    file_mistake("broken.svm", "", r"broken.svm cannot be read as a table"),
    file_mistake("cut.csv.gz", "", r"cut.csv.gz cannot be read as a table"),
    file_mistake(
        "plain.csv",
        "",
        r"which column of plain.csv is the target\? .*columns are size, colour, y",
        fix="dataset.target=y",
        target="",
    ),
    file_mistake(
        "plain.csv",
        "",
        r"'colur' does not exist \(did you mean 'colour'\?\)",
        target="dataset.target=colur",
    ),
    file_mistake(
        "plain.csv",
        "dataset.positive=yes",
        r"label 'yes' does not occur in 'y'; labels are 0 \(30 rows\), 1",
        fix="dataset.positive=1",
    ),
    file_mistake(
        "three_values.csv",
        "",
        r"which label of 'y' is positive\? Give dataset.positive.*a \(10 rows\)",
        fix="dataset.positive=a",
    ),
    file_mistake(
        "three_values.csv", "dataset.positive=a dataset.negative=a", r"'a' is listed as positive and as negative"
    ),
    file_mistake("one_class.csv", "dataset.positive=1", r"two classes are needed"),
    file_mistake("gap_in_target.csv", "", r"target column 'y' has 1 missing value \(first in row 5\)"),
    file_mistake("twice.csv", "", r"columns of the same name: 'size'"),
    file_mistake("short_row.csv", "", r"row 7 has 2 fields.*header row has 3"),
    file_mistake("long_row.csv", "", r"row 7 has 4 fields.*header row has 3"),
    file_mistake("no_quotes.csv", "", r"row 1 has 4 fields.*belongs in quotes"),
    file_mistake(
        "bad_cell.csv",
        "",
        r"'size' has 1 cell .* 'unknown' \(row 17\); 'dataset.missing=\[unknown\]'",
        fix="dataset.missing=[unknown]",
    ),
    file_mistake(
        "units.csv",
        "",
        r"'weight' has 1 cell .* 59 that are such as '10 kg': 'heavy' \(row 1\)",
        fix="dataset.missing=[heavy]",
    ),
    file_mistake(
        "dates.csv",
        "",
        r"'since' holds dates.*preprocess.dates=\[year,month,age\].*dataset.drop=\[since\]",
        fix="preprocess.dates=[year,month,age]",
    ),
    file_mistake(
        "us_dates.csv", "preprocess.dates=[month]", r"day and month cannot be distinguished; give .*date_format"
    ),
    file_mistake(
        "bad_date.csv",
        "preprocess.dates=[year]",
        r"'soon' in row 1 is not a date; .*dataset.missing=\[soon\]",
        fix="dataset.missing=[soon]",
    ),
    file_mistake(
        "identifier.csv", "", r"'id' holds text with 120 different values.*dataset.drop=\[id\]", fix="dataset.drop=[id]"
    ),
    file_mistake(
        "plain.csv",
        "dataset.drop=[siez]",
        r"'siez', to be dropped, does not exist \(did you mean 'size'",
        fix="dataset.drop=[size]",
    ),
    file_mistake(
        "plain.csv",
        "dataset.nominal=[color]",
        r"nominal column 'color' does not exist \(did you mean 'colour'",
        fix="dataset.nominal=[colour]",
    ),
    file_mistake("plain.csv", "dataset.drop=[y]", r"'y' is the target and to be dropped", without="dataset.drop=[y]"),
    file_mistake("plain.csv", "dataset.sep=;", r"target column 'y' does not exist", target="dataset.target=y"),
    file_mistake(
        "plain.csv",
        "dataset.sep=space-bar",
        r"dataset.sep is 'space-bar'; it is one character, or one of comma",
        fix="dataset.sep=comma",
    ),
    file_mistake(
        "plain.csv",
        "dataset.decimal=comma",
        r"dataset.decimal is 'comma'; the decimal separator is . or ,",
        fix="dataset.decimal=.",
    ),
    file_mistake(
        "plain.csv",
        "dataset.encoding=utf9",
        r"'utf9', which Python does not know \(did you mean 'utf-8'",
        fix="dataset.encoding=utf-8",
    ),
    file_mistake(
        "latin.csv",
        "dataset.encoding=utf-8",
        r"latin.csv cannot be read as a table: it is not utf-8; leave out",
        without="dataset.encoding=utf-8",
    ),
    file_mistake("plain.csv", "dataset.missing=[1]", r"target column 'y' has 30 missing values"),
    file_mistake("plain.csv", "dataset.sha256=00", r"is not the file that was expected"),
    file_mistake("three_rows.csv", "", r"2 positives and 1 negative: .*both classes"),
    file_mistake("constant.csv", "", r"every column of 'constant.csv' has one value only"),
    file_mistake("huge.csv", "", r"'size' has 1 value above 1e\+150 in size \(first in row 4\)"),
    file_mistake("infinite.csv", "", r"'size' has 1 infinite value \(first in row 4\)"),
    file_mistake("only_target.csv", "", r"no features: 'y' is the only column"),
)
