"""Comparison of tracked runs: read from the store, paired by split, tested, ranked, printed."""

from auclab.comparison.cells import Cells, arrange
from auclab.comparison.paired import PairedTest, paired_test
from auclab.comparison.ranks import Ranking, critical_difference, rank_columns
from auclab.comparison.runs import read_runs
from auclab.comparison.table import Table, compare_runs

__all__ = [
    "Cells",
    "PairedTest",
    "Ranking",
    "Table",
    "arrange",
    "compare_runs",
    "critical_difference",
    "paired_test",
    "rank_columns",
    "read_runs",
]
