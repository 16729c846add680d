"""Operations on a table whose rows may be in memory (DataFrames, arrays, CSR matrices) or in blocks.

No other code tests for the class of a table: a table in blocks has ``shape``, ``columns``, ``X @ coef`` and ``X[rows]``
like any other, and the differences are here.
"""

from __future__ import annotations

from typing import Any

from auclab.samples.blocks.table import BlockTable
from auclab.types import AuclabError


def in_memory(X: Any) -> bool:
    """Whether all rows of a table are in memory; those of a `BlockTable` are read when they are needed.

    Examples
    --------
    >>> in_memory([[1.0], [2.0]])
    True
    """
    return not isinstance(X, BlockTable)  # the only place that tests for such tables


def require_memory(X: Any, refusal: str) -> None:
    """Raise an `AuclabError` that says `refusal` for a table whose rows are not in memory."""
    if not in_memory(X):
        raise AuclabError(refusal)
