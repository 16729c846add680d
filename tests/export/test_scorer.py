"""The formula of a fitted pipeline gives the scores of the pipeline, from rows as users have them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import stranger
from auclab._core.base import AuclabError
from auclab.export.formula import effects
from auclab.export.scorer import Scorer
from formulas import INTERCEPT, KINDS, fitted


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_pipeline(customers, kind):
    X, y, new = customers
    options = {"dates": ["year", "month", "weekday", "age"], "missing_indicators": True, "max_categories": 20}
    steps, coef, scorer = fitted(X, y, kind, **options)
    expected = steps.transform(new) @ coef + INTERCEPT
    assert expected.std() > 0.05
    shuffled = new[new.columns[::-1]].assign(more="x")
    assert scorer.score(shuffled) == pytest.approx(expected, rel=1e-14, abs=1e-12)
    if kind != "unit_ball":
        parts = scorer.contributions(new).sum(axis=1) + INTERCEPT
        assert parts.to_numpy() == pytest.approx(expected, rel=1e-14, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_sparse_rows_are_those_of_the_pipeline(kind):
    X = sp.csr_matrix(sp.random(60, 8, density=0.4, random_state=1).toarray() * (np.arange(8) != 3))
    y = np.arange(60) % 2
    steps, coef, scorer = fitted(X, y, kind)
    expected = steps.transform(X) @ coef + INTERCEPT
    assert scorer.score(X) == pytest.approx(expected, rel=1e-14, abs=1e-12)
    assert scorer.score(X.toarray()) == pytest.approx(expected, rel=1e-14, abs=1e-12)
    shares = effects(scorer, X).shares
    assert shares.sum() == pytest.approx(1.0)
    assert shares.to_dict() == pytest.approx(effects(scorer, X.toarray()).shares.to_dict(), abs=1e-9)


def test_effects_are_the_score_in_the_units_of_the_columns(customers):
    X, y, _ = customers
    _, _, scorer = fitted(X.drop(columns=stranger.DATE), y, "standard")
    found = effects(scorer, X)
    row = {"age": 30, "income (€, year)": 40_000.0, "visits": 2, "region": "Ost", "plan": "trial"}
    row |= {"city": X["city"].mode()[0], "newsletter": "yes"}
    table = found.table.set_index(["column", "value"])["effect"]
    by_hand = found.base + sum(
        table[name, ""] * value if not isinstance(value, str) else table[name, value] for name, value in row.items()
    )
    assert by_hand == pytest.approx(scorer.score(pd.DataFrame([row]))[0], abs=1e-10)
    # One year more changes the score by the effect; effects of categories have the mean 0 over the rows.
    older = scorer.score(pd.DataFrame([row | {"age": 31}]))[0] - scorer.score(pd.DataFrame([row]))[0]
    assert older == pytest.approx(table["age", ""], abs=1e-12)
    assert X["plan"].map(table["plan"]).mean() == pytest.approx(0.0, abs=1e-12)
    spread = scorer.contributions(X).std(ddof=0)
    assert found.shares.to_dict() == pytest.approx((spread / spread.sum()).to_dict())


def test_new_rows_that_do_not_fit_are_refused_by_name(customers):
    X, y, new = customers
    _, _, scorer = fitted(X.drop(columns=stranger.DATE), y, "standard")
    with pytest.raises(AuclabError, match=r"columns 'age', 'plan' are missing; the columns are .*region"):
        scorer.score(new.drop(columns=["age", "plan"]))
    with pytest.raises(AuclabError, match="column 'age' needs numbers, and has 'unknown' in row 3"):
        scorer.score(new.assign(age=[*"12", "unknown", *["40"] * (len(new) - 3)]))
    with pytest.raises(AuclabError, match="output='scores' is unknown; choose one of all, score"):
        scorer.predict(new, {"output": "scores"})
    with pytest.raises(AuclabError, match="not a scorer that can be read here"):
        Scorer({"format": "another"})
    assert scorer.score(new[:0]).tolist() == []
