"""From labels to sides."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.datasets.labels import binarise


@pytest.mark.parametrize("labels", [[0, 1, 1], [-1, 1, 1], [False, True, True], ["0", "1", "1"], [-1.0, 1.0, 1.0]])
def test_usual_labels_need_no_positive(labels: list[object]) -> None:
    assert binarise(pd.Series(labels)).y.tolist() == [0, 1, 1]


@pytest.mark.parametrize("kind", ["int64", "float64", "object", "category", "str"])
@pytest.mark.parametrize("positive", [2, "2", 2.0, ["2"], np.int64(2)])
def test_labels_are_compared_as_text(kind: str, positive: object) -> None:
    target = pd.Series(["1", "2", "2"]) if kind == "str" else pd.Series([1, 2, 2]).astype(kind)
    assert binarise(target, positive).y.tolist() == [0, 1, 1]


def test_sides_in_words() -> None:
    sides = binarise(pd.Series(["a", "b", "c", "d"]), ["a", "b"], ["d"])
    assert (sides.positive, sides.negative) == ("a, b", "d")
    assert sides.kept.tolist() == [True, True, False, True]
    assert sides.y.tolist() == [1, 1, 0]
    assert binarise(pd.Series(range(30)), 3).negative == "all others"


@pytest.mark.parametrize(
    ("labels", "positive", "negative", "message"),
    [
        (["a", "b", None], "a", None, r"1 missing value \(first in row 3\)"),
        (["a", "b", "b"], None, None, r"which label of 'y' is positive\? .* b \(2 rows\), a \(1 row\)"),
        ([1, 2], None, None, r"which label"),
        (
            ["a", "b", "b"],
            "c",
            None,
            r"label 'c' does not occur in 'y'; labels are b \(2 rows\), a \(1 row\)",
        ),
        (["a", "b"], "a", "c", r"label 'c' does not occur"),
        (["a", "b"], "a", ["a", "b"], r"'a' is listed as positive and as negative"),
        (["a", "a"], "a", None, r"two classes are needed, but every row is positive"),
        (["a", "b"], ["a", "b"], None, r"every row is positive"),
        (list(range(40)), 99, None, r"and 28 more"),
    ],
)
def test_what_is_refused(labels: list[object], positive: object, negative: object, message: str) -> None:
    with pytest.raises(AuclabError, match=message):
        binarise(pd.Series(labels, name="y"), positive, negative)


@pytest.mark.parametrize(("labels", "positive"), [(["1.0", "0.0", "1.0"], None), ([1.0, 0.0, 1.0], "1.0")])
def test_labels_written_as_decimals_are_the_whole_ones(labels: list[object], positive: str | None) -> None:
    sides = binarise(pd.Series(labels), positive)
    assert (sides.y.tolist(), sides.positive, sides.negative) == ([1, 0, 1], "1", "0")


@pytest.mark.parametrize(
    ("labels", "positive", "seen"),
    [
        ([1, 1, 1], None, [1, 1, 1]),
        (["dead", "dead"], None, [1, 1]),
        ([True, False], None, [1, 0]),
        ([2, 1, 2], "2", [1, 0, 1]),
    ],
)
def test_events_may_be_in_every_row(labels: list[object], positive: str | None, seen: list[int]) -> None:
    assert binarise(pd.Series(labels), positive, of_events=True).y.tolist() == seen


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        ([0, 0], None, "all censored: 'y' is 0 in every row"),
        ([0, 0], "1", "all censored"),
        ([False, False], None, "all censored: 'y' is False"),
        ([1, 2, 1], None, r"which label of 'y' means an event.*positive=\"2\""),
        (["alive", "dead", "dead"], None, "positive=dead"),
        (["a", "a"], None, "means an event"),
    ],
)
def test_events_that_cannot_be_told(labels: list[object], positive: str | None, message: str) -> None:
    with pytest.raises(AuclabError, match=message):
        binarise(pd.Series(labels, name="y"), positive, of_events=True)
