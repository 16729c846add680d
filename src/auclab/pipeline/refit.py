"""Refit a stored configuration on all rows."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from omegaconf import OmegaConf, open_dict

from auclab.pipeline.config.checks import check_data, check_settings
from auclab.pipeline.config.compose import conf_folder, plain_yaml
from auclab.pipeline.experiment import run_experiment
from auclab.pipeline.screen.console import show_data
from auclab.pipeline.split.results import Result
from auclab.pipeline.stored.configuration import stored_experiment
from auclab.tracking.address import TrackingConfig
from auclab.tracking.record import RunRecord


def refit(
    folder: Path, tracking: TrackingConfig, *, choices: Mapping[str, str], command: str = "", allow: Sequence[str] = ()
) -> tuple[Result, RunRecord]:
    """Refit a run's configuration on all rows, tuning included; print it and store it as a new run.

    `folder`: files of a run. `tracking`: where the new run is recorded. `choices`: the choice of each group, for the
    name of the run. `command`: the command of the old run; the new run stores it with ``split=none``. `allow`: as in
    `auclab.pipeline.stored.configuration.stored_experiment`.
    """
    stored = stored_experiment(folder, choices=choices, allow=allow)
    config = stored.config.copy()
    with open_dict(config):
        config["tracking"] = OmegaConf.create(asdict(tracking))
        config["split"] = OmegaConf.create(plain_yaml(conf_folder() / "split" / "none.yaml"))
    chosen = {**stored.choices, "split": "none"}
    experiment = replace(stored, config=config, choices=chosen, command=on_all_rows(command))
    check_settings(experiment)
    show_data(*check_data(experiment))
    return run_experiment(experiment, folder=_output_folder())


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
