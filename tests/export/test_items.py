"""Scorecards as formulas over the columns: the points of the items, from scorer.json and in SQL."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from auclab.export.formula import describe, prepared_columns
from auclab.export.scorer import Scorer
from auclab.export.sql import to_sql
from auclab.export.writers import export_scorer
from auclab.scorecards import ItemEncoder
from auclab.types import AuclabError


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
    found = describe(
        Pipeline([("items", encoder)]), coef=points, intercept=0.0, columns=list(X),
        threshold={"rule": "zero", "value": 0.0}, labels=("no", "yes"),
    )  # fmt: skip
    return encoder, points, Scorer(json.loads(json.dumps(found)))


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
    with pytest.raises(AuclabError, match=r"'age' is cut into the bins of a scorecard, .* json and sql only"):
        export_scorer(card[2], "onnx")


def test_every_item_knows_its_column(card):
    encoder, _, _ = card
    found = prepared_columns(Pipeline([("items", encoder)]), list(NEW))
    assert found.names == tuple(encoder.get_feature_names_out())
    assert found.sources == tuple(item.name for item in encoder.items_)


def test_signs_of_columns_are_those_of_the_points(card):
    """Points rise from bin to bin; other constraints are refused in one sentence."""
    from auclab.datasets.records import Dataset
    from auclab.estimators.scorecard_classifier import sign_constraints
    from auclab.pipeline.split.constrained import constraints_of

    encoder, _, _ = card
    X = table(400, 0)
    dataset = Dataset(name="toy", X=X.drop(columns="remark"), y=np.arange(400) % 2)
    pipeline = Pipeline([("items", encoder)])
    found = constraints_of({"nonnegative": ["age"], "nonpositive": ["spent"]}, dataset, {}).on(pipeline)
    expected = sign_constraints(encoder.items_, {"age": 1, "spent": -1}, list(X))
    assert found.matrix.tolist() == expected.matrix.tolist()
    assert (found.lower.tolist(), found.upper.tolist()) == (expected.lower.tolist(), expected.upper.tolist())
    assert len(found.matrix) > 2
    for rules, words in (
        ({"upper": {"age": 1.0}}, "constraints.upper is not for the items of a scorecard"),
        ({"sum_to": 1.0}, "constraints.sum_to is not for the items"),
        ({"nonnegative": ["age"], "nonpositive": ["age"]}, "'age'"),
    ):
        with pytest.raises(AuclabError, match=words):
            constraints_of(rules, dataset, {}).on(pipeline)
