"""tune=: the value that a plain loop would choose, the rule of one standard error, and what is logged."""

import re
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab._core.base import AuclabError
from auclab.datasets.splits import kfold
from auclab.estimators import AUCClassifier
from auclab.formulations import CSVM, BufferedAUC, GeneralizedBufferedAUC, RankSVM
from auclab.metrics import auc_score, auc_threshold, bauc_score
from auclab.runs.compare.run_screen import draw_run
from auclab.runs.config.compose import compose_experiment, flatten, run_name
from auclab.runs.config.settings import TuneConfig
from auclab.runs.record.figures import draw_tuning_path
from auclab.runs.split.tuning import tune_formulation
from composed import run_here

SMALL = ("dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=40", "dataset.n_features=3")
VALUES = [1.0, 0.001, 0.03]  # in no order


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [45, 30])
    X = pd.DataFrame(rng.normal(size=(75, 4)) + 0.6 * y[:, None] * [1, 1, 0, 0], columns=list("abcd"))
    return X, y


def pipeline(formulation):
    return make_pipeline(StandardScaler(), AUCClassifier(formulation=formulation))


def tune(model, X, y, **settings):
    return tune_formulation(model[:-1], model[-1], X, y, TuneConfig(**settings))


def scores_by_hand(model, parameter, values, metric, X, y, *, folds, seed):
    """(values, folds): preprocessing and program fitted on the inner training part alone."""
    table = []
    for value in values:
        row = []
        for split in kfold(y, n_folds=folds, seed=seed):
            program = replace(model[-1].formulation, **{parameter: value})
            fitted = clone(model).set_params(aucclassifier__formulation=program)
            fitted.fit(X.iloc[split.train], y[split.train])
            row.append(metric(y[split.test], fitted.decision_function(X.iloc[split.test])))
        table.append(row)
    return np.array(table)


@pytest.mark.parametrize(
    ("formulation", "parameter", "sign"),
    [
        (RankSVM(0.5), "penalty", 1),
        (CSVM(0.5, squared=True), "penalty", 1),
        (GeneralizedBufferedAUC(-9.0), "threshold", -1),
    ],
)
@pytest.mark.parametrize("rule", [False, True])
def test_the_choice_is_that_of_a_plain_loop(data, formulation, parameter, sign, rule):
    X, y = data
    values = sorted(sign * value for value in VALUES)
    model = pipeline(formulation)
    program, tuning = tune(
        model, X, y, parameter=parameter, values=[*VALUES, VALUES[0]] if sign > 0 else [-v for v in VALUES],
        metric="bauc", folds=3, seed=7, one_standard_error=rule,
    )  # fmt: skip
    table = scores_by_hand(model, parameter, values, bauc_score, X, y, folds=3, seed=7)
    means, errors = table.mean(axis=1), table.std(axis=1, ddof=1) / np.sqrt(3)
    np.testing.assert_array_equal(tuning.path["value"], values)
    # The distance from the optimum falls as the root of the gap, which is large where the choice is not close.
    found, gaps = tuning.path[["fold_0", "fold_1", "fold_2"]].to_numpy(), tuning.path["gap"].to_numpy()
    for row, gap in enumerate(gaps):
        np.testing.assert_allclose(found[row], table[row], rtol=1e-4 + np.sqrt(gap))
    np.testing.assert_allclose(tuning.path["mean"], found.mean(axis=1))
    np.testing.assert_allclose(tuning.path["standard_error"], found.std(axis=1, ddof=1) / np.sqrt(3))
    best = int(means.argmax())
    assert tuning.best == values[best]
    allowed = [value for value, mean in zip(values, means, strict=True) if mean >= means[best] - errors[best]]
    assert tuning.selected == ((max(allowed) if sign > 0 else min(allowed)) if rule else values[best])
    assert program == replace(formulation, **{parameter: tuning.selected})
    assert (gaps <= 0.1).all()


def test_of_equal_scores_the_simplest_scorer_wins(data):
    """One informative column ranks alike at every λ that leaves w ≠ 0."""
    X, y = data
    options = {"metric": "auc", "folds": 3}
    _, tuning = tune(pipeline(RankSVM(1.0)), X[["a"]], y, parameter="penalty", values=[0.001, 0.002, 0.004], **options)
    assert tuning.path["mean"].nunique() == 1
    assert tuning.selected == tuning.best == 0.004
    z = [-0.001, -0.002, -0.004]
    _, tuning = tune(pipeline(GeneralizedBufferedAUC(0.0)), X[["a"]], y, parameter="threshold", values=z, **options)
    assert tuning.selected == -0.004


