"""A comparison as csv, Markdown, LaTeX, and in long form: the same cells; tables have the best ones in bold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

import pandas as pd

from auclab._core.base import AuclabError
from auclab._core.words import no_formula, visible
from auclab.runs.compare.cells import PARTS, Cells, arrange
from auclab.runs.compare.costs import best_hulls, cost_words
from auclab.runs.compare.paired import ColumnPair, mean_interval
from auclab.runs.compare.table import Cell, Table

COLUMNS = ("method", "task", "fold", "metric", "value", "seconds", "gap")

#: What pandas leaves as it is: signs that pdflatex lacks, and those that would be an argument of the command before.
_TEX = str.maketrans(
    {"λ": r"$\lambda$", "≤": r"$\le$", "²": r"$^2$", "·": r"$\cdot$", "±": r"$\pm$", "−": "$-$", "χ": r"$\chi$"}
    | {"[": "{[}", "]": "{]}", "*": "{*}"}
)
_MARKDOWN = {**{character: f"\\{character}" for character in "\\|[]`*"}, "<": "&lt;", "&": "&amp;"}


def to_values(table: Table) -> str:
    """Csv of the tested values: a line per row and pair, a column per configuration, empty where there is no run."""
    values = table.cells.values
    names = [tuple(no_formula(str(name)) for name in pair) for pair in values.index]
    index = pd.MultiIndex.from_tuples(names, names=values.index.names)
    columns = [no_formula(str(name)) for name in values]
    return str(values.set_axis(index, axis=0).set_axis(columns, axis=1).to_csv())


#: Columns of the csv file of a table, in their order; of a `Cell`, those that are called otherwise there.
_HEAD = [
    *("row", "column", "metric", "mean", "sd", "n", "best", "not_worse", "test", "p_value", "seconds"),
    *("seconds_of_tuning", "gap", "constant", "mean_low", "mean_high"),
]
_RENAMED = {"deviation": "sd", "count": "n", "level": "not_worse", "tuning": "seconds_of_tuning"}


def to_csv(table: Table) -> str:
    """Csv of the table: a line per cell."""
    lines = []
    for row in table.rows:
        for column in table.columns:
            low, high = _interval(table, row, column)
            line = asdict(table.cell(row, column)) | {"test": table.test, "mean_low": low, "mean_high": high}
            names = {"row": row, "column": column, "metric": table.cells.metric}
            lines.append(line | {key: no_formula(name) for key, name in names.items()})
    return str(pd.DataFrame(lines).rename(columns=_RENAMED).to_csv(columns=_HEAD, index=False))


def _interval(table: Table, row: str, column: str) -> tuple[float, float]:
    """Limits of a mean at level 1 − alpha, with the correction for shared observations unless the test is ``t``."""
    values = table.cells.compared.loc[row][column].dropna()
    ratio = 0.0 if table.test == "t" else float(table.cells.ratios.loc[row])
    return mean_interval(values, level=1 - table.alpha, test_train_ratio=ratio)


def pairs_to_csv(pairs: Sequence[ColumnPair]) -> str:
    """Csv of the tests of every two columns."""
    lines = pd.DataFrame([asdict(pair) for pair in pairs])
    return str(lines.assign(**{key: lines[key].map(no_formula) for key in ("first", "second")}).to_csv(index=False))


def to_markdown(table: Table) -> str:
    """Markdown: the cells, the summary of each column, and the notes."""

    def lines(head: list[str], body: list[list[str]]) -> Iterator[str]:
        yield "| " + " | ".join(head) + " |"
        yield "|---" + "|---:" * (len(head) - 1) + "|"
        yield from ("| " + " | ".join(row) + " |" for row in body)

    main = grid(table, lambda text, cell: f"**{text}**" if cell.level else text, escape=escape_markdown)
    parts = [*lines(*main), "", escape_markdown(caption(table)), "", *lines(*summary(table, escape=escape_markdown))]
    parts += ["", *(f"* {escape_markdown(sentence)}" for sentence in sentences(table))]
    return "\n".join(parts).rstrip() + "\n"


def to_latex(table: Table) -> str:
    """A ``table`` with booktabs' rules, by pandas' Styler; notes are comments above it."""
    head, lines = grid(table, lambda text, cell: f"\\textbf{{{text}}}" if cell.level else text, escape=visible)
    cells = pd.DataFrame([line[1:] for line in lines], [line[0] for line in lines], head[1:])
    style = cells.style.format_index(escape="latex", axis=0).format_index(escape="latex", axis=1)
    text = style.to_latex(
        hrules=True,
        caption=caption(table).replace("_", r"\_"),
        position_float="centering",
        column_format="l" + "r" * cells.shape[1],
    )
    notes = "".join(f"% {visible(sentence)}\n" for sentence in sentences(table))
    return f"% needs \\usepackage{{booktabs}}\n{notes}{text.translate(_TEX)}"


def grid(
    table: Table, mark: Callable[[str, Cell], str], escape: Callable[[str], str] = str
) -> tuple[list[str], list[list[str]]]:
    """Head and lines of the main table: pairs, ``mean ± deviation``; a wide one is transposed.

    `mark`: the text of a number, by its cell. `escape`: of names.
    """
    rows, columns = table.rows, table.columns
    body = [[cell_text(table, row, column, mark) for column in columns] for row in rows]
    pairs = [str(table.pairs[row]) for row in rows]
    if table.is_wide:
        head = [", ".join(table.cells.columns), *rows]
        turned = [list(line) for line in zip(*body, strict=True)]
        lines = [["pairs", *pairs], *([escape(name), *line] for name, line in zip(columns, turned, strict=True))]
    else:
        head = [", ".join(table.cells.rows), "pairs", *columns]
        lines = [[escape(row), n, *line] for row, n, line in zip(rows, pairs, body, strict=True)]
    return list(map(escape, head)), lines


def cell_text(table: Table, row: str, column: str, mark: Callable[[str, Cell], str] = lambda text, cell: text) -> str:
    """``mean ± deviation`` of a cell, and of how many of the pairs; a dash where there is no run."""
    cell, digits = table.cell(row, column), digits_of(table)
    if math.isnan(cell.mean):
        return "—"
    text = digits(cell.mean) + ("" if math.isnan(cell.deviation) else f" ± {digits(cell.deviation)}")
    return mark(text, cell) + cell.remark(int(table.pairs[row]))


def summary(table: Table, escape: Callable[[str], str] = str) -> tuple[list[str], list[list[str]]]:
    """Head and lines of the summary of each column: rank, wins, seconds with those of tuning, gap."""
    ranks = None if table.ranking is None else table.ranking.average_ranks
    columns = table.columns if ranks is None else [str(name) for name in ranks.index]
    tuned = bool((table.tuning > 0).any())
    head = [escape(", ".join(table.cells.columns)), *(["average rank"] if ranks is not None else [])]
    head += ["wins/ties/losses", "mean seconds", *(["of it tuning"] if tuned else []), "largest gap"]
    lines = []
    for column in columns:
        rank = [f"{ranks[column]:.2f}"] if ranks is not None else []
        tally = "/".join(map(str, table.tally(column)))
        seconds, tuning, gap = (float(each[column]) for each in (table.seconds, table.tuning, table.gap))
        tuning_cell = [_or(tuning if tuning > 0 else math.nan, ".3g", "—")] if tuned else []
        gap_cell = _or(gap, ".1e", "no certificate")
        lines.append([escape(column), *rank, tally, _or(seconds, ".3g", "—"), *tuning_cell, gap_cell])
    return head, lines


def caption(table: Table, mark: str = "Bold") -> str:
    """Caption of the table."""
    tests = {
        "t": "a paired t-test",
        "wilcoxon": "Wilcoxon's signed-rank test",
        "corrected-t": "the corrected resampled t-test",
    }
    end = "smaller" if table.lower_is_better else "larger"
    return (
        f"{table.cells.metric}, mean ± standard deviation over pairs (the same data, seed and fold), {end} is better. "
        f"{mark}: the best of {'its row' if table.mean.shape[0] > 1 else 'all'}, and what {tests[table.test]} at level "
        f"{table.alpha:g} does not find worse. Seconds of a job: build, solve and tuning."
    )


def sentences(table: Table) -> list[str]:
    """One sentence on Friedman's test, then the notes, then how the best two of a row compare by cost."""
    ranking = table.ranking
    found = []
    if ranking is not None:
        found.append(
            f"Friedman over {ranking.n_rows} data sets: χ² = {ranking.chi_square:.3f}, p = {ranking.p_value:.2g} "
            f"(Iman-Davenport F = {ranking.f_statistic:.3f}, p = {ranking.f_p_value:.2g}); two average ranks differ at "
            f"level {ranking.alpha:g} if they are {ranking.critical_difference:.2f} or more apart (Nemenyi)"
        )
    costs = [f"costs on {row}: {cost_words(*names, hulls)}" for row, (names, hulls) in best_hulls(table).items()]
    return found + list(table.notes) + costs


def escape_markdown(text: str) -> str:
    r"""Text escaped for Markdown, on one line: no HTML, links, code or cells.

    Examples
    --------
    >>> escape_markdown("breast_cancer λ=0.1 <img> [x](y)")
    'breast_cancer λ=0.1 &lt;img> \\[x\\](y)'
    """
    return "".join(_MARKDOWN.get(character, character) for character in visible(text))


def digits_of(table: Table) -> Callable[[float], str]:
    """Four decimals where the largest mean is between 0.01 and 1000, three significant digits elsewhere."""
    largest = float(table.mean.abs().max().max())
    return (lambda value: f"{value:.4f}") if 0.01 <= largest < 1000 else (lambda value: f"{value:.3g}")


def _or(value: float, form: str, unknown: str) -> str:
    return unknown if math.isnan(value) else format(value, form)


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
