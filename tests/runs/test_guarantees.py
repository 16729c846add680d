"""Which bounds an experiment computes, what they assume, and that each number behind them is computed once."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from auclab.datasets.preprocess import UnitBall
from auclab.metrics import buffered, roc
from auclab.runs.split.guarantees import support_radius
from auclab.runs.split.measured import HeldPart
from composed import run_here

SMALL = ("dataset=artificial", "dataset.n_pos=60", "dataset.n_neg=80", "dataset.n_features=2")
SQUARED = ("formulation=ranksvm", "formulation.squared=true", "formulation.penalty=0.5")


def test_bauc_is_computed_once_for_each_part_and_scores_are_sorted_once(tmp_path, monkeypatch):
    values, sorts = [], []
    solve, sort = buffered.solve_bpoe, roc._sort_both

    def solve_counted(errors, threshold, *, exact_level=True):
        if not exact_level:  # a value of the metric, not the minimisers
            values.append((errors.pos.size, errors.neg.size, threshold))
        return solve(errors, threshold, exact_level=exact_level)

    def sort_counted(pos, neg):
        sorts.append((pos.size, neg.size))
        sort(pos, neg)

    monkeypatch.setattr(buffered, "solve_bpoe", solve_counted)
    monkeypatch.setattr(roc, "_sort_both", sort_counted)
    chosen = ("metrics=[auc,bauc,auc_threshold,voros,partial_auc]", "bounds.weighted.max_fpr=0.5")
    fold = run_here(tmp_path, *SMALL, *SQUARED, *chosen).folds[0]
    assert len(fold.guarantees) == 8
    assert len(fold.parts["test"].estimates) == 3
    sizes = [(int(part.y_true.sum()), int((1 - part.y_true).sum())) for part in fold.parts.values()]
    assert values == [(*size, 0.0) for size in sizes]
    assert sorts == sizes


def radius_claimed(fold):
    """Diameter that the margin bound assumes for any positive and negative, and whether it was read off the sample."""
    (item,) = (item for item in fold.guarantees if item.name == "peeled_margin")
    (support,) = (text for text in item.bound.assumptions if "further apart than" in text)
    return float(support.split()[-1]), any("observed radius" in text for text in item.bound.assumptions)


@pytest.mark.slow
def test_the_radius_is_that_of_the_fitted_preprocessing_not_of_its_name(tmp_path):
    ball = run_here(tmp_path / "ball", *SMALL, *SQUARED, "preprocess=unit_ball").folds[0]
    assert radius_claimed(ball) == (2.0, False)
    target = "auclab.datasets.preprocess"
    renamed = ("preprocess=unit_ball", f"preprocess._target_={target}.standard")
    fold = run_here(tmp_path / "renamed", *SMALL, *SQUARED, *renamed).folds[0]
    plain = run_here(tmp_path / "plain", *SMALL, *SQUARED, "preprocess=standard").folds[0]
    assert radius_claimed(fold) == radius_claimed(plain)
    assert radius_claimed(fold)[0] > 2.0
    assert radius_claimed(fold)[1]
    back = run_here(
        tmp_path / "back", *SMALL, *SQUARED, "preprocess=standard", f"preprocess._target_={target}.unit_ball"
    )
    assert radius_claimed(back.folds[0]) == (2.0, False)


@pytest.mark.parametrize(
    ("steps", "radius"),
    [
        ([StandardScaler(), UnitBall()], 1.0),
        ([make_pipeline(StandardScaler(), UnitBall())], 1.0),
        ([UnitBall(), StandardScaler()], None),
        ([StandardScaler()], None),
    ],
)
def test_a_radius_needs_the_ball_to_come_last(steps, radius):
    assert support_radius(make_pipeline(*steps).fit(np.eye(3))) == radius


def test_a_preprocessing_that_is_no_pipeline():
    assert support_radius(UnitBall().fit(np.eye(3))) == 1.0
    assert support_radius(FunctionTransformer()) is None


def test_mean_hinge_over_the_pairs_of_a_part():
    part = HeldPart(np.array([1, 0, 1]), np.array([2.0, 0.0, 0.5]))
    assert part.hinge(1.0) == 0.25  # margins 2 and ½