def test_an_error_measure_is_minimised(data):
    X, y = data
    model = pipeline(RankSVM(1.0))
    _, tuning = tune(model, X, y, parameter="penalty", values=VALUES, metric="auc_threshold", folds=3)
    table = scores_by_hand(model, "penalty", sorted(VALUES), auc_threshold, X, y, folds=3, seed=0)
    assert tuning.selected == sorted(VALUES)[int(table.mean(axis=1).argmin())]
    assert tuning.metric == "−auc_threshold"
    assert "−auc_threshold" in tuning.statement


@pytest.mark.parametrize(
    ("formulation", "changes", "words"),
    [
        (BufferedAUC(), {}, "bauc has no parameter 'penalty'; it has none of λ"),
        (RankSVM(1.0), {"parameter": "threshold"}, "it has penalty"),
        (GeneralizedBufferedAUC(-1.0), {}, "it has threshold"),
        (GeneralizedBufferedAUC(-1.0), {"parameter": "threshold", "values": []}, "a list of finite numbers"),
        (RankSVM(1.0), {"values": [float("nan")]}, "a list of finite numbers"),
        (RankSVM(1.0), {"values": [-1.0]}, "penalty"),
        (RankSVM(1.0), {"metric": "accuracy"}, "no scorer is named 'accuracy'"),
        (RankSVM(1.0), {"folds": 31}, "31"),
        (RankSVM(1.0), {"metric": "ferri_auc"}, "predict_proba"),
    ],
)
def test_what_cannot_be_tuned_is_said(data, formulation, changes, words):
    with pytest.raises(AuclabError, match=words):
        tune(pipeline(formulation), *data, **{"parameter": "penalty", "values": [0.1], "folds": 3, **changes})


@pytest.mark.slow
def test_every_tunable_parameter_has_a_configuration(tmp_path):
    for parameter, formulation in {"penalty": "ranksvm", "threshold": "generalized_bauc"}.items():
        result = run_here(
            tmp_path / parameter, *SMALL, f"formulation={formulation}", f"tune={parameter}", "tune.folds=2",
            "bounds=none",
            "metrics=[auc]",
        )  # fmt: skip
        (fold,) = result.folds
        assert fold.tuning.parameter == parameter
        assert getattr(result.formulation, parameter) == fold.tuning.selected
        assert result.summary[f"tune/{parameter}"] == fold.tuning.selected
        table = pd.read_csv(tmp_path / parameter / "tuning.csv")
        pd.testing.assert_frame_equal(table, fold.tuning.path)
        draw_run(pd.DataFrame({"fold_folder": [tmp_path / parameter], "fold": ["holdout"]}))
        assert (tmp_path / parameter / "tuning.png").stat().st_size > 5000


@pytest.mark.slow
def test_the_test_part_is_not_looked_at(tmp_path):
    """Inner folds are made of the training part alone: other labels in the test part change nothing of the path."""
    result = run_here(
        tmp_path, *SMALL, "formulation=ranksvm", "tune=penalty", "tune.values=[0.01,0.1]", "tune.folds=2",
            "bounds=none",
        "split=kfold", "split.n_folds=2",
    )  # fmt: skip
    for fold in result.folds:
        X, y = result.dataset.X.iloc[fold.split.train], result.dataset.y[fold.split.train]
        model = make_pipeline(StandardScaler(), AUCClassifier(formulation=RankSVM(1.0)))
        table = scores_by_hand(model, "penalty", [0.01, 0.1], auc_score, X, y, folds=2, seed=0)
        np.testing.assert_allclose(fold.tuning.path["mean"], table.mean(axis=1), rtol=1e-9)
    assert (tmp_path / "fold_1" / "tuning.csv").exists()


@pytest.mark.slow
def test_bounds_on_the_training_part_hold_for_the_whole_path(tmp_path):
    """With K values each bound has ρ/K; a held-out bound keeps its ρ."""
    usual = (*SMALL, "preprocess=unit_ball", "formulation=ranksvm", "formulation.squared=true")
    tuned = run_here(tmp_path / "tuned", *usual, "tune=penalty", "tune.values=[0.1,0.2,0.3,0.4]", "tune.folds=2")
    chosen = f"formulation.penalty={tuned.folds[0].tuning.selected}"
    plain = run_here(tmp_path / "plain", *usual, chosen, "bounds.rho=0.0125")
    free = run_here(tmp_path / "free", *usual, chosen)
    assert {item.sample for item in tuned.folds[0].guarantees} == {"train", "test"}
    for item in tuned.folds[0].guarantees:
        other = plain if item.sample == "train" else free
        assert item.numbers == {key: pytest.approx(other.summary[key], nan_ok=True) for key in item.numbers}
    assert any("all 4 values at once" in words for words in tuned.folds[0].remarks)


