"""Scorers in other languages give the scores of Python."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.export.scorer import FORMAT, Scorer
from auclab.export.writers import export_scorer, to_onnx, to_sql
from formulas import KINDS, fitted

OPTIONS = {"missing_indicators": True, "max_categories": 20}


def scores_of_sqlite(expression, rows):
    connection = sqlite3.connect(":memory:")
    rows.to_sql("customers", connection, index=False)
    found = connection.execute(f"SELECT {expression} FROM customers").fetchall()
    connection.close()
    return np.array(found, dtype=float)[:, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_sql_gives_the_scores(customers, kind):
    X, y, new = customers
    rename = {"visits": 'vis"its', "plan": "pl'an"}
    X, new = X.rename(columns=rename), new.rename(columns=rename)
    _, _, scorer = fitted(X, y, kind, dates=["year", "month", "weekday", "age"], **OPTIONS)
    assert scores_of_sqlite(to_sql(scorer), new) == pytest.approx(scorer.score(new), rel=1e-14, abs=1e-11)


def _rewritten(rows, form):
    """The dates in another form; in text, gaps stay gaps."""
    dates = pd.to_datetime(rows["signup_date"])
    return rows.assign(signup_date=dates.dt.strftime(form).where(dates.notna(), None))


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d"])
def test_sql_reads_dates_of_three_numbers(customers, form):
    X, y, new = customers
    _, _, scorer = fitted(_rewritten(X, form), y, "standard", dates=["year", "month", "weekday", "age"])
    rows = _rewritten(new, form)
    rows["signup_date"] = rows["signup_date"].str.replace(r"\b0", "", regex=True)  # 1.5.2024, without zeros
    assert rows["signup_date"].isna().any()
    assert scores_of_sqlite(to_sql(scorer), rows) == pytest.approx(scorer.score(rows), rel=1e-14, abs=1e-11)


def test_sql_refuses_dates_that_it_cannot_read(customers):
    X, y, _ = customers
    _, _, scorer = fitted(_rewritten(X, "%d.%m.%y"), y, "standard", dates=["year"])
    with pytest.raises(AuclabError, match=r"'signup_date' has dates of the format %d.%m.%y"):
        to_sql(scorer)


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_gives_the_scores(customers, kind):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, y, new = (each.drop(columns="signup_date") if isinstance(each, pd.DataFrame) else each for each in customers)
    _, _, scorer = fitted(X, y, kind, **OPTIONS)
    session = runtime.InferenceSession(to_onnx(scorer))
    kinds = {column["name"]: column["kind"] for column in scorer.description["columns"]}
    inputs = {
        name: new[[name]].to_numpy(dtype=float) if kinds[name] == "number" else new[[name]].fillna("").to_numpy(object)
        for name in new
    }
    found = session.run(["score"], inputs)[0]
    assert found.dtype == np.float64
    assert found[:, 0] == pytest.approx(scorer.score(new), rel=1e-14, abs=1e-12)


def test_what_cannot_be_written_is_said(monkeypatch):
    trees = {"format": FORMAT, "version": 1, "about": {"formulation": "trees"}, "columns": [], "terms": None}
    scorer = Scorer(trees | {"intercept": None})
    with pytest.raises(AuclabError, match="trees is not a formula over the columns"):
        export_scorer(scorer, "sql")
    with pytest.raises(AuclabError, match="exported to json, sql, onnx, not to 'pmml'"):
        export_scorer(Scorer(trees | {"terms": [], "intercept": 0.0}), "pmml")
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(AuclabError, match=r"pip install 'auclab\[onnx\]'"):
        to_onnx(scorer)
