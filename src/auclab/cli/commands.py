"""What most commands of `auclab` do; a function per command takes the parsed arguments and returns the exit code.

`auclab.cli.arguments` has the table of the commands.
"""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean, few, write_data
from auclab.runs.compare.cells import measured, no_metric
from auclab.runs.compare.runs import fetch_files, find_metric, find_study, find_sweep, read_run, read_runs
from auclab.runs.screen.console import err, out, reading
from auclab.runs.tracking.environment import SETTINGS_TAG

if TYPE_CHECKING:
    from auclab.runs.compare.table import Table

SUFFIXES = {".csv": "csv", ".md": "markdown", ".tex": "latex"}
LONG = ".parquet"
FIGURES = (".png", ".pdf", ".svg")
#: Runs that a list shows unless another number is requested.
NEWEST = 50


def runs(arguments: Namespace) -> int:
    """List runs, the newest of many."""
    newest = arguments.last if arguments.last is not None else None if arguments.sweep else NEWEST
    found = _choose(arguments, status=arguments.status, newest=newest)
    metric = find_metric(found, arguments.metric)
    if arguments.metric != "auc" and metric not in found:
        raise AuclabError(no_metric(arguments.metric, measured(found)))
    from auclab.runs.compare.screens import show_runs

    show_runs(found, metric=metric)
    if found["run_id"].nunique() == newest:
        out.print(f"[dim]the newest {newest}; --last {10 * newest} lists more[/dim]")
    return 0


def show(arguments: Namespace) -> int:
    """Show one run, and draw its figures with ``--figures``; of a study its verdicts."""
    if study := find_study(arguments.store, arguments.run):
        from auclab.runs.compare.run_screen import show_study

        show_study(*study)
        return 0
    rows = _one_run(arguments)
    from auclab.runs.compare.run_screen import draw_run, show_run

    if arguments.figures:
        draw_run(rows)
    show_run(rows, bounds=arguments.bounds)
    return 0


def compare(arguments: Namespace) -> int:
    """Compare runs, print the table, write the files that were requested, and refit the best if requested."""
    for name in arguments.out:
        if Path(name).suffix not in (*SUFFIXES, LONG, *FIGURES):
            raise AuclabError(f"--out {name}: the name has to end in one of {' '.join((*SUFFIXES, LONG, *FIGURES))}")
    refit = arguments.refit or arguments.register is not None
    if arguments.register is not None:
        from auclab.runs.tracking.store import check_name  # MLflow

        check_name(arguments.register)
    if arguments.format != "screen" and (arguments.pairs == "" or refit):
        raise AuclabError(
            f"--format {arguments.format} prints the table alone; write it to a file with --out, or name one with "
            "--pairs FILE.csv"
        )
    every = _choose(arguments, status=None)
    from auclab.runs.compare.table import compare_runs  # with all metrics, once there is something to compare

    finished = every[every["run_status"] == "FINISHED"]
    table = compare_runs(
        finished,
        metric=find_metric(finished, arguments.metric),
        rows=arguments.rows,
        columns=arguments.columns,
        test=arguments.test,
        alpha=arguments.level,
        better=arguments.better,
        notes=_unfinished(every),
    )
    if arguments.format == "screen":
        from auclab.runs.compare.screens import show_best, show_table

        show_table(table)
        show_best(table, finished)
    else:
        write_data(_text(table, arguments.format))
    _write_files(table, finished, arguments)
    if refit:
        from auclab.cli.models import refit_best  # with all formulations

        refit_best(table, finished, arguments)
    return 0


def _write_files(table: Table, finished: pd.DataFrame, arguments: Namespace) -> None:
    """Write what was requested; a file that cannot be made keeps no other from being written."""
    written, lacking = [], []
    if arguments.pairs is not None:
        try:
            written += _test_pairs(table, arguments)
        except AuclabError as error:
            lacking.append(str(error))
    if arguments.values:
        from auclab.runs.compare.formats import to_values

        written += _written(arguments.values, to_values(table))
    for path in map(Path, arguments.out):
        if path.suffix in FIGURES and table.ranking is None:
            lacking.append(
                f"{path} is not written: a critical-difference diagram needs 3 columns or more on 2 data sets or more "
                "that have all of them; auclab report draws the values of every data set"
            )
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in SUFFIXES:
            written += _written(path, _text(table, SUFFIXES[path.suffix]))
        elif path.suffix == LONG:
            _save_values(table, path, finished)
            written.append(path)
        elif table.ranking is not None:
            from auclab.runs.report.figures import draw_critical_difference

            draw_critical_difference(table.ranking).savefig(path)
            written.append(path)
    if written and arguments.format == "screen":
        out.print(f"written: {', '.join(map(str, written))}", soft_wrap=True, markup=False)
    if lacking:
        raise AuclabError("; ".join(lacking))


