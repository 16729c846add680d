"""Settings that are passed on to the solve, and the checks before it that have no table of mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from auclab.estimators import AUCClassifier
from auclab.formulations import CSVM
from auclab.runs.config.checks import check_data, check_settings
from auclab.runs.config.typed_words import quoted_where_needed
from composed import composed, run_here

SMALL = (
    "dataset=artificial",
    "dataset.n_pos=20",
    "dataset.n_neg=60",
    "bounds=none",
    "solver=newton",
    "solver.tolerance=1e-9",
)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["class_weight=balanced", "class_weight={negative: 1, positive: 3}"])
def test_class_weights_reach_the_solve(tmp_path, weights):
    """20 positives and 60 negatives: balanced is three to one, and the estimator with these weights has the same w."""
    own = (*SMALL, "formulation=csvm", "split=none")
    (plain,) = run_here(tmp_path / "plain", *own).folds
    (fold,) = run_here(tmp_path / "weighted", *own, weights).folds
    dataset, _ = check_data(composed(own))
    X = fold.model[0].transform(dataset.X)
    expected = AUCClassifier(CSVM(0.01), solver="newton", tolerance=1e-9, class_weight={0: 1.0, 1: 3.0}).fit(
        X, dataset.y
    )
    np.testing.assert_allclose(fold.solution.coef, expected.solution_.coef, rtol=1e-4, atol=1e-6)
    assert np.abs(fold.solution.coef - plain.solution.coef).max() > 1e-3
    assert fold.solution.gap <= 1e-6


@pytest.mark.slow
def test_class_weights_cancel_over_pairs(tmp_path):
    own = (*SMALL, "formulation=ranksvm", "split=none")
    (plain,), (fold,) = (
        run_here(tmp_path / name, *own, *more).folds for name, more in (("a", ()), ("b", ("class_weight=balanced",)))
    )
    np.testing.assert_allclose(fold.solution.coef, plain.solution.coef, rtol=1e-5, atol=1e-7)


def test_the_data_are_loaded_once():
    from auclab.runs.config.compose import load_dataset

    experiment = composed(SMALL)
    dataset, columns = check_data(experiment)
    assert load_dataset(experiment) is dataset
    assert columns is not None
    assert len(columns.numeric) == dataset.X.shape[1]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("dataset=ionosphere",),
        ("dataset=artificial", "dataset.seed=3"),
        ("formulation=ranksvm", "tune=penalty", "tune.metric=bauc"),
        ("formulation=bauc", "tune=auto"),
        ("metrics=[auc,partial_auc]", "metrics.partial_auc.max_fpr=0.3"),
        ("preprocess.max_categories=null",),
        ("split=kfold", "split.fold=2"),
        ("split.test_size=1e-1", "formulation=ranksvm", "formulation.penalty=1"),
        ("dataset=file", f"dataset.path={__file__}"),  # a file that is there: it is not read yet
        ("experiment=compare_formulations",),
        ("solver=highs", "formulation=ranksvm", "formulation.norm=l1"),
    ],
)
def test_what_is_right_passes(words):
    check_settings(composed(quoted_where_needed(words)))
