"""tune=auto: λ, z, the parameter of a baseline, or nothing, by the formulation."""

import pytest
from hydra.errors import HydraException

from auclab._core.base import AuclabError
from auclab.runs.config.compose import SYMBOLS, TUNABLE, compose_experiment
from auclab.runs.tracking.environment import fingerprint

TUNED = {
    **dict.fromkeys(("ranksvm", "csvm", "partial_auc"), "penalty"),
    **dict.fromkeys(("generalized_bauc", "ecsvm"), "threshold"),
    **dict.fromkeys(("bauc", "exact_auc", "lda")),
    "logistic": "C",
}


def composed(formulation, *words):
    return compose_experiment([f"formulation={formulation}", "tune=auto", *words])


@pytest.mark.parametrize(("formulation", "parameter"), TUNED.items())
def test_each_formulation_tunes_what_it_has(formulation, parameter):
    experiment = composed(formulation)
    assert experiment.tune.parameter == parameter
    assert experiment.configuration["tune"]["parameter"] == parameter
    if parameter is None:
        assert experiment.tune.values == []
        assert "tuned" not in experiment.name
        return
    grids = experiment.config.tune.grids
    assert experiment.tune.values == list(grids[parameter])
    assert f"{SYMBOLS[parameter]} tuned" in experiment.name
    assert experiment.params[f"formulation.{parameter}"] == "tuned"


@pytest.mark.slow
def test_it_is_the_same_experiment_as_the_one_that_names_the_parameter():
    """So a sweep with tune=auto takes what one with tune=penalty has finished, and bauc what an untuned one has."""
    auto, named = composed("ranksvm"), compose_experiment(["formulation=ranksvm", "tune=penalty"])
    assert fingerprint(auto.configuration) == fingerprint(named.configuration)
    auto, plain = composed("bauc"), compose_experiment(["formulation=bauc"])
    assert fingerprint(auto.configuration) == fingerprint(plain.configuration)


@pytest.mark.slow
def test_values_are_given_for_each_parameter():
    assert composed("logistic", "tune.grids.C=[1,2]").tune.values == [1.0, 2.0]
    with pytest.raises(HydraException, match=r"Could not override 'tune\.values'"):
        composed("ranksvm", "tune.values=[0.1]")
    assert composed("ranksvm", "tune.grids.penalty=[]").tune.values == []
    for wrong in ("null", "3", "[a]"):
        with pytest.raises(AuclabError, match=r"tune\.grids\.penalty is .* list of numbers"):
            _ = composed("ranksvm", f"tune.grids.penalty={wrong}").tune


def test_every_parameter_has_a_symbol():
    assert set(TUNABLE) <= set(SYMBOLS)
