"""One experiment: data, split, preprocess, solve, measure, show, keep."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from auclab.datasets.columns import sort_columns
from auclab.datasets.records import Split
from auclab.estimators.baselines import Baseline
from auclab.formulations import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.pipeline.config.checks import prepared_notes, refuse
from auclab.pipeline.config.compose import Experiment, build, built, load_dataset
from auclab.pipeline.config.settings import BoundsConfig
from auclab.pipeline.record.artifacts import copy_models
from auclab.pipeline.record.keep import record_run, write_run
from auclab.pipeline.screen.console import show_engine, working
from auclab.pipeline.screen.data_screen import foreseen, show_foreseen
from auclab.pipeline.screen.result_screen import show_run, show_solution
from auclab.pipeline.split.block_runs import check_block_run
from auclab.pipeline.split.constrained import constraints_of
from auclab.pipeline.split.fold import Metrics, score_on_inner_folds, solve_split
from auclab.pipeline.split.results import Fold, Result
from auclab.samples.tables import in_memory
from auclab.solvers.registry import check_solvable
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
    config, begin = experiment.config, perf_counter()
    dataset = load_dataset(experiment)
    splits, target = experiment.parts(dataset)
    dataset = dataset if target.is_plain else replace(dataset, ranked=target)
    held: Any = dataset.X
    if not in_memory(held):  # rows of files are read in file order
        splits = [Split(np.sort(split.train), np.sort(split.test), split.name) for split in splits]
        show_engine(held.engine)
    formulation: Program | Baseline = built(experiment, "formulation")
    metrics: Metrics = built(experiment, "metrics")
    if not in_memory(held):
        reading, solver = experiment.decision, experiment.solver.name
        check_block_run(splits, formulation, metrics, target, solver=solver, decision=reading, kernel=experiment.kernel)
    weighted = experiment.class_weight is not None
    untuned = experiment.given_tune.parameter is not None and experiment.tune.parameter is None
    labels = dataset.y[splits[0].train]
    n_features = held.shape[1]
    if formulation.kind == "mip" and hasattr(held, "iloc"):  # categories and dates have several features
        n_features = sum(sort_columns(dataset, **experiment.encoding).widths.values())
    show_foreseen(foreseen(formulation, labels, n_features, weighted=weighted, untuned=untuned))
    options: dict[str, Any] = {"solver": experiment.solver, "tune": experiment.tune, "bounds": experiment.bounds}
    options |= {"decision": experiment.decision, "class_weight": experiment.class_weight}
    if experiment.constraints:
        options["constraints"] = constraints = constraints_of(experiment.constraints, dataset, experiment.encoding)
        refuse(formulation.kind, formulation.name, constraints=constraints is not None)
        if constraints is not None:
            constraints.check()  # before inner folds are solved
            if isinstance(formulation, Program) and experiment.kernel is None:
                check_solvable(formulation, ColumnConstraints.of(1, max_features=constraints.constraints.max_features))
    if experiment.kernel is not None:
        options["kernel"] = experiment.kernel

    preprocessing = build(config.preprocess)(dataset)

    def solve(split: Split, **changed: Any) -> Fold:
        return solve_split(dataset, split, clone(preprocessing), formulation, metrics, **(options | changed))

    loose = _to_a_looser_gap(options, experiment.inner.tolerance)

    def solve_inner(split: Split) -> Fold:
        return solve(split, bounds=BoundsConfig(), decision=None, **loose)

    folds: list[Fold] = []
    for number, split in enumerate(splits, start=1):
        with working(f"{experiment.name} · split {number} of {len(splits)}"):
            inner = score_on_inner_folds(solve_inner, split, target, experiment.inner)
            folds.append(replace(solve(split, to_write=experiment.export is not None), inner=inner))
        if folds[-1].solution.status is Status.INTERRUPTED:
            break
    if len(folds) == 1:
        formulation = folds[0].formulation  # if tuned, the selected one
    prepared = prepared_notes(experiment, dataset)
    seconds = perf_counter() - begin
    return Result(experiment.name, dataset, formulation, tuple(folds), 1.0 - experiment.bounds.rho, seconds, prepared)


def _to_a_looser_gap(options: dict[str, Any], tolerance: float | None) -> dict[str, Any]:
    """Solver and kernel settings with their tolerances raised to at least `tolerance`."""
    settings = {key: options[key] for key in ("solver", "kernel") if key in options and tolerance is not None}
    return {key: replace(each, tolerance=max(each.tolerance, tolerance)) for key, each in settings.items()}
