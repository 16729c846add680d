"""Tables whose rows are compared within queries, by grades, or by times that may be censored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

#: The settings of every kind, without the path of its file, and its AUC in a run.
KINDS = {
    "groups": (["dataset.target=click", "dataset.group=query", "dataset.drop=[relevance]"], "grouped_auc"),
    "groups alike": (
        [
            *("dataset.target=click", "dataset.group=query", "dataset.group_weights=groups"),
            "dataset.drop=[relevance]",
        ],
        "grouped_auc",
    ),
    "grades": (["dataset.target=relevance", "dataset.graded=true", "dataset.drop=[click,query]"], "graded_auc"),
    "graded groups": (
        ["dataset.target=relevance", "dataset.graded=true", "dataset.group=query", "dataset.drop=[click]"],
        "grouped_auc",
    ),
    "times": (
        *(["dataset.time=days", "dataset.event=died", "dataset.positive=yes", "dataset.drop=[admitted]"],),
        "concordance",
    ),
    "strata": (
        [
            *("dataset.time=days", "dataset.event=died", "dataset.positive=yes", "dataset.group=hospital"),
            "dataset.drop=[admitted]",
        ],
        "concordance",
    ),
}


def queries(m: int = 160, n_groups: int = 20) -> pd.DataFrame:
    """Documents with grades from 0 to 3, and a level of every query that says nothing about its documents."""
    rng = np.random.default_rng(0)
    group, X, level = rng.integers(0, n_groups, m), rng.normal(size=(m, 3)), rng.normal(size=n_groups) * 3
    relevance = np.clip(np.round(X @ [1, 0.5, -0.5] + rng.normal(size=m) + 1), 0, 3).astype(int)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(level=level[group], kind=rng.choice(["web", "shop"], m))
    return table.assign(query=[f"q{k}" for k in group], relevance=relevance, click=(relevance > 1).astype(int))


def patients(m: int = 160) -> pd.DataFrame:
    """Patients with days until death or the end of what is known, from three hospitals."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(m, 3))
    death, end = rng.exponential(np.exp(-(X @ [1, 0.5, -0.5]))), rng.exponential(1.5, m)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(hospital=rng.choice(list("ABC"), m))
    table = table.assign(days=np.minimum(death, end).round(2), died=np.where(death <= end, "yes", "no"))
    return table.assign(admitted=pd.date_range("2020-01-01", periods=m).strftime("%d.%m.%Y"))


def settings(folder: Path, kind: str) -> list[str]:
    """Settings that read a table of a kind, which is written to a folder if it does not exist."""
    name, make = ("patients", patients) if KINDS[kind][1] == "concordance" else ("queries", queries)
    path = folder / f"{name}.csv"
    if not path.exists():
        make().to_csv(path, index=False)
    return ["dataset=file", f"dataset.path={path}", *KINDS[kind][0]]
