"""The metrics of an experiment on folds of its training part, against folds that are solved by hand."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from auclab import RankSVM, solve
from auclab._core.base import AuclabError
from auclab.datasets.splits import kfold
from auclab.metrics import auc_score
from auclab.runs.config.checks import check_settings
from auclab.runs.config.settings import InnerConfig
from auclab.runs.experiment import solve_splits
from auclab.runs.split.fold import score_on_inner_folds
from composed import composed

WORDS = ["dataset=breast_cancer", "formulation=ranksvm", "formulation.penalty=0.1", "bounds=none", "metrics=[auc]"]


def solved(*words):
    return solve_splits(composed([*WORDS, "decision.probability=none", *words])).folds[0]


def test_each_fold_is_prepared_and_solved_by_itself():
    fold = solved("inner.folds=3", "inner.seed=2")
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[fold.split.train], y[fold.split.train]
    values = []
    for part in kfold(y, n_folds=3, seed=2):
        scaler = StandardScaler().fit(X[part.train])
        scorer = solve(RankSVM(0.1), scaler.transform(X[part.train]), y[part.train], solver="newton")
        values.append(auc_score(y[part.test], scaler.transform(X[part.test]) @ scorer.coef))
    assert fold.inner.means["auc"] == pytest.approx(np.mean(values), abs=1e-9)
    assert fold.inner.standard_errors["auc"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(3), abs=1e-9)
    assert fold.numbers["inner/auc"] == fold.inner.means["auc"]
    assert "mean of 3 folds of the training part" in fold.inner.statement


def test_the_held_out_part_is_never_seen():
    seen = []

    def solve(split):
        seen.append(split)
        return solved_once

    solved_once = solved()
    split = solved_once.split
    score_on_inner_folds(solve, split, load_breast_cancer().target, InnerConfig(folds=4))
    for part in seen:
        assert sorted([*part.train, *part.test]) == sorted(split.train)
    assert sorted(np.concatenate([part.test for part in seen])) == sorted(split.train)


def test_without_folds_nothing_is_measured_and_nothing_is_kept():
    assert solved().inner is None
    assert "inner" not in composed(WORDS).configuration
    assert composed([*WORDS, "inner.folds=3"]).configuration["inner"] == {"folds": 3, "seed": 0, "tolerance": None}


@pytest.mark.slow
def test_folds_are_solved_to_a_looser_gap_and_the_kept_scorer_is_not():
    words = ["kernel=rbf", "formulation.squared=true", "formulation.penalty=0.001", "inner.folds=3"]
    tight, loose, tighter = (solved(*words, *more) for more in ([], ["inner.tolerance=0.2"], ["inner.tolerance=1e-9"]))
    assert loose.solution.certificate.gap == tight.solution.certificate.gap <= 1e-3
    assert loose.inner.means != tight.inner.means
    assert loose.inner.means["auc"] == pytest.approx(tight.inner.means["auc"], abs=0.05)
    assert tighter.inner.means == tight.inner.means  # the kernel's own is the larger one
    assert loose.inner.values["auc"] != tight.inner.values["auc"]


@pytest.mark.slow
def test_the_tolerance_is_a_setting_of_the_run_where_it_is_given():
    given = composed([*WORDS, "inner.folds=3", "inner.tolerance=0.01"])
    assert given.configuration["inner"] == {"folds": 3, "seed": 0, "tolerance": 0.01}
    for wrong in (0, -1, 1):
        with pytest.raises(AuclabError, match="a relative gap between 0 and 1"):
            check_settings(composed([*WORDS, "inner.folds=3", f"inner.tolerance={wrong}"]))


@pytest.mark.parametrize("folds", [1, -2, 10_000])
def test_too_few_or_too_many_folds_are_refused(folds):
    with pytest.raises(AuclabError, match="folds"):
        solved(f"inner.folds={folds}")
