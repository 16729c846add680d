"""Every metric as a scikit-learn scorer."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import sklearn
import yaml
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab import AuclabError, metrics
from auclab.estimators import AUCClassifier, bauc_scorer, soft_auc_scorer, voros_scorer
from auclab.inference.catalogue import estimable
from auclab.inference.estimation import choose_method
from auclab.metrics.registry import METRICS
from auclab.metrics.scorers import get_scorer
from programs import overlapping

CONF = Path(__file__).parents[2] / "conf"
OPTIONS = {
    "gauc": {"modifier": np.tanh},
    "partial_auc": {"max_fpr": 0.3, "standardized": "mcclish"},
    "polynomial_soft_auc": {"beta": 2.0},
    "probabilistic_auc": {"width": 0.1},
    "ranking_superquantile": {"level": 0.7},
    "soft_auc": {"beta": 2.0},
    "two_way_partial_auc": {"min_tpr": 0.3, "max_fpr": 0.6},
    "weighted_auc": {"weight": np.square},
}
X, Y = overlapping(5, 40, 60)
NAMES = np.where(Y == 1, "good", "bad")
MODEL = LogisticRegression().fit(X, NAMES)


@pytest.mark.parametrize("name", METRICS)
def test_scorer_is_the_metric_of_the_scores(name):
    options = OPTIONS.get(name, {})
    proba = name in ("scored_auc", "ferri_auc", "probabilistic_auc")
    scores = MODEL.predict_proba(X)[:, 1] if proba else MODEL.decision_function(X)
    sign = -1 if name in ("auc_threshold", "ranking_superquantile") else 1
    scorer, metric = get_scorer(name, **options), METRICS[name].function
    assert scorer(MODEL, X, NAMES) == sign * metric(Y, scores, **options)
    weight = np.random.default_rng(0).uniform(size=len(Y))
    assert scorer(MODEL, X, NAMES, sample_weight=weight) == sign * metric(Y, scores, sample_weight=weight, **options)
    folds = cross_val_score(LogisticRegression(), X, NAMES, scoring=scorer, cv=3, error_score="raise")
    assert np.isfinite(folds).all()


@pytest.mark.parametrize("name", METRICS)
def test_the_example_of_a_metric_works(name):
    example = METRICS[name].example
    assert bool(example) == (name in OPTIONS)
    scorer = eval(f"get_scorer({name!r}, {example})", {"get_scorer": get_scorer, "numpy": np})
    assert np.isfinite(scorer(MODEL, X, NAMES))
    assert pickle.loads(pickle.dumps(scorer))(MODEL, X, NAMES) == scorer(MODEL, X, NAMES)
    if example:
        with pytest.raises(AuclabError, match="This works: ") as caught:
            get_scorer(name)
        call = str(caught.value).partition("This works: ")[2]
        assert eval(call, {"get_scorer": get_scorer, "numpy": np})(MODEL, X, NAMES) == scorer(MODEL, X, NAMES)


def test_every_number_of_the_package_has_a_scorer():
    of_curves = {"bpoe", "superquantile", "lesser_area", "lesser_volume", "voros_from_points", "cost_range", "roc_hull"}
    no_metric = {"broc_curve", "buffered_auc", "get_scorer", "margin_curve", "weighted_gauc"}
    no_metric |= {"polynomial_auc_gradient", "power_supports"}
    of_plain_samples = {"quantile", "buffered_exceedance"}
    of_costs = {"expected_cost", "least_cost", "cost_curve", "crossing_shares", "roc_dominates"}
    of_blocks = {"score_blocks", "score_edges", "scored_table", "summarise"}
    of_groups_and_times = {"concordance_index", "buffered_concordance", "grouped_auc", "grouped_bauc"}
    of_classes = {"multiclass_auc", "multiclass_bauc"}
    of_pairs = {"censored_pairs", "ordered_pairs", "censoring_weights", "time_dependent_auc"} | of_classes
    others = of_plain_samples | of_costs | of_curves | no_metric | of_blocks | of_groups_and_times | of_pairs
    of_samples = {name for name in metrics.__all__ if name.islower()} - others
    assert {metric.function.__name__ for metric in METRICS.values()} == of_samples


def test_every_scorer_has_a_configuration_of_its_name_and_metric():
    files = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in (CONF / "metrics").glob("*.yaml")}
    of_times = {"uno": "concordance_index", "time_dependent_auc": "time_dependent_auc"}
    functions = {name: metric.function.__name__ for name, metric in METRICS.items()} | of_times
    assert files.keys() == functions.keys()
    for name, content in files.items():
        (settings,) = content.values()
        assert list(content) == [name]
        assert settings["_target_"] == f"auclab.metrics.{functions[name]}"


def test_the_page_of_the_metrics_is_right_about_standard_errors():
    page = (CONF.parent / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("| `")]
    said = {name: row[7] for row in rows if len(row) == 9 and (name := row[1].split("`")[1]) in METRICS}
    assert said.keys() == METRICS.keys()
    methods = {name: choose_method("auto", estimable(METRICS[name].function, OPTIONS.get(name, {}))) for name in said}
    assert all(methods[name] in ("delong", "influence") for name, words in said.items() if words.startswith("yes"))
    assert [name for name, method in methods.items() if method == "half_sample"] == ["voros"]


def test_the_named_class_is_the_positive_one():
    for model in (MODEL, GaussianNB().fit(X, NAMES)):
        for name, options in (("bauc", {}), ("partial_auc", OPTIONS["partial_auc"])):
            scores = -MODEL.decision_function(X) if model is MODEL else model.predict_proba(X)[:, 0]
            expected = METRICS[name].function(NAMES, scores, pos_label="bad", **options)
            assert get_scorer(name, pos_label="bad", **options)(model, X, NAMES) == expected


def test_search_by_several_metrics_at_once():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), AUCClassifier("ranksvm", penalty=0.1, norm="l1")),
        {"aucclassifier__penalty": [0.3, 0.03]},
        scoring={"bauc": bauc_scorer, "voros": voros_scorer, "soft": soft_auc_scorer},
        refit="bauc",
        cv=2,
        error_score="raise",
    ).fit(X, NAMES)
    scores = search.best_estimator_.decision_function(X)
    assert search.score(X, NAMES) == metrics.bauc_score(Y, scores)
    assert np.isfinite(search.cv_results_["mean_test_voros"]).all()
    assert voros_scorer(search.best_estimator_, X, NAMES) == metrics.voros_score(Y, scores)
    assert soft_auc_scorer(search.best_estimator_, X, NAMES) == metrics.soft_auc(Y, scores, beta=10.0)


def test_weights_are_routed_where_they_are_asked_for():
    weight = np.where(Y == 1, 1.0, np.arange(len(Y)) % 2)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = {"cv": 2, "params": {"sample_weight": weight}, "error_score": "raise"}
        plain = cross_validate(LogisticRegression().set_fit_request(sample_weight=True), X, Y, scoring=bauc_scorer,
                               cv=2, error_score="raise")["test_score"]  # fmt: skip
        scorer = get_scorer("bauc").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        routed = cross_validate(model, X, Y, scoring=scorer, return_estimator=True, return_indices=True, **asked)
    assert (routed["test_score"] != plain).any()
    for value, fitted, rows in zip(routed["test_score"], routed["estimator"], routed["indices"]["test"], strict=True):
        expected = metrics.bauc_score(Y[rows], fitted.decision_function(X[rows]), sample_weight=weight[rows])
        assert value == expected


def test_a_scorer_travels_to_other_processes_and_says_what_it_is():
    scorer = get_scorer("soft_auc", beta=2.0)
    assert pickle.loads(pickle.dumps(scorer))(MODEL, X, NAMES) == scorer(MODEL, X, NAMES)
    assert repr(scorer) == "get_scorer('soft_auc', beta=2.0)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: get_scorer("gini"), "no scorer is named 'gini'; choose one of auc,"),
        (lambda: get_scorer("bauk"), "no scorer is named 'bauk' (did you mean 'bauc'?)"),
        (lambda: get_scorer("soft_auc"), "soft_auc: missing a required argument: 'beta'"),
        (
            lambda: get_scorer("partial_auc"),
            "This works: get_scorer('partial_auc', max_fpr=0.1, standardized='mcclish')",
        ),
        (lambda: get_scorer("partial_auc", maxfpr=0.1), "did you mean 'max_fpr'?"),
        (lambda: get_scorer("bauc", beta=1.0), "This works: get_scorer('bauc')"),
        (lambda: get_scorer("auc", beta=1.0), "auc: got an unexpected keyword argument 'beta'"),
        (
            lambda: get_scorer("scored_auc")(AUCClassifier("bauc").fit(X, Y), X, Y),
            "needs predict_proba, which AUCClassifier does not have; calibrate it",
        ),
        (
            lambda: get_scorer("auc", response_method="decision_function")(LinearRegression().fit(X, Y), X, Y),
            "needs decision_function, which LinearRegression does not have; use a classifier that scores",
        ),
        (lambda: bauc_scorer(MODEL, X[:1], NAMES[:1]), "two classes are needed"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError) as refusal:
        call()
    assert words in str(refusal.value)


def test_scores_of_a_model_without_probabilities_where_they_are_asked_for():
    model = AUCClassifier("bauc").fit(X, Y)
    scorer = get_scorer("scored_auc", response_method="decision_function")
    assert scorer(model, X, Y) == metrics.scored_auc(Y, model.decision_function(X))
