"""Comparison of tracked runs: read from the store, paired by split, tested, ranked, printed."""

from auclab.comparison.cells import Cells, arrange
from auclab.comparison.column_pairs import ColumnPair, compare_columns, holm, signed_rank_probabilities
from auclab.comparison.long_form import long_form
from auclab.comparison.paired import PairedTest, mean_interval, paired_test
from auclab.comparison.ranks import Ranking, critical_difference, rank_columns
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
