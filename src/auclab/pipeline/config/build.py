"""Instantiate the objects that the configuration names."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from auclab.tracking.address import SWEEP_VARIABLE
from auclab.types import AuclabError

if TYPE_CHECKING:
    from auclab.datasets.records import Dataset
    from auclab.pipeline.config.compose import Experiment


def load_dataset(experiment: Experiment) -> Dataset:
    """The data set of an experiment, loaded once; jobs of a sweep that run in one process share it."""
    sweep = os.environ.get(SWEEP_VARIABLE)
    if sweep is None:
        return experiment.once("dataset", lambda: build(experiment.config.dataset))
    from auclab.datasets.cache import load_cached

    # With the id of the sweep: a worker may outlive it, and files may change.
    key = json.dumps([sweep, experiment.configuration["dataset"]], sort_keys=True, default=str)
    return load_cached(key, lambda: build(experiment.config.dataset))


def built(experiment: Experiment, group: str) -> Any:
    """The object that a group of an experiment names, made once; the checks before a solve may have made it.

    `group`: one with an object that is never modified.
    """
    return experiment.once(group, lambda: build(experiment.config[group]))


def build(config: Any) -> Any:
    """Instantiate a configuration; errors of the object are raised unchanged.

    Any callable that it names is called. A configuration that was read from a store comes from
    `auclab.pipeline.stored.configuration.stored_experiment`, which refuses names that are not allowed.

    `config`: with ``_target_`` and arguments; without ``_target_``, its entries are instantiated.
    """
    import hydra

    # Hydra 1.4 asks who decides what may be called: here the user's own configuration, else `stored_experiment`.
    decided = getattr(hydra.utils, "UNSAFE_DISABLE_EXECUTION_CHECKS", None)
    policy = {} if decided is None else {"_execution_whitelist_": decided}
    try:
        # Lists and dictionaries, not OmegaConf's.
        return hydra.utils.instantiate(config, _convert_="all", **policy)
    except hydra.errors.InstantiationException as error:
        if isinstance(error.__cause__, AuclabError | OSError):
            raise error.__cause__ from None
        raise AuclabError(" ".join(str(error).split())) from error
