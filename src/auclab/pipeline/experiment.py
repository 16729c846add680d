"""One experiment: data, split, preprocess, solve, measure, show, keep."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter

from auclab.datasets.records import Dataset
from auclab.estimators.baselines import Baseline
from auclab.formulations import Program
from auclab.pipeline.config.checks import prepared_notes
from auclab.pipeline.config.compose import Experiment, build, built, load_dataset
from auclab.pipeline.record.artifacts import copy_models, record_run, write_run
from auclab.pipeline.screen.console import show_engine, show_formulation, working
from auclab.pipeline.screen.result_screen import show_run, show_solution
from auclab.pipeline.split.constrained import checked_constraints
from auclab.pipeline.split.fold import Task, score_on_inner_folds, solve_split
from auclab.pipeline.split.measured import metrics_of
from auclab.pipeline.split.methods import method_of
from auclab.pipeline.split.results import Fold, Result
from auclab.pipeline.split.summarised_part import check_block_run
from auclab.tracking.record import RunRecord
from auclab.tracking.sync import computing, sync_run
from auclab.types import AuclabError, Status


def run_experiment(
    experiment: Experiment, *, folder: str | Path, begun: float | None = None
) -> tuple[Result, RunRecord]:
    """Run a single experiment: compute, show the answer, record the run in its folder, send it to the store.

    `experiment`: a composed configuration (`auclab.pipeline.config.compose.compose_experiment`). `folder`: output
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
    task = _task(experiment, dataset, formulation)
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
    prepared = prepared_notes(experiment, dataset)
    seconds = perf_counter() - begin
    return Result(experiment.name, dataset, formulation, tuple(folds), 1.0 - experiment.bounds.rho, seconds, prepared)


def _task(experiment: Experiment, dataset: Dataset, formulation: Program | Baseline) -> Task:
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
