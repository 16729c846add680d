"""What is kept of an experiment: its files and numbers as one tracked run, or the failure it ended with."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from omegaconf import OmegaConf

from auclab.datasets.splits import take_rows
from auclab.pipeline.artifacts import write_artifacts
from auclab.pipeline.compose import Experiment
from auclab.pipeline.console import err, working
from auclab.pipeline.results import Result
from auclab.tracking import HASH_TAG, SETTINGS_TAG, FolderRun, Record, Run, fingerprint, open_run, save_model
from auclab.types import AuclabError

#: Rows shown to MLflow, which reads names and types of the columns off them.
SIGNATURE_ROWS = 5

#: Seconds of work after which a single run is opened in the store.
OPEN_AFTER = 10.0


def keep_in_view(compute: Callable[[], Result], experiment: Experiment, folder: Path) -> tuple[Result, Run]:
    """The result of `compute`, as a run that is in the store, RUNNING, from the start on."""
    with _new_run(experiment, folder) as run:
        result = compute()
        _write(result, experiment, run)
    return result, run


class SingleRun:
    """The run of a single experiment: in the store after ten seconds of work, or when the work is done.

    Most solves are done before the store could be opened. A long one is in the store while it works, so that a run
    whose process dies is found there.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Output folder of the job.
    """

    def __init__(self, experiment: Experiment, folder: Path) -> None:
        self._experiment, self._folder, self._began = experiment, folder, time.time()
        self._run: Run | None = None
        self._timer = threading.Timer(OPEN_AFTER, self._open_early)
        self._timer.daemon = True
        self._timer.start()

    def keep(self, result: Result) -> Run:
        """Keep the finished experiment.

        Raises
        ------
        AuclabError
            The store cannot be written; the files are in the output folder then.
        """
        try:
            with self._opened() as run:
                _write(result, self._experiment, run)
        except (AuclabError, OSError) as error:
            with FolderRun(self._experiment.name, self._folder) as run:
                _write(result, self._experiment, run)
            message = f"{error}; the solution above is not lost: its files are in {self._folder}"
            raise AuclabError(message) from error
        return run

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Record an error inside as FAILED, Ctrl-C as KILLED, with the traceback, and raise it again."""
        try:
            yield
        except BaseException as error:
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
        self._timer.join()
        with ExitStack() as stack:
            run = self._run or self._open()
            stack.push(run)
            yield run

    def _open(self) -> Run:
        return _new_run(self._experiment, self._folder, self._began).__enter__()

    def _open_early(self) -> None:
        with suppress(AuclabError, OSError):  # raised again when the run is to be kept
            self._run = self._open()


def _new_run(experiment: Experiment, folder: Path, began: float | None = None) -> Run:
    tags = {SETTINGS_TAG: fingerprint(experiment.configuration)}
    return open_run(
        experiment.tracking, name=experiment.name, folder=folder, params=experiment.params, tags=tags, began=began
    )


def _write(result: Result, experiment: Experiment, run: Run) -> None:
    """All files to the staging folder of the run, numbers and tags to its record."""
    with working(f"{run.name} · writing files"):
        config = OmegaConf.to_yaml(experiment.config, resolve=True)
        folders = write_artifacts(result, run.staging, config=config)
        for fold, fold_folder in zip(result.folds, folders, strict=True):
            save_model(fold.model, _example(result.dataset.X, fold.split.train[:SIGNATURE_ROWS]), fold_folder / "model")
            if experiment.config.get("figures", False):
                from auclab.pipeline.figures import draw_figures  # matplotlib, which takes a third of a second

                draw_figures(fold_folder, split=fold.split.name)
    tags = {
        HASH_TAG: fingerprint(experiment.configuration, result.dataset.sha256),
        "status": str(result.folds[-1].solution.status),
    }
    if experiment.command:
        tags["command"] = experiment.command
    status = "KILLED" if result.interrupted else "FINISHED"
    run.keep(Record(result.dataset, result.summary, tags, status=status))


def _example(X: Any, rows: NDArray[np.intp]) -> Any:
    """A few rows in memory."""
    some = take_rows(X, rows)
    return some.to_frame() if hasattr(some, "to_frame") else some
