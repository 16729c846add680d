"""The cells of a comparison: rows, columns and the settings that make them, pairs; a line per value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import pandas as pd

from auclab._core.base import AuclabError
from auclab._core.words import LINES, counted, did_you_mean, few
from auclab.runs.config.compose import SYMBOLS, TUNED_TOGETHER

#: Settings that only replicate an experiment; the name of the split is the column ``fold``.
REPLICATION = ("dataset.seed", "split.seed", "split.fold", "split.n_repeats")

#: Groups of settings that determine the training and test observations, and those that determine the method.
DATA = ("dataset", "split")
METHOD = ("formulation", "kernel", "tune", "class_weight", "constraints", "solver", "preprocess")

#: Settings that are weights of one class each.
_WEIGHTS = "class_weight."

#: Settings that follow from another one or locate files.
FOLLOW = ("solver.name", "dataset.data_dir")


def label(keys: Sequence[str], values: Sequence[object]) -> str:
    """Label of settings: the choice of a group without its name, all others with theirs; missing ones are left out.

    Examples
    --------
    >>> label(["formulation", "formulation.penalty", "formulation.norm"], ["ranksvm", 0.01, None])
    'ranksvm λ=0.01'
    >>> label(["formulation", "tune", "formulation.penalty"], ["ranksvm", "penalty", "tuned"])
    'ranksvm λ tuned'
    >>> label(["formulation", "tune", "kernel", "kernel.gamma"], ["ranksvm", "kernel", "rbf", "tuned"])
    'ranksvm γ and λ or z tuned rbf'
    >>> label(["formulation", "class_weight"], ["csvm", "balanced"])
    'csvm balanced'
    >>> label(["formulation", "class_weight.negative"], ["csvm", 5.0])
    'csvm weight of negative=5'
    """
    parts = []
    for key, value in zip(keys, values, strict=True):
        if pd.isna(value) or (key, value) == ("tune", "none"):  # type: ignore[call-overload]
            continue
        name = key.rpartition(".")[2]
        if key == "tune":
            parts.append(f"{TUNED_TOGETHER.get(str(value)) or SYMBOLS.get(str(value), value)} tuned")
            continue
        if value == "tuned" and "tune" in keys:
            continue  # the tuning reports it
        name = f"weight of {name}" if key.startswith(_WEIGHTS) else name
        text = f"{value:.12g}" if isinstance(value, float) else str(value)
        parts.append(text if "." not in key else f"{SYMBOLS.get(name, name)}={text}")
    return " ".join(parts) or "all"


def settings_of(runs: pd.DataFrame, groups: Sequence[str]) -> list[str]:
    """Settings of some groups, in their order, that are not replications; the choice of a group before its parts."""
    names = sorted(str(name) for name in runs if str(name).partition(".")[0] in groups)
    # The choice of a group determines most of its parts, so it comes first.
    return sorted(
        (name for name in names if name not in (*REPLICATION, *FOLLOW)),
        key=lambda name: ("." in name, groups.index(name.partition(".")[0])),
    )


def telling_settings(runs: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Those of `names` that distinguish configurations: formulation, data set, tuning, settings that vary within them.

    Facts determined by an earlier setting, such as the rows of a data set, are left out.

    Examples
    --------
    >>> runs = pd.DataFrame({"dataset": [*"aab"], "dataset.rows": [7, 7, 8], "split": [*"xyy"]})
    >>> telling_settings(runs, list(runs))
    ['dataset', 'split']
    """
    some = "tune" in runs and runs["tune"].nunique(dropna=False) > 1
    always = [name for name in names if name in ("formulation", "dataset") or (name == "tune" and some)]
    return sorted(grown(runs, always, names, ()), key=list(names).index)


def grown(runs: pd.DataFrame, keys: list[str], candidates: Sequence[str], within: Sequence[str]) -> list[str]:
    """`keys` and every candidate that still varies, one after the other; weights of both classes if one does."""
    for name in candidates:
        if name not in (*keys, *within) and _varying(runs, [*within, *keys], [name]):
            weights = [each for each in candidates if name.startswith(_WEIGHTS) and each.startswith(_WEIGHTS)]
            keys = [*keys, *(weights or [name])]
    return keys


