"""The comparison: means, the best of each row, those not found worse, ranks, wins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from auclab._core.base import AuclabError
from auclab._core.validation import check_choice
from auclab._core.words import FEW, few
from auclab.runs.compare.cells import Cells, arrange
from auclab.runs.compare.paired import (
    DEFAULT_TEST,
    TESTS,
    Ranking,
    Test,
    check_level,
    paired_test,
    rank_columns,
    smallest_p,
)
from auclab.runs.tracking.environment import BETTER_TAG

#: Numbers of a run for which less is better, by the last part of their name; and those without a better direction.
LOWER_IS_BETTER = (
    *("objective", "gap", "absolute_gap", "dual_residual", "iterations"),
    *("auc_threshold", "ranking_superquantile"),
)
NEITHER = ("alpha",)


@dataclass(frozen=True)
class Cell:
    """One configuration on one data set; the fields are those of `Table`."""

    mean: float
    deviation: float
    count: int
    p_value: float
    best: bool
    level: bool
    seconds: float
    tuning: float
    gap: float
    constant: int

    def remark(self, pairs: int) -> str:
        """Text after the number: how many of the pairs it covers, and whether scorers are constant."""
        some = "" if self.count == pairs else f" ({self.count} of {pairs})"
        constant = "constant" if self.constant == self.count else f"{self.constant} constant"
        return some + (f" ({constant})" if self.constant else "")


@dataclass(frozen=True)
class Table:
    """One metric of several configurations (columns) on several data sets (rows).

    Every DataFrame has a row per row of the table and a column per column: `mean`, `deviation` (n − 1) and `count` on
    the pairs that are compared (`auclab.runs.compare.cells.common_pairs`), `p_value` of the paired test against the
    best of the row (NaN at the best itself and where there are fewer than two pairs), `best` and `level` (the best, and
    those not significantly worse at level `alpha`), both False on fewer than two pairs. `wins` and `losses` count, for
    every two columns, the rows in which the test finds the first better or worse. `pairs` is per row; `seconds` and
    `tuning` (means) and `gap` (the largest) are per column.

    See Also
    --------
    compare_runs : Creates it.
    auclab.runs.Cells : The values behind it.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame(
    ...     {
    ...         "run_id": list("abcd"), "run": list("abcd"), "run_status": "FINISHED", "fold": "holdout",
    ...         "started": pd.to_datetime([0, 1, 2, 3], unit="s", utc=True), "data_sha256": "sonar", "dataset": "sonar",
    ...         "formulation": ["bauc", "bauc", "csvm", "csvm"], "split": "holdout", "split.test_size": 0.3,
    ...         "split.seed": [0, 1, 0, 1], "test/auc": [0.75, 0.80, 0.70, 0.77], "gap": 1e-9,
    ...         "seconds/total": 3.0, "seconds/compile": 2.0,
    ...     }
    ... )
    >>> from auclab.runs import compare_runs
    >>> table = compare_runs(runs)
    >>> table.rows, table.columns
    (['sonar'], ['bauc', 'csvm'])
    """

    cells: Cells
    test: Test
    alpha: float
    lower_is_better: bool
    mean: pd.DataFrame
    deviation: pd.DataFrame
    count: pd.DataFrame
    p_value: pd.DataFrame
    best: pd.DataFrame
    level: pd.DataFrame
    wins: pd.DataFrame
    losses: pd.DataFrame
    tested: pd.DataFrame
    pairs: pd.Series
    seconds: pd.Series
    tuning: pd.Series
    gap: pd.Series
    ranking: Ranking | None
    notes: tuple[str, ...]

    @property
    def rows(self) -> list[str]:
        """Names of the rows, in the order of the first runs."""
        return [str(name) for name in self.mean.index]

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in the order of the first runs."""
        return [str(name) for name in self.mean]

    @property
    def is_wide(self) -> bool:
        """Whether it is shown with a line for each column: there are many of them, and more than rows."""
        return len(self.columns) > max(FEW, len(self.rows))

    def cell(self, row: str, column: str) -> Cell:
        """Everything about one configuration on one data set; mean seconds, largest gap, constant scorers."""
        tables = (self.mean, self.deviation, self.count, self.p_value, self.best, self.level)
        times = [float(each.loc[row][column].mean()) for each in (self.cells.seconds, self.cells.tuning)]
        gap = float(self.cells.gaps.loc[row][column].max())
        constant = int((self.cells.constant & self.cells.counted).loc[row][column].sum())
        found: list[Any] = [*(table.at[row, column] for table in tables), *times, gap, constant]
        return Cell(*found)

    def ordered(self, row: str) -> list[str]:
        """The configurations that have all pairs of a row, the one with the best mean first."""
        whole = [column for column in self.columns if self.count.at[row, column] == self.pairs[row]]
        return sorted(whole, key=self.mean.loc[row].to_dict().__getitem__, reverse=not self.lower_is_better)

    def tally(self, column: str) -> tuple[int, int, int]:
        """Wins, ties and losses of a column against all others, over all rows where the two could be tested."""
        wins, losses, tested = (int(each.T[column].sum()) for each in (self.wins, self.losses, self.tested))
        return wins, tested - wins - losses, losses


