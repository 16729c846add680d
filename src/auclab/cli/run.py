"""`auclab run`, and `python run.py` in a checkout: one experiment, or a sweep of them with -m.

Nothing heavy is imported before the configuration is composed, so that a misspelt choice is refused at once.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra._internal.hydra import Hydra
from hydra.errors import CompactHydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.markup import escape

from auclab.cli.help_width import help_width, narrower
from auclab.cli.passwords import hide_in_files, hide_in_log, without_passwords
from auclab.cli.process import begun
from auclab.pipeline.config.compose import Experiment, conf_folder
from auclab.pipeline.config.default_experiment import with_formulation
from auclab.pipeline.config.settings import register_schema
from auclab.pipeline.config.typed_words import (
    added_keys,
    in_words,
    keys_of_no_job,
    lost_intervals,
    quoted_where_needed,
    unknown_choices,
)
from auclab.sweeps.jobs import parse_rerun, run_job
from auclab.sweeps.sweep import program, sweep_scope
from auclab.tracking.job_status import JobStatus
from auclab.types import AuclabError

#: Environment variable that makes Hydra raise errors instead of printing them.
TRACES = "HYDRA_FULL_ERROR"
OTHER_FOLDER = "choose another folder with hydra.run.dir=… (of a sweep: hydra.sweep.dir=…)"

#: Prefixes of arguments that can start a sweep: options, experiments, and settings of Hydra.
MAY_SWEEP = ("-", "experiment", "+", "hydra")

#: After Ctrl-C while settings and data are checked.
NOT_BEGUN = "nothing was begun"

STUDIES = (
    "studies are in the repository and are not part of the installed package; clone it and type "
    "python run.py -m experiment=<paper>_<study>"
)


def study_seeds(study: str, scale: str) -> str:
    """The seeds of a study at a scale, for conf/study.yaml."""
    from experiments.sweep import seeds

    from auclab.pipeline.screen.console import plain_errors

    with plain_errors(lambda line: SystemExit(1)):
        return seeds(study, scale)


def refuse_missing_study(overrides: Sequence[str]) -> None:
    """Raise `AuclabError` if an override names a study and the studies are not installed.

    Hydra would only report that it cannot locate a class.
    """
    for override in overrides:
        key, _, name = override.partition("=")
        file = conf_folder() / "experiment" / f"{name}.yaml"
        is_study = key == "experiment" and file.is_file() and "\nstudy:" in file.read_text(encoding="utf-8")
        if is_study and find_spec("experiments") is None:
            raise AuclabError(STUDIES)


@hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")
def _run(config: DictConfig) -> JobStatus | None:
    """Run one experiment, or one seed of a study, with the composed configuration; returns the status of a job."""
    job = hydra.core.hydra_config.HydraConfig.get()
    hide_in_log()
    hide_in_files(_folders_of_hydra(job))
    if "study" in config:
        from experiments.sweep import run_study

        run_study(config, job)
        return None
    if job.mode is hydra.types.RunMode.MULTIRUN:
        return run_job(_experiment(config, job), job)
    from auclab.pipeline.screen.console import plain_errors

    with _nothing_left(Path(job.runtime.output_dir)), plain_errors(lambda line: SystemExit(1), stopped=NOT_BEGUN):
        # Before the heavy libraries: most mistakes are found here.
        from auclab.pipeline.config.checks import check_data, check_settings
        from auclab.pipeline.screen.data_screen import show_data

        experiment = _experiment(config, job)
        check_settings(experiment)
        parse_rerun(config.get("rerun"))
        show_data(*check_data(experiment))
    with plain_errors(lambda line: SystemExit(1)):
        from auclab.pipeline.experiment import run_experiment

        run_experiment(experiment, folder=job.runtime.output_dir, begun=begun())
    return None


def _experiment(config: DictConfig, job: DictConfig) -> Experiment:
    # Of a sweep, the overrides of this job alone.
    return Experiment(config, dict(job.runtime.choices), shlex.join([*program(), *job.overrides.task]))


@contextmanager
def _nothing_left(folder: Path) -> Iterator[None]:
    """Remove the output folder of a run refused at the start, and parent folders that are then empty."""
    try:
        try:
            yield
        except OmegaConfBaseException as error:  # unresolved ${…}; Hydra would print another message
            _end(in_words(error, ()))
    except SystemExit:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # not empty
            folder.parent.rmdir()
            folder.parent.parent.rmdir()
        raise


def _folders_of_hydra(job: DictConfig) -> list[Path]:
    """Folders with Hydra's copies of the settings of this job and of its sweep."""
    folders = [Path(job.runtime.output_dir) / str(job.output_subdir)] if job.output_subdir else []
    return folders + ([Path(job.sweep.dir)] if job.mode is hydra.types.RunMode.MULTIRUN else [])


