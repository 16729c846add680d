"""``scores.parquet`` of a part that is summarised: written block by block, while the scores are computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from auclab.pipeline.split.measured import Measured
from auclab.pipeline.stored.stored_files import MOST_SCORES, SCORES_FILE


def write_scores(part: Measured, rows: NDArray[np.intp], name: str, folder: Path) -> bool:
    """Write the file with a row group a block; one pass. False, and no file, where nothing would read it.

    Parameters
    ----------
    part : Measured
    rows : int array of shape (n_samples,)
        Numbers of the rows in the data set.
    name : {"test", "train"}
    folder : Path
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if len(part.labels) > MOST_SCORES:
        return False
    kinds = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema([("row", pa.int64()), ("part", kinds), ("y_true", pa.int8()), ("score", pa.float64())])
    start = 0
    with pq.ParquetWriter(folder / SCORES_FILE, schema, compression="zstd") as writer:
        for scores in part.by_block():
            block = slice(start, start + scores.size)
            names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(scores.size, np.int8)), pa.array([name]))
            columns = [rows[block], names, part.labels[block].astype(np.int8), scores]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema))
            start += scores.size
    return True
