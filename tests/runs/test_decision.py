"""Thresholds and probabilities of the models that runs keep."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError, Status
from auclab.export.scorer import Scorer
from auclab.models.timings import Timings
from auclab.runs.config.settings import DecisionConfig
from auclab.runs.experiment import solve_splits
from auclab.runs.split.decision import _why_not
from auclab.runs.tracking.address import SWEEP_VARIABLE
from composed import composed

DATA = ["dataset=artificial", "dataset.n_pos=120", "dataset.n_neg=480", "dataset.n_features=3"]
FAST = ["tracking=none", "bounds=none", "metrics=auc", "solver=newton", "formulation=ranksvm"]


def fold_of(*settings):
    return solve_splits(composed([*FAST, *DATA, *settings])).folds[0]


@pytest.fixture(scope="module")
def fold():
    return fold_of()


@pytest.mark.slow
def test_the_scorer_has_no_intercept_over_pairs_and_its_own_over_points(fold):
    assert fold.scorer["intercept"] == fold.solution.intercept == 0.0
    points = fold_of("formulation=csvm")
    assert points.scorer["intercept"] == points.solution.intercept != 0.0


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_are_about_right_on_new_rows(method):
    fold = fold_of(f"decision.probability={method}")
    scorer, test = Scorer(json.loads(json.dumps(fold.scorer))), fold.parts["test"]
    found = scorer.probability(test.y_score)
    assert fold.scorer["probability"]["method"] == method
    assert found.mean() == pytest.approx(test.y_true.mean(), abs=0.04)
    brier, of_the_share = ((found - test.y_true) ** 2).mean(), test.y_true.var()
    assert brier < 0.9 * of_the_share
    assert (np.diff(found[np.argsort(test.y_score)]) >= 0).all()


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("prior", lambda y, above: abs(above.mean() - y.mean()) < 0.06),
        ("[fpr,0.1]", lambda y, above: above[y == 0].mean() < 0.16),
        ("[cost,1,9]", lambda y, above: above[y == 1].mean() > 0.75),
        ("0.25", lambda y, above: True),
    ],
)
def test_rules_hold_on_new_rows(rule, holds):
    fold = fold_of(f"decision.threshold={rule}")
    test = fold.parts["test"]
    assert holds(test.y_true, test.y_score > fold.decision.threshold)
    if rule == "0.25":
        assert fold.decision.threshold == 0.25
    assert "training part, 5 folds" in fold.scorer["threshold"]["chosen_on"]


@pytest.mark.slow
def test_why_there_are_no_probabilities_is_said(monkeypatch):
    assert fold_of("decision.probability=none").decision.note == "decision.probability=none"
    flat = fold_of("formulation.penalty=1000")  # w = 0
    assert (flat.decision.probability, flat.decision.note) == (None, "all scores are equal")
    assert math.isfinite(flat.decision.threshold)
    monkeypatch.setenv(SWEEP_VARIABLE, "a sweep")
    job = fold_of()
    assert job.decision.probability is None
    assert "jobs of a sweep are not calibrated" in job.scorer["about"]["no_probability"]
    assert fold_of("decision.probability=sigmoid").decision.probability is not None


@pytest.mark.parametrize(
    ("timings", "reason"),
    [(Timings(compile=60.0, solve=0.1), ""), (Timings(build=1.5, load=0.5, solve=0.1), "the solve was long, and")],
)
def test_the_time_of_compiling_does_not_count(timings, reason):
    scorer = SimpleNamespace(solution_=SimpleNamespace(status=Status.OPTIMAL, timings=timings))
    X, y, scores = pd.DataFrame({"a": range(4)}), np.array([0, 1, 0, 1]), np.arange(4.0)
    assert _why_not(scorer, X, y, scores, DecisionConfig()).startswith(reason)
    assert bool(reason) == bool(_why_not(scorer, X, y, scores, DecisionConfig()))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("decision.threshold=prios", r"decision.threshold is 'prios'; it is prior, youden"),
        ("decision.threshold=cost", r"decision.threshold is 'cost'.*\[cost, FALSE_POSITIVE"),
        ("decision.threshold=[fpr,2]", r"with shares in \[0, 1\]"),
        ("decision.threshold=[cost,1]", r"is \['cost', 1\]; it is prior"),
        ("decision.threshold=[cost,0,0]", "costs ≥ 0, not both 0"),
        ("decision.threshold=null", "decision.threshold is None; it is prior"),
        ("decision.probability=platt", "it is one of auto, sigmoid, isotonic, none"),
        (
            "decision.folds=1",
            "decision.folds is 1; it is a number of inner folds, and cross-validation needs at least 2",
        ),
    ],
)
def test_bad_settings_are_refused(setting, words):
    with pytest.raises(AuclabError, match=words):
        _ = composed([setting]).decision
