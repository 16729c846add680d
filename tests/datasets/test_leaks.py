"""Columns that give the target away are named, with the way that they do; honest ones are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from auclab.datasets.catalogue import load
from auclab.datasets.leaks import find_leaks, leak_notes
from auclab.datasets.records import Dataset
from auclab.datasets.target import Target

RNG = np.random.default_rng(7)
Y = RNG.permutation(np.repeat([0, 1], [140, 60]))
NUMBERS = RNG.permutation(200)
HONEST = pd.DataFrame({"size": RNG.normal(size=200) + Y, "plan": RNG.choice(["a", "b", "c"], 200)})
DAY = pd.Timestamp("2024-01-01") + pd.to_timedelta(NUMBERS, "D")


@pytest.mark.parametrize(
    ("column", "how"),
    [
        (np.where(Y == 1, "charged off", "paid"), "each of its 2 values has one class"),
        (np.where(Y == 1, 7, 3), "each of its 2 values has one class"),
        (np.where(Y == 1, RNG.normal(size=200), np.nan), "whether it has a value"),
        (np.where(Y == 1, RNG.normal(9, 1, 200), RNG.normal(0, 1, 200)), "its order"),
        (np.where(Y == 1, RNG.normal(size=200), -99.0), "whether it is -99"),
        (np.where(Y == 1, np.char.add("reason ", (NUMBERS % 20).astype(str)), None), "whether it has a value"),
        (pd.Series(DAY).where(Y == 1), "whether it has a value"),
        (pd.Series(DAY + pd.to_timedelta(400 * Y, "D")), "its order"),
        (np.where(Y == 1, np.char.add("late ", (NUMBERS % 3).astype(str)), "paid"), "whether it is paid"),
    ],
)
def test_what_tells_the_target_is_found_and_nothing_else(column: object, how: str) -> None:
    (found,) = find_leaks(HONEST.assign(after=column), Y)
    assert (found.column, found.auc) == ("after", 1.0)
    assert found.how.startswith(how)


def test_a_few_wrong_rows_hide_no_leak() -> None:
    wrong = Y.copy()
    wrong[np.flatnonzero(Y == 0)[0]] = 1
    (found,) = find_leaks(HONEST.assign(after=wrong), Y)
    assert 0.995 <= found.auc < 1


def test_dates_that_are_text_are_read_in_their_format() -> None:
    text = pd.Series(DAY + pd.to_timedelta(400 * Y, "D")).dt.strftime("%d.%m.%Y")
    assert find_leaks(HONEST.assign(paid=text), Y) == []
    assert [leak.column for leak in find_leaks(HONEST.assign(paid=text), Y, {"paid": "%d.%m.%Y"})] == ["paid"]


def test_what_chance_does_in_a_few_rows_or_many_columns_is_no_leak() -> None:
    few = np.array([0, 0, 0, 1, 1, 1])
    assert find_leaks(pd.DataFrame({"x": few}), few) == []
    many = pd.DataFrame(RNG.normal(size=(12, 900)))
    assert find_leaks(many, np.arange(12) % 2) == []
    outliers = np.r_[np.zeros(300), np.ones(9)]
    assert (
        find_leaks(pd.DataFrame({"x": RNG.normal(size=309) + 9 * outliers, "z": RNG.normal(size=309)}), outliers) == []
    )


def test_an_easy_target_is_no_leak() -> None:
    easy = pd.DataFrame({"petal": 9 * Y + RNG.normal(size=200), "sepal": 2.5 * Y + RNG.normal(size=200)})
    assert find_leaks(easy, Y) == []
    assert find_leaks(HONEST.assign(zero=0), np.zeros(200)) == []


def test_thinned_rows_still_tell() -> None:
    n = 300_000
    y = RNG.integers(0, 2, n)
    table = pd.DataFrame({f"x{k}": RNG.normal(size=n) for k in range(10)}).assign(paid=y * 3.0)
    assert [leak.column for leak in find_leaks(table, y)] == ["paid"]


def test_the_note_has_the_setting_with_the_columns_that_are_dropped_already() -> None:
    dataset = Dataset("loans", HONEST.assign(status=np.where(Y == 1, "CHGOFF", "PIF")), Y)
    (note,) = leak_notes(dataset, dropped=["id"])
    assert note == (
        "a leak? 'status' (AUC 1.0000: each of its 2 values has one class) tells the target alone; if that is known "
        "only after the target, 'dataset.drop=[id,status]' leaves it out"
    )
    assert leak_notes(dataset, rows=np.arange(8)) == ()


@pytest.mark.parametrize(
    "name",
    [
        "ionosphere",
        *(
            pytest.param(name, marks=pytest.mark.needs_tables(f"{name}.csv"))
            for name in ("monks2", "house_votes", "satimage4", "page_blocks")
        ),
    ],
)
def test_published_tables_have_none(name: str) -> None:
    dataset = load(name)
    assert find_leaks(dataset.X, dataset.y) == []


SPARSE = sp.random_array((200, 900), density=0.02, rng=RNG, format="csr")


@pytest.mark.parametrize("share", [1.0, 0.999])
def test_leaks_of_sparse_rows_are_those_of_the_same_rows_as_a_table(share: float) -> None:
    told = np.where(RNG.random(200) < share, 3.0 * Y, 0.0)
    X = sp.csr_array(sp.hstack([SPARSE, told[:, None], (RNG.random(200) < 0.9)[:, None] * 1.0, SPARSE[:, :9]]))
    (note,) = leak_notes(Dataset("words", X, Y))
    table = pd.DataFrame(X.toarray()).rename(columns=lambda k: f"x{k}")
    (leak,) = find_leaks(table, Y)
    assert leak.column == "x900"
    assert note.startswith(f"a leak? 'x900' (AUC {leak.auc:.4f}: {leak.how}) tells the target alone; ")
    assert note.endswith(", leave it out of the file")
    every = leak_notes(Dataset("words", X, Y), rows=np.arange(150))
    assert len(every) == 1
    assert leak_notes(Dataset("words", SPARSE, Y)) == ()


def test_a_column_that_tells_the_grades_is_named() -> None:
    grades = RNG.integers(0, 4, 200)
    target = Target(grades.astype(float), np.arange(200) // 20, graded=True)
    dataset = Dataset("results", HONEST.assign(clicks=grades * 2.0), target.y, ranked=target)
    (note,) = leak_notes(dataset)
    assert note.startswith("a leak? 'clicks' (AUC 1.0000")
    honest = Dataset("results", HONEST, target.y, ranked=target)
    assert leak_notes(honest) == ()
