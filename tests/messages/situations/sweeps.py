# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of tables/sweeps.csv may use besides: searches, their results, and jobs."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from auclab.sweeps.adaptive import Outcome, Search, check_search
from auclab.sweeps.jobs import parse_rerun
from auclab.sweeps.search_results import _valued, show_search
from auclab.sweeps.search_space import space_of
from auclab.sweeps.sweep import _check_search
from auclab.sweeps.workers import check_launcher
from auclab.tracking import TrackingConfig
from messages.situations.conditions import giving, new_folder, raising, under, without

LAMBDA = "formulation.penalty=tag(log,interval(1e-4,1))"
SWEEPER = {"n_trials": 30, "batch": None, "sampler": "tpe", "seed": 0, "metric": "inner/auc", "prune": False}


def searched(*words: str, tracked: bool = True, **sweeper: Any) -> int:
    """The settings of a search, looked at before anything is computed."""
    return check_search(words or (LAMBDA,), SWEEPER | sweeper, metrics=("auc", "bauc"), tracked=tracked)


def space(word: str) -> Any:
    """What may be searched."""
    return space_of(OverridesParser.create().parse_overrides([word]))


def shown(*values: float | None, matters: bool = False) -> None:
    """The last lines of a search whose jobs have these values."""
    search = Search.start(space(LAMBDA)[0], sampler="random", seed=0)
    search.ask(len(values))
    search.tell([Outcome("FAILED" if value is None else "FINISHED", value) for value in values])
    shares = {"formulation.penalty": 0.8} if matters else {}
    replaced = {"auclab.sweeps.adaptive.Search.importances": shares}
    under(
        replaced,
        lambda: show_search(search, "inner/auc", " ".join),
    )


def noted(grid: str) -> int:
    """What is said of the settings of a search before it begins."""
    config = OmegaConf.create({"hydra": {"sweeper": SWEEPER}, "metrics": {"auc": None}})
    return _check_search(config, [grid], TrackingConfig())


def failed_job(full: bool) -> None:
    """A job that fails, in a folder that can be written, or not."""
    from auclab.sweeps.jobs import attempt

    def make() -> Any:
        raise KeyError("colour")

    replaced = {"auclab.sweeps.jobs.add_line": raising(OSError(28, "No space left on device"))} if full else {}
    under(replaced, lambda: attempt(new_folder(), "bauc", make))
