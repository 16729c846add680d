"""Scorecards as formulas over the columns: the points of the items, from scorer.json and in SQL."""

import datetime
import json
import sqlite3
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from auclab._core.base import AuclabError
from auclab.datasets.records import Dataset
from auclab.estimators.scorecard_classifier import sign_constraints
from auclab.export.formula import describe, prepared_columns
from auclab.export.scorer import Scorer
from auclab.export.writers import export_scorer, to_sql
from auclab.scorecards import Card, ItemEncoder
from auclab.scorecards.card import items


def table(n, seed, plans=("free", "basic", "", "pro")):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "plan": rng.choice(list(plans), n),
            "spent": rng.lognormal(size=n),
        }
    )
    frame = frame.assign(member=rng.random(n) < 0.4, remark=["same"] * n)
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame["plan"] = frame["plan"].astype(object).mask(rng.random(n) < 0.1)
    return frame


@pytest.fixture(scope="module")
def card():
    """A fitted encoder, points of its items, and the scorer of both."""
    X = table(400, 0)
    encoder = ItemEncoder(bins=4, nominal=["plan"]).fit(X)
    points = np.random.default_rng(1).integers(-5, 6, len(encoder.items_)).astype(float)
    return encoder, points, Scorer(json.loads(json.dumps(described(encoder, points, list(X)))))


def described(encoder, points, columns):
    """The contents of scorer.json of points."""
    return describe(
        Pipeline([("items", encoder)]), coef=points, intercept=0.0, columns=columns,
        threshold={"rule": "zero", "value": 0.0}, labels=("no", "yes"),
    )  # fmt: skip


NEW = table(300, 2, plans=("free", "basic", "?", "later"))


def test_scores_are_the_points_of_the_items(card):
    encoder, points, scorer = card
    assert {item.missing for item in encoder.items_} == {True, False}
    for rows in (table(400, 0), NEW):
        assert scorer.score(rows).tolist() == (encoder.transform(rows) @ points).tolist()
    kinds = {column["name"]: column["kind"] for column in scorer.description["columns"]}
    assert (kinds["age"], kinds["plan"], kinds["remark"]) == ("bins", "category", "unused")


def test_ends_of_bins_belong_to_the_upper_one(card):
    encoder, points, scorer = card
    ends = sorted({item.low for item in encoder.items_ if item.low is not None and item.name == "age"})
    rows = NEW.head(1).loc[[0] * 2 * len(ends)].reset_index(drop=True)
    rows["age"] = [value for end in ends for value in (end, np.nextafter(end, -np.inf))]
    assert scorer.score(rows).tolist() == (encoder.transform(rows) @ points).tolist()


def test_a_database_computes_the_same(card):
    encoder, points, scorer = card
    rows = NEW.assign(member=NEW["member"].map({True: "True", False: "False"}))
    with sqlite3.connect(":memory:") as database:
        rows.to_sql("rows", database, index=False)
        found = [row[0] for row in database.execute(f"SELECT {to_sql(scorer)} FROM rows")]
    assert found == (encoder.transform(NEW) @ points).tolist()
    assert json.loads(export_scorer(scorer, "json")) == scorer.description


def test_onnx_of_bins_is_refused_in_one_line(card):
    pytest.importorskip("onnx")
    with pytest.raises(AuclabError, match=r"'age' is cut into the bins of a scorecard, .* export to json or sql"):
        export_scorer(card[2], "onnx")


def test_every_item_knows_its_column(card):
    encoder, _, _ = card
    found = prepared_columns(Pipeline([("items", encoder)]), list(NEW))
    assert found.names == tuple(encoder.get_feature_names_out())
    assert found.sources == tuple(item.name for item in encoder.items_)


def test_signs_of_columns_are_those_of_the_points(card):
    """Points are ≥ 0 and rise from bin to bin; other constraints are refused in one sentence."""
    from auclab.runs.split.constrained import constraints_of

    encoder, _, _ = card
    X = table(400, 0)
    dataset = Dataset(name="toy", X=X.drop(columns="remark"), y=np.arange(400) % 2)
    pipeline = Pipeline([("items", encoder)])
    found = constraints_of({"nonnegative": ["age"], "nonpositive": ["spent"]}, dataset, {}).on(pipeline)
    expected = sign_constraints(encoder.items_, {"age": 1, "spent": -1}, list(X))
    assert found.matrix.tolist() == expected.matrix.tolist()
    names = np.array([item.name for item in encoder.items_])
    assert found.lower.tolist() == np.where(names == "age", 0.0, expected.lower).tolist()
    assert found.upper.tolist() == np.where(names == "spent", 0.0, expected.upper).tolist()
    assert np.isneginf(expected.lower[names == "age"]).any()  # signs alone leave negative points
    assert len(found.matrix) > 2
    for rules, words in (
        ({"upper": {"age": 1.0}}, "constraints.upper is not for the items of a scorecard"),
        ({"sum_to": 1.0}, "constraints.sum_to is not for the items"),
        ({"nonnegative": ["age"], "nonpositive": ["age"]}, "'age'"),
    ):
        with pytest.raises(AuclabError, match=words):
            constraints_of(rules, dataset, {}).on(pipeline)


DATE_PARTS = ["year", "month", "weekday", "age"]


