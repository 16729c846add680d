# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of tables/pipeline.csv may use besides: settings, small runs, and the files they leave."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import shutil
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import yaml
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from omegaconf import OmegaConf

from auclab.datasets.records import Dataset
from auclab.pipeline.config.auto_tuning import resolve_tuning
from auclab.pipeline.config.checks import check_settings
from auclab.pipeline.config.compose import compose_experiment
from auclab.pipeline.config.constraint_settings import check_groups, check_rules, read_rules
from auclab.pipeline.config.settings import DecisionConfig, SolverConfig, TuneConfig, typed
from auclab.pipeline.config.typed_words import hydra_in_words, in_words
from auclab.pipeline.experiment import run_experiment, solve_splits
from auclab.pipeline.record.figures import draw_figures
from auclab.pipeline.record.keep import SingleRun, keep_aside
from auclab.pipeline.refit import changed
from auclab.pipeline.screen.console import Stopped, plain_errors, show_engine, show_sweep
from auclab.pipeline.screen.encoding import write_data
from auclab.pipeline.screen.foreseen import show_foreseen
from auclab.pipeline.screen.notes import show_notes
from auclab.pipeline.split.decision import check_probability
from auclab.pipeline.split.fold import _refuse_failure
from auclab.pipeline.split.frontier import trace_frontier
from auclab.pipeline.split.scorecards import stored_card
from auclab.pipeline.split.summarised_part import check_metric
from auclab.pipeline.split.tuning import refuse_failure, tune_baseline
from auclab.pipeline.stored.configuration import stored_experiment
from auclab.pipeline.stored.evaluation import evaluate_file
from auclab.pipeline.stored.new_rows import predict_file
from auclab.pipeline.stored.stored_files import inner_folder, read_rows, read_scores, stored_file
from auclab.pipeline.stored.stored_kernel import read_kernel
from auclab.tracking import TrackingConfig, load_scorer
from auclab.tracking.clock import Start
from auclab.types import AuclabError, Status
from composed import composed
from links import link
from messages.situations import SMALL, checked, csv
from messages.situations.conditions import giving, in_folder, new_folder, raising, under


def settings(words: str) -> Any:
    """The experiment of these settings, checked as `auclab run` checks them before it reads the data."""
    formulation = () if "formulation=" in words else ("formulation=bauc",)
    experiment = composed([*SMALL, *formulation, *words.split()])
    check_settings(experiment)
    return experiment


def rules(text: str) -> Any:
    """Rules in a yaml file."""
    return read_rules(csv(text, ".yaml"))


def settings_of(words: str) -> Any:
    """As `settings`, of another data set than the small one."""
    experiment = composed(["tracking=none", "formulation=bauc", *words.split()])
    check_settings(experiment)
    return experiment


def file_settings(words: str) -> Any:
    """As `settings_of`, of a file that is there."""
    return settings_of(f"dataset=file dataset.path={csv('a,y' + chr(10) + '1,0' + chr(10) + '2,1' + chr(10))} {words}")


def rules_there() -> Any:
    """A file with rules, written without `Path.write_text`."""
    path = new_folder() / "rules.yaml"
    path.write_bytes(b"nonnegative: [a]\n")
    return read_rules(path)


#: Forty rows of two classes, in ten groups; the second column is constant.
ROWS = [f"{k % 7 + k % 2},5,{k // 4},{k % 2}" for k in range(40)]
QUICK = ("solver=newton", "bounds=none", "metrics=[auc]", "decision.probability=none", "formulation.penalty=0.1")


def rows_file(head: str = "a,b,q,y", lines: list[str] | None = None) -> str:
    """A csv file with these rows."""
    return csv("\n".join([head, *(ROWS if lines is None else lines)]) + "\n")


@cache
def _folder_of(words: str) -> Path:
    """The folder of a run on these rows, without a store; it is not changed."""
    data = ("tracking=none", "dataset=file", f"dataset.path={rows_file()}", "dataset.target=y")
    folder = new_folder() / "run"
    experiment = composed([*data, "formulation=ranksvm", *QUICK, *words.split()])
    run_experiment(experiment, folder=folder, brief=True)
    return folder


def run_folder(words: str = "", **files: Any) -> Path:
    """A copy of the folder of a run in which files have other contents: bytes or text, a function of their path, or
    nothing in the place of one that goes.
    """
    folder = new_folder() / "run"
    shutil.copytree(_folder_of(words), folder)
    for key, content in files.items():
        (path,) = (each for each in folder.iterdir() if each.name.partition(".")[0] == key)
        if callable(content):
            content(path)
        else:
            path.unlink()
            if content is not None:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def configured(**groups: Any) -> Any:
    """The experiment of a stored configuration in which groups have other settings."""
    folder = run_folder()
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text(encoding="utf-8")) | groups), encoding="utf-8")
    return stored_experiment(folder)


def linked(path: Path) -> None:
    """A link in the place of a file."""
    path.rename(path.with_suffix(".moved"))
    link(path, path.with_suffix(".moved"))


