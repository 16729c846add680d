"""Experiments composed as `run.py` composes them, run in this process."""

import re
from copy import deepcopy
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
#: A plain ``key=value``, neither an addition nor a deletion.
_PLAIN = re.compile(r"(?!hydra\.)[A-Za-z_][\w.]*=")


def composed(overrides=()):
    """`compose_experiment`, which asks Hydra once for overrides that differ in their values alone.

    Hydra takes 80 ms, and setting values in a copy 15 ms. What cannot be set is left to Hydra, which has words for it.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from auclab.runs.config.compose import Experiment, compose_experiment
    from auclab.runs.config.settings import with_formulation

    words = with_formulation(overrides)
    values = {number: _value(word) for number, word in enumerate(words) if _sets_a_value(word)}
    first = _first(tuple(word for number, word in enumerate(words) if number not in values))
    config, choices = deepcopy(first)
    try:
        for number, value in values.items():
            OmegaConf.update(config, words[number].partition("=")[0], value, merge=True)
    except OmegaConfBaseException:
        return compose_experiment(overrides)
    return Experiment(config, choices)


@cache
def _first(words):
    """The configuration that these choices of groups have, and the choices."""
    from auclab.runs.config.compose import compose_experiment

    experiment = compose_experiment(words)
    return experiment.config, experiment.choices


def _sets_a_value(word):
    """Whether an override sets a number, a string or a list, and neither chooses a group nor merges a mapping."""
    key = word.partition("=")[0]
    return bool(_PLAIN.match(word)) and not _is_group(key) and not isinstance(_value(word), dict)


@cache
def _is_group(key):
    from auclab.runs.config.compose import conf_folder

    return (conf_folder() / key).is_dir()


@cache
def _value(word):
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create().parse_overrides([word])[0].value()


def run_here(folder, *overrides, command="", parent=None):
    """The result of ``python run.py`` with `overrides`; files go below `folder`, without a database unless asked.

    `parent`: the run is recorded as a job of that sweep.
    """
    from dataclasses import replace

    from auclab.runs.config.typed_words import quoted_where_needed
    from auclab.runs.experiment import run_experiment

    if not any(word.startswith(("formulation=", "experiment=")) for word in overrides):
        overrides = ("formulation=bauc", *overrides)  # which has nothing to tune, unlike the default
    # The folder may have spaces and umlauts, as in a command.
    experiment = replace(composed(quoted_where_needed(["tracking=none", *overrides])), command=command)
    if parent is None:
        return run_experiment(experiment, folder=folder)[0]
    from auclab.runs.experiment import solve_splits
    from auclab.runs.record.artifacts import record_run, write_run
    from auclab.runs.tracking.sync import computing, sync_run

    with computing(folder, experiment.tracking) as pending:
        with record_run(experiment, folder, sweep="a sweep", parent=parent) as run:
            result = solve_splits(experiment)
            write_run(result, experiment, run)
        sync_run(pending)
    return result
