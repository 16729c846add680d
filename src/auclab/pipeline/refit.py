"""A stored configuration fitted once more, to all rows."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from omegaconf import OmegaConf, open_dict

from auclab.pipeline.experiment import solve_splits
from auclab.pipeline.record.keep import SingleRun
from auclab.pipeline.screen.result_screen import show_solution
from auclab.pipeline.split.results import Result
from auclab.pipeline.stored.configuration import stored_experiment
from auclab.tracking import Run, TrackingConfig

#: The split without a test part, as conf/split/none.yaml has it.
ALL_ROWS = {"_target_": "auclab.datasets.splits.none", "_partial_": True}


def refit(
    folder: Path,
    tracking: TrackingConfig,
    *,
    choices: Mapping[str, str],
    command: str = "",
    allow: Sequence[str] = (),
) -> tuple[Result, Run]:
    """Fit the configuration of a run to all rows, tuning included; show it and keep it as a run of its own.

    Parameters
    ----------
    folder : Path
        Files of a run.
    tracking : TrackingConfig
        Where the new run is recorded.
    choices : mapping
        The choice of each group, for the name of the run.
    command : str
        The command of that run; it is kept with the new one, with ``split=none``.
    allow : sequence of str
        As in `auclab.pipeline.stored.configuration.stored_experiment`.

    Raises
    ------
    AuclabError
        As `stored_experiment` and `auclab.pipeline.experiment.run_experiment`.
    KeyboardInterrupt
        Ctrl-C.
    """
    stored = stored_experiment(folder, choices=choices, allow=allow)
    config = stored.config.copy()
    with open_dict(config):
        config["split"], config["tracking"] = OmegaConf.create(ALL_ROWS), OmegaConf.create(asdict(tracking))
    experiment = replace(stored, config=config, choices={**choices, "split": "none"}, command=on_all_rows(command))
    single_run = SingleRun(experiment, _output_folder())
    with single_run.failures():
        result = solve_splits(experiment)
    show_solution(result)
    return result, single_run.keep(result)


def on_all_rows(command: str) -> str:
    """A command of a run with another split: none.

    Examples
    --------
    >>> on_all_rows("python run.py formulation=ranksvm dataset=pima split.seed=3 split=kfold")
    'python run.py formulation=ranksvm dataset=pima split=none'
    """
    if not command:
        return ""
    words = [word for word in shlex.split(command) if not word.lstrip("+").startswith(("split=", "split."))]
    return shlex.join([*words, "split=none"])


def _output_folder() -> Path:
    now = datetime.now()
    return Path("outputs") / f"{now:%Y-%m-%d}" / f"{now:%H-%M-%S.%f}"


def tracking_of(experiment: str, store: str) -> TrackingConfig:
    """Settings that record a run in the store that a command was given, in an experiment.

    Examples
    --------
    >>> tracking_of("thesis", "my/runs").dir, tracking_of("thesis", "http://127.0.0.1:5000").uri
    ('my/runs', 'http://127.0.0.1:5000')
    """
    if "://" in store:
        return TrackingConfig(experiment=experiment, uri=store)
    return TrackingConfig(experiment=experiment, dir=store)
