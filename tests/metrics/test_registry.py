"""One registry of the metrics: what it says is true, and everything that reads it agrees."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from auclab import AuclabError, metrics
from auclab.inference.catalogue import estimable
from auclab.metrics.registry import METRICS, metric_of
from auclab.metrics.roc import class_scores
from auclab.metrics.scorers import get_scorer
from auclab.runs.compare.table import compare_runs
from made_runs import table_of

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
OPTIONS = {
    "gauc": {"modifier": np.tanh},
    "partial_auc": {"max_fpr": 0.6, "standardized": "mcclish"},
    "polynomial_soft_auc": {"beta": 2.0},
    "probabilistic_auc": {"width": 0.1},
    "ranking_superquantile": {"level": 0.7},
    "soft_auc": {"beta": 2.0},
    "two_way_partial_auc": {"min_tpr": 0.1, "max_fpr": 0.9},
    "weighted_auc": {"weight": np.square},
}
Y = np.array([0, 0, 0, 1, 1, 1])
BETTER, WORSE = np.array([0.0, 0.1, 0.3, 0.2, 0.8, 0.9]), np.array([0.0, 0.6, 0.9, 0.2, 0.1, 0.7])
named = pytest.mark.parametrize("name", METRICS)


@named
def test_the_better_end_is_that_of_the_better_scores(name):
    better, worse = (METRICS[name].function(Y, scores, **OPTIONS.get(name, {})) for scores in (BETTER, WORSE))
    assert (better > worse) if METRICS[name].greater_is_better else (better < worse)


@named
def test_scorers_and_comparisons_agree_about_the_better_end(name):
    options = OPTIONS.get(name, {})
    model = LogisticRegression().fit(Y[:, None], Y)
    model.coef_, model.intercept_ = np.ones((1, 1)), np.zeros(1)  # the scores are the one feature
    scorer = get_scorer(name, response_method="decision_function", **options)
    assert scorer(model, BETTER[:, None], Y) > scorer(model, WORSE[:, None], Y)
    better, worse = (METRICS[name].function(Y, scores, **options) for scores in (BETTER, WORSE))
    runs = table_of({("one", "bauc"): [better, better], ("one", "csvm"): [worse, worse]})
    runs[f"test/{name}"] = runs["test/auc"]
    assert compare_runs(runs, metric=f"test/{name}").cell("one", "bauc").best


@named
def test_the_page_says_which_are_losses_and_which_have_standard_errors(name):
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if line.startswith(f"| `{name}`")]
    (row,) = (row for row in rows if len(row) == 9)
    assert ("a loss" in row[4]) == (not METRICS[name].greater_is_better)
    assert row[7].startswith("yes") == METRICS[name].has_interval
    assert METRICS[name].function.__name__ in row[1]


@named
def test_metrics_with_an_interval_have_components_and_no_others(name):
    assert (estimable(name, OPTIONS.get(name, {})).rows is not None) == METRICS[name].has_interval


@named
def test_sorted_scores_give_the_same_number(name):
    metric, options = METRICS[name], OPTIONS.get(name, {})
    for weight in (None, np.arange(1.0, 7.0)):
        scores = class_scores(Y, WORSE, weight, None)
        assert metric.from_sorted(scores, **options) == metric.function(Y, WORSE, sample_weight=weight, **options)


@named
def test_infinite_scores_are_refused_where_differences_count(name):
    infinite = np.where(WORSE == 0.9, np.inf, WORSE)
    if METRICS[name].needs == "ranks":
        assert METRICS[name].function(Y, infinite, **OPTIONS.get(name, {})) == METRICS[name].function(
            Y, WORSE, **OPTIONS.get(name, {})
        )
    else:
        with pytest.raises(AuclabError, match="y_score"):
            METRICS[name].function(Y, infinite, **OPTIONS.get(name, {}))


def test_metrics_are_found_by_name_function_and_partial():
    given = ("bauc", metrics.bauc_score, partial(metrics.bauc_score), partial(partial(metrics.bauc_score)))
    assert all(metric_of(metric)[0] is METRICS["bauc"] for metric in given)
    assert metric_of(partial(metrics.soft_auc, beta=2.0), {"beta": 3.0}) == (METRICS["soft_auc"], {"beta": 3.0})
    assert metric_of(np.mean)[0] is None
    with pytest.raises(AuclabError, match=r"metric='bauk' is unknown \(did you mean 'bauc'\?\); choose one of auc, "):
        metric_of("bauk")
    with pytest.raises(AuclabError, match="metric='gini' is unknown; choose one of auc, "):
        metric_of("gini")


def test_options_are_completed_and_checked():
    assert METRICS["bauc"].bind({}) == {"threshold": 0.0}
    assert METRICS["partial_auc"].options == ("min_fpr", "max_fpr", "min_tpr", "max_tpr", "standardized")
    with pytest.raises(AuclabError, match="auc: got an unexpected keyword argument 'beta'; its options are ties"):
        METRICS["auc"].bind({"beta": 1.0})
    with pytest.raises(AuclabError, match="soft_auc: missing a required argument: 'beta'"):
        METRICS["soft_auc"].bind({})
