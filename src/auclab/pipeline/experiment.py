"""The whole story of one experiment: data, split, preprocess, solve, measure, keep, show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from omegaconf import DictConfig, OmegaConf
from sklearn.pipeline import make_pipeline

from auclab.datasets.records import Dataset, Split
from auclab.datasets.splits import take_rows
from auclab.estimators import AUCClassifier
from auclab.formulations import Program
from auclab.inference import estimate
from auclab.inference.catalogue import find_metric
from auclab.pipeline.artifacts import write_artifacts
from auclab.pipeline.console import working
from auclab.pipeline.guarantees import Guarantee, Sample, find_guarantees
from auclab.pipeline.result_screen import show_line, show_result
from auclab.pipeline.results import Fold, Part, Result
from auclab.pipeline.run_name import flatten, run_name
from auclab.pipeline.tuning import Tuning, tune
from auclab.samples.blocks.table import BlockTable
from auclab.solvers.interrupt import interruptible
from auclab.solvers.optimum import read_optimum
from auclab.solvers.solution import Solution
from auclab.tracking import HASH_TAG, SETTINGS_TAG, Record, fingerprint, open_run, save_model
from auclab.types import Array, AuclabError, Status

Build = Callable[[DictConfig], Any]
Metrics = Mapping[str, Callable[[NDArray[np.int64], Array], float]]

#: Rows shown to MLflow, which reads names and types of the columns off them.
SIGNATURE_ROWS = 5

#: Confidence level of the intervals beside the metrics of the held-out part.
LEVEL = 0.95


def run_experiment(
    config: DictConfig,
    *,
    build: Build,
    choices: Mapping[str, Any],
    folder: str | Path,
    brief: bool = False,
    command: str = "",
) -> Result:
    """Run what `config` describes, keep it as one tracked run and show it on one screen.

    Parameters
    ----------
    config : DictConfig
        Groups ``dataset``, ``split``, ``preprocess``, ``formulation``, ``tune``, ``solver``, ``metrics``,
        ``bounds``, ``tracking``.
    build : callable
        Turns a group into the object it names (`hydra.utils.instantiate`).
    choices : mapping
        The name chosen in each group.
    folder : path
        Output folder of this job.
    brief : bool
        One line in place of the screen; a job of a sweep leaves it in `folder` for the sweep to show.
    command : str
        What a reader types to run this one experiment; kept with the run.

    Raises
    ------
    AuclabError
        Any input or combination that cannot be worked with. The run is then FAILED and keeps the traceback.
    KeyboardInterrupt
        Ctrl-C. The run is KILLED; if its solver could end with what it had, that is kept and shown first.
    """
    settings: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
    params = flatten(settings, choices)
    name, tags = run_name(settings, choices), {SETTINGS_TAG: fingerprint(settings)}
    with open_run(settings["tracking"], name=name, folder=folder, params=params, tags=tags) as run:
        dataset: Dataset = build(config.dataset)
        splits: list[Split] = build(config.split)(dataset.y)
        if isinstance(dataset.X, BlockTable):  # rows of files are taken as they lie there
            splits = [Split(np.sort(split.train), np.sort(split.test), split.name) for split in splits]
        formulation: Program = build(config.formulation)
        metrics: Metrics = build(config.metrics)
        folds = []
        for number, split in enumerate(splits):
            with working(f"{run.name} · split {number + 1} of {len(splits)}"):
                model = make_pipeline(build(config.preprocess)(dataset), _classifier(formulation, settings["solver"]))
                folds.append(_solve(dataset, split, model, metrics, settings, str(choices.get("preprocess", ""))))
            interrupted = folds[-1].solution.status is Status.INTERRUPTED
            if interrupted:
                break
        if len(folds) == 1:
            formulation = folds[0].solution.formulation  # of a tuned one, that which was chosen
        result = Result(run.name, dataset, formulation, tuple(folds), 1.0 - float(settings["bounds"]["rho"]))
        with working(f"{run.name} · writing files"):
            places = write_artifacts(result, run.staging, config=OmegaConf.to_yaml(config, resolve=True))
            for fold, place in zip(folds, places, strict=True):
                save_model(fold.model, _example(dataset.X, fold.split.train[:SIGNATURE_ROWS]), place / "model")
        tags = {
            HASH_TAG: fingerprint(settings, dataset.sha256),
            "status": str(folds[-1].solution.status),
        }
        if command:
            tags["command"] = command
        run.keep(Record(dataset, result.summary, tags, status="KILLED" if interrupted else "FINISHED"))
    (show_line if brief else show_result)(result, run, settings["tracking"])
    if interrupted:
        raise KeyboardInterrupt
    return result


def _solve(
    dataset: Dataset, split: Split, model: Any, metrics: Metrics, settings: Mapping[str, Any], preprocess: str
) -> Fold:
    """Fit on the training part, measure on both parts."""
    X, y, asked = take_rows(dataset.X, split.train), dataset.y[split.train], settings.get("tune") or {}
    tuning = None
    if asked.get("parameter"):
        model, tuning = interruptible(lambda: tune(model, X, y, **asked))
    else:
        interruptible(lambda: model.fit(X, y))
    preprocessing, solution = model[:-1], model[-1].solution_
    if solution.status is Status.FAILED:
        raise AuclabError(
            f"{solution.solver} found no usable point ({'; '.join(solution.notes) or solution.status.advice})"
        )
    samples: dict[str, Sample] = {}
    for name, rows in (("train", split.train), ("test", split.test)):
        if len(rows):
            X = preprocessing.transform(take_rows(dataset.X, rows))
            samples[name] = Sample(X, dataset.y[rows], solution.decision_function(X))
    parts = {name: _measure(it, metrics, held_out=name == "test") for name, it in samples.items()}
    guarantees, remarks = _guarantee(solution, samples, settings["bounds"], preprocess, tuning)
    features = tuple(str(name) for name in preprocessing.get_feature_names_out())
    return Fold(split, model, features, solution, read_optimum(solution), parts, guarantees, remarks, tuning)


def _guarantee(
    solution: Solution, samples: Mapping[str, Sample], bounds: Mapping[str, Any], preprocess: str, tuning: Tuning | None
) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
    """What holds for the solved split.

    A bound on the training part supposes a formulation that was chosen without it. For one chosen among K it holds
    if those of all K do, each with ρ/K.
    """

    def found(rho: float) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
        settings = {**bounds, "rho": rho}
        return find_guarantees(
            solution, samples["train"], samples.get("test"), settings=settings, preprocess=preprocess
        )

    rho = float(bounds["rho"])
    guarantees, remarks = found(rho)
    if tuning is None or not any(item.sample == "train" for item in guarantees):
        return guarantees, remarks
    count = len(tuning.path)
    shared = [item for item in found(rho / count)[0] if item.sample == "train"]
    words = f"{tuning.symbol} was chosen on the training part: its bounds hold for all {count} values at once"
    return (*shared, *(item for item in guarantees if item.sample != "train")), (*remarks, words)


def _measure(sample: Sample, metrics: Metrics, *, held_out: bool) -> Part:
    """All metrics; on observations the scorer has not seen, with intervals where these need no bootstrap."""
    values = {key: float(metric(sample.y, sample.scores)) for key, metric in metrics.items()}
    estimates = {
        key: estimate(sample.y, sample.scores, metric, level=LEVEL)
        for key, metric in metrics.items()
        if held_out and find_metric(metric, {}).rows is not None
    }
    return Part(sample.y, sample.scores, values, estimates)


def _classifier(formulation: Program, solver: Mapping[str, Any]) -> AUCClassifier:
    known = ("name", "tolerance", "time_limit")
    return AUCClassifier(
        formulation=formulation,
        solver=solver["name"],
        tolerance=solver["tolerance"],
        time_limit=solver["time_limit"],
        solver_options={key: value for key, value in solver.items() if key not in known},
    )


def _example(X: Any, rows: NDArray[np.intp]) -> Any:
    """A few rows in memory."""
    some = take_rows(X, rows)
    return some.to_frame() if hasattr(some, "to_frame") else some