def scorer(words: str = "") -> Any:
    """The scorer of a run on the rows."""
    return load_scorer(_folder_of(words) / "model")


def one_more(path: Path) -> None:
    """A csv file with a line of more cells than its head."""
    path.write_text(path.read_text(encoding="utf-8") + "1,2,3,4,5,6,7,8,9\n", encoding="utf-8")


def row_settings(words: str) -> Any:
    """The experiment of these settings on the rows."""
    data = ("tracking=none", "dataset=file", f"dataset.path={rows_file()}", "dataset.target=y")
    formulation = () if "formulation=" in words else ("formulation=bauc",)
    experiment = composed([*data, *formulation, "bounds=none", "decision.probability=none", *words.split()])
    check_settings(experiment)
    return experiment


def of_rows(words: str) -> Any:
    """What `auclab run` does with these settings on the rows."""
    return solve_splits(row_settings(words))


def untargeted(given: Any) -> Any:
    """A scorer that does not say what its rows were ranked by."""
    return type(given)({k: v for k, v in given.description.items() if k != "target"}, given.pipeline)


def folder_there(path: Path) -> None:
    """A folder in the place of a file."""
    path.unlink()
    path.mkdir()


def drawn_figures() -> Any:
    """The figures of a run."""
    from matplotlib import pyplot as plt

    draw_figures(run_folder(), split="holdout")
    plt.close("all")


@cache
def _result() -> Any:
    return solve_splits(row_settings(""))


def kept_aside(error: BaseException, words: str) -> None:
    """A run whose store could not be written, because of an error."""
    folder = new_folder()
    experiment = row_settings(f"tracking.dir={folder / 'mlruns'} {words.replace('tracking=none', '')}")
    with contextlib.suppress(KeyboardInterrupt):
        keep_aside(_result(), experiment, folder, Start.now(), error, None)


def kept() -> Any:
    """A run that is kept in its folder without a store."""
    return SingleRun(row_settings(""), new_folder() / "run").keep(_result())


def lost_failure(under_name: str) -> None:
    """A run that fails while nothing can be recorded."""

    def fail() -> None:
        with SingleRun(row_settings(""), new_folder() / "run").failures():
            raise AuclabError("the solver failed")

    with contextlib.suppress(AuclabError):
        under({under_name: raising(OSError(28, "No space left on device"))}, fail)


def ended(*, parent: str | None = "0123456789abcdef", stopped: Stopped | None = None, **counts: int) -> None:
    """The last lines of a sweep."""
    tracking = TrackingConfig() if parent else TrackingConfig(name="none")
    show_sweep(Counter(counts), folder=Path("multirun/1"), tracking=tracking, parent=parent, stopped=stopped)


def ended_by(error: BaseException | None) -> None:
    """A command that ends with an error, or without one."""
    try:
        with plain_errors(lambda line: SystemExit(1)):
            if error is not None:
                raise error
    except SystemExit:
        pass


def written_in(encoding: str, text: str) -> None:
    """Text on a standard output with this encoding."""
    under({"sys.stdout": io.TextIOWrapper(io.BytesIO(), encoding=encoding)}, lambda: write_data(text))


def noted(text: str, level: int) -> None:
    """A log record of tracking."""
    show_notes()
    logging.getLogger("auclab.tracking").log(level, text)


def failing(solve: str, words: str) -> Any:
    """A run in which a solve fails where the decision is made."""
    from auclab.solvers import solve as solved

    calls: list[None] = []

    def fail(*given: Any, **options: Any) -> Any:
        calls.append(None)
        found = solved(*given, **options)
        return replace(found, status=Status.FAILED) if len(calls) > 1 else found

    return under({solve: fail}, lambda: checked(words))


def card() -> Any:
    """The content of the card of a scorecard."""
    result = checked("formulation=scorecard preprocess=items")
    return result.folds[0].card.to_dict()


def tuned_baseline(parameter: str, values: tuple[float, ...] = (0.1, 1.0)) -> Any:
    """Logistic regression, tuned."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from auclab.estimators.baselines import Logistic

    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    config = TuneConfig(parameter=parameter, values=list(values), folds=2)
    return tune_baseline(make_pipeline(StandardScaler()), Logistic(), X, y, config)


def emptied(path: Path) -> None:
    """A Parquet file without its rows."""
    pd.read_parquet(path).iloc[:0].to_parquet(path, index=False)


def other_space(path: Path) -> None:
    """A certificate over a space that is not known."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content["kernel"]["space"] = "outer"
    path.write_text(json.dumps(content), encoding="utf-8")


def settings_typed(*words: str) -> Any:
    """Settings, composed as `auclab run` composes them, or refused in its words."""
    with hydra_in_words(words):
        return compose_experiment(list(words))


def worded(text: str) -> None:
    """What Hydra says, in the words of the program."""
    raise AuclabError(in_words(HydraException(text), []))


def in_our_words(*words: str) -> None:
    """Print what the program says where Hydra refuses these settings."""
    try:
        compose_experiment(list(words))
    except HydraException as error:
        print(in_words(error, words))
