"""The choices of a sweep are checked before its first job."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice, product

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep, Override
from hydra.errors import HydraException
from omegaconf import DictConfig, open_dict

from auclab.pipeline.config.compose import Experiment, conf_folder
from auclab.tracking.config import SWEEP_VARIABLE
from auclab.types import AuclabError

#: Settings that decide what table the jobs have.
_OF_TABLE = ("dataset", "preprocess")
#: Combinations of choices that are checked; each takes a tenth of a second.
_MOST = 50


def check_choices(config: DictConfig, grid: Sequence[str], sweep: str) -> list[str]:
    """Refuse a sweep with a choice that does not have the tuned parameter, or of which every combination is refused.

    So is a sweep of which no job can use the table, where that is the user's own and all jobs have the same.

    `config`: the composed configuration of the sweep. `grid`: its overrides as typed. `sweep`: its id. Returns: the
    formulations for which the weights of the classes make no difference.
    """
    from auclab.estimators.class_weights import cancels
    from auclab.pipeline.config.build import built
    from auclab.pipeline.config.checks import check_settings, check_tuning

    hydra = GlobalHydra.instance().hydra
    assert hydra is not None  # it runs the sweep
    first, accepted, unweighted = "", None, list[str]()
    overrides = [(each.key_or_group.partition(".")[0], each) for each in parsed(grid)]
    weighted = any(key == "class_weight" and {*_values(each)} - {"class_weight=null"} for key, each in overrides)
    for words, chosen in islice(combinations(grid), _MOST):
        try:
            job = hydra.config_loader.load_sweep_config(config, words)
        except HydraException:  # reported when Hydra composes the job
            return unweighted
        choices = dict(job.hydra.runtime.choices)
        with open_dict(job):
            del job["hydra"]
        experiment, of = Experiment(job, choices), f"{' '.join(chosen)}: " if chosen else ""
        try:
            check_tuning(experiment)
        except AuclabError as error:
            raise AuclabError(f"{of}{error}") from error
        try:
            check_settings(experiment)
            accepted = accepted or experiment
            name = str(choices["formulation"])
            if weighted and name not in unweighted and cancels(built(experiment, "formulation")):
                unweighted.append(name)
        except AuclabError as error:  # the other jobs may be run
            first = first or f"{of}{error}"
    if accepted is None:
        raise AuclabError(first)
    if not any(key in _OF_TABLE and each.is_sweep_override() for key, each in overrides):
        _check_file(accepted, sweep)
    return unweighted


def _check_file(experiment: Experiment, sweep: str) -> None:
    """Check the table of all jobs; those that run in this process find it read."""
    from auclab.pipeline.config.checks import check_file

    os.environ[SWEEP_VARIABLE] = sweep
    try:
        check_file(experiment)
    finally:
        del os.environ[SWEEP_VARIABLE]


def combinations(grid: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The overrides of one job for each combination of choices, and those choices; other settings have one value.

    Examples
    --------
    >>> grid = ["formulation=bauc,ranksvm", "formulation.norm=l1,l2", "tune=auto"]
    >>> for words, chosen in combinations(grid):
    ...     print(words, chosen)
    ['formulation=bauc', 'formulation.norm=l1', 'tune=auto'] ['formulation=bauc']
    ['formulation=ranksvm', 'formulation.norm=l1', 'tune=auto'] ['formulation=ranksvm']
    """
    overrides = parsed(grid)
    swept = [
        override.is_sweep_override() and (conf_folder() / override.key_or_group).is_dir() for override in overrides
    ]
    values = [
        _values(override) if of_group else _values(override)[:1]
        for override, of_group in zip(overrides, swept, strict=True)
    ]
    for words in product(*values):
        yield list(words), [word for word, of_group in zip(words, swept, strict=True) if of_group]


def parsed(grid: Sequence[str]) -> list[Override]:
    """Hydra's reading of overrides as typed."""
    found: list[Override] = OverridesParser.create().parse_overrides(list(grid))
    return found


def _values(override: Override) -> list[str]:
    """An override for each of its values; of an interval for its lower end."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    key = override.get_key_element()
    found = override.value()
    if isinstance(found, IntervalSweep):
        return [f"{key}={found.start}"]
    return [f"{key}={value}" for value in override.sweep_string_iterator()]
