"""Refit a stored configuration with other settings, on other rows, or on all rows."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict

from auclab.datasets.overrides import override
from auclab.pipeline.config.checks import check_data, check_settings
from auclab.pipeline.config.compose import OBJECTS, Experiment, conf_folder, plain_yaml
from auclab.pipeline.experiment import run_experiment
from auclab.pipeline.screen.data_screen import show_data
from auclab.pipeline.split.results import Result
from auclab.pipeline.stored.configuration import stored_experiment
from auclab.tracking.config import TrackingConfig
from auclab.tracking.record import RunRecord
from auclab.types import AuclabError
from auclab.wording import did_you_mean


def refit(
    folder: Path,
    tracking: TrackingConfig,
    settings: Sequence[str] = ("split=none",),
    *,
    choices: Mapping[str, str],
    command: str = "",
    allow: Sequence[str] = (),
) -> tuple[Result, RunRecord]:
    """Refit a run's configuration with other settings, tuning included; print it and store it as a new run.

    `folder`: files of a run. `tracking`: where the new run is recorded. `settings`: as typed on the command line; by
    default all rows are used. `choices`: the choice of each group, for the name of the run. `command`: the command of
    the old run; the new run stores it with `settings` applied. `allow`: as in
    `auclab.pipeline.stored.configuration.stored_experiment`.
    """
    stored = stored_experiment(folder, choices=choices, allow=allow)
    config = stored.config.copy()
    with open_dict(config):
        config["tracking"] = OmegaConf.create(asdict(tracking))
    kept = with_settings(command, settings)
    experiment = changed(replace(stored, config=config, command=kept), settings)
    show_data(*check_data(experiment))
    return run_experiment(experiment, folder=_output_folder())


def changed(experiment: Experiment, settings: Sequence[str]) -> Experiment:
    """An experiment with other settings, as typed on the command line: ``dataset.path=new.csv``, ``split=none``."""
    config, choices = experiment.config.copy(), dict(experiment.choices)
    for word in settings:
        try:
            read = OverridesParser.create().parse_override(word)
        except HydraException:
            example = override("dataset.path", word) if Path(word).is_file() else "dataset.path=new.csv"
            raise AuclabError(f"{word!r} is not a setting; write KEY=VALUE, such as {example}") from None
        if read.is_sweep_override() or read.is_add() or read.is_delete():
            raise AuclabError(f"{word}: one value each, without + and ~; auclab run -m makes sweeps")
        key, value = str(read.key_or_group), read.value()
        with open_dict(config):
            if key in OBJECTS or (conf_folder() / key).is_dir():
                config[key], choices[key] = OmegaConf.create(_choice(key, str(value))), str(value)
            else:
                _set(config, choices, key, value)
    made = replace(experiment, config=config, choices=choices)
    check_settings(made)
    return made


def _choice(group: str, name: str) -> dict[str, Any]:
    """A self-contained yaml file of conf/."""
    path = conf_folder() / group / f"{name}.yaml"
    if not path.is_file():
        choices = sorted(each.stem for each in (conf_folder() / group).glob("*.yaml"))
        raise AuclabError(
            f"{group}={name} does not exist{did_you_mean(name, choices)}; choices are {', '.join(choices)}"
        )
    plain = plain_yaml(path)
    if group in ("metrics", "experiment", "hydra") or "defaults" in plain:
        raise AuclabError(f"{group}={name} cannot be changed in a stored configuration; use auclab run")
    return plain


def _set(config: DictConfig, choices: Mapping[str, str], key: str, value: Any) -> None:
    """Set one value; a setting newer than the run's version is added."""
    group, _, name = key.rpartition(".")
    place: Any = OmegaConf.select(config, group) if group else config
    known = [str(each) for each in place if not str(each).startswith("_")] if OmegaConf.is_dict(place) else []
    path = conf_folder() / group / f"{choices.get(group, '')}.yaml"
    later = plain_yaml(path) if path.is_file() else {}
    if name.startswith("_") or (name not in known and name not in later):
        near = did_you_mean(name, known)
        raise AuclabError(f"{key} is not a setting of the run{near}; it has {', '.join(known or map(str, config))}")
    OmegaConf.update(config, key, value, force_add=True)


def with_settings(command: str, settings: Sequence[str]) -> str:
    """The command of a run with some settings replaced or added.

    Examples
    --------
    >>> with_settings("auclab run dataset=file dataset.path=old.csv split.seed=1", ["dataset.path=new.csv"])
    'auclab run dataset=file split.seed=1 dataset.path=new.csv'
    """
    if not command:
        return ""
    if tuple(settings) == ("split=none",):
        return on_all_rows(command)
    keys = {word.partition("=")[0] for word in settings}
    words = [word for word in shlex.split(command) if word.lstrip("+").partition("=")[0] not in keys]
    return shlex.join([*words, *settings])


def on_all_rows(command: str) -> str:
    """The command of a run with ``split=none``."""
    if not command:
        return ""
    words = [word for word in shlex.split(command) if not word.lstrip("+").startswith(("split=", "split."))]
    return shlex.join([*words, "split=none"])


def _output_folder() -> Path:
    now = datetime.now()
    return Path("outputs") / f"{now:%Y-%m-%d}" / f"{now:%H-%M-%S.%f}"


def tracking_of(experiment: str, store: str) -> TrackingConfig:
    """Tracking settings for the store given to a command, and for an experiment.

    Examples
    --------
    >>> tracking_of("thesis", "my/runs").dir, tracking_of("thesis", "http://127.0.0.1:5000").uri
    ('my/runs', 'http://127.0.0.1:5000')
    """
    if "://" in store:
        return TrackingConfig(experiment=experiment, uri=store)
    return TrackingConfig(experiment=experiment, dir=store)
