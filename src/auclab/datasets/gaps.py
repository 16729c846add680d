"""What a preparation does to a table without being asked: gaps that are filled, columns that are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auclab.wording import few

if TYPE_CHECKING:
    import pandas as pd


def gap_notes(table: pd.DataFrame, *, drops_constant: bool = True) -> tuple[str, ...]:
    """One sentence on the gaps of a table and on its columns without any difference; none where there is neither.

    `drops_constant`: whether the preparation leaves out columns that are constant.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 40, None], "city": ["Rome", "Rome", None], "remark": [None, None, None]})
    >>> print(*gap_notes(table))  # doctest: +NORMALIZE_WHITESPACE
    filled 1 gap in 1 column (age 1) with the median or the most frequent value of the training part; dropped columns
    'city' (one value), 'remark' (empty)
    """
    gaps = {str(name): int(column.isna().sum()) for name, column in table.items()}
    constant = {str(name): gaps[str(name)] == len(table) for name, column in table.items() if _is_constant(column)}
    filled = {name: count for name, count in gaps.items() if count and not (name in constant and drops_constant)}
    parts = []
    if filled:
        most = sorted(filled.items(), key=lambda item: -item[1])
        named = [f"{name} {count:,}" for name, count in most]
        parts.append(
            f"filled {_counted(sum(filled.values()), 'gap')} in {_counted(len(filled), 'column')} ({few(named)}) with "
            "the median or the most frequent value of the training part"
        )
    if constant and drops_constant:
        named = [f"{name!r} ({'empty' if is_empty else 'one value'})" for name, is_empty in constant.items()]
        parts.append(f"dropped column{'s' if len(named) > 1 else ''} {few(named)}")
    return ("; ".join(parts),) if parts else ()


def _is_constant(column: pd.Series) -> bool:
    # Rows that tell most columns that vary.
    return bool(column.iloc[:1_000].nunique() <= 1 and column.nunique() <= 1)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
