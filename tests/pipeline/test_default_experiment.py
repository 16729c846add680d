"""Without a formulation, an experiment is the one that is recommended; with one, it is that."""

import pytest

from auclab.pipeline.config.compose import compose_experiment


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
