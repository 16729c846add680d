"""One experiment: load, split, fit, measure, decide, record; and a fit on all rows."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter

from omegaconf import OmegaConf, open_dict

from auclab._core.base import AuclabError, Status
from auclab.datasets.records import Dataset
from auclab.estimators.baselines import Baseline
from auclab.formulations import Program
from auclab.runs.config.checks import check_data, check_settings, leaks_of_run, prepared_notes
from auclab.runs.config.compose import Experiment, build, built, conf_folder, load_dataset, plain_yaml
from auclab.runs.record.artifacts import copy_models, record_run, write_run
from auclab.runs.screen.console import show_data, show_engine, show_formulation, working
from auclab.runs.screen.result_screen import show_run, show_solution
from auclab.runs.split.constrained import checked_constraints
from auclab.runs.split.fold import Task, score_on_inner_folds, solve_split
from auclab.runs.split.measured import metrics_of
from auclab.runs.split.methods import method_of
from auclab.runs.split.results import Fold, Result
from auclab.runs.split.summarised_part import check_block_run
from auclab.runs.stored.configuration import stored_experiment
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.record import RunRecord
from auclab.runs.tracking.sync import computing, sync_run


def run_experiment(
    experiment: Experiment, *, folder: str | Path, begun: float | None = None
) -> tuple[Result, RunRecord]:
    """Run a single experiment: compute, show the answer, record the run in its folder, send it to the store.

    `experiment`: a composed configuration (`auclab.runs.config.compose.compose_experiment`). `folder`: output
    folder. `begun`: `time.monotonic` at the start of the command, by default now; the seconds since then are printed.
    """
    folder, begun = Path(folder), monotonic() if begun is None else begun
    with computing(folder, experiment.tracking) as pending:
        try:
            with record_run(experiment, folder) as run:
                result = solve_splits(experiment)
                show_solution(result, whole=pending is None)
                write_run(result, experiment, run)
        except BaseException:  # also Ctrl-C: it is raised again
            with suppress(AuclabError):  # the failure itself is reported; the next command sends its record
                sync_run(pending)
            raise
        record = sync_run(pending) or run.record
    models = copy_models(record.files_folder, len(result.folds), experiment.export)
    show_run(result, record, monotonic() - begun, models)
    if result.interrupted:
        raise KeyboardInterrupt
    return result, record


def solve_splits(experiment: Experiment) -> Result:
    """Load the data, split, solve every split and measure; nothing is written."""
    begin = perf_counter()
    dataset, splits = experiment.parts(load_dataset(experiment))
    formulation: Program | Baseline = built(experiment, "formulation")
    show_engine(getattr(dataset.X, "engine", None))
    check_block_run(experiment, dataset, splits, formulation)
    show_formulation(experiment, dataset, splits[0].train, formulation)
    task = task_of(experiment, dataset, formulation)
    inner = partial(solve_split, task.on_inner_folds(experiment.inner.tolerance))

    folds: list[Fold] = []
    for number, split in enumerate(splits, start=1):
        with working(f"{experiment.name} · split {number} of {len(splits)}"):
            scores = score_on_inner_folds(inner, split, dataset.target, experiment.inner)
            folds.append(replace(solve_split(task, split), inner=scores))
        if folds[-1].solution.status is Status.INTERRUPTED:
            break
    if len(folds) == 1:
        formulation = folds[0].formulation  # if tuned, the selected one
    notes = prepared_notes(experiment, dataset), leaks_of_run(experiment, dataset, splits[0].train)
    seconds = perf_counter() - begin
    return Result(experiment.name, dataset, formulation, tuple(folds), 1.0 - experiment.bounds.rho, seconds, *notes)


def task_of(experiment: Experiment, dataset: Dataset, formulation: Program | Baseline) -> Task:
    """What an experiment does with each of its splits."""
    method = method_of(
        formulation,
        experiment.solver,
        class_weight=experiment.class_weight,
        kernel=experiment.kernel,
        ranked=not dataset.target.is_of_classes,
        constraints=checked_constraints(experiment, dataset, formulation),
    )
    return Task(
        dataset,
        build(experiment.config.preprocess)(dataset),
        method,
        metrics_of(dataset.target, built(experiment, "metrics")),
        experiment.tune,
        experiment.bounds,
        experiment.decision,
        to_write=experiment.export is not None,
    )


def refit(
    folder: Path, tracking: TrackingConfig, *, choices: Mapping[str, str], command: str = "", allow: Sequence[str] = ()
) -> tuple[Result, RunRecord]:
    """Refit a run's configuration on all rows, tuning included; print it and store it as a new run.

    `folder`: files of a run. `tracking`: where the new run is recorded. `choices`: the choice of each group, for the
    name of the run. `command`: the command of the old run; the new run stores it with ``split=none``. `allow`: as in
    `auclab.runs.stored.configuration.stored_experiment`.
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