def dated(n, seed, form="%Y-%m-%d"):
    """Days with gaps, and labels by their age and month."""
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2021-03-05") + pd.to_timedelta(rng.integers(0, 1_500, n), "D")
    frame = pd.DataFrame({"spent": rng.lognormal(size=n), "since": days.strftime(form)})
    frame["since"] = frame["since"].astype(object).mask(rng.random(n) < 0.1)
    return frame


def by_hand(item, day, latest):
    """What an item says of a day, without pandas."""
    if item.missing or day is None:
        return item.missing and day is None
    date = datetime.date.fromisoformat(day)
    if item.part == "month":
        return date.month == int(item.category)
    if item.part == "weekday":
        return date.strftime("%a") == item.category
    value = date.year if item.part == "year" else Fraction((latest - date).days * 4, 1461)
    return (item.low is None or value >= Fraction(item.low)) and (item.high is None or value < Fraction(item.high))


def test_dates_are_items_as_by_hand_and_everywhere_the_same():
    X, new = dated(500, 0), dated(300, 1)
    encoder = ItemEncoder(bins=4, dates={"since": "%Y-%m-%d"}, date_parts=DATE_PARTS).fit(X)
    latest = max(datetime.date.fromisoformat(day) for day in X["since"].dropna())
    of_dates = [(at, item) for at, item in enumerate(encoder.items_) if item.name == "since"]
    assert {item.part for _, item in of_dates} == {*DATE_PARTS, None}
    assert sum(item.missing for _, item in of_dates) == 1
    made = encoder.transform(new)
    days = [day if isinstance(day, str) else None for day in new["since"]]
    for at, item in of_dates:
        assert made[:, at].tolist() == [float(by_hand(item, day, latest)) for day in days], item.label
    points = np.random.default_rng(1).integers(-5, 6, len(encoder.items_)).astype(float)
    scorer = Scorer(json.loads(json.dumps(described(encoder, points, list(X)))))
    assert scorer.score(new).tolist() == (made @ points).tolist()
    with sqlite3.connect(":memory:") as database:
        new.to_sql("rows", database, index=False)
        found = [row[0] for row in database.execute(f"SELECT {to_sql(scorer)} FROM rows")]
    assert found == (made @ points).tolist()


def test_a_card_of_dates_says_what_it_asks_and_is_read_again():
    X = dated(500, 0)
    encoder = ItemEncoder(
        bins=2, dates={"since": "%Y-%m-%d"}, date_parts=["age", "month"], cut_points={"since_age": [1.0, 2.0]}
    ).fit(X)
    ages = [item for item in encoder.items_ if item.part == "age"]
    last = X["since"].dropna().max()
    assert [item.label for item in ages] == [
        f"years from since to {last} < 1", f"years from since to {last} 1 to < 2", f"years from since to {last} ≥ 2",
    ]  # fmt: skip
    assert [item.label for item in encoder.items_ if item.category == "12"] == ["month of since = 12"]
    # Both may be true of one date: the range is the sum over its parts.
    points = np.array([{"age": 2.0, "month": 3.0}.get(item.part, 0.0) for item in encoder.items_])
    card = Card.of(encoder.items_, points, encoder.transform(X), np.arange(500) % 2 == 1)
    assert card.range == (0, 5)
    assert Card.from_dict(json.loads(json.dumps(card.to_dict()))) == card


def test_signs_of_dates_are_of_every_part_or_of_one():
    encoder = ItemEncoder(bins=3, dates={"since": "%Y-%m-%d"}, date_parts=["year", "month", "age"]).fit(dated(500, 0))
    asked = encoder.items_
    of_age = sign_constraints(asked, {"since_age": -1}, ["spent", "since"])
    ages = [at for at, item in enumerate(asked) if item.part == "age"]
    assert {at for row in of_age.matrix for at in np.flatnonzero(row)} == set(ages)
    assert not np.isfinite(of_age.lower).any()
    assert not np.isfinite(of_age.upper).any()
    of_all = sign_constraints(asked, {"since": 1}, ["spent", "since"])
    for row in of_all.matrix:  # from one bin to the next of the same part
        first, second = (asked[int(np.flatnonzero(row == sign)[0])] for sign in (1, -1))
        assert (first.part, first.high) == (second.part, second.low)
    months = [at for at, item in enumerate(asked) if item.part == "month"]
    assert (of_all.lower[months] == 0).all()
    gap = next(at for at, item in enumerate(asked) if item.missing)
    assert np.isinf(of_all.lower[gap])


@pytest.mark.parametrize(
    ("cuts", "words"),
    [
        ({"since": [1.0]}, "cut_points name the column of dates 'since'; name a part of it: since_year, since_age"),
        ({"since_month": [1.0]}, "there is no column 'since_month'; columns are spent, since_year, since_age"),
    ],
)
def test_cut_points_name_a_part_of_dates(cuts, words):
    encoder = ItemEncoder(dates={"since": "%Y-%m-%d"}, date_parts=["year", "age"], cut_points=cuts)
    with pytest.raises(AuclabError, match=words):
        encoder.fit(dated(100, 0))


def test_dates_of_items_are_found_in_a_table():
    X = dated(200, 0, form="%d.%m.%Y")
    dataset = Dataset(name="toy", X=X, y=np.arange(200) % 2)
    encoder = items(dataset, dates="year", max_candidates=None).fit(X, dataset.y)[-1]
    assert encoder.dates == {"since": "%d.%m.%Y"}
    assert {item.part for item in encoder.items_ if item.name == "since"} == {"year", None}