def _varying(runs: pd.DataFrame, keys: Sequence[str], names: Sequence[str]) -> list[str]:
    """Those of `names` that have several values among runs with the same `keys`."""
    groups = runs.groupby(list(dict.fromkeys(keys)), dropna=False, sort=False)
    return [name for name in names if name not in keys and (groups[name].nunique(dropna=False) > 1).any()]


#: Settings of a data set that affect how its columns are read, but neither rows nor labels.
READING = ("name", "sep", "decimal", "encoding", "header", "missing", "nominal", "drop", "citation", "sha256")

#: Suffixes of numbers that describe another one: standard error, ends of an interval.
PARTS = ("_se", "_low", "_high", "_sd")

#: Seconds of a job that select a parameter; `auclab.runs.split.results` records them.
TUNING_SECONDS = "seconds/tune"


@dataclass(frozen=True)
class Cells:
    """Values of one metric, paired.

    `values` has a row per (row of the table, pair) and a column per column of the table; NaN where there is no run.
    `counted` says which of them are compared (`common_pairs`). `seconds` (build, solve and
    tuning, without compilation), `tuning` (seconds of it) and `gaps` have the same shape. `ratios` has n_test/n_train
    of each row of the table: 0 if every pair has its own data, NaN if the ratio varies within the row. `tasks` names
    the data set of each row: rows that differ only in split, metric or the treatment of columns share it. `constant`,
    of the same shape as `values`, says which scorers give every row the same score, `runs` has the ids of the runs, and
    `folders` has the files of their splits. `notes` are sentences on what was left out, duplicated or missing.

    See Also
    --------
    arrange : Builds cells from runs.
    auclab.runs.Table : The tests on them.

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
    >>> from auclab.runs import arrange
    >>> cells = arrange(runs, metric="test/auc")
    >>> cells.rows, cells.values.shape
    (('dataset',), (2, 2))
    """

    metric: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: pd.DataFrame
    counted: pd.DataFrame
    seconds: pd.DataFrame
    tuning: pd.DataFrame
    gaps: pd.DataFrame
    ratios: pd.Series
    tasks: pd.Series
    constant: pd.DataFrame
    runs: pd.DataFrame
    folders: pd.DataFrame
    notes: tuple[str, ...]

    def runs_of(self, row: str, column: str) -> list[str]:
        """Ids of the runs whose values are compared in a cell, in the order of the pairs."""
        inside = self.runs.where(self.counted).loc[row][column]
        return list(dict.fromkeys(inside.dropna()))

    @property
    def compared(self) -> pd.DataFrame:
        """`values` on the pairs that are compared, NaN elsewhere."""
        return self.values.where(self.counted)

    @property
    def by_row(self) -> dict[str, pd.DataFrame]:
        """The values that are compared, a table for each row: a row per pair and a column per column."""
        groups = self.compared.groupby(level="row", sort=False)
        return {str(name): block.dropna(how="all") for name, block in groups}

    @property
    def pairs(self) -> pd.Series:
        """The number of pairs of each row that are compared."""
        return self.counted.any(axis=1).groupby(level="row", sort=False).sum().astype(int).rename_axis(None)


