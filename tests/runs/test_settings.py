"""Settings as records: what Hydra and a kept configuration may say."""

from dataclasses import replace

import pytest
from hydra.errors import HydraException
from omegaconf import OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from auclab._core.base import AuclabError
from auclab.runs.config.compose import compose_experiment
from auclab.runs.config.settings import (
    BoundsConfig,
    DecisionConfig,
    HighsConfig,
    SolverConfig,
    StabilityConfig,
    TuneConfig,
    typed,
)
from auclab.runs.tracking.address import TrackingConfig
from auclab.solvers.registry import SOLVERS, load_solver


def test_groups_are_records():
    experiment = compose_experiment(["solver=highs", "solver.encoding=dual", "bounds=[stability]", "tracking=none"])
    assert experiment.solver == HighsConfig(name="highs", encoding="dual")
    assert experiment.bounds == BoundsConfig(stability=StabilityConfig(a=1.0))
    assert experiment.tune == TuneConfig()
    assert experiment.tracking == TrackingConfig(name="none")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("solver.paris=full", "Key 'paris' not in 'SolverConfig'"),
        ("solver.tolerance=small", "Value 'small' of type 'str' could not be converted to Float"),
        ("bounds.rho=often", "could not be converted to Float"),
        ("bounds.stability.b=1", "Key 'b' not in 'StabilityConfig'"),
        ("kernel.degree=2", "Key 'degree' is not in struct"),
        ("tracking.folder=x", "Key 'folder' not in 'TrackingConfig'"),
    ],
)
def test_hydra_refuses_unknown_keys_and_wrong_types(override, message):
    with pytest.raises((HydraException, OmegaConfBaseException)) as refused:
        compose_experiment([override])
    assert message in f"{refused.value} {refused.value.__cause__}"


def test_a_wrong_type_is_told_in_the_words_of_the_setting():
    with pytest.raises(AuclabError, match=r"tune.folds is 'five'; it is a number of inner folds"):
        _ = compose_experiment(["formulation=ranksvm", "tune=penalty", "tune.folds=five"]).tune


def test_a_key_that_was_added_is_refused_with_the_choices():
    with pytest.raises(AuclabError, match=r"solver.paris is not a setting; solver has name, tolerance"):
        _ = compose_experiment(["solver=highs", "+solver.paris=full"]).solver


@pytest.mark.parametrize("name", SOLVERS)
def test_the_options_of_a_solver_are_those_it_takes(name):
    """`start` and such are for callers in Python; whatever a yaml may say, the solver has to take."""
    import inspect

    options = typed(OmegaConf.create({"name": name}), SolverConfig).options
    assert set(options) <= {"tolerance", "time_limit", *inspect.signature(load_solver(name)).parameters}


@pytest.mark.parametrize("name", [*SOLVERS, "auto"])
def test_defaults_of_a_record_are_those_of_the_yaml(name):
    experiment = compose_experiment([f"solver={name}"])
    assert experiment.solver == typed(OmegaConf.create({"name": name}), SolverConfig)


def test_kinds_of_bounds_that_are_left_out_are_no_parameters():
    params = compose_experiment(["formulation=bauc", "bounds=[stability]"]).params
    assert {key for key in params if key.startswith("bounds.")} == {"bounds.rho", "bounds.stability.a"}
    assert not any(key.startswith("tune.values") for key in params)


def test_groups_that_an_older_run_does_not_have_are_the_defaults():
    """A configuration without a group is one with its defaults."""
    experiment = compose_experiment([])
    older = experiment.config.copy()
    with open_dict(older):
        for group in ("tune", "decision"):
            del older[group]
    found = replace(experiment, config=older)
    assert found.tune == TuneConfig()
    assert found.decision == DecisionConfig()
