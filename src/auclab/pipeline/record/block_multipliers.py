"""``multipliers.parquet`` of rows in blocks: written block by block, from the multipliers by bins of the scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.pipeline.stored.stored_files import MOST_SCORES
from auclab.samples.blocks.table import BlockTable
from auclab.solvers.bin_multipliers import BinMultipliers


def write_block_multipliers(
    multipliers: BinMultipliers, table: BlockTable, y: NDArray[Any], rows: NDArray[np.integer], path: Path
) -> bool:
    """Write the file with a row group a block; one pass. False, and no file, where nothing would read it.

    Parameters
    ----------
    multipliers : BinMultipliers
    table : BlockTable of shape (n_samples, n_features)
        The prepared rows that were solved.
    y : array of shape (n_samples,)
        0/1.
    rows : int array of shape (n_samples,)
        Their numbers in the data set.
    path : Path
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if len(y) > MOST_SCORES:
        return False
    schema = pa.schema([("row", pa.int64()), ("y_true", pa.int8()), ("multiplier", pa.float64())])
    start = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for values in multipliers.by_block(table, y, pos_label=1):
            block = slice(start, start + values.size)
            columns = [rows[block].astype(np.int64), y[block].astype(np.int8), values]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema))
            start += values.size
    return True
