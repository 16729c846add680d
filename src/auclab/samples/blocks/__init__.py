"""Samples larger than memory: rows stay in files, or on workers; scores, sums and small matrices travel."""

from auclab.samples.blocks.engines import DaskEngine, LocalEngine
from auclab.samples.blocks.parquet import open_parquet
from auclab.samples.blocks.table import BlockTable

__all__ = ["BlockTable", "DaskEngine", "LocalEngine", "open_parquet"]
