"""Settings, code, versions and data in which the runs of a page differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from auclab.comparison.run_settings import FOLLOW
from auclab.comparison.runs import is_setting
from auclab.report.lines import plain_text

#: Differences other than settings, and their labels.
OTHER = {
    "data_sha256": "data (sha256)",
    "tag.config.code": "code",
    "tag.version.auclab": "auclab",
    "tag.python": "Python",
    "tag.host": "host",
}
#: Settings that locate runs.
_WHERE = ("tracking", "data_dir", "experiment")


def settings_that_differ(runs: pd.DataFrame, numbers: Mapping[str, int]) -> dict[str, Any]:
    """The settings that have several values among some runs.

    `runs`: as `auclab.comparison.read_runs` gives them. `numbers`: the number of each run on the page, by its id.
    Returns: ``names``, and ``values``: by number of the run a text for every name, "" where it has no such setting.
    """
    first = runs.drop_duplicates("run_id")
    columns = [str(name) for name in first if is_setting(str(name)) and str(name).partition(".")[0] not in _WHERE]
    columns = [name for name in columns if name not in FOLLOW] + [name for name in OTHER if name in first]
    texts = {name: first[name].map(lambda value: _text(value)) for name in columns}
    varying = [name for name in columns if texts[name].nunique() > 1]
    ids = [numbers[str(run_id)] for run_id in first["run_id"]]
    return {
        "names": [OTHER.get(name, name) for name in varying],
        "values": {number: [texts[name].iloc[k] for name in varying] for k, number in enumerate(ids)},
    }


def _text(value: Any) -> str:
    """An integer without a decimal point, also if missing values made the column one of floats."""
    return f"{value:.12g}" if isinstance(value, float) and not pd.isna(value) else plain_text(value)
