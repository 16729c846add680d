"""One look at a table: what is found is true, and the command that is proposed runs."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import customers
from auclab._core.base import AuclabError
from auclab.datasets import inspect_file
from auclab.runs.config.checks import check_data, check_settings
from composed import composed


def write(folder: Path, frame: pd.DataFrame, name: str = "my.csv", **how: object) -> Path:
    path = folder / name
    frame.to_csv(path, index=False, **how)
    return path


def kinds(found):
    return {column.name: column.kind for column in found.columns}


def check_command(found):
    """The command, as a shell takes it apart, is accepted with these data."""
    words = shlex.split(found.command)
    assert words[:3] == ["auclab", "run", "dataset=file"]
    experiment = composed(words[2:])
    check_settings(experiment)
    return check_data(experiment)


def labels(n=60):
    return np.where(np.arange(n) % 4 == 0, "yes", "no")


def test_customers_from_a_shop(tmp_path: Path) -> None:
    found = inspect_file(customers.write(tmp_path))
    assert kinds(found) == {
        **{"customer": "identifier", "row": "identifier", "since": "date", "plan": "category", "visits": "number"},
        **{"score": "number", "spent": "number", "country": "constant", "left": "target"},
    }
    table = customers.table()
    by_name = {column.name: column for column in found.columns}
    for name, column in by_name.items():
        assert column.missing == table[name].isna().sum()
        assert column.values == table[name].nunique()
    assert "trial 2019 (4)" in by_name["plan"].action
    assert by_name["plan"].shown == "free (976), basic (737), pro (283), … 4 in all"
    assert by_name["spent"].action == "decimal commas; gaps become the median"
    assert found.target.counts == table["left"].value_counts().to_dict()
    assert found.settings["drop"] == ["customer", "row"]
    dataset, columns = check_command(found)
    assert columns.dates == {"since": "%d.%m.%Y"}
    expected = table["spent"].str.replace(",", ".").astype(float)
    assert dataset.X["spent"].tolist() == pytest.approx(expected.tolist(), nan_ok=True)
    assert dataset.written["forms"] == {"spent": {"before": "", "after": "", "thousands": "", "decimal": ","}}
    assert dataset.n_pos == (table["left"] == "yes").sum()


def test_texts_in_columns_of_numbers_and_dates_are_read_as_missing(tmp_path: Path) -> None:
    k = np.arange(60)
    frame = pd.DataFrame({"age": (k % 39 + 20).astype(str), "since": [f"2024-{i % 12 + 1:02d}-11" for i in k]})
    frame.loc[3, "age"], frame.loc[5, "since"] = "unknown", "soon"
    frame["price"] = [f"{i},5" if i % 2 else "n/v" for i in k]
    found = inspect_file(write(tmp_path, frame.assign(y=labels())))
    assert found.settings["missing"] == ["unknown", "soon", "n/v"]
    dataset, _ = check_command(found)
    assert dataset.X["age"].isna().sum() == 1
    assert dataset.X["price"].dropna().tolist() == [i + 0.5 for i in k if i % 2]


def test_copies_units_free_text_and_codes(tmp_path: Path) -> None:
    k = np.arange(120)
    frame = pd.DataFrame({"size": k * 0.5, "size_again": k * 0.5, "weight": [f"{i} kg" for i in k]})
    frame = frame.assign(code=[f"{i % 7:03d}" for i in k], remark=[f"text {i // 2} {i % 2}" for i in k])
    frame = frame.assign(empty=np.nan, many=[f"name {i * i % 197}" for i in k], y=labels(120))
    found = inspect_file(write(tmp_path, frame))
    actions = {column.name: column.action for column in found.columns}
    assert actions["size_again"] == "the same as size: left out"
    assert kinds(found)["code"] == "codes"
    assert kinds(found)["empty"] == "empty"
    assert kinds(found)["remark"] == "identifier"
    assert kinds(found)["many"] == "text"
    assert found.settings["drop"] == ["size_again", "weight", "remark", "many"]
    dataset, _ = check_command(found)
    assert list(dataset.X) == ["size", "code", "empty"]


def test_dates_that_could_be_either_are_proposed_with_their_format(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"since": [f"{i % 12 + 1}/{i % 11 + 1}/2024" for i in range(60)], "x": range(60), "y": labels()}
    )
    found = inspect_file(write(tmp_path, frame.assign(x=frame["x"] % 13)))
    assert found.encoding == {"dates": ["year", "month", "age"], "date_format": "%d/%m/%Y"}
    assert "and could be %m/%d/%Y" in found.columns[0].action
    check_command(found)


@pytest.mark.parametrize(
    ("values", "positive", "named"),
    [
        (["0", "1"], "1", False),
        (["-1", "1"], "1", False),
        (["good", "bad"], "bad", True),
        (["True", "False"], "True", False),
    ],
)
def test_the_positive_label(tmp_path: Path, values: list[str], positive: str, named: bool) -> None:
    y = np.where(np.arange(40) < 25, values[0], values[1])
    found = inspect_file(write(tmp_path, pd.DataFrame({"x": np.arange(40) % 9, "y": y})))
    assert (found.target.positive, found.target.named) == (positive, named)
    dataset, _ = check_command(found)
    assert dataset.positive == positive


def test_of_several_columns_with_two_values_the_name_decides_then_the_place(tmp_path: Path) -> None:
    k = np.arange(40)
    frame = pd.DataFrame({"churn": labels(40), "x": k % 9, "member": np.where(k % 3, "a", "b")})
    assert inspect_file(write(tmp_path, frame)).target.name == "churn"
    found = inspect_file(write(tmp_path, frame.rename(columns={"churn": "c"})))
    assert found.target.name == "member"
    assert "like c;" in found.target.why
    named = inspect_file(write(tmp_path, frame), target="member", positive="a")
    assert (named.target.name, named.target.positive, named.target.why) == ("member", "a", "")
    check_command(named)


def test_rows_without_a_target_are_left_out_by_the_command(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.arange(40) % 9, "y": [None, *labels(39)]})
    found = inspect_file(write(tmp_path, frame))
    assert found.columns[-1].action == "rows without it are left out"
    assert "dataset.missing_target=drop" in found.command
    check_command(found)


def test_what_the_command_does_not_solve_is_said(tmp_path: Path) -> None:
    none = inspect_file(write(tmp_path, pd.DataFrame({"x": np.arange(40), "z": np.arange(40) % 3})))
    assert (none.target, none.command) == (None, "")
    assert "name it with --target" in none.problems[0]
    few = inspect_file(write(tmp_path, pd.DataFrame({"x": np.arange(40) % 9, "y": [1] + [0] * 39})))
    assert "1 positive and 39 negatives" in few.problems[0]
    huge = inspect_file(write(tmp_path, pd.DataFrame({"x": [1e300, *range(39)], "y": labels(40)})))
    assert "'x' has 1 value above" in huge.problems[0]


def test_names_that_a_shell_would_take_apart_are_quoted(tmp_path: Path) -> None:
    frame = pd.DataFrame({"kund e;nr": range(60), "größe, cm": np.arange(60) % 7 + 0.5, "it's": labels()})
    found = inspect_file(write(tmp_path, frame, "my file (1).csv"))
    dataset, _ = check_command(found)
    assert list(dataset.X) == ["größe, cm"]


@pytest.mark.parametrize("form", ["german", "parquet"])
def test_other_formats(tmp_path: Path, form: str) -> None:
    frame = pd.DataFrame({"größe": np.arange(60) / 4, "tag": pd.Timestamp("2024-01-01"), "y": labels()})
    frame["tag"] += pd.to_timedelta(np.arange(60) % 30, "D")
    if form == "parquet":
        frame.to_parquet(path := tmp_path / "my.parquet")
    else:
        path = write(tmp_path, frame, sep=";", decimal=",", encoding="cp1252")
    found = inspect_file(path)
    assert kinds(found) == {"größe": "number", "tag": "date", "y": "target"}
    assert found.written == (() if form == "parquet" else ("separator semicolon", "decimals comma", "encoding cp1252"))
    dataset, _ = check_command(found)
    assert dataset.X["größe"].tolist() == frame["größe"].tolist()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("gone.csv", None, "does not exist"),
        ("my.csv", "", "is empty"),
        ("my.csv", "x,y\n", "has no rows"),
        ("my.xlsx", "PK", "cannot be read as a table|needs a library"),
        ("my.csv", "x,x\n1,2\n", "columns of the same name"),
    ],
)
def test_what_cannot_be_looked_at(tmp_path: Path, name: str, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(AuclabError, match=words):
        inspect_file(tmp_path / name)


def test_names_that_are_not_there(tmp_path: Path) -> None:
    path = write(tmp_path, pd.DataFrame({"x": range(8), "left": labels(8)}))
    with pytest.raises(AuclabError, match=r"--target lef: no such column \(did you mean 'left'"):
        inspect_file(path, target="lef")
    with pytest.raises(AuclabError, match=r"--positive yess: no such label in left \(did you mean 'yes'"):
        inspect_file(path, positive="yess")


def test_rows_of_one_patient_stay_together(tmp_path: Path) -> None:
    k = np.arange(300)
    frame = pd.DataFrame({"patient_id": 7001 + k % 70, "age": 30 + k % 41, "sick": np.where(k % 5 == 0, "yes", "no")})
    found = inspect_file(write(tmp_path, frame))
    assert kinds(found)["patient_id"] == "group"
    assert found.settings["drop"] == ["patient_id"]
    assert found.command.endswith("split=grouped split.column=patient_id")
    dataset, _ = check_command(found)
    assert set(dataset.X) == {"age"}
    assert inspect_file(write(tmp_path, frame.assign(patient_id=7001 + k % 5))).split is None  # too few to be patients
    assert kinds(inspect_file(write(tmp_path, frame.rename(columns={"patient_id": "v"}))))["v"] == "group"
    assert kinds(inspect_file(write(tmp_path, frame.assign(patient_id=np.arange(300) // 4 % 41))))["age"] == "number"


def test_rows_in_the_order_of_a_date_are_tested_later(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=90).strftime("%d.%m.%Y").to_numpy()
    frame = pd.DataFrame({"sold_on": days, "size": np.arange(90) % 7, "y": labels(90)})
    found = inspect_file(write(tmp_path, frame))
    assert found.split is not None
    assert (found.split.name, found.split.column) == ("time", "sold_on")
    check_command(found)
    assert inspect_file(write(tmp_path, frame.assign(sold_on=np.roll(days, 9)))).split is None
    assert (
        inspect_file(write(tmp_path, frame.assign(y=np.sort(labels(90))))).split is None
    )  # one class in the later part


def test_svmlight(tmp_path: Path) -> None:
    from sklearn.datasets import dump_svmlight_file

    X = np.eye(20, 6)
    for values, positive in ((np.r_[np.zeros(14), np.ones(6)], None), (np.r_[np.full(14, 1), np.full(6, 2)], "2")):
        dump_svmlight_file(X, values, str(tmp_path / "rows.svm"))
        found = inspect_file(tmp_path / "rows.svm")
        assert (found.rows, found.columns, found.settings.get("positive")) == (20, (), positive)
        assert found.written == ("6 columns without names", ".05 of the entries are not 0")
        dataset, _ = check_command(found)
        assert dataset.n_pos == 6
    with pytest.raises(AuclabError, match="columns of an svmlight file have no names"):
        inspect_file(tmp_path / "rows.svm", target="y")


@pytest.mark.parametrize(("labels_", "graded"), [(np.arange(20) % 3, True), (np.arange(20) % 2, False)])
def test_queries_of_svmlight_say_which_rows_are_compared(tmp_path: Path, labels_: np.ndarray, graded: bool) -> None:
    from sklearn.datasets import dump_svmlight_file

    dump_svmlight_file(np.eye(20, 6), labels_, str(tmp_path / "rows.svm"), query_id=np.arange(20) // 5)
    found = inspect_file(tmp_path / "rows.svm")
    assert found.settings.get("graded", False) == graded
    assert found.written[-1] == "4 queries (qid), within which rows are compared"
    assert found.problems == ()
    dataset, _ = check_command(found)
    assert dataset.target.kind == "groups"