def main(overrides: Sequence[str] | None = None) -> None:
    """Run the overrides, by default those of the command line.

    Exit codes: 0 done, 1 cannot be done, 130 Ctrl-C.
    """
    _add_schema()
    arguments = with_formulation(quoted_where_needed(_together(sys.argv[1:] if overrides is None else overrides)))
    if any(word.startswith("experiment=") for word in arguments):
        from auclab.pipeline.screen.console import plain_errors

        with plain_errors(lambda line: SystemExit(1)):
            refuse_missing_study(arguments)
    before, sys.argv = sys.argv, [sys.argv[0], *without_passwords(arguments)]
    get_mode = Hydra.get_mode
    try:
        with sweep_scope(), _errors_of_hydra(arguments):
            _refuse_at_once(arguments)
            with _help_in_width() if {"--help", "-h"} & set(arguments) and sys.stdout.isatty() else nullcontext():
                if not any(word.startswith(MAY_SWEEP) for word in arguments):
                    Hydra.get_mode = lambda *_, **__: RunMode.RUN  # Hydra composes all settings only to look for a mode
                _run()
    finally:
        sys.argv, Hydra.get_mode = before, get_mode


def _together(words: Sequence[str]) -> list[str]:
    """The words with -m in front: Hydra's parser needs all settings together.

    Examples
    --------
    >>> _together(["split.seed=0,1", "-m", "formulation=bauc"])
    ['-m', 'split.seed=0,1', 'formulation=bauc']
    """
    return sorted(words, key=lambda word: word not in ("-m", "--multirun"))


@contextmanager
def _help_in_width() -> Iterator[None]:
    """Wrap Hydra's help page to the terminal: it lists the choices of a group in one line."""
    page = StringIO()
    try:
        with redirect_stdout(page):
            yield
    finally:
        print(narrower(page.getvalue(), help_width()))


def _refuse_at_once(arguments: Sequence[str]) -> None:
    """Refuse a folder that libraries cannot write to, and mistakes that Hydra finds late or not at all.

    Hydra composes the jobs of a sweep after the parent run is created, ignores an unknown experiment, ends with a
    traceback if a choice is a number, and adds any key written with a plus.
    """
    if not os.getcwd().isascii():
        from auclab.pipeline.screen.console import plain_errors
        from auclab.tracking.address import require_text

        with plain_errors(lambda line: SystemExit(1), stopped=NOT_BEGUN):
            require_text(Path.cwd())
    words = [word for word in arguments if not word.startswith("-")]
    is_sweep = bool({"-m", "--multirun"} & set(arguments))
    own_folders = any(word.startswith("--config") for word in arguments)
    for line in () if own_folders else unknown_choices(words):
        _end(line)
    for word in words:
        if re.fullmatch(r"hydra\.verbose=(null|[-+.\d]+)", word):
            _end(f"{word} has to be true, false, or the name of a logger")
    of_jobs = keys_of_no_job(words) if is_sweep and not own_folders else ()
    for line in (*added_keys(words), *lost_intervals(words, is_sweep=is_sweep), *of_jobs):
        _end(line)


def _end(line: str) -> NoReturn:
    """End with an error of one line."""
    from auclab.pipeline.screen.console import err

    err.print(f"[red]error:[/red] {escape(line)}", soft_wrap=True)
    raise SystemExit(1)


@contextmanager
def _errors_of_hydra(arguments: Sequence[str]) -> Iterator[None]:
    """One-line errors from outside the experiment: settings, output folders, worker processes.

    Hydra would print the traceback of all but the first; it raises them if this variable is set.
    """
    traces = os.environ.get(TRACES)
    os.environ[TRACES] = "1"
    logging.raiseExceptions = False  # run.log on a full disk
    line = ""
    try:
        yield
    except CompactHydraException as error:
        line = in_words(error, arguments)
    except OSError as error:
        place = f" {error.filename}" if error.filename else ""
        line = f"the output folder{place} cannot be written: {error.strerror or error}; free space, or {OTHER_FOLDER}"
    except Exception as error:  # narrowed below; other exceptions are re-raised
        # Imported here: multiprocessing's exit handler has to be registered after that of `run_as_program`.
        from concurrent.futures.process import BrokenProcessPool

        if not isinstance(error, BrokenProcessPool):
            raise
        line = "a worker process died, killed or out of memory; the same command again computes what is missing"
    finally:
        os.environ.pop(TRACES) if traces is None else os.environ.update({TRACES: traces})
    if line:
        _end(line)


def _add_schema() -> None:
    register_schema()
    resolvers: dict[str, Any] = {"study_seeds": study_seeds, "program": lambda: " ".join(program())}
    for name, resolver in resolvers.items():
        OmegaConf.register_new_resolver(name, resolver, replace=True)
