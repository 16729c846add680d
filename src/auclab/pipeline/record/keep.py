"""Stores an experiment as one tracked run: its files and numbers, or the failure that ended it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from omegaconf import OmegaConf
from rich.markup import escape

from auclab.datasets.splits import take_rows
from auclab.inference.drift import condensed
from auclab.pipeline.config.build import load_dataset
from auclab.pipeline.config.compose import Experiment
from auclab.pipeline.config.settings import Figures, parse_figures
from auclab.pipeline.record.artifacts import write_artifacts
from auclab.pipeline.screen.console import err, working
from auclab.pipeline.screen.notes import show_notes
from auclab.pipeline.split.formula import kept_model
from auclab.pipeline.split.inner_limits import PrunedError
from auclab.pipeline.split.results import Fold, Result
from auclab.tracking import (
    HASH_TAG,
    SETTINGS_TAG,
    AsideRun,
    KeptInFolderError,
    Record,
    Run,
    Start,
    fingerprint,
    open_run,
    save_model,
)
from auclab.tracking.search_tags import FOLDS_TAG, PRUNED
from auclab.types import AuclabError

#: Rows from which MLflow infers the names and types of the columns.
SIGNATURE_ROWS = 5

#: Seconds after which a single run that is still computing is created in the store.
OPEN_AFTER = 10.0

#: Settings that say what the rows of a data set are ranked by, and their empty values; models store the rest, so that
#: they can be evaluated on new rows.
_TARGETS = ("target", "positive", "negative", "group", "time", "event", "graded", "group_weights")
_UNSAID = (None, False, "pairs")

OTHER_FOLDER = "choose another folder with hydra.run.dir=… (of a sweep: hydra.sweep.dir=…)"


def keep_in_view(compute: Callable[[], Result], experiment: Experiment, folder: Path) -> tuple[Result, Run]:
    """Run `compute` and return its result; its run is in the store, as RUNNING, from the start."""
    show_notes()
    start, result, pruned = Start.now(), None, None
    run = _new_run(experiment, folder, start)
    try:
        with run:
            try:
                result = compute()
            except PrunedError as end:
                pruned = end
                run.keep(_record_of_pruned(end, experiment))
            else:
                _write(result, experiment, run, _wanted(experiment, single=False))
    except (AuclabError, OSError, KeyboardInterrupt) as error:
        if result is None:
            raise
        keep_aside(result, experiment, folder, start, error, run.run_id)
    if pruned is not None:
        raise pruned
    assert result is not None
    return result, run


def _record_of_pruned(end: PrunedError, experiment: Experiment) -> Record:
    """Store a pruned job's run; its tags let a later start skip it."""
    tags = {
        HASH_TAG: fingerprint(experiment.configuration, load_dataset(experiment).sha256),
        FOLDS_TAG: json.dumps(end.values),
        "status": PRUNED,
        "error": str(end),
    }
    return Record(tags=tags, status="KILLED")


