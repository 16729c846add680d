"""Results in long form, one value per line, as read by other packages for comparisons."""

from __future__ import annotations

import pandas as pd

from auclab.comparison.cells import PARTS, Cells, arrange
from auclab.types import AuclabError

COLUMNS = ("method", "task", "fold", "metric", "value", "seconds", "gap")


def long_form(runs: pd.DataFrame, cells: Cells) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Every metric of the part that was compared, a line per value, and notes on what was left out.

    Parameters
    ----------
    runs : DataFrame
        As returned by `read_runs`.
    cells : Cells
        The comparison of one metric, ``Table.cells``: its settings name tasks and methods.

    Returns
    -------
    table : DataFrame
        ``method`` (the column of the table), ``task`` (the row), ``fold`` (the pair: seeds and fold), ``metric``
        (``test/auc``, …), ``value``, ``seconds`` (build, solve and tuning, without compilation) and ``gap`` (NaN
        without a certificate). All values, also of pairs that not all columns share; without standard errors and ends
        of intervals.
    notes : tuple of str

    See Also
    --------
    compare_runs : The comparison.

    Examples
    --------
    >>> split = {"split": "holdout", "split.seed": 0, "split.test_size": 0.3, "fold": "holdout", "data_sha256": "x"}
    >>> one = {"run_id": "1", "run": "r", "dataset": "sonar", "formulation": "bauc", "test/auc": 0.75, "gap": 0.0}
    >>> runs = pd.DataFrame([one | split])
    >>> table, _ = long_form(runs, arrange(runs, metric="test/auc"))
    >>> table[["method", "task", "fold", "metric", "value"]].to_dict("list")
    {'method': ['bauc'], 'task': ['sonar'], 'fold': ['seed 0'], 'metric': ['test/auc'], 'value': [0.75]}
    """
    notes, tables = [], []
    for metric in _metrics(runs, cells.metric):
        try:
            found = arrange(runs, metric=metric, rows=cells.rows, columns=cells.columns)
        except AuclabError as error:
            notes.append(f"{metric} is left out: {error}")
            continue
        tables.append(_melted(found))
    return pd.concat(tables, ignore_index=True), tuple(notes)


def _metrics(runs: pd.DataFrame, first: str) -> list[str]:
    """The metric that was compared, then the others of its part."""
    part, sign, _ = first.partition("/")
    names = sorted(str(name) for name in runs.select_dtypes("number"))
    of_part = [name for name in names if sign and name.startswith(part + sign) and not name.endswith(PARTS)]
    kept = [name for name in of_part if runs[name].notna().any()]
    return list(dict.fromkeys([first, *kept]))


def _melted(cells: Cells) -> pd.DataFrame:
    """The values of one metric, a line each, in the order of the table."""
    numbers = {"value": cells.values, "seconds": cells.seconds, "gap": cells.gaps}
    lines = pd.DataFrame({name: table.stack(future_stack=True) for name, table in numbers.items()}, columns=[*numbers])
    lines = lines.reindex(cells.values.stack(future_stack=True).index).dropna(subset="value")
    lines.index = lines.index.set_names(["task", "fold", "method"])
    return lines.reset_index().assign(metric=cells.metric)[list(COLUMNS)]
