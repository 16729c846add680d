# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of tables/report.csv may use besides: pages on the runs of a small store."""

from __future__ import annotations

import json
from pathlib import Path

from auclab.report import write_report
from auclab.report.cards import read_cards
from auclab.report.comparisons import compare_sheet
from made_runs import table_of
from messages.situations.comparison import runs
from messages.situations.conditions import new_folder, under
from messages.situations.stores import changed_store, copied, store


def profiled(**counts: object) -> Path:
    """A store whose data sets have these numbers of rows."""
    profile = {"rows": 40, "features": 3, "positive": 20, "negative": 20} | counts
    return changed_store("UPDATE datasets SET dataset_profile = ?", json.dumps(profile))


def sheet_of(columns: int) -> None:
    """Print why a comparison of so many formulations is not on the page, if it is not."""
    scores = {("one", f"f{number}"): [0.5, 0.6] for number in range(columns)}
    made = table_of(scores)
    numbers = {name: number for number, name in enumerate(made["run_id"])}
    print(compare_sheet(made, "test/auc", numbers).problem)
