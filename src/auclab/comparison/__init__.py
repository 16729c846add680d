"""Comparison of tracked runs: read from the store, paired by split, tested, ranked, printed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auclab.comparison.cells import Cells, arrange, long_form
    from auclab.comparison.paired import (
        ColumnPair,
        PairedTest,
        Ranking,
        compare_columns,
        critical_difference,
        holm,
        mean_interval,
        paired_test,
        rank_columns,
        signed_rank_probabilities,
    )
    from auclab.comparison.runs import read_runs
    from auclab.comparison.table import Table, compare_runs

__all__ = [
    "Cells",
    "ColumnPair",
    "PairedTest",
    "Ranking",
    "Table",
    "arrange",
    "compare_columns",
    "compare_runs",
    "critical_difference",
    "holm",
    "long_form",
    "mean_interval",
    "paired_test",
    "rank_columns",
    "read_runs",
    "signed_rank_probabilities",
]

#: The names of each module, imported on first use: a table needs all metrics, a list of runs none.
_NAMES = {
    "cells": "Cells arrange long_form",
    "paired": "ColumnPair PairedTest Ranking compare_columns critical_difference holm mean_interval paired_test "
    "rank_columns signed_rank_probabilities",
    "runs": "read_runs",
    "table": "Table compare_runs",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'auclab.comparison' has no attribute {name!r}")
    return getattr(import_module(f"auclab.comparison.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
