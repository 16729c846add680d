"""Samples larger than memory: workers read the rows from files; scores, sums and small matrices are exchanged."""

from auclab.samples.blocks.engines import DaskEngine, LocalEngine, passes_to
from auclab.samples.blocks.parquet import open_parquet
from auclab.samples.blocks.table import BlockTable

__all__ = ["BlockTable", "DaskEngine", "LocalEngine", "open_parquet", "passes_to"]
