"""Mistakes with tables of one's own and with commands, as in `mistakes`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from file_mistakes import ROWS
from typed_mistake import file_mistake, mistake


def _table(columns: dict[str, list[object]]) -> str:
    return str(pd.DataFrame(columns).to_csv(index=False))


_K = range(60)
_Y = [k % 2 for k in _K]
_SIZE = [k % 7 + 0.5 for k in _K]
_COMMAS = [f"{k % 9},25" for k in _K]
_DAYS = [f"2024-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in _K]
_NAMES = [f"K-{k}" for k in range(60)]
_LEFT = ["yes" if k % 4 == 0 else "no" for k in _K]

TABLES = {
    "sizes.csv": "\n".join(["size,colour,y", *ROWS]),
    "data/sizes.csv": "\n".join(["size,colour,y", *ROWS]),
    "left.csv": _table({"size": _SIZE, "left": _LEFT}),
    "commas.csv": _table({"size": _SIZE, "price": _COMMAS, "y": _Y}),
    "two_commas.csv": _table({"size": _SIZE, "price": _COMMAS, "cost, net": _COMMAS, "y": _Y}),
    "marked.csv": _table({"size": _SIZE, "price": ["n/v", *_COMMAS[1:]], "y": _Y}),
    "points.csv": _table({"size": [f"{k % 7}.5" for k in _K], "colour": ["red", "blue"] * 30, "y": _Y}),
    "thousands2.csv": _table({"size": _SIZE, "price": [f"{k + 1}.234,50" for k in _K], "y": _Y}),
    "everything.csv": _table({"nr": _NAMES, "since": _DAYS, "price": _COMMAS, "size": _SIZE, "left": _LEFT}),
    "day.csv": _table({"since": _DAYS, "size": _SIZE, "y": _Y}),
    "times.csv": _table({"since": [f"{day} 12:30" for day in _DAYS], "size": _SIZE, "y": _Y}),
    "us.csv": _table({"since": [f"{k % 12 + 1}/{k % 11 + 1}/2024" for k in _K], "size": _SIZE, "y": _Y}),
    "soon.csv": _table({"since": ["soon", *_DAYS[1:]], "size": _SIZE, "y": _Y}),
    "names.csv": _table({"kunden nr": _NAMES, "size": _SIZE, "y": _Y}),
    "two_names.csv": _table({"id": _NAMES, "mail": [f"{k}@x.org" for k in _K], "size": _SIZE, "y": _Y}),
    "three.csv": _table({"size": _SIZE, "y": ["a" if k % 3 == 0 else "b" if k % 3 == 1 else "c" for k in _K]}),
    "many.csv": _table({"size": _SIZE, "y": list(_K)}),
    "unlabelled.csv": _table({"size": _SIZE, "y": [None, *_LEFT[1:]]}),
    "one.csv": _table({"size": _SIZE, "y": ["yes"] * 60}),
    "unknown.csv": _table({"size": ["unknown", *_SIZE[1:]], "y": _Y}),
    "semicolon.csv": "size;y\n" + "\n".join(f"{k % 7};{k % 2}" for k in _K),
    "infinite2.csv": _table({"size": ["inf", *_SIZE[1:]], "width": [1e300, *_SIZE[1:]], "y": _Y}),
    "still.csv": _table({"size": ["1"] * 60, "y": _Y}),
    "currencies.csv": _table({"price": ["$1,000", "$20", "€5", *["$7", "$30"] * 28, "$1"], "y": _Y}),
    "bare.csv": "\n".join(f"{k % 7}.5,{k % 2}" for k in _K),
}

TABLE_MISTAKES = (
    # a file in place of a data set
    mistake(
        "dataset=data/sizes.csv",
        r"dataset=data/sizes.csv is a file.*type auclab run dataset=file dataset.path=data/sizes.csv",
    ),
    mistake("dataset=many.csv", r"is a file.*auclab inspect many.csv proposes the whole command"),
    mistake("sizes.csv", r"'sizes.csv' is a file, not a setting.*auclab inspect sizes.csv proposes"),
    mistake("dataset.path=sizes.csv", r"dataset = file, blocks have it"),
    file_mistake(
        "bare.csv", "", r"seems to have no header row", fix="dataset.header=false", target="dataset.target=x1"
    ),
    file_mistake("size.csv", "", r"size.csv cannot be read: No such file"),
    # decimals
    file_mistake("marked.csv", "", r"'price' has 1 cell", fix='dataset.missing=["n/v"]'),
    file_mistake("commas.csv", "dataset.decimals=[price]", r"did you mean 'decimal'"),
    file_mistake(
        "commas.csv", "dataset.decimal=komma", r"dataset.decimal is 'komma'; the decimal separator is \. or ,"
    ),
    # dates
    file_mistake("day.csv", "", r"'since' holds dates", fix="preprocess.dates=[year,month,age]"),
    file_mistake("day.csv", "", r"'since' holds dates", fix="dataset.drop=[since]"),
    file_mistake("day.csv", "", r"'since' holds dates", fix="dataset.nominal=[since]"),
    file_mistake("times.csv", "", r"'since' holds dates", fix="preprocess.dates=[year,month,age]"),
    file_mistake("us.csv", "preprocess.dates=[year]", r"day and month", fix='preprocess.date_format="%d/%m/%Y"'),
    file_mistake("soon.csv", "preprocess.dates=[year]", r"'soon' in row 1 is not a date", fix="dataset.missing=[soon]"),
    file_mistake("day.csv", "preprocess.dates=[years]", r"did you mean 'year'"),
    # identifiers
    file_mistake("names.csv", "", r"'kunden nr' holds text with 60 different values", fix='dataset.drop=["kunden nr"]'),
    file_mistake("two_names.csv", "", r"'id' .*'mail'", fix="dataset.drop=[id,mail]"),
    file_mistake("names.csv", "dataset.drop=[kundennr]", r"did you mean 'kunden nr'", fix='dataset.drop=["kunden nr"]'),
    file_mistake("names.csv", "preprocess.drop=[x]", r"preprocess.drop is not a setting"),
    # several at once
    file_mistake(
        "everything.csv",
        "",
        r"3 problems: \(1\) which column.*\(2\) .*'nr'.*\(3\) .*'since'.*inspect everything.csv",
        target="",
    ),
    file_mistake(
        "everything.csv",
        "",
        r"2 problems",
        fix="dataset.drop=[nr]|preprocess.dates=[year,month,age]",
        target="dataset.target=left",
    ),
    mistake(
        "-m dataset=file dataset.path=everything.csv dataset.target=left formulation=bauc,ranksvm split.seed=0,1",
        r"^error: 2 problems",  # once for all jobs, of which none was begun
    ),
    file_mistake(
        "everything.csv",
        "dataset.drop=[nrr] dataset.nominal=[sinse]",
        r"did you mean 'since'.*did you mean 'nr'",
        target="dataset.target=left dataset.positive=yes",
    ),
    file_mistake(
        "infinite2.csv", "", r"2 problems: \(1\) .*'size' has 1 infinite value .*\(2\) .*'width' has 1 value above"
    ),
    # signs and units
    file_mistake(
        "currencies.csv", "", r"'price' has 1 cell .* such as '\$1,000': '€5' \(row 3\)", fix='dataset.missing=["€5"]'
    ),
    file_mistake("currencies.csv", "", r"'price' has 1 cell", fix="dataset.nominal=[price]"),
    # rows without a target
    file_mistake(
        "unlabelled.csv",
        "dataset.positive=yes",
        r"'y' has 1 missing value \(first in row 1\)",
        fix="dataset.missing_target=drop",
    ),
    file_mistake("unlabelled.csv", "dataset.missing_target=omit", r"'omit'; choose refuse or drop"),
    file_mistake("unlabelled.csv", "dataset.missing_targt=drop", r"did you mean 'missing_target'"),
    # labels
    file_mistake("three.csv", "", r"which label of 'y' is positive", fix="dataset.positive=a"),
    file_mistake(
        "left.csv",
        "dataset.positive=Yes",
        r"label 'Yes' does not occur in 'left' \(did you mean 'yes'",
        target="dataset.target=left",
    ),
    file_mistake(
        "left.csv",
        "dataset.positive=yes",
        r"target column 'lft' does not exist \(did you mean 'left'",
        target="dataset.target=lft",
    ),
    file_mistake("three.csv", "", r"which label of 'y' is positive", fix="dataset.positive=a"),
    file_mistake("three.csv", "dataset.positive=[a,d]", r"label 'd' does not occur"),
    file_mistake("many.csv", "", r"'y' has 60 different values .*, but a target has two classes"),
    file_mistake("one.csv", "dataset.positive=yes", r"two classes are needed, but every row is positive"),
    file_mistake(
        "sizes.csv",
        "dataset.drop=[y]",
        r"'y' is the target and to be dropped; take it out of dataset.drop",
        without="dataset.drop=[y]",
    ),
    file_mistake(
        "sizes.csv",
        "split.target=y",
        r"split.target is not a setting",
        without="split.target=y",
    ),
    # how the file is written
    file_mistake(
        "semicolon.csv", "dataset.sep=comma", r"target column 'y' does not exist", without="dataset.sep=comma"
    ),
    file_mistake(
        "sizes.csv",
        "dataset.sep=semi",
        r"dataset.sep is 'semi'; it is one character, or one of comma, semicolon",
        fix="dataset.sep=comma",
    ),
    file_mistake(
        "sizes.csv",
        "dataset.encoding=utf_9",
        r"'utf_9', which Python does not know \(did you mean 'utf-8'",
        fix="dataset.encoding=utf-8",
    ),
    file_mistake("unknown.csv", "", r"'size' has 1 cell .*'unknown' \(row 1\)", fix="dataset.missing=[unknown]"),
    file_mistake(
        "sizes.csv",
        "dataset.seed=1",
        r"dataset.seed is not a setting of dataset=file",
        without="dataset.seed=1",
    ),
    file_mistake(
        "sizes.csv",
        "dataset.test_size=0.2",
        r"dataset.test_size is not a setting of dataset=file",
        without="dataset.test_size=0.2",
    ),
    file_mistake("still.csv", "", r"every column of 'still.csv' has one value only"),
)


@dataclass(frozen=True)
class Command:
    """The words of a command, the exit code, a regular expression that the answer matches, and the mended command."""

    words: str
    code: int
    answer: str
    fix: str = ""


#: In a folder with the tables, and with a store whose only run was fitted to left.csv.
COMMAND_MISTAKES = (
    Command("sizes.csv", 2, r"invalid choice: 'sizes.csv' \(choose from 'run', 'inspect'"),
    Command("inspct sizes.csv", 2, r"invalid choice: 'inspct' .* \(did you mean 'inspect'", "inspect sizes.csv"),
    Command("inspect", 2, r"the following arguments are required: FILE"),
    Command("inspect size.csv", 1, r"size.csv does not exist"),
    Command(
        "inspect sizes.csv --target colur",
        1,
        r"did you mean 'colour'",
        "inspect sizes.csv --target colour --positive red",
    ),
    Command(
        "inspect left.csv --positive Yes",
        1,
        r"no such label in left \(did you mean 'yes'",
        "inspect left.csv --positive yes",
    ),
    Command("inspect sizes.csv --taget y", 2, r"did you mean '--target'", "inspect sizes.csv --target y"),
    Command("evaluate last", 2, r"the following arguments are required: ROWS"),
    Command("evaluate last sizes.csv", 1, r"no column 'left' with labels.*auclab predict"),
    Command("evaluate last left.csv --target lft", 1, r"did you mean 'left'", "evaluate last left.csv --target left"),
    Command("evaluate last left.csv --metric acu", 1, r"did you mean 'auc'", "evaluate last left.csv --metric auc"),
    Command("evaluate last left.csv --level 95", 1, r"--level 95.0: a confidence level lies between 0 and 1"),
    Command("evaluate last left.csv --out e.csv", 1, r"the name has to end in .json"),
    Command("evaluate last last last left.csv", 1, r"3 models are given; evaluate measures one, or compares two"),
    Command("evaluate lst left.csv", 1, r"lst"),
    Command("compare --out table.doc", 1, r"has to end in one of .csv"),
    Command("compare --where dataset", 1, r"write KEY=VALUE, such as dataset="),
    Command("compare --where datset=left.csv", 1, r"did you mean 'dataset'", "compare --where dataset=left.csv"),
    Command("compare --register chu/rn", 1, r"cannot be the name of a model"),
    Command("predict last lft.csv", 1, r"lft.csv does not exist"),
    Command("predict last left.csv --id kunde", 1, r"--id kunde: no such column"),
    Command("export last --to jsn", 2, r"did you mean 'json'", "export last --to json"),
    Command("report --ot page.html", 2, r"unrecognized arguments: --ot"),
    Command("report --all", 2, r"unrecognized arguments: --all"),
)


def write_tables(folder: Path) -> None:
    """The files that the words name."""
    for name, content in TABLES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
