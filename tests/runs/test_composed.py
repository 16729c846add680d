"""What the tests compose in one step is what `auclab run` composes."""

import pytest
from hydra.errors import HydraException

from auclab.runs.config.compose import compose_experiment
from composed import composed

WORDS = [
    ["formulation=bauc", "split.seed=3"],
    ["dataset=artificial", "dataset.n_pos=20", "formulation=ranksvm", "formulation.penalty=0.1", "tracking=none"],
    ["split.seed=3"],
    ["tune=auto", "formulation.squared=false"],
    ["constraints.max_features=3", "formulation=ranksvm"],
    ["metrics=[auc,bauc]", "figures=test", "tracking.dir=/tmp/a folder"],
    ["formulation=ranksvm", "tune=penalty", "tune.values=[0.1,1]", "decision.threshold=[fpr,0.05]"],
    ["class_weight={negative: 1, positive: 5}", "formulation=csvm", "bounds=none"],
    ["solver=newton", "solver.time_limit=3", "inner.folds=3", "data_dir=null"],
    ["formulation=scorecard"],
]


@pytest.mark.parametrize("words", WORDS, ids=map(" ".join, WORDS))
def test_it_is_the_composed_configuration(words):
    composed(words)  # the second one is a copy
    given, made = compose_experiment(words), composed(words)
    assert made.config == given.config
    assert (made.configuration, made.params, made.choices) == (given.configuration, given.params, given.choices)


@pytest.mark.parametrize("word", ["solver.time_limit=soon", "solver.paris=1", "split=none_such", "inner.folds=[1]"])
def test_what_cannot_be_set_has_hydras_words(word):
    with pytest.raises(HydraException) as expected:
        compose_experiment(["formulation=bauc", word])
    with pytest.raises(type(expected.value)) as raised:
        composed(["formulation=bauc", word])
    assert str(raised.value) == str(expected.value)


def test_a_changed_configuration_is_not_that_of_the_next():
    composed(["formulation=bauc"]).config.split.seed = 5
    assert composed(["formulation=bauc"]).config == compose_experiment(["formulation=bauc"]).config