def compare_runs(
    runs: pd.DataFrame,
    *,
    metric: str = "test/auc",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    test: Test = DEFAULT_TEST,
    alpha: float = 0.05,
    better: str | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Compare configurations on the splits they share.

    Parameters
    ----------
    runs : DataFrame
        As returned by `read_runs`.
    metric : str
    rows, columns : sequence of str, optional
        Settings that define rows and columns; see `arrange`.
    test : {"corrected-t", "t", "wilcoxon"}
        See `paired_test`. The correction is for splits that share observations; if every pair has its own data,
        generated from its seed, ``corrected-t`` equals ``t``. P-values are not corrected for multiple testing; those of
        `Table.ranking` are.
    alpha : float in (0, 1)
    better : {"high", "low"}, optional
        Whether large or small values are better; by default taken from the metric, if it is one of auclab's.
    notes : sequence of str
        Placed before the notes of the table, for example on what the caller left out.

    Raises
    ------
    AuclabError
        As `arrange` and `paired_test`; also a metric of which neither high nor low values are known to be better.

    See Also
    --------
    read_runs : Reads the runs.
    arrange : How runs become cells.
    paired_test : The test of a row.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame(
    ...     {
    ...         "run_id": list("abcd"), "run": list("abcd"), "run_status": "FINISHED", "fold": "holdout",
    ...         "started": pd.to_datetime([0, 1, 2, 3], unit="s", utc=True), "data_sha256": "sonar", "dataset": "sonar",
    ...         "formulation": ["bauc", "bauc", "csvm", "csvm"], "split": "holdout", "split.test_size": 0.3,
    ...         "split.seed": [0, 1, 0, 1], "test/auc": [0.75, 0.80, 0.70, 0.77], "gap": 1e-9,
    ...         "seconds/total": 3.0, "seconds/compile": 2.0,
    ...     }
    ... )
    >>> compare_runs(runs).mean.round(3).to_dict("records")
    [{'bauc': 0.775, 'csvm': 0.735}]
    """
    check_choice("test", test, TESTS)
    check_level("alpha", alpha)
    lower, direction = _lower_is_better(metric, better, runs)
    cells = arrange(runs, metric=metric, rows=rows, columns=columns)
    groups = cells.compared.groupby(level="row", sort=False)
    mean, deviation, count = (
        table.rename_axis(index=None) for table in (groups.mean(), groups.std(ddof=1), groups.count())
    )
    pairs = cells.pairs
    # The best of the columns with all pairs of their row; a single pair is not tested.
    candidates = mean.where(count.eq(pairs, axis=0) & (count > 1))
    best = candidates.eq(candidates.min(axis=1) if lower else candidates.max(axis=1), axis=0)
    p_value = pd.DataFrame(math.nan, mean.index, mean.columns)
    wins, losses, tested = (pd.DataFrame(0, mean.columns, mean.columns) for _ in range(3))
    best_of_row = best.idxmax(axis=1).where(best.any(axis=1))
    for a, b in combinations(map(str, mean), 2):
        p = _against(cells, a, b, test)
        for one, other, sign in ((a, b, 1), (b, a, -1)):
            p_value[other] = p_value[other].mask((best_of_row == one) & ~best[other], p)
            lead = sign * (-1 if lower else 1) * _lead(cells, a, b)
            wins.loc[one, other] = int(((p < alpha) & (lead > 0)).sum())
            losses.loc[one, other] = int(((p < alpha) & (lead < 0)).sum())
            tested.loc[one, other] = int(p.notna().sum())
    ranking, rank_notes = _ranks(mean, cells.tasks, lower, alpha)
    return Table(
        *(cells, test, alpha, lower, mean, deviation, count, p_value, best, best | (p_value >= alpha)),
        *(wins, losses, tested, pairs, cells.seconds.mean(), cells.tuning.mean(), cells.gaps.max(), ranking),
        notes=(*notes, *direction, *cells.notes, *_few_pairs(cells, test, alpha), *rank_notes),
    )


def _lower_is_better(metric: str, better: str | None, runs: pd.DataFrame) -> tuple[bool, list[str]]:
    """Whether low values are better, and a note where that is not known; of the user's own metrics a tag says it."""
    if better is not None:
        if better not in ("high", "low"):
            raise AuclabError(f"better is {better!r}; it is high or low")
        return better == "low", []
    name = metric.rpartition("/")[2]
    if (tag := f"tag.{BETTER_TAG}.{name}") in runs and (said := set(runs[tag].dropna())):
        if said in ({"high"}, {"low"}):
            return said == {"low"}, []
        return False, [
            f"whether high or low values of {name} are better is not known; larger is taken as better. The other way: "
            f"--better low, or {name}.greater_is_better = False below the function"
        ]
    if name in NEITHER:
        raise AuclabError(
            f"whether high or low values of {metric} are better is not known; add --better high or --better low"
        )
    ends = ("_loss", "_se", "_sd", "_slack")
    return name in LOWER_IS_BETTER or metric.startswith("seconds/") or name.endswith(ends), []


def _common(cells: Cells, first: str, second: str) -> pd.DataFrame:
    """The pairs on which both columns are compared, with finite values."""
    both = cells.compared[[first, second]]
    return both[np.isfinite(both.to_numpy()).all(axis=1)]


def _against(cells: Cells, first: str, second: str, test: Test) -> pd.Series:
    """The p-value of two columns in each row; NaN where they share fewer than two pairs."""
    found = {}
    for row, block in _common(cells, first, second).groupby(level="row", sort=False):
        ratio = float(cells.ratios.loc[str(row)])
        if len(block) > 1 and not (test == "corrected-t" and math.isnan(ratio)):
            found[row] = paired_test(block[first], block[second], test=test, test_train_ratio=ratio).p_value
    return pd.Series(found, dtype=float).reindex(cells.values.index.unique("row")).rename_axis(None)


def _lead(cells: Cells, first: str, second: str) -> pd.Series:
    """Mean difference over common pairs in each row."""
    common = _common(cells, first, second)
    lead = (common[first] - common[second]).groupby(level="row").mean()
    return lead.reindex(cells.values.index.unique("row")).rename_axis(None)


def _few_pairs(cells: Cells, test: Test, alpha: float) -> list[str]:
    """Notes on the rows in which no values could be significant."""
    if cells.values.shape[1] < 2:
        return []
    notes = []
    pairs = cells.pairs
    if single := [str(row) for row, n in pairs.items() if n < 2]:
        notes.append(
            f"one pair does not distinguish configurations, so nothing is marked: {few(single)}; "
            "run more seeds, such as split.seed=0,1,2,3,4"
        )
    if powerless := [str(row) for row, n in pairs.items() if n > 1 and smallest_p(int(n), test) >= alpha]:
        need = next(n for n in range(2, 60) if smallest_p(n, test) < alpha)
        notes.append(
            f"too few pairs for {test} at level {alpha:g}, no difference can be significant: {few(powerless)}; "
            f"run at least {need} seeds or folds"
        )
    if test == "corrected-t" and (lost := [str(row) for row in cells.ratios.index[cells.ratios.isna()]]):
        notes.append(f"corrected-t needs one share of test observations, which is unknown for {few(lost)}: no test")
    return notes


def task_means(mean: pd.DataFrame, tasks: pd.Series) -> pd.DataFrame:
    """Means of a table, a row per data set: the unit of tests over data sets.

    Rows of one data set, such as two kinds of splits, share its observations and are averaged; NaN where one of them
    lacks the column.

    Examples
    --------
    >>> mean = pd.DataFrame({"a": [0.8, 0.9, 0.5]}, index=["x holdout", "x kfold", "y"])
    >>> task_means(mean, pd.Series(["x", "x", "y"], index=mean.index)).round(2).to_dict()
    {'a': {'x': 0.85, 'y': 0.5}}
    """
    names = tasks.reindex(mean.index).to_list()
    return mean.groupby(names, sort=False).mean().where(mean.notna().groupby(names, sort=False).all())


def _ranks(mean: pd.DataFrame, tasks: pd.Series, lower: bool, alpha: float) -> tuple[Ranking | None, list[str]]:
    """Friedman's test over the data sets that have every column, and notes on why it could not be computed."""
    means = task_means(mean, tasks)
    whole, n_columns = means.dropna(), mean.shape[1]
    notes = []
    if len(whole) < len(means) and len(means) > 1:
        left_out = few([str(row) for row in means.index.difference(whole.index, sort=False)])
        notes.append(f"ranks leave out rows that lack a column: {left_out}")
    if n_columns > 1 and len(means) == 1 < len(mean):
        notes.append(
            f"no test over data sets: the {len(mean)} rows are of one, {means.index[0]}, and share its observations; "
            "the tests within each row allow for that"
        )
        return None, notes
    if n_columns > 1 and len(means) < len(mean):
        notes.append(f"the {len(mean)} rows are of {len(means)} data sets: tests over data sets take one mean of each")
    if n_columns == 2 and len(whole) > 1:
        p = paired_test(whole.iloc[:, 0], whole.iloc[:, 1], test="wilcoxon").p_value
        notes.append(f"two columns over {len(whole)} data sets: signed ranks of their means (Wilcoxon), p = {p:.2g}")
    elif min(mean.shape) > 1 and len(whole) < 2:
        notes.append(f"no Friedman test: it needs 2 data sets that have every column; there are {len(whole)}")
    if n_columns < 3 or len(whole) < 2:
        return None, notes
    return rank_columns(whole, lower_is_better=lower, alpha=alpha), notes
