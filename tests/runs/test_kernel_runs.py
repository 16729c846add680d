"""Runs with ``kernel=…``: names, refusals, bounds that need no radius, and that they come again."""

import json

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.runs.config.checks import check_settings
from auclab.runs.config.typed_words import hydra_in_words
from auclab.runs.experiment import solve_splits
from auclab.solvers.kernel.solution import KernelSolution
from composed import composed, run_here

RUN = ("dataset=breast_cancer", "formulation=ranksvm", "formulation.squared=true", "decision.probability=none")


@pytest.fixture(scope="module")
def result():
    return solve_splits(composed([*RUN, "formulation.penalty=0.05", "kernel=rbf", "kernel.gamma=0.05"]))


def test_a_run_is_solved_over_the_whole_space(result):
    (fold,) = result.folds
    assert isinstance(fold.solution, KernelSolution)
    assert fold.solution.gap <= 1e-3
    assert fold.solution.space == "whole"
    assert fold.parts["test"].metrics["auc"] > 0.95
    assert "bAUC" in fold.optimum.statement


def test_its_bounds_need_no_observed_radius(result):
    (fold,) = result.folds
    train = {item.name: item for item in fold.guarantees if item.sample == "train"}
    assert {"published_stability", "pairwise_stability", "peeled_stability", "peeled_margin"} <= set(train)
    for item in train.values():
        assert any("the kernel itself ensures" in words for words in item.bound.assumptions)
        assert not any("observed" in words for words in item.bound.assumptions)
        assert item.lower_end <= item.test_value
    from auclab.bounds import peeled_margin_bound

    solution, part = fold.solution, fold.parts["train"]
    column = part.y_score[:, None] / solution.length
    twin = peeled_margin_bound(
        column, part.y_true, np.array([solution.length]), diameter=np.sqrt(2), rho=0.05, norm="l2"
    )
    assert train["peeled_margin"].bound.lower == pytest.approx(twin.lower)


def test_unbounded_kernels_have_bounds_of_the_held_out_part_alone():
    experiment = composed([*RUN, "formulation.penalty=0.5", "kernel=polynomial", "kernel.degree=2"])
    (fold,) = solve_splits(experiment).folds
    assert {item.sample for item in fold.guarantees} == {"test"}
    assert any("rbf or laplacian" in remark for remark in fold.remarks)


def test_names_and_parameters():
    linear = composed(RUN)
    assert not any(key.startswith("kernel") for key in linear.params)
    experiment = composed([*RUN, "kernel=rbf", "kernel.gamma=0.5"])
    assert "rbf γ=0.5" in experiment.name
    assert experiment.params["kernel"] == "rbf"
    assert experiment.params["kernel.gamma"] == "0.5"
    assert "kernel.degree" not in experiment.params


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("kernel.gamma=0.5",), "kernel.gamma is not a setting of the default kernel; it has name; kernel = laplacian"),
        (("kernel=rbf", "kernel.gamma=-1"), "gamma must be"),
        (("kernel=rbf", "formulation=logistic"), "baselines"),
        (("kernel=rbf", "constraints.nonnegative=[0]", "constraints=rules"), "constraints are on"),
    ],
)
def test_mistakes_are_named(overrides, message):
    given = [
        word for word in RUN if not any(o.startswith("formulation=") for o in overrides) or "formulation" not in word
    ]
    with pytest.raises(AuclabError, match=message), hydra_in_words(overrides):
        check_settings(composed([*given, *overrides]))


@pytest.mark.slow
def test_a_kept_run_has_its_landmarks(tmp_path):
    words = [*RUN, "formulation.penalty=0.5", "kernel=laplacian", "bounds=none", "tracking=mlflow", "metrics=[auc]"]
    run_here(tmp_path / "out", *words, f"tracking.dir={tmp_path / 'kept'}", parent="a sweep")
    (certificate,) = tmp_path.rglob("certificate.json")
    kernel = json.loads(certificate.read_text(encoding="utf-8"))["kernel"]
    landmarks = pd.read_csv(certificate.parent / "landmarks.csv")
    assert len(landmarks) == kernel["landmarks"] > 0
    assert kernel["name"] == "laplacian"
    assert kernel["space"] == "whole"
    assert kernel["stages"][-1]["lower_bound"] > 0
    assert not (certificate.parent / "coefficients.csv").exists()


@pytest.mark.slow
def test_a_precomputed_matrix_is_trained_tuned_and_calibrated_on_all_rows(tmp_path):
    from auclab.kernels import RBF

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (np.linalg.norm(X, axis=1) + 0.3 * rng.normal(size=60) > 1.2).astype(int)
    K = pd.DataFrame(RBF(0.5).between(X, X), columns=[f"k{row}" for row in range(60)])
    K.assign(y=y).to_csv(tmp_path / "K.csv", index=False)
    file = ("dataset=file", f"dataset.path={tmp_path / 'K.csv'}", "dataset.target=y", "dataset.positive=1")
    words = (
        *file,
        "kernel=precomputed",
        "formulation=ranksvm",
        "formulation.squared=true",
        "tune=auto",
        "tune.folds=3",
    )
    every = ("split=none", "preprocess=none", "tune.grids.penalty=[0.01,0.1]", "metrics=[auc]")
    (fold,) = run_here(tmp_path / "run", *words, *every, "decision.probability=sigmoid").folds
    assert fold.solution.gap <= 1e-3
    assert fold.tuning.selected in (0.01, 0.1)
    assert (fold.tuning.path["mean"] > 0.7).all()
    assert "training part, 5 folds" in fold.decision.source
    for left, message in (("split=none", "needs preprocess=none"), ("preprocess=none", "needs split=none")):
        with pytest.raises(AuclabError, match=message):
            check_settings(composed([*words, left]))