def arrange(
    runs: pd.DataFrame, *, metric: str, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> Cells:
    """Put runs into cells: replicates of one configuration on one data set.

    Two runs are a pair if they are in the same row and share data seed, split seed and fold. Settings of the
    formulation, the solver and the preprocessing must be constant within a cell, and settings of the data and of the
    split within a row; if `rows` or `columns` is not given, settings that vary are added to it. Tuned and untuned runs
    are in separate columns.

    Parameters
    ----------
    runs : DataFrame
        As returned by `read_runs`.
    metric : str
        A column of numbers, such as ``test/auc``.
    rows, columns : sequence of str, optional
        Settings that make the rows (``dataset`` first) and the columns (``formulation`` first).

    Raises
    ------
    AuclabError
        No such metric or setting, a cell with several configurations, or a pair whose runs read different data.

    See Also
    --------
    read_runs : Reads the runs.
    compare_runs : Arranges and tests.

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
    >>> arrange(runs, metric="test/auc").columns
    ('formulation',)
    """
    if runs.empty:
        raise AuclabError("no run matches; auclab runs lists all runs")
    notes: list[str] = []
    runs = _one_path_per_file(_with_metric(runs, metric, notes))
    for name in (*(rows or ()), *(columns or ())):
        if name not in runs:
            raise AuclabError(
                f"no setting {name!r}; settings are {', '.join(sorted(settings_of(runs, (*DATA, *METHOD))))}"
            )
    of_data = [name for name in columns or () if name.partition(".")[0] in DATA]
    row_keys = list(rows or grown(runs, ["dataset"], _data_settings(runs, metric), within=of_data))
    method = ["formulation", "tune"] if _some_tuned(runs) else ["formulation"]
    column_keys = list(columns or grown(runs, method, settings_of(runs, METHOD), within=row_keys))
    if rows:
        _refuse_mixture(runs, row_keys, _data_settings(runs, metric), of_data, "rows")
    if columns:
        _refuse_mixture(runs, column_keys, settings_of(runs, METHOD), row_keys, "columns")
    runs = runs.assign(
        _row=_labels(runs, row_keys), _column=_labels(runs, column_keys), _pair=_pairs(runs, (*row_keys, *column_keys))
    )
    if "seconds/total" in runs:  # which run had to compile is arbitrary
        runs = runs.assign(_seconds=runs["seconds/total"] - runs.get("seconds/compile", 0.0))
    _refuse_other_data(runs, column_keys)
    runs = _newest(runs, metric, notes)

    index = pd.MultiIndex.from_frame(runs[["_row", "_pair"]].drop_duplicates(), names=["row", "pair"])

    def pivot(column: str) -> pd.DataFrame:
        found = runs if column in runs else runs.assign(**{column: math.nan})
        table = found.pivot(index=["_row", "_pair"], columns="_column", values=column)
        return table.reindex(index=index, columns=list(dict.fromkeys(runs["_column"]))).rename_axis(columns=None)

    values, constant = pivot(metric), pivot("constant") == True  # noqa: E712  NaN where there is no run
    counted = common_pairs(values)
    notes += _missing(values, counted) + _constants(constant & counted)
    return Cells(
        *(metric, tuple(row_keys), tuple(column_keys), values, counted),
        *(pivot("_seconds"), pivot(TUNING_SECONDS), pivot("gap")),
        ratios=pd.Series({row: _ratio(block) for row, block in runs.groupby("_row", sort=False)}, dtype=float),
        tasks=_tasks(runs),
        constant=constant,
        runs=pivot("run_id"),
        folders=pivot("fold_folder"),
        notes=tuple(notes),
    )


def _tasks(runs: pd.DataFrame) -> pd.Series:
    """The data set of each row, named by the settings of the data that vary."""
    reading = {f"dataset.{name}" for name in READING}
    candidates = [name for name in settings_of(runs, ("dataset",)) if name not in reading]
    keys = grown(runs, ["dataset"] if "dataset" in runs else [], candidates, within=()) if candidates else []
    firsts = runs.drop_duplicates("_row")
    return pd.Series(_labels(firsts, keys) if keys else "all", index=firsts["_row"].to_list(), dtype=object)


def _data_settings(runs: pd.DataFrame, metric: str) -> list[str]:
    own = f"metrics.{metric.partition('/')[2]}."
    return settings_of(runs, DATA) + [str(name) for name in runs if str(name).startswith(own)]


def _refuse_mixture(
    runs: pd.DataFrame, keys: list[str], names: Sequence[str], within: Sequence[str], option: str
) -> None:
    lacking = grown(runs, keys, names, within)[len(keys) :]
    if not lacking:
        return
    differences = "; ".join(f"{name} ({few([str(value) for value in runs[name].unique()])})" for name in lacking)
    what = "a row mixes data or splits" if option == "rows" else "a cell mixes configurations"
    raise AuclabError(
        f"{what} that differ in {differences}; add {','.join(lacking)} to --{option}, or select with "
        f"--where {lacking[0]}=…, or omit --{option} to have them added"
    )


def _labels(runs: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    return [label(keys, values) for values in runs[list(keys)].itertuples(index=False, name=None)]


def _pairs(runs: pd.DataFrame, taken: Sequence[str]) -> list[str]:
    """``seed 3 · fold 0``: the seeds that vary, or the split's if none does, and the split."""
    present = [name for name in ("dataset.seed", "split.seed") if name in runs and name not in taken]
    seeds = [name for name in present if runs[name].nunique(dropna=False) > 1]
    if not seeds and "split.seed" in present:
        seeds = ["split.seed"]
    several = runs["fold"].nunique() > 1
    words = {"dataset.seed": "data seed {:.12g}", "split.seed": "seed {:.12g}"}
    numbers = [runs[name].map(words[name].format, na_action="ignore") for name in seeds]
    labels = []
    for *texts, fold in zip(*numbers, runs["fold"], strict=True):
        parts = [text for text in texts if isinstance(text, str)]
        labels.append(" · ".join(parts + ([fold] if several or not parts else [])))
    return labels


def measured(runs: pd.DataFrame) -> list[str]:
    """The metrics that runs have, objective and gap."""
    names = sorted(str(name) for name in runs.select_dtypes("number"))
    found = [name for name in names if name.startswith(("test/", "train/")) and not name.endswith(PARTS)]
    return [*found, "objective", "gap"]


def no_metric(metric: str, available: Sequence[str]) -> str:
    """The message for a metric that no run has.

    Examples
    --------
    >>> no_metric("baucc", ["test/auc", "test/bauc"])
    "no run has a metric 'baucc' (did you mean 'test/bauc'?); metrics are test/auc, test/bauc"
    """
    full = {name.rpartition("/")[2]: name for name in reversed(available)}
    near = did_you_mean(metric, available) if "/" in metric else ""
    if not near:
        found = get_close_matches(metric.rpartition("/")[2].lower(), full, n=1)
        near = f" (did you mean {full[found[0]]!r}?)" if found else ""
    return f"no run has a metric {metric!r}{near}; metrics are {', '.join(available)}"


def _with_metric(runs: pd.DataFrame, metric: str, notes: list[str]) -> pd.DataFrame:
    if metric not in runs or not pd.api.types.is_numeric_dtype(runs[metric]) or runs[metric].isna().all():
        raise AuclabError(no_metric(metric, measured(runs)))
    without = runs[runs[metric].isna()]
    if len(without):
        omitted = few([str(name) for name in without["run"].unique()])
        notes.append(f"{len(without)} of {len(runs)} splits have no {metric} and are left out: {omitted}")
    if infinite := int(runs[metric].isin([math.inf, -math.inf]).sum()):
        notes.append(f"{infinite} values of {metric} are infinite; the tests leave these pairs out")
    return runs[runs[metric].notna()]


def _refuse_other_data(runs: pd.DataFrame, columns: Sequence[str]) -> None:
    if "data_sha256" not in runs or any(name.partition(".")[0] in DATA for name in columns):
        return
    sums = runs.groupby(["_row", "_pair"])["data_sha256"].nunique()
    if (sums > 1).any():
        row, pair = sums[sums > 1].index[0]
        raise AuclabError(
            f"runs on {row}, {pair}, read different data (their checksums differ), so they cannot be paired; "
            "select the runs on one of them with --where data_sha256=…"
        )


def _newest(runs: pd.DataFrame, metric: str, notes: list[str]) -> pd.DataFrame:
    """The newest of several runs of one configuration on one split; a note counts the others and their differences."""
    keys = ["_row", "_column", "_pair"]
    runs = runs.sort_values("started", kind="stable") if "started" in runs else runs
    again = runs.duplicated(keys, keep="last")
    if again.any():
        doubled = runs[runs.duplicated(keys, keep=False)]
        groups = doubled.groupby(keys)[metric]
        apart = float((groups.max() - groups.min()).max())
        agreement = "they agree" if apart == 0 else f"they differ by up to {apart:.2g} in {metric}"
        which = few([" · ".join(key) for key in doubled[keys].drop_duplicates().to_numpy().tolist()])
        older = int(again.sum())
        notes.append(f"{older} older results of a configuration are replaced by newer ones: {agreement} ({which})")
    return runs[~again].sort_index()  # the order of the runs is the order of the table


def _constants(constant: pd.DataFrame) -> list[str]:
    """A note on the cells with constant scorers."""
    found = [
        f"{column} on {row}"
        for row, block in constant.groupby(level="row", sort=False)
        for column in block
        if block[column].any()
    ]
    if not found:
        return []
    return [
        f"constant scorers (w = 0) rank nothing, and their AUC is 0.5: {few(found, LINES)}; auclab show RUN says why"
    ]


def _missing(values: pd.DataFrame, compared: pd.DataFrame) -> list[str]:
    """A note per column that was not run on some rows, and per cell that lacks pairs of its row."""
    notes = []
    counts = values.groupby(level="row", sort=False).count()
    for column in values:
        if absent_rows := [str(row) for row in counts.index[counts[column] == 0]]:
            notes.append(f"missing: {column} was not run on {few(absent_rows)}")
        for row, block in values[column].groupby(level="row", sort=False):
            absent = list(block.index.get_level_values("pair")[block.isna()])
            if 0 < len(absent) < len(block):
                inside = compared.loc[[row]]
                here, pairs = int(inside[column].sum()), int(inside.any(axis=1).sum())
                notes.append(
                    f"missing: {column} on {row} lacks {len(absent)} of {len(block)} ({few(absent)}); "
                    f"{_consequence(here, pairs)}"
                )
    more = len(notes) - LINES
    return notes if more < 2 else [*notes[:LINES], f"missing: {more} more like these; --values lists every value"]


def _consequence(here: int, pairs: int) -> str:
    """The pairs on which a column is compared if it has `here` of the `pairs` that the others share."""
    if here == pairs:
        return f"the means of this row are over the {counted(pairs, 'pair')} that its columns share"
    if here == 0:
        return "it shares none with the others and is not compared"
    return f"its mean is over {counted(here, 'pair')}, {'its test too' if here > 1 else 'and it is not tested'}"


def _some_tuned(runs: pd.DataFrame) -> bool:
    return "tune" in runs and bool((runs["tune"].notna() & (runs["tune"] != "none")).any())


def _one_path_per_file(runs: pd.DataFrame) -> pd.DataFrame:
    """Give runs on the same file the same path, however it was typed."""
    if "dataset.path" not in runs or "data_sha256" not in runs:
        return runs
    first = runs.groupby(["dataset", "data_sha256"])["dataset.path"].transform("first")
    return runs.assign(**{"dataset.path": first.where(runs["data_sha256"].notna(), runs["dataset.path"])})


def _ratio(runs: pd.DataFrame) -> float:
    """n_test/n_train of a row, up to the rounding of the split; NaN if it is not one number.

    0 if every pair has its own data, generated from its seed: their differences are independent.
    """
    if "data_sha256" in runs:
        known = runs.dropna(subset=["data_sha256"]).drop_duplicates(["_pair", "data_sha256"])
        if len(known) > 1 and known["data_sha256"].is_unique and known["_pair"].nunique() == runs["_pair"].nunique():
            return 0.0
    ratios = set()
    sizes = runs.reindex(columns=["split", "split.test_size", "split.n_folds"]).drop_duplicates()
    for row in sizes.to_dict("records"):
        size, folds = row["split.test_size"], row["split.n_folds"]
        if pd.notna(folds):
            ratios.add(math.nan if row["split"] == "time" else 1 / (folds - 1))  # in time, parts for training grow
        else:
            ratios.add(size / (1 - size))
    return ratios.pop() if len(ratios) == 1 else math.nan


def common_pairs(values: pd.DataFrame) -> pd.DataFrame:
    """Mask of the compared values: those on the pairs of a row that its columns share.

    One column with few runs would leave little to compare. Columns are added by decreasing number of pairs; one that
    would leave fewer than half of the pairs of the first is skipped: the others are compared without it, and it is
    compared with them on the shared pairs that it has.

    `values` (n_pairs, n_columns): indexed by ``row`` and ``pair``; NaN where there is no run. Returns: of the same
    shape.

    Examples
    --------
    `b` has one of four seeds, `c` three:

    >>> index = pd.MultiIndex.from_product([["one"], range(4)], names=["row", "pair"])
    >>> values = pd.DataFrame({"a": [1.0, 1, 1, 1], "b": [1, None, None, None], "c": [1, 1, 1, None]}, index)
    >>> common_pairs(values).sum().to_dict()
    {'a': 3, 'b': 1, 'c': 3}
    """
    found = values.notna()
    for _, block in values.notna().groupby(level="row", sort=False):
        shared = _shared(block)
        found.loc[block.index] = block.apply(lambda column, shared=shared: column & shared)
    return found


def _shared(present: pd.DataFrame) -> pd.Series:
    """The pairs of one row that its columns share."""
    counts = present.sum().sort_values(ascending=False, kind="stable")
    shared = present[counts.index[0]]
    for column in counts.index[1:]:
        fewer = shared & present[column]
        if 2 * fewer.sum() >= counts.iloc[0]:
            shared = fewer
    return shared
