"""What a run says of pieces of a user that it cannot take, and a classifier without an intercept."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier

from auclab import AuclabError
from auclab._core.words import few
from auclab.bounds import Bound
from auclab.datasets import Dataset
from auclab.estimators.baselines import AnyClassifier, BaselineFit
from auclab.inference import estimate
from auclab.metrics import ScoredPart
from auclab.runs.checking.command import check_folder
from auclab.runs.config.checks import check_settings
from auclab.runs.config.compose import load_dataset
from auclab.runs.screen.console import foreseen, next_commands, plain_errors
from auclab.runs.screen.result_screen import BoundLine, best_of
from auclab.runs.split.guarantees import Guarantee
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.record import RunRecord
from composed import composed, run_here

OUTER = ("dataset=artificial", "~dataset.n_pos", "~dataset.n_neg", "~dataset.n_features", "~dataset.seed")
SMALL = ("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=60", "bounds=none", "formulation=bauc")


def too_short(y_true, y_score, *, rho):
    """A bound without a number."""
    return Bound(np.nan, 0.0, False, ())


def certain(y_true, y_score, *, rho):
    """A bound that nobody has proved."""
    return Bound(0.9999, 0.0, False, ())


def missed(y_true, y_score):
    """A share of errors."""
    return float(np.mean((y_score > 0) != y_true))


missed.greater_is_better = False


def much(y_true, y_score):
    """Text."""
    return "much"


def nothing(y_true, y_score):
    """No value."""
    return np.nan


def unfinished(y_true, y_score):
    """A mistake."""
    return y_score + None


class Own(ClassifierMixin, BaseEstimator):
    """A classifier with a number."""

    def __init__(self, cut=0.0):
        self.cut = cut

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def toy(scale=1.0):
    """Two columns, of which one tells the label."""
    X = scale * np.random.default_rng(0).normal(size=(40, 2))
    return Dataset("toy", X, X[:, 0] > 0)


def no_dataset():
    """A table alone."""
    return pd.DataFrame(np.eye(3))


def test_data_of_a_function_have_a_checksum():
    sums = {
        load_dataset(composed((*OUTER, f"dataset._target_={__name__}.toy", *scale))).sha256
        for scale in ((), ("+dataset.scale=1.0",), ("+dataset.scale=2.0",))
    }
    assert len(sums) == 2
    assert all(map(len, sums))


def test_a_function_has_to_return_a_dataset():
    with pytest.raises(AuclabError, match=r"no_dataset returned a DataFrame; a Dataset is needed: auclab.datasets"):
        load_dataset(composed((*OUTER, f"dataset._target_={__name__}.no_dataset")))


@pytest.mark.slow
def test_the_run_says_what_is_the_users_and_the_check_confirms_no_bound_of_theirs(tmp_path):
    names = [f"{__name__}.{name}" for name in ("certain", "missed")]
    pieces = (f"+bounds.own.mine._target_={names[0]}", f"+metrics.missed={{_target_:{names[1]},_partial_:true}}")
    run_here(tmp_path, "bounds=default", *(word for word in SMALL if word != "bounds=none"), *pieces)
    tags = RunRecord.read(tmp_path).tags
    assert tags["better.missed"] == "low"
    assert ", pieces " in tags["config.code"]
    claims = [claim for check in check_folder(tmp_path, allow=names) for claim in check.claims]
    assert [(claim.name, claim.claimed) for claim in claims if claim.verdict == "not checked"] == [
        ("bound mine", "AUC ≥ 0.9999")
    ]


def test_a_bound_of_the_users_is_best_only_where_no_other_says_anything():
    lines = [
        BoundLine.of(Guarantee(name, "AUC", "test", 0.8, Bound(lower, 0.1, lower <= 0, ()), own=own))
        for name, lower, own in (("mine", 0.7, True), ("proved", 0.6, False), ("vacuous", 0.0, False))
    ]
    assert best_of(lines).name == "proved"
    assert best_of([lines[0], lines[2]]) is None
    assert lines[0].statement == "AUC ≥ 0.7000 (yours, not proved)"


def test_pairs_by_row_numbers_are_refused():
    pairs = "formulation.comparisons={_target_:auclab.margins.Bicliques,upper:[[0]],lower:[[1]]}"
    with pytest.raises(
        AuclabError, match=r"names pairs by row numbers, and a run splits its rows; give them in Python"
    ):
        check_settings(composed(("formulation=composed", pairs)))


def test_a_module_that_is_not_found_is_named_with_what_to_do():
    with pytest.raises(AuclabError, match=r"No module named 'nowhere' \(a module of your own .* PYTHONPATH\)"):
        check_settings(composed(("formulation=composed", "formulation.loss._target_=nowhere.Loss")))


def test_a_module_that_cannot_be_imported_is_named_with_the_cause(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "unfinished_piece.py").write_text("loss = X\n", encoding="utf-8")
    for name, cause in (
        ("unfinished_piece.Loss", "NameError: name 'X' is not defined"),
        ("csv.Loss", "csv has no Loss"),
    ):
        with pytest.raises(AuclabError, match=f"target '{name}'.*; {cause}$"):
            check_settings(composed(("formulation=composed", f"formulation.loss._target_={name}")))


def test_a_metric_that_returns_no_number_is_named():
    words = (f"+metrics.much={{_target_:{__name__}.much,_partial_:true}}", "formulation=ranksvm")
    with pytest.raises(AuclabError, match=r"metrics\.much: the metric much returned 'much'; a number is needed"):
        check_settings(composed(words))
    with pytest.raises(AuclabError, match=r"function nothing.* returned nan; an interval needs a number"):
        estimate(np.arange(20) % 2, np.arange(20.0), nothing, method="bootstrap")


def test_an_error_in_a_piece_is_one_line_and_one_of_auclab_keeps_its_traceback(capsys):
    with pytest.raises(SystemExit), plain_errors(lambda line: SystemExit(1)):
        ScoredPart(np.array([0, 1]), np.array([0.0, 1.0])).value(unfinished)
    assert re.fullmatch(rf"error: {__name__}.unfinished raised TypeError: .* \(line \d+\)\n", capsys.readouterr().err)
    with pytest.raises(TypeError), plain_errors(lambda line: SystemExit(1)):
        few(None)


def test_a_parameter_that_a_classifier_lacks_is_named_before_its_values():
    tuned = ("formulation=forest", "formulation.tunable=max_leafs", "tune=auto")
    with pytest.raises(AuclabError, match=r"not a parameter of RandomForestClassifier \(did you mean 'max_leaf"):
        check_settings(composed(tuned))


def test_a_classifier_of_the_users_is_tuned_and_allowed_by_name():
    (note,) = foreseen(AnyClassifier(estimator=Own()), np.array([0, 1]), 2, untuned=True)
    assert note.endswith(
        f"to choose cut: formulation=sklearn formulation.estimator._target_={__name__}.Own formulation.tunable=cut "
        "tune=auto '+tune.grids.cut=[…]'"
    )
    for classifier, allow in ((Own(), f" --allow {__name__}.Own"), (RandomForestClassifier(), "")):
        commands = next_commands(TrackingConfig(), "ab", predicts=True, classifier=classifier)
        assert commands[1] == f"auclab predict ab NEW.csv{allow}"


def test_the_name_of_a_run_has_the_numbers_that_its_file_of_settings_has_not():
    assert composed(("formulation=forest", "tune=none")).name.startswith("forest · ")
    changed = ("formulation=forest", "tune=none", "formulation.estimator.n_estimators=20")
    assert composed(changed).name.startswith("forest n_estimators=20 · ")
    own = f"dataset._target_={__name__}.toy"
    name = composed(("formulation=ranksvm", "formulation.penalty=1", *OUTER, own, "+dataset.scale=2.0")).name
    assert " · artificial scale=2 · " in name


@pytest.mark.slow
def test_a_bound_without_a_number_is_refused(tmp_path):
    with pytest.raises(AuclabError, match=r"bounds.own.short returned Bound\(lower=nan.*; return auclab.bounds.Bound"):
        run_here(tmp_path, *SMALL, f"+bounds.own.short._target_={__name__}.too_short")


def test_coefficients_without_an_intercept_are_not_taken_for_a_linear_scorer():
    class OnlyCoefficients:
        coef_ = np.ones(2)

        def decision_function(self, X):
            return X @ self.coef_

    fit = BaselineFit(OnlyCoefficients(), None, None)
    assert fit.coef is None
    assert fit.decision_function(np.eye(2)).tolist() == [1.0, 1.0]
