"""``multipliers.parquet`` and ``scores.parquet`` of rows in blocks: written block by block, while they are computed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.pipeline.stored.stored_files import MOST_SCORES
from auclab.types import Array


def write_blocks(
    path: Path, y: NDArray[Any], rows: NDArray[np.integer], name: str, blocks: Iterable[Array], *, part: str = ""
) -> bool:
    """Write a file with one row group per block, in one pass. If nothing would read it, write none and return False.

    `y` (n_samples,): 0/1. `rows` (n_samples,): row numbers in the data set. `name`: name of the column of values.
    `blocks`: the values in row order. `part`: value of a column ``part``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if len(y) > MOST_SCORES:
        return False
    of_part = [("part", pa.dictionary(pa.int8(), pa.string()))] if part else []
    schema = pa.schema([("row", pa.int64()), *of_part, ("y_true", pa.int8()), (name, pa.float64())])
    start = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for values in blocks:
            block = slice(start, start + values.size)
            parts = [pa.DictionaryArray.from_arrays(pa.array(np.zeros(values.size, np.int8)), pa.array([part]))]
            columns = [rows[block].astype(np.int64), *(parts if part else []), y[block].astype(np.int8), values]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema))
            start += values.size
    return True