def _written(name: str | Path, text: str) -> list[Path]:
    """The file, once it is there; a missing folder is created, as by `auclab report`."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return [path]


def _text(table: Table, language: str) -> str:
    """The table in a language of `SUFFIXES`."""
    from auclab.runs.compare import formats

    writers = {"csv": formats.to_csv, "markdown": formats.to_markdown, "latex": formats.to_latex}
    return writers[language](table)


def _test_pairs(table: Table, arguments: Namespace) -> list[Path]:
    """Tests of every two columns over rows, printed and written to the given file."""
    from auclab.runs.compare.formats import pairs_to_csv
    from auclab.runs.compare.paired import compare_columns
    from auclab.runs.compare.screens import show_column_pairs
    from auclab.runs.compare.table import task_means

    means = task_means(table.mean, table.cells.tasks)
    pairs = compare_columns(means, lower_is_better=table.lower_is_better, rope=arguments.rope)
    if arguments.format == "screen":
        show_column_pairs(pairs, rope=arguments.rope)
    return _written(arguments.pairs, pairs_to_csv(pairs)) if arguments.pairs else []


def _save_values(table: Table, path: Path, finished: pd.DataFrame) -> None:
    """Write every metric in long form, and say what was left out."""
    from auclab.runs.compare.formats import long_form

    values, notes = long_form(finished, table.cells)
    values.to_parquet(path, index=False)
    for note in notes:
        err.print(f"{path}: {note}", soft_wrap=True, markup=False)


def rerun(arguments: Namespace) -> int:
    """Run a stored configuration again."""
    rows = _one_run(arguments)
    from auclab.runs.compare.replay import replay
    from auclab.runs.compare.screens import show_replay

    found = replay(rows, tolerance=arguments.tolerance, allow=arguments.allow)
    show_replay(found, arguments.tolerance)
    return int(not found.same)


def check(arguments: Namespace) -> int:
    """Verify the certificate of one run."""
    from auclab.runs.checking.command import check_run

    return check_run(arguments.run, arguments.store, arguments.allow)


def report(arguments: Namespace) -> int:
    """Write the page on runs."""
    every = _choose(arguments, status=None)
    from auclab.runs import write_report  # with matplotlib and all metrics, once there is something to report

    fetch_files(every, arguments.store, allow=arguments.allow)
    options = [word for name in arguments.experiment or () for word in ("--experiment", name)]
    if arguments.sweep is not None:
        options += ["--sweep", arguments.sweep]  # its id, because last will mean another run later
    options += ["--where", *arguments.where] if arguments.where else []
    options += ["--filter", arguments.filter] if arguments.filter else []
    page = write_report(
        *(every, Path(arguments.out)),
        store_dir=arguments.store,
        metrics=arguments.metric,
        title=arguments.title,
        selection=shlex.join(options),
    )
    out.print(f"written: {page} ({page.stat().st_size / 1e6:.2g} MB)", soft_wrap=True, markup=False)
    return 0


def _one_run(arguments: Namespace) -> pd.DataFrame:
    """The run that was named, with its files."""
    with reading(arguments.store):
        rows = read_run(arguments.store, arguments.run, allow=arguments.allow)
    fetch_files(rows, arguments.store, allow=arguments.allow)
    return rows


def _choose(arguments: Namespace, *, status: str | None, newest: int | None = None) -> pd.DataFrame:
    """The runs that --experiment, --filter, --sweep and --where select."""
    with reading(arguments.store):
        if arguments.sweep is not None:
            arguments.sweep = find_sweep(arguments.store, arguments.sweep)
        found = read_runs(
            arguments.store,
            filter=arguments.filter,
            experiments=arguments.experiment,
            status=status,
            sweep=arguments.sweep,
            newest=newest,
            allow=arguments.allow,
        )
    found = where(found, arguments.where)
    if found.empty:
        store = arguments.store
        raise AuclabError(f"no run in {store} matches; auclab runs --store {store} lists all of them")
    return found


def where(runs: pd.DataFrame, conditions: Sequence[str]) -> pd.DataFrame:
    """Rows in which every ``KEY=VALUE,VALUE`` holds; numbers are compared as numbers."""
    for condition in conditions:
        key, sign, values = condition.partition("=")
        if not sign:
            raise AuclabError(f"--where {condition}: write KEY=VALUE, such as dataset=ionosphere")
        fitting = runs[_fits(runs[key], values.split(","))] if key in runs else runs[:0]
        if key not in runs or (fitting.empty and len(runs) and runs[key].isna().all()):
            known = [str(name) for name in runs if name != key]
            close = [name for name in known if key in name]
            hint = f"; is it {few(close)}?" if close else did_you_mean(key, known)
            raise AuclabError(f"--where {condition}: no run has {key!r}{hint}")
        if fitting.empty and len(runs):
            there = ["None" if pd.isna(each) else str(each) for each in runs[key].unique()]
            raise AuclabError(f"--where {condition}: no run has this value; there are {few(there)}")
        runs = fitting
    return runs


def _fits(column: pd.Series, values: Sequence[str]) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        numbers = pd.to_numeric(pd.Series(list(values)), errors="coerce").dropna()
        return column.isin(numbers.to_list()) | (column.isna() if "None" in values else False)
    return column.astype("string").fillna("None").isin(list(values))


def _unfinished(runs: pd.DataFrame) -> list[str]:
    """A sentence per status of runs that did not finish, nor when started again."""
    done = runs["run_status"] == "FINISHED"
    rest = runs[~done].drop_duplicates("run_id")
    if (key := f"tag.{SETTINGS_TAG}") in runs:
        rest = rest[~rest[key].isin(runs.loc[done, key].dropna())]
    reasons = {"FAILED": "failed", "KILLED": "were stopped early", "RUNNING": "are still running"}
    return [
        f"left out, as they {reasons.get(str(status), str(status))}: {few([str(name) for name in block['run']])}"
        for status, block in rest.groupby("run_status")
    ]
