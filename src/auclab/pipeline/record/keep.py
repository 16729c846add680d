"""Records an experiment: its files, numbers and tags, in the folder of its run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from omegaconf import OmegaConf

from auclab.datasets.splits import take_rows
from auclab.inference.calibration import condensed
from auclab.pipeline.config.compose import Experiment
from auclab.pipeline.config.settings import Figures, RunConfig
from auclab.pipeline.record.artifacts import write_artifacts
from auclab.pipeline.screen.console import working
from auclab.pipeline.screen.result_screen import line_of
from auclab.pipeline.split.formula import kept_model
from auclab.pipeline.split.results import Fold, Result
from auclab.tracking.environment import HASH_TAG, SETTINGS_TAG, fingerprint
from auclab.tracking.model import save_model
from auclab.tracking.record import DatasetEntry, Draft, recording

#: Rows from which MLflow infers the names and types of the columns.
SIGNATURE_ROWS = 5

#: Settings that say what the rows of a data set are ranked by, and their empty values; models store the rest, so that
#: they can be evaluated on new rows.
_TARGETS = ("target", "positive", "negative", "group", "time", "event", "graded", "group_weights")
_UNSAID = (None, False, "pairs")


def record_run(
    experiment: Experiment, folder: Path, *, sweep: str | None = None, parent: str | None = None
) -> AbstractContextManager[Draft]:
    """Compute an experiment in the block; its folder has everything afterwards, also if it failed."""
    return recording(
        folder,
        name=experiment.name,
        tracking=experiment.tracking if experiment.tracking.name == "mlflow" else None,
        params=experiment.params,
        tags={SETTINGS_TAG: fingerprint(experiment.configuration)},
        sweep=sweep,
        parent=parent,
    )


def write_run(result: Result, experiment: Experiment, run: Draft) -> None:
    """Write all files to the run's staging folder, and its numbers and tags to its record."""
    wanted = Figures(RunConfig(figures=experiment.config.get("figures", "auto")).figures)
    if wanted is Figures.AUTO and (run.record.sweep is not None or experiment.tracking.name != "mlflow"):
        wanted = Figures.NONE
    with working(f"{run.record.name} · writing files"):
        config = OmegaConf.to_yaml(experiment.kept_config, resolve=True)
        folders = write_artifacts(result, run.staging, config=config, export=experiment.export)
        for fold, fold_folder in zip(result.folds, folders, strict=True):
            example = _example(result.dataset.X, fold.split.train[:SIGNATURE_ROWS])
            model = kept_model(fold.model, result.dataset, fold.decision)
            given = experiment.configuration["dataset"]
            scorer = {
                **(fold.scorer or {}),
                "missing": list(given.get("missing") or ()),
                "written": dict(result.dataset.written),
                "target": {key: given[key] for key in _TARGETS if given.get(key) not in _UNSAID},
                "scores": _distributions(fold),
            }
            save_model(model, example, fold_folder / "model", scorer=scorer)
            if wanted is not Figures.NONE and (wanted is not Figures.AUTO or fold is result.folds[0]):
                _draw(fold, fold_folder, wanted)
    tags = {
        HASH_TAG: fingerprint(experiment.configuration, result.dataset.sha256),
        "status": str(result.folds[-1].solution.status),
    }
    if result.constant:
        tags["scorer"] = result.constant
    if experiment.command:
        tags["command"] = experiment.command
    run.keep(
        status="KILLED" if result.interrupted else "FINISHED",
        metrics={key: float(value) for key, value in result.summary.items()},
        dataset=DatasetEntry.of(result.dataset),
        line=line_of(result),
        tags=tags,
    )


def _distributions(fold: Fold) -> dict[str, Any]:
    """Summaries of the scores of both parts, to compare those of new rows with."""
    known = {name: part.y_score for name, part in fold.parts.items() if part.y_score is not None}
    return {
        name: {"rows": int(scores.size), "quantiles": condensed(scores).tolist()}
        for name, scores in known.items()
        if scores.size and np.isfinite(scores).all()
    }


def _draw(fold: Fold, folder: Path, wanted: Figures) -> None:
    """Draw the figures of the held-out part or of both parts; if nothing was held out, of the training part."""
    from auclab.pipeline.record import figures  # imports matplotlib, which takes a third of a second

    last = "test" if "test" in fold.parts else "train"
    title = f"{fold.split.name} · {last} part"
    if fold.parts[last].part.ranked_by is not None:
        for name in fold.parts if wanted is Figures.ALL else (last,):
            ending = "" if name == last else f"_{name}"
            part_title = f"{fold.split.name} · {name} part"
            figures.draw_ranked_part(fold.parts[name].part, folder, title=part_title, ending=ending)
        return
    if wanted is Figures.AUTO:
        figures.draw_part(fold.parts[last].part.for_figures, folder, title=title, stems=("roc", "scores"))
    elif fold.parts[last].y_score is None:
        figures.draw_part(fold.parts[last].part.for_figures, folder, title=title)
    else:
        figures.draw_figures(folder, split=fold.split.name)
    if wanted is Figures.ALL and "test" in fold.parts:
        title = f"{fold.split.name} · train part"
        figures.draw_part(fold.parts["train"].part.for_figures, folder, title=title, ending="_train")


def _example(X: Any, rows: NDArray[np.intp]) -> Any:
    """A few rows in memory."""
    some = take_rows(X, rows)
    return some.to_frame() if hasattr(some, "to_frame") else some
