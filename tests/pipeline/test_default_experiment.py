"""Without a formulation, an experiment is the one that is recommended; with one, it is that."""

import numpy as np
import pytest

from auclab.estimators import AUCClassifier
from auclab.pipeline.config.build import load_dataset
from auclab.pipeline.config.compose import compose_experiment
from auclab.pipeline.config.default_experiment import with_formulation
from auclab.pipeline.experiment import solve_splits
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


@pytest.mark.slow
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