def test_the_figure_marks_the_choice(data):
    _, tuning = tune(
        pipeline(RankSVM(1.0)), *data, parameter="penalty", values=VALUES, folds=3, one_standard_error=True
    )
    (ax,) = draw_tuning_path(tuning).axes
    assert ax.get_xscale() == "log"
    assert ax.get_title() == f"λ = {tuning.selected:.3g}"
    best = tuning.path.loc[tuning.path["value"] == tuning.best].iloc[0]
    heights = [line.get_ydata()[0] for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert heights == [best["mean"] - best["standard_error"]]
    _, tuning = tune(pipeline(GeneralizedBufferedAUC(-1)), *data, parameter="threshold", values=[-1, -0.01, 0], folds=3)
    (ax,) = draw_tuning_path(tuning).axes
    assert ax.get_xscale() == "symlog"


def test_a_tuned_run_does_not_name_the_value_it_did_not_use():
    settings = {
        "formulation": {"penalty": 0.01, "norm": "l1"}, "dataset": {}, "split": {}, "solver": {"name": "highs"},
        "tune": {"parameter": "penalty"},
    }  # fmt: skip
    assert run_name(settings, {"formulation": "ranksvm", "dataset": "pima"}) == "ranksvm λ tuned l1 · pima · highs"
    assert flatten(settings, {})["formulation.penalty"] == "tuned"
    lasso = {"formulation": {"regulariser": {"weight": 0.02, "groups": None}}, "tune": None}
    name = run_name(settings | lasso, {"formulation": "group_lasso", "dataset": "pima"})
    assert name == "group_lasso λ=0.02 · pima · highs"
    weighted = run_name(settings | {"class_weight": "balanced"}, {"formulation": "csvm", "dataset": "pima"})
    assert weighted == "csvm λ tuned l1 · pima · weighted classes · highs"


def test_a_scorer_that_is_constant_for_every_value_is_not_tuned_to_the_end(data, monkeypatch):
    """One inner fold tells; unbalanced files took five times as long to say so."""
    X, y = data
    fits = []
    monkeypatch.setattr(AUCClassifier, "inner_fold", _counted(AUCClassifier.inner_fold, fits))
    model = pipeline(CSVM(0.5))
    _, tuning = tune(model, X, y, parameter="penalty", values=[1e3, 1e4], folds=5)
    assert len(fits) == 1
    assert (tuning.path[[f"fold_{k}" for k in range(5)]] == 0.5).all(axis=None)
    assert tuning.numbers["tune/score_se"] == 0.0
    tune(model, X, y, parameter="penalty", values=[1e-3, 1e4], folds=5)
    assert len(fits) == 6


def _counted(inner_fold, calls):
    def fold(self, *arguments, **named):
        calls.append(self)
        return inner_fold(self, *arguments, **named)

    return fold


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "key", "values"),
    [
        (["formulation=ranksvm", "tune=penalty", "tune.values=[1e-9,3e-9,1e-8]"], "values", "[1e-08,3e-08,1e-07,3e-07"),
        (["formulation=ecsvm", "tune=auto", "tune.grids.threshold=[-0.4,-0.2]"], "grids.threshold", "[-6.4,-3.2,"),
        (["formulation=logistic", "tune=auto", "tune.grids.C=[1e3,1e2]"], "grids.C", "[0.01,0.1,1,10,100]"),
    ],
)
def test_what_is_printed_at_the_end_of_a_path_can_be_typed(words, key, values, tmp_path):
    """In the command that was typed: bash and Hydra read from it the values that are beyond those."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    table["y"] = (table["a"] + 2 * rng.normal(size=60) > 0).astype(int)
    table.to_csv(tmp_path / "my.csv", index=False)
    words = ["dataset=file", f"dataset.path={tmp_path / 'my.csv'}", "dataset.target=y", "bounds=none", *words]
    tuning = run_here(tmp_path / "out", *words, "decision.probability=none").folds[0].tuning
    tried = sorted(tuning.path["value"])
    for above in (False, True):
        taken = replace(tuning, selected=tried[-1] if above else tried[0])
        (typed,) = re.findall(r"the end of the path: ('.*') tries values beyond it$", taken.statement)
        assert typed.startswith(f"'tune.{key}=[")
        done = subprocess.run(["bash", "-c", f"printf %s {typed}"], capture_output=True, text=True, check=True)
        more = compose_experiment([*words, done.stdout]).tune.values
        assert len(more) == 5
        assert (min(more) == tried[-1]) if above else (max(more) == tried[0])
    assert any(values in tuning.typed_beyond(above=above) for above in (False, True))
