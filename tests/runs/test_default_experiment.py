"""Without a formulation, an experiment is the one that is recommended; with one, it is that."""

import numpy as np
import pytest
from omegaconf import OmegaConf

from auclab.estimators import AUCClassifier
from auclab.runs.config.compose import compose_experiment, load_dataset
from auclab.runs.config.settings import linear_notes, with_formulation
from auclab.runs.experiment import solve_splits
from auclab.solvers.registry import SOLVERS
from composed import composed


def test_the_default_is_tuned_and_squared():
    experiment = compose_experiment(["dataset=ionosphere"])
    assert experiment.choices["formulation"] == "ranksvm"
    assert experiment.config.formulation.squared
    assert experiment.tune.parameter == "penalty"
    assert experiment.name == "ranksvm λ tuned l2² · ionosphere · seed 0 · auto"


@pytest.mark.parametrize("words", [["formulation=bauc"], ["formulation=ranksvm"], ["formulation=csvm", "split.seed=3"]])
def test_a_formulation_that_is_named_is_as_it_was(words):
    experiment = compose_experiment(words)
    assert experiment.tune.parameter is None
    assert not experiment.config.formulation.get("squared")


def test_a_penalty_that_is_given_is_not_tuned():
    experiment = compose_experiment(["formulation.penalty=0.5"])
    assert (experiment.config.formulation.penalty, experiment.tune.parameter) == (0.5, None)
    tuned = compose_experiment(["tune=auto", "formulation.squared=false"])
    assert (tuned.config.formulation.squared, tuned.tune.parameter) == (False, "penalty")


def test_rows_in_blocks_are_not_tuned():
    experiment = compose_experiment(["dataset=blocks", "dataset.path=x"])
    assert (experiment.choices["formulation"], experiment.tune.parameter) == ("ranksvm", None)


def hydra_of(*words):
    """What Hydra knows of a run: its settings as typed, and its primary configuration."""
    return OmegaConf.create({"overrides": {"task": list(words)}, "job": {"config_name": "config"}})


@pytest.mark.parametrize("name", ["csvm", "ecsvm", "generalized_bauc", "partial_auc", "ranksvm"])
def test_a_norm_that_is_not_chosen_is_that_of_a_linear_program_where_the_solver_takes_no_other(name):
    for solver in ("auto", *SOLVERS):
        experiment = compose_experiment([f"formulation={name}", f"solver={solver}"])
        linear = solver in SOLVERS and SOLVERS[solver].capabilities.linear_only
        assert experiment.config.formulation.norm == ("l1" if linear else "l2")
        notes = list(linear_notes(experiment.config, hydra_of(f"formulation={name}")))
        assert [note.startswith(f"solver={solver} takes linear programs: a norm") for note in notes] == [True] * linear
    chosen = compose_experiment([f"formulation={name}", "solver=highs", "formulation.norm=linf"])
    assert chosen.config.formulation.norm == "linf"
    assert list(linear_notes(chosen.config, hydra_of(f"formulation={name}"))) == []


def test_highs_alone_fits_another_formulation_and_says_why():
    for words in (["solver=highs"], ["solver=newton,highs"]):
        assert with_formulation(words) == words
    experiment = compose_experiment(["solver=highs"])
    assert experiment.choices["formulation"] == "bauc"
    (note,) = linear_notes(experiment.config, hydra_of("solver=highs"))
    assert note.startswith("solver=highs takes linear programs, and without a formulation it fits bauc")
    assert list(linear_notes(experiment.config, hydra_of("solver=highs", "formulation=bauc"))) == []


@pytest.mark.slow
@pytest.mark.covering(dataset=1)
@pytest.mark.parametrize("dataset", ["breast_cancer", "artificial", "artificial dataset.n_pos=40 dataset.n_neg=150"])
def test_the_default_is_that_of_the_classifier(dataset):
    """λ, objective and coefficients, on columns that are not scaled: a run scales them anew on every inner fold."""
    words = [f"dataset={dataset.split()[0]}", *dataset.split()[1:], "preprocess=none", "decision.probability=none"]
    experiment = composed(with_formulation([*words, "tracking=none", "bounds=none"]))
    fold = solve_splits(experiment).folds[0]
    data = load_dataset(experiment)
    rows = np.asarray(data.X)[fold.split.train]
    classifier = AUCClassifier().fit(rows, data.y[fold.split.train])
    found = classifier.solution_
    assert found.formulation == fold.solution.formulation
    assert found.objective == fold.solution.objective
    assert found.coef.tolist() == fold.solution.coef.tolist()
