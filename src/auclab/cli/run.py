"""`auclab run`, and `python run.py` in a checkout: one experiment, or a sweep of them with -m.

Nothing heavy is imported before the configuration is composed, so that a misspelt choice is refused at once.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser
from hydra.errors import CompactHydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.markup import escape

from auclab._core.base import AuclabError
from auclab.cli.process import begun
from auclab.runs.config.compose import Experiment, conf_folder
from auclab.runs.config.settings import linear_notes, register_schema, settings_page, with_formulation
from auclab.runs.config.typed_words import TRACES, in_words, quoted_where_needed
from auclab.runs.sweeps.sweep import command_of, program, sweep_scope
from auclab.runs.tracking.address import refuse_password

OTHER_FOLDER = "choose another folder with hydra.run.dir=… (of a sweep: hydra.sweep.dir=…)"

#: Prefixes of settings that can start a sweep: experiments, and settings of Hydra.
MAY_SWEEP = ("experiment", "+", "hydra")

#: Settings with a path that is relative to where the command was typed, if `hydra.job.chdir` moves the job elsewhere.
PATHS = ("tracking.dir", "tracking.uri", "data_dir", "dataset.path", "constraints.file")
SQLITE = "sqlite:///"

#: After Ctrl-C while settings and data are checked.
NOT_BEGUN = "nothing was begun"


def study_seeds(study: str, scale: str) -> str:
    """The seeds of a study at a scale, for conf/study.yaml."""
    from experiments.sweep import seeds

    from auclab.runs.screen.console import plain_errors

    with plain_errors(lambda line: SystemExit(1)):
        return seeds(study, scale)


@hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")
def _run(config: DictConfig) -> None:
    """Run one experiment, or one seed of a study, with the composed configuration."""
    job = hydra.core.hydra_config.HydraConfig.get()
    if "study" in config:
        from experiments.sweep import run_study

        run_study(config, job)
        return
    if job.mode is hydra.types.RunMode.MULTIRUN:
        from auclab.runs.sweeps.jobs import run_job

        run_job(_experiment(config, job), job)
        return
    from auclab.runs.screen.console import plain_errors

    with _nothing_left(Path(job.runtime.output_dir)), plain_errors(lambda line: SystemExit(1), stopped=NOT_BEGUN):
        # Before the heavy libraries: most mistakes are found here.
        from auclab.runs.config.checks import check_data, check_settings, unread_notes
        from auclab.runs.screen.console import show_data

        experiment = _experiment(config, job)
        check_settings(experiment)
        dataset, columns = check_data(experiment)
        show_data(dataset, columns)
        if experiment.constraints:
            from auclab.runs.split.constrained import constraints_of  # scikit-learn

            if (constraints := constraints_of(experiment.constraints, dataset, experiment.encoding)) is not None:
                constraints.check()
    with plain_errors(lambda line: SystemExit(1)):
        from auclab.runs.experiment import run_experiment
        from auclab.runs.screen.console import show_foreseen

        show_foreseen([*linear_notes(config, job), *unread_notes(config)])
        run_experiment(experiment, folder=job.runtime.output_dir, begun=begun())


def _experiment(config: DictConfig, job: DictConfig) -> Experiment:
    for key in PATHS if job.job.chdir else ():
        path = str(OmegaConf.select(config, key) or "://")
        if path.startswith(SQLITE) or "://" not in path:
            file = os.path.join(job.runtime.cwd, os.path.expanduser(path.removeprefix(SQLITE)))
            OmegaConf.update(config, key, SQLITE + file if path.startswith(SQLITE) else file)
    return Experiment(config, dict(job.runtime.choices), command_of(job))


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


def main(overrides: Sequence[str] | None = None) -> None:
    """Run the overrides, by default those of the command line.

    Exit codes: 0 done, 1 cannot be done, 130 Ctrl-C.
    """
    _add_schema()
    words = sys.argv[1:] if overrides is None else list(overrides)
    typed = get_args_parser().parse_intermixed_args(words)
    before, get_mode = sys.argv, Hydra.get_mode
    try:
        with sweep_scope(), _errors_of_hydra(typed.overrides):
            _refuse_at_once(words)
            settings, options = _settings(typed), [word for word in words if word not in typed.overrides]
            # Hydra's parser needs settings that stand together; --info takes the first word after it.
            sys.argv = [sys.argv[0], *([*settings, *options] if typed.info else [*options, *settings])]
            if not options and not any(word.startswith(MAY_SWEEP) for word in settings):
                Hydra.get_mode = lambda *_, **__: RunMode.RUN  # Hydra composes all settings only to look for a mode
            _run()
    finally:
        sys.argv, Hydra.get_mode = before, get_mode


def _refuse_at_once(words: Sequence[str]) -> None:
    """Refuse a working directory to which libraries cannot write, and passwords, which Hydra would store."""
    from auclab.runs.screen.console import plain_errors
    from auclab.runs.tracking.address import require_text

    with plain_errors(lambda line: SystemExit(1), stopped=NOT_BEGUN):
        require_text(Path.cwd())
        for word in words:
            refuse_password(word)


def _settings(typed: Any) -> list[str]:
    """The settings for Hydra; those that a command adds are of the primary configuration of this package.

    `typed`: options and overrides, as Hydra's parser reads them.
    """
    settings = quoted_where_needed(typed.overrides)
    is_ours = typed.config_path is None and typed.config_name in (None, "config")
    if is_ours and not (typed.hydra_help or typed.shell_completion or typed.experimental_rerun):
        settings = with_formulation(settings)
    if not typed.multirun:
        return settings
    from auclab.runs.sweeps.choices import left_to_jobs

    return left_to_jobs(settings)


def _end(line: str) -> NoReturn:
    """End with an error of one line."""
    from auclab.runs.screen.console import err

    err.print(f"[red]error:[/red] {escape(line)}", soft_wrap=True)
    raise SystemExit(1)


@contextmanager
def _errors_of_hydra(settings: Sequence[str]) -> Iterator[None]:
    """One-line errors from outside the experiment: settings, output folders, worker processes.

    Hydra would print the traceback of all but the first; it raises them if this variable is set.
    """
    traces = os.environ.get(TRACES)
    os.environ[TRACES] = "1"
    logging.raiseExceptions = False  # run.log on a full disk
    line = ""
    try:
        yield
    except Exception as error:  # narrowed below; other exceptions are re-raised
        # Imported here: multiprocessing's exit handler has to be registered after that of `run_as_program`.
        from concurrent.futures.process import BrokenProcessPool

        if isinstance(error, OSError) and not isinstance(error, CompactHydraException):
            place = f" {error.filename}" if error.filename else ""
            reason = error.strerror or error
            line = f"the output folder{place} cannot be written: {reason}; free space, or {OTHER_FOLDER}"
        elif isinstance(error, AuclabError):  # of a launcher
            line = str(error)
        elif isinstance(error, BrokenProcessPool):
            line = "a worker process died, killed or out of memory; the same command again computes what is missing"
        elif traces != "1" and (isinstance(error, CompactHydraException) or _is_of_hydra(error)):
            line = in_words(error, settings)
        else:
            raise
    finally:
        os.environ.pop(TRACES) if traces is None else os.environ.update({TRACES: traces})
    if line:
        _end(line)


def _is_of_hydra(error: BaseException) -> bool:
    """Whether Hydra or OmegaConf raised an error; some of theirs are plain ValueErrors."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith(("hydra.", "omegaconf."))


def _add_schema() -> None:
    register_schema()
    resolvers: dict[str, Any] = {
        "study_seeds": study_seeds,
        "program": lambda: " ".join(program()),
        "settings": settings_page,
    }
    for name, resolver in resolvers.items():
        OmegaConf.register_new_resolver(name, resolver, replace=True)
