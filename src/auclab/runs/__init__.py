"""Runs: an experiment from its settings to its record, sweeps, MLflow, comparisons, the report.

`config` (settings), `split` (a fold), `screen`, `record` (the folder of a run), `stored` (what others may have
written), `tracking` (from the folder into MLflow), `sweeps`, `compare`, `report`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auclab.inference.comparison import holm
    from auclab.runs.compare.cells import Cells, arrange
    from auclab.runs.compare.formats import long_form
    from auclab.runs.compare.paired import (
        ColumnPair,
        PairedTest,
        Ranking,
        compare_columns,
        critical_difference,
        mean_interval,
        paired_test,
        rank_columns,
        signed_rank_probabilities,
    )
    from auclab.runs.compare.runs import read_runs
    from auclab.runs.compare.table import Table, compare_runs
    from auclab.runs.report.writer import write_report
    from auclab.runs.tracking.address import TrackingConfig
    from auclab.runs.tracking.model import load_model, load_scorer

__all__ = [
    "Cells",
    "ColumnPair",
    "PairedTest",
    "Ranking",
    "Table",
    "TrackingConfig",
    "arrange",
    "compare_columns",
    "compare_runs",
    "critical_difference",
    "holm",
    "load_model",
    "load_scorer",
    "long_form",
    "mean_interval",
    "paired_test",
    "rank_columns",
    "read_runs",
    "signed_rank_probabilities",
    "write_report",
]

#: The names of each module, imported on first use: a table needs all metrics, a list of runs none.
_NAMES = {
    "compare.cells": "Cells arrange",
    "compare.formats": "long_form",
    "compare.paired": "ColumnPair PairedTest Ranking compare_columns critical_difference holm mean_interval "
    "paired_test rank_columns signed_rank_probabilities",
    "compare.runs": "read_runs",
    "compare.table": "Table compare_runs",
    "report.writer": "write_report",
    "tracking.address": "TrackingConfig",
    "tracking.model": "load_model load_scorer",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'auclab.runs' has no attribute {name!r}")
    return getattr(import_module(f"auclab.runs.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