class SingleRun:
    """The run of a single experiment: created in the store after ten seconds, or when the work is done.

    Most solves end before the store could be opened. A long one is in the store while it runs, so that it can be found
    if its process dies.

    `folder`: output folder of the job.
    """

    def __init__(self, experiment: Experiment, folder: Path) -> None:
        show_notes()
        self._experiment, self._folder, self._start = experiment, folder, Start.now()
        self._run: Run | None = None
        self._failure: Exception | None = None
        self._timer = threading.Timer(OPEN_AFTER, self._open_early)
        self._timer.daemon = True
        self._timer.start()

    def keep(self, result: Result) -> Run:
        """Store the finished experiment."""
        try:
            with self._opened() as run:
                _write(result, self._experiment, run, _wanted(self._experiment, single=True))
        except (AuclabError, OSError, KeyboardInterrupt) as error:
            run_id = None if self._run is None else self._run.run_id
            keep_aside(result, self._experiment, self._folder, self._start, error, run_id)
        return run

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Record an error in the block as FAILED, Ctrl-C as KILLED, with the traceback, and re-raise it."""
        try:
            yield
        except BaseException as error:  # Ctrl-C too; it is recorded and re-raised
            try:
                with self._opened():
                    raise error
            except BaseException as raised:  # noqa: BLE001  the store failed too, which must not hide the error
                if raised is not error:
                    err.print(f"this failure could not be recorded: {raised}", markup=False, soft_wrap=True)
            raise

    @contextmanager
    def _opened(self) -> Iterator[Run]:
        self._timer.cancel()
        opening = self._timer.is_alive()
        self._timer.join()
        with ExitStack() as stack:
            if self._run is None:
                if opening and self._failure is not None:  # it was tried just now
                    raise self._failure
                self._run = self._open()
            stack.push(self._run)
            yield self._run

    def _open(self) -> Run:
        return _new_run(self._experiment, self._folder, self._start).__enter__()

    def _open_early(self) -> None:
        try:
            self._run = self._open()
        except (AuclabError, OSError) as error:  # retried when the run is stored
            self._failure = error


def keep_aside(
    result: Result, experiment: Experiment, folder: Path, start: Start, error: BaseException, run_id: str | None
) -> NoReturn:
    """Write a run to its output folder because the store could not be written, and raise.

    `result`, `experiment`: what was computed. `folder`: the output folder. `start`: when the work began. `error`: why
    the store could not be written, or Ctrl-C while waiting for it. `run_id`: the run in the store, if it was created
    there.
    """
    reason = " ".join(str(error).split()) or "Ctrl-C while the store was waited for"
    reason = f"cannot write the files of the run: {reason}" if isinstance(error, OSError) else reason
    if experiment.tracking.name != "mlflow":
        raise AuclabError(f"{reason}; the files of the run are incomplete: free space, or {OTHER_FOLDER}") from error
    tags = {SETTINGS_TAG: fingerprint(experiment.configuration)}
    aside = AsideRun(
        experiment.tracking,
        name=experiment.name, folder=folder, params=experiment.params, tags=tags, start=start,
        reason=error.__cause__ or error,
        run_id=run_id,
    )  # fmt: skip
    try:
        with aside:
            _write(result, experiment, aside, _wanted(experiment, single=False))
    except OSError as second:
        raise AuclabError(
            f"{reason}; its files cannot be kept in {folder} either: {second}; "
            f"free space, or {OTHER_FOLDER}, and run it again"
        ) from error
    if isinstance(error, KeyboardInterrupt):
        err.print(f"[yellow]note:[/yellow] {escape(aside.kept.advice)}", soft_wrap=True)
        raise error
    raise KeptInFolderError(f"{reason}; {aside.kept.advice}") from error


def _new_run(experiment: Experiment, folder: Path, start: Start) -> Run:
    tags = {SETTINGS_TAG: fingerprint(experiment.configuration)}
    return open_run(
        experiment.tracking, name=experiment.name, folder=folder, params=experiment.params, tags=tags, start=start
    )


def _wanted(experiment: Experiment, *, single: bool) -> Figures:
    """Which figures to draw; by default those of a single run that goes to the store."""
    wanted = parse_figures(experiment.config.get("figures"))
    if wanted is not Figures.AUTO or (single and experiment.tracking.name == "mlflow"):
        return wanted
    return Figures.NONE


def _write(result: Result, experiment: Experiment, run: Run, wanted: Figures) -> None:
    """Write all files to the run's staging folder, and its numbers and tags to its record."""
    with working(f"{run.name} · writing files"):
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
    if len(result.folds) == 1 and (inner := result.folds[0].inner) is not None:
        tags[FOLDS_TAG] = json.dumps(inner.values)
    status = "KILLED" if result.interrupted else "FINISHED"
    run.keep(Record(result.dataset, result.summary, tags, status=status))


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
