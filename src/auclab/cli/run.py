"""`auclab run`, and `python run.py` in a checkout: one experiment, or a sweep of them with -m.

Nothing heavy is imported before the configuration is composed, so that a misspelt choice is refused at once.
"""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hydra
from hydra.errors import CompactHydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.markup import escape

from auclab.cli.passwords import hide_in_files, hide_in_log, without_passwords
from auclab.pipeline.compose import Experiment, conf_folder
from auclab.pipeline.settings import register_schema
from auclab.sweeps.jobs import run_job
from auclab.sweeps.sweep import program, sweep_scope

#: Environment variable by which Hydra raises errors in place of printing them.
TRACES = "HYDRA_FULL_ERROR"
OTHER_FOLDER = "choose another folder with hydra.run.dir=… (of a sweep: hydra.sweep.dir=…)"

STUDIES = (
    "studies live in the repository and are not part of the installed package; clone it and type "
    "python run.py -m experiment=<paper>_<study>"
)


def study_seeds(study: str, scale: str) -> str:
    """The seeds of a study at a scale, for conf/study.yaml."""
    from experiments.sweep import seeds

    from auclab.pipeline.console import plain_errors

    with plain_errors(lambda line: SystemExit(1)):
        return seeds(study, scale)


def refuse_missing_study(overrides: Sequence[str]) -> None:
    """Raise `AuclabError` if an override names a study, and the studies are not there.

    Hydra would only say that it cannot locate a class of theirs.
    """
    for override in overrides:
        key, _, name = override.partition("=")
        file = conf_folder() / "experiment" / f"{name}.yaml"
        is_study = key == "experiment" and file.is_file() and "\nstudy:" in file.read_text(encoding="utf-8")
        if is_study and find_spec("experiments") is None:
            from auclab.types import AuclabError

            raise AuclabError(STUDIES)


@hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")
def _run(config: DictConfig) -> None:
    """Run one experiment, or one seed of a study, with the composed configuration."""
    job = hydra.core.hydra_config.HydraConfig.get()
    hide_in_log()
    hide_in_files(_folders_of_hydra(job))
    if "study" in config:
        from experiments.sweep import run_study

        run_study(config, job)
        return
    # Of a sweep, the overrides of this job alone.
    command = shlex.join([*program(), *job.overrides.task])
    experiment = Experiment(config, dict(job.runtime.choices), command)
    if job.mode is hydra.types.RunMode.MULTIRUN:
        run_job(experiment, job)
        return
    from auclab.pipeline.console import plain_errors

    with plain_errors(lambda line: SystemExit(1)):
        # The heavy libraries, only once the choices are known to exist.
        from auclab.pipeline.experiment import run_experiment

        run_experiment(experiment, folder=job.runtime.output_dir)


def _folders_of_hydra(job: DictConfig) -> list[Path]:
    """Where Hydra has written the settings of this job, and of its sweep."""
    folders = [Path(job.runtime.output_dir) / str(job.output_subdir)] if job.output_subdir else []
    return folders + ([Path(job.sweep.dir)] if job.mode is hydra.types.RunMode.MULTIRUN else [])


def main(overrides: Sequence[str] | None = None) -> None:
    """Run what the overrides describe; those of the command line if none are given.

    Exit codes: 0 done, 1 cannot be done, 130 Ctrl-C.
    """
    _add_schema()
    arguments = sys.argv[1:] if overrides is None else list(overrides)
    if any(word.startswith("experiment=") for word in arguments):
        from auclab.pipeline.console import plain_errors

        with plain_errors(lambda line: SystemExit(1)):
            refuse_missing_study(arguments)
    before, sys.argv = sys.argv, [sys.argv[0], *without_passwords(arguments)]
    try:
        with sweep_scope(), _errors_of_hydra():
            _run()
    finally:
        sys.argv = before


@contextmanager
def _errors_of_hydra() -> Iterator[None]:
    """Errors outside the experiment in words: of the settings, of output folders, of worker processes.

    Hydra would print the traceback of all but the first; it raises them if this variable is set.
    """
    traces = os.environ.get(TRACES)
    os.environ[TRACES] = "1"
    logging.raiseExceptions = False  # run.log on a full disk
    line = ""
    try:
        yield
    except CompactHydraException as error:
        cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else None
        sys.stderr.write("".join(f"{each}\n" for each in (error, cause) if each is not None))
        raise SystemExit(1) from error
    except OSError as error:
        place = f" {error.filename}" if error.filename else ""
        line = f"the output folder{place} cannot be written: {error.strerror or error}; free space, or {OTHER_FOLDER}"
    except Exception as error:
        # Imported here: multiprocessing's exit handler has to be registered after that of `run_as_program`.
        from concurrent.futures.process import BrokenProcessPool

        if not isinstance(error, BrokenProcessPool):
            raise
        line = "a worker process died, killed or out of memory; the same command again computes what is missing"
    finally:
        os.environ.pop(TRACES) if traces is None else os.environ.update({TRACES: traces})
    if line:
        from auclab.pipeline.console import err

        err.print(f"[red]error:[/red] {escape(line)}", soft_wrap=True)
        raise SystemExit(1)


def _add_schema() -> None:
    register_schema()
    resolvers: dict[str, Any] = {"study_seeds": study_seeds, "program": lambda: " ".join(program())}
    for name, resolver in resolvers.items():
        OmegaConf.register_new_resolver(name, resolver, replace=True)
