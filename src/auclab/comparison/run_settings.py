"""Settings of runs: which describe the data, which the method, which distinguish runs, and how to print them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from auclab.pipeline.config.compose import SYMBOLS, TUNED_TOGETHER

#: Settings that only replicate an experiment; the name of the split is the column ``fold``.
REPLICATION = ("dataset.seed", "split.seed", "split.fold", "split.n_repeats")

#: Groups of settings that determine the training and test observations, and those that determine the method.
DATA = ("dataset", "split")
METHOD = ("formulation", "kernel", "tune", "class_weight", "constraints", "solver", "preprocess")

#: Settings that are weights of one class each.
_WEIGHTS = "class_weight."

#: Settings that follow from another one or locate files.
FOLLOW = ("solver.name", "dataset.data_dir")


def label(keys: Sequence[str], values: Sequence[object]) -> str:
    """Label of settings: the choice of a group without its name, all others with theirs; missing ones are left out.

    Examples
    --------
    >>> label(["formulation", "formulation.penalty", "formulation.norm"], ["ranksvm", 0.01, None])
    'ranksvm λ=0.01'
    >>> label(["formulation", "tune", "formulation.penalty"], ["ranksvm", "penalty", "tuned"])
    'ranksvm λ tuned'
    >>> label(["formulation", "tune", "kernel", "kernel.gamma"], ["ranksvm", "kernel", "rbf", "tuned"])
    'ranksvm γ and λ or z tuned rbf'
    >>> label(["formulation", "class_weight"], ["csvm", "balanced"])
    'csvm balanced'
    >>> label(["formulation", "class_weight.negative"], ["csvm", 5.0])
    'csvm weight of negative=5'
    """
    parts = []
    for key, value in zip(keys, values, strict=True):
        if pd.isna(value) or (key, value) == ("tune", "none"):  # type: ignore[call-overload]
            continue
        name = key.rpartition(".")[2]
        if key == "tune":
            parts.append(f"{TUNED_TOGETHER.get(str(value)) or SYMBOLS.get(str(value), value)} tuned")
            continue
        if value == "tuned" and "tune" in keys:
            continue  # the tuning reports it
        name = f"weight of {name}" if key.startswith(_WEIGHTS) else name
        text = f"{value:.12g}" if isinstance(value, float) else str(value)
        parts.append(text if "." not in key else f"{SYMBOLS.get(name, name)}={text}")
    return " ".join(parts) or "all"


def settings_of(runs: pd.DataFrame, groups: Sequence[str]) -> list[str]:
    """Settings of some groups, in their order, that are not replications; the choice of a group before its parts."""
    names = sorted(str(name) for name in runs if str(name).partition(".")[0] in groups)
    # The choice of a group determines most of its parts, so it comes first.
    return sorted(
        (name for name in names if name not in (*REPLICATION, *FOLLOW)),
        key=lambda name: ("." in name, groups.index(name.partition(".")[0])),
    )


def telling_settings(runs: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Those of `names` that distinguish configurations: formulation, data set, tuning, settings that vary within them.

    Facts determined by an earlier setting, such as the rows of a data set, are left out.

    Examples
    --------
    >>> runs = pd.DataFrame({"dataset": [*"aab"], "dataset.rows": [7, 7, 8], "split": [*"xyy"]})
    >>> telling_settings(runs, list(runs))
    ['dataset', 'split']
    """
    some = "tune" in runs and runs["tune"].nunique(dropna=False) > 1
    always = [name for name in names if name in ("formulation", "dataset") or (name == "tune" and some)]
    return sorted(grown(runs, always, names, ()), key=list(names).index)


def grown(runs: pd.DataFrame, keys: list[str], candidates: Sequence[str], within: Sequence[str]) -> list[str]:
    """`keys` and every candidate that still varies, one after the other; weights of both classes if one does."""
    for name in candidates:
        if name not in (*keys, *within) and _varying(runs, [*within, *keys], [name]):
            weights = [each for each in candidates if name.startswith(_WEIGHTS) and each.startswith(_WEIGHTS)]
            keys = [*keys, *(weights or [name])]
    return keys


def _varying(runs: pd.DataFrame, keys: Sequence[str], names: Sequence[str]) -> list[str]:
    """Those of `names` that have several values among runs with the same `keys`."""
    groups = runs.groupby(list(dict.fromkeys(keys)), dropna=False, sort=False)
    return [name for name in names if name not in keys and (groups[name].nunique(dropna=False) > 1).any()]
