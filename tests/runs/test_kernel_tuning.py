"""tune=kernel: the choice and the scores of a plain loop over γ, λ and folds, and what is said and kept."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab import AuclabError, GeneralizedBufferedAUC, RankSVM
from auclab.datasets.splits import kfold
from auclab.estimators import AUCClassifier
from auclab.kernels import RBF, Polynomial, Precomputed
from auclab.metrics import auc_score, bauc_score
from auclab.runs.config.checks import check_settings
from auclab.runs.config.settings import TuneConfig
from auclab.runs.config.typed_words import hydra_in_words
from auclab.runs.record.figures import draw_tuning, draw_tuning_path
from auclab.runs.split.kernel_tuning import tune_kernel
from auclab.solvers.kernel.training import KernelMatrix
from composed import composed, run_here

RANKSVM = RankSVM(1.0, squared=True)
GAMMAS, VALUES = [4.0, 0.25, 1.0], [0.1, 0.001]  # in no order


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 3)) * [1.0, 5.0, 0.2]
    y = (X[:, 0] ** 2 + X[:, 1] / 5 + 0.7 * rng.normal(size=90) > 0.8).astype(int)
    return pd.DataFrame(X, columns=list("abc")), y


def tune(X, y, kernel, program=RANKSVM, preprocessing=None, solver_options=None, **settings):
    settings = {"parameter": "kernel", "gammas": GAMMAS, "values": VALUES, "folds": 3, "tolerance": 1e-4} | settings
    classifier = AUCClassifier(program, kernel=kernel, solver_options=solver_options)
    return tune_kernel(preprocessing or make_pipeline(StandardScaler()), classifier, X, y, TuneConfig(**settings))


def scores_by_hand(X, y, kernels, programs, metric, *, folds=3, seed=0):
    """(kernels, programs, folds): columns prepared once, every solve by itself."""
    Z = StandardScaler().fit_transform(X)
    table = np.empty((len(kernels), len(programs), folds))
    for g, kernel in enumerate(kernels):
        for v, program in enumerate(programs):
            for k, fold in enumerate(kfold(y, n_folds=folds, seed=seed)):
                model = AUCClassifier(program, kernel=kernel, tolerance=1e-4).fit(Z[fold.train], y[fold.train])
                table[g, v, k] = metric(y[fold.test], model.decision_function(Z[fold.test]))
    return table


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "program", "parameter", "values"),
    [
        (RBF("scale"), RankSVM(1.0, squared=True), "penalty", [0.001, 0.1]),
        (RBF(0.1), GeneralizedBufferedAUC(-1.0), "threshold", [-0.6, -0.3]),
        pytest.param(Polynomial(2), RankSVM(1.0, squared=True), "penalty", [0.01, 0.1], marks=pytest.mark.weekly),
    ],
)
def test_scores_and_choice_are_those_of_a_plain_loop(rings, kernel, program, parameter, values):
    X, y = rings
    chosen, taken, tuning = tune(X, y, kernel, program, values=values, seed=3)
    base = kernel.resolved(StandardScaler().fit_transform(X)).gamma
    gammas = [base * multiple for multiple in sorted(GAMMAS)]
    kernels = [replace(kernel, gamma=gamma) for gamma in gammas]
    programs = [replace(program, **{parameter: value}) for value in sorted(values)]
    table = scores_by_hand(X, y, kernels, programs, auc_score, seed=3)
    np.testing.assert_allclose(tuning.path["gamma"], np.repeat(gammas, 2))
    np.testing.assert_array_equal(tuning.path["value"], np.tile(sorted(values), 3))
    folds = tuning.path[["fold_0", "fold_1", "fold_2"]].to_numpy().reshape(3, 2, 3)
    # Scores of two rows that are nearly equal may change places: a pair of a fold is 1/200 of its AUC.
    np.testing.assert_allclose(folds, table, atol=1.1e-2)
    means = table.mean(axis=2)
    g, v = int(np.argmin(np.abs(np.log(np.array(gammas) / tuning.gamma)))), sorted(values).index(tuning.selected)
    assert tuning.gamma == pytest.approx(gammas[g])
    assert means[g, v] >= means.max() - 5e-3  # means that differ by less than their solves may change places
    assert chosen == programs[v]
    assert taken.gamma == tuning.gamma
    assert tuning.numbers["tune/gamma"] == tuning.gamma
    assert tuning.numbers["tune/score"] == pytest.approx(means[g, v], abs=5e-3)
    assert (tuning.path["gap"] <= 1e-2).all()
    assert tuning.note == ""


@pytest.mark.slow
def test_a_matrix_that_does_not_fit_is_computed_anew_and_that_is_said(rings):
    X, y = rings
    options = {"solver_options": {"memory_gb": 1.2e-4}, "tolerance": 1e-2, "gammas": [1.0]}
    *_, tuning = tune(X, y, RBF("scale"), **options)
    *_, kept = tune(X, y, RBF("scale"), tolerance=1e-2, gammas=[1.0])
    assert "the kernel matrix of 90 rows takes 6.48e-05 GB, more than half of kernel.memory_gb" in tuning.note
    np.testing.assert_allclose(tuning.path["mean"], kept.path["mean"], atol=0.01)


@pytest.mark.slow
def test_the_matrix_of_a_gamma_is_computed_once(rings, monkeypatch):
    X, y = rings
    computed = []
    keep = KernelMatrix._keep

    def counted(self):
        if self.is_kept and self._kept is None:
            computed.append((self.kernel.width, self.size))
        keep(self)

    monkeypatch.setattr(KernelMatrix, "_keep", counted)
    tune(X, y, RBF("scale"), tolerance=1e-2)
    assert [size for _, size in computed] == [90] * 3
    assert len({gamma for gamma, _ in computed}) == 3


def test_labels_of_held_out_rows_do_not_enter(rings):
    """The columns are prepared without labels; the folds are of the training part."""
    X, y = rings

    class Curious(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            assert y is None
            return super().fit(X)

    tune(X, y, RBF("scale"), preprocessing=make_pipeline(Curious()), gammas=[1.0], values=[0.1], tolerance=1e-2)


def test_no_scorer_is_constant_merely_for_a_large_penalty(rings):
    """At λ = 100 h = 0 is within 1e-2 of the optimum, and would have an AUC of ½."""
    X, y = rings
    *_, tuning = tune(X, y, RBF("scale"), values=[100.0], tolerance=1e-2)
    exact = tune(X, y, RBF("scale"), values=[100.0], tolerance=1e-7)[2]
    assert (tuning.path["mean"] != 0.5).all()
    np.testing.assert_allclose(tuning.path["mean"], exact.path["mean"], atol=0.02)


@pytest.mark.slow
def test_of_equal_scores_the_simplest_wins_and_the_rule_is_along_the_best_gamma(rings):
    X, y = rings
    separated = pd.DataFrame({"a": np.where(y == 1, 3.0, -3.0) + X["a"] / 10})
    *_, tuning = tune(separated, y, RBF("scale"))
    assert tuning.path["mean"].eq(1.0).all()
    assert tuning.selected == 0.1
    assert tuning.gamma == tuning.path["gamma"].min()
    program, _, tuning = tune(X, y, RBF("scale"), values=[1e-3, 1e-2, 1e-1], one_standard_error=True, metric="bauc")
    along = tuning.along.reset_index(drop=True)
    best = along["mean"].idxmax()
    assert along["mean"][best] == tuning.path["mean"].max()
    allowed = along["mean"] >= along["mean"][best] - along["standard_error"][best]
    assert program.penalty == tuning.selected == along["value"][allowed].max()


@pytest.mark.slow
def test_a_precomputed_matrix_gives_what_its_kernel_gives(rings):
    X, y = rings
    Z = StandardScaler().fit_transform(X)
    own = tune(X, y, RBF(0.5), gammas=[1.0])[2]
    K = RBF(0.5).between(Z, Z)
    _, kernel, given = tune(K, y, Precomputed(), parameter="penalty", preprocessing=make_pipeline("passthrough"))
    assert kernel == Precomputed()
    assert "gamma" not in given.path
    assert not given.with_gamma
    assert given.selected == own.selected
    np.testing.assert_allclose(given.path["mean"], own.path["mean"], atol=2e-3)


def test_class_weights_hold_on_the_folds(rings):
    X, y = rings
    Z = StandardScaler().fit_transform(X)
    weights = {0: 1.0, 1: 5.0}
    classifier = AUCClassifier("csvm", kernel=RBF(0.5), class_weight=weights)
    classifier.set_params(formulation=classifier._program())
    config = TuneConfig(parameter="kernel", gammas=[1.0], values=[0.01], folds=2, tolerance=1e-7, metric="bauc")
    *_, tuning = tune_kernel(make_pipeline(StandardScaler()), classifier, X, y, config)
    for k, fold in enumerate(kfold(y, n_folds=2, seed=0)):
        model = AUCClassifier("csvm", penalty=0.01, kernel=RBF(0.5), class_weight=weights, tolerance=1e-7)
        model.fit(Z[fold.train], y[fold.train])
        twin = bauc_score(y[fold.test], model.decision_function(Z[fold.test]))
        assert tuning.path[f"fold_{k}"].item() == pytest.approx(twin, abs=2e-3)


RUN = (
    "dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=40", "dataset.n_features=3", "kernel=rbf", "tune=kernel",
    "tune.folds=2", "tune.gammas=[0.25,1]", "tune.grids.penalty=[0.001,0.1]", "decision.probability=none",
    "formulation=ranksvm", "formulation.squared=true",
)  # fmt: skip


@pytest.mark.slow
def test_a_run_names_gamma_and_lambda(tmp_path):
    experiment = composed(RUN)
    check_settings(experiment)
    assert "λ tuned" in experiment.name
    assert "rbf γ tuned" in experiment.name
    assert experiment.params["kernel.gamma"] == experiment.params["formulation.penalty"] == "tuned"
    assert experiment.params["tune.parameter"] == "kernel"
    result = run_here(tmp_path, *RUN, "metrics=[auc]")
    (fold,) = result.folds
    tuning = fold.tuning
    assert fold.solution.kernel == RBF(tuning.gamma)
    assert fold.solution.formulation.penalty == tuning.selected
    assert fold.solution.gap <= 1e-3  # the tolerance of the run, not that of the folds
    assert f"γ = {tuning.gamma:g}, λ = {tuning.selected:g} of 2 × 2 values on 2 inner folds: auc" in tuning.statement
    assert result.summary["tune/gamma"] == tuning.gamma
    table = pd.read_csv(tmp_path / "tuning.csv")
    pd.testing.assert_frame_equal(table, tuning.path)
    (drawn,) = draw_tuning(tmp_path)
    assert drawn.stat().st_size > 5000
    counted = [remark for remark in fold.remarks if "at once" in remark]
    assert counted == ["γ and λ were selected on the training part: its bounds hold for all 4 values at once"]
    axes = draw_tuning_path(tuning).axes[0]
    assert f"λ = {tuning.selected:g}" in axes.get_title()


def test_settings_of_other_choices_do_not_change():
    """Runs from before γ could be tuned have the same settings."""
    plain = composed(["formulation=ranksvm", "tune=penalty"]).configuration["tune"]
    assert not {"gammas", "tolerance", "grids"} & set(plain)
    given = composed(["formulation=ranksvm", "tune=penalty", "tune.tolerance=1e-3"])
    assert given.configuration["tune"]["tolerance"] == 1e-3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tune=kernel"], "add kernel=rbf"),
        (["kernel=rbf", "tune=kernel", "formulation=bauc"], "neither: use formulation=ranksvm"),
        (["kernel=rbf", "tune=kernel", "tune.gammas=[]"], "tune.gammas is empty; give multiples > 0"),
        (["kernel=rbf", "tune=kernel", "tune.gammas=[-1]"], "multiples > 0"),
        (["kernel=rbf", "tune=kernel", "tune.values=[0.1]"], "tune.values is not a setting of tune=kernel"),
        (["kernel=rbf", "tune=kernel", "tune.tolerance=0"], "relative gap > 0"),
        (
            ["kernel=rbf", "tune=penalty", "tune.gammas=[1]"],
            "not a setting of tune=penalty; .* tune = kernel has it",
        ),
        (["kernel=precomputed", "tune=kernel", "split=none", "preprocess=none"], "no γ to select; use tune=auto"),
        (["tune=auto", "tune.tolerance=0.1", "formulation=logistic"], "baselines"),
    ],
)
def test_mistakes_are_named(words, message):
    given = words if any(word.startswith("formulation") for word in words) else ["formulation=ranksvm", *words]
    with pytest.raises(AuclabError, match=message), hydra_in_words(given):
        check_settings(composed(given))


def test_what_python_refuses(rings):
    X, y = rings
    with pytest.raises(AuclabError, match=r"tune\.gammas"):
        tune(X, y, RBF(1.0), gammas=[0.0])
    with pytest.raises(AuclabError, match="a list of finite numbers"):
        tune(X, y, RBF(1.0), values=[])
    with pytest.raises(AuclabError, match="predict_proba"):
        tune(X, y, RBF(1.0), metric="ferri_auc", tolerance=1e-2)
