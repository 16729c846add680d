"""Terminal output shared by experiments, sweeps and commands: errors, notes, tables, progress, the end of a sweep."""

from __future__ import annotations

import logging
import math
import os
import re
import shlex
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from auclab._core.base import AuclabError
from auclab._core.words import FEW, visible_lines
from auclab.runs.tracking.address import Address, TrackingConfig, in_sweep
from auclab.runs.tracking.environment import is_own

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from auclab.datasets.columns import Columns
    from auclab.datasets.records import Dataset
    from auclab.runs.config.compose import Experiment
    from auclab.samples.blocks.engines import PassProgress
    from auclab.solvers.monitor import SolveProgress

#: Rows for each column of the model, below which a note says that it may fit noise.
_ROWS_PER_COLUMN = 10


class Screen(Console):
    """A console without terminal control characters in its text, and without a width where it is not a terminal.

    Names of runs and columns, and messages of databases, are untrusted.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, **options})
        if not self.is_terminal and "width" not in options and "COLUMNS" not in os.environ:
            self.width = ENDLESS

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as rich does, without control characters other than rich's own."""
        for segment in super().render(renderable, options):
            is_text = segment.control is None and not segment.text.isprintable()
            yield Segment(visible_lines(segment.text), segment.style) if is_text else segment


#: Columns of a file or a pipe, whose lines are not wrapped.
ENDLESS = 10_000
out = Screen()
err = Screen(stderr=True)

#: Python's prefix of an operating-system error.
_ERRNO = re.compile(r"\[Errno \d+\] ")
#: Shown while Numba compiles.
COMPILING = "compiling loops, which the next run finds ready"
#: Columns of the progress bar.
BAR_WIDTH = 12


@contextmanager
def plain_errors(
    failure: Callable[[str], BaseException], *, stopped: str = "the run is marked KILLED"
) -> Iterator[None]:
    """Print user errors as one line without a traceback; Ctrl-C ends with exit code 130.

    `failure`: creates, from the message, the exception to raise after the line is printed. `stopped`: text for the
    message after Ctrl-C.
    """
    # A copy of stderr: a modelling library that is interrupted may have replaced it.
    encoding, errors = (getattr(sys.__stderr__, name, None) for name in ("encoding", "errors"))
    with os.fdopen(os.dup(2), "w", encoding=encoding, errors=errors) as terminal:
        try:
            yield
        except KeyboardInterrupt:
            line = f"[red]stopped:[/red] Ctrl-C; {stopped}"
            Console(file=terminal, highlight=False).print(line, soft_wrap=True)
            raise SystemExit(130) from None
        except (AuclabError, OSError, MemoryError) as error:
            line = _one_line(error) or type(error).__name__
            err.print(f"[red]error:[/red] {escape(_listed(line) if err.is_terminal else line)}", soft_wrap=True)
            raise failure(line) from None
        except Exception as error:  # of a piece of the user's; others are raised again
            if (said := _of_a_piece(error)) is None:
                raise
            err.print(f"[red]error:[/red] {escape(said)}", soft_wrap=True)
            raise failure(said) from None


def _how_to_tune(formulation: Any) -> str:
    """How one of the numbers among a classifier's parameters is named; empty where there is none."""
    given = formulation.get_params() if hasattr(formulation, "estimator") else {}
    numbers = [key for key, value in given.items() if not isinstance(value, str | bool)]
    if not numbers:
        return ""
    made_by, name = _class_of(formulation.estimator), numbers[-1]
    return (
        f"; to choose {name}: formulation=sklearn formulation.estimator._target_={made_by} formulation.tunable={name} "
        f"tune=auto '+tune.grids.{name}=[…]'"
    )


def _class_of(thing: Any) -> str:
    """The name by which settings name a class."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def _of_a_piece(error: Exception) -> str | None:
    """The line for an error in a function of the user's that auclab has called; None for any other error."""
    piece, called = None, False
    _, *frames = traceback.walk_tb(error.__traceback__)  # without that of `plain_errors`
    for frame, number in frames:
        module = str(frame.f_globals.get("__name__"))
        if module.partition(".")[0] == "auclab":
            piece, called = None, True
        elif called and is_own(Path(frame.f_code.co_filename)):
            piece = f"{module}.{frame.f_code.co_qualname}", number
    if piece is None:
        return None
    return f"{piece[0]} raised {type(error).__name__}: {_one_line(error)} (line {piece[1]})"


def _listed(line: str) -> str:
    """Several numbered problems on lines of their own; any other line as it is.

    Examples
    --------
    >>> print(_listed("2 problems: (1) no target (2) no labels; auclab inspect a.csv proposes settings for all of it"))
    2 problems:
      (1) no target
      (2) no labels
      auclab inspect a.csv proposes settings for all of it
    """
    if not re.match(r"\d+ problems: \(1\) ", line):
        return line
    return re.sub(r" (?=\(\d+\) )|; (?=auclab inspect )", "\n  ", line)


def _one_line(error: BaseException) -> str:
    """The text of an error without line breaks and system error number."""
    return _ERRNO.sub("", " ".join(str(error).split()))


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show the current step, on a terminal only, and a note while loops are compiled, which happens once.

    The bar of a solve that reports its progress goes from a gap of 1 to the tolerance.
    """
    if in_sweep() or not err.is_terminal:
        yield  # no progress bar: Rich below 15 ends even a disabled one with an empty line
        return
    from auclab._core.compiling import compiling_to
    from auclab.samples.blocks.engines import passes_to
    from auclab.solvers.monitor import progress_to  # imports all solvers, which a one-line error does not need

    name, gap, reading = (
        TextColumn(f"{{task.{each}}}", markup=False, table_column=Column(overflow="fold"))
        for each in ("description", "fields[gap]", "fields[reading]")
    )
    columns = (SpinnerColumn(), name, BarColumn(BAR_WIDTH), gap, reading, TimeElapsedColumn())
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task(what, total=None, gap="", reading="", left=math.nan)

        def show(progress: SolveProgress) -> None:
            if not math.isnan(progress.gap):
                bar.update(task, total=1.0, completed=progress.share, gap=f"gap {progress.gap:.1g}")
            if progress.share > 0:
                bar.update(task, left=progress.seconds * (1.0 - progress.share) / progress.share)

        def show_pass(reading: PassProgress) -> None:
            bar.update(task, reading=pass_text(reading, bar.tasks[0].fields["left"]))

        def show_compiling(now: bool) -> None:
            bar.update(task, description=f"{what} · {COMPILING}" if now else what)

        with progress_to(show), passes_to(show_pass), compiling_to(show_compiling):
            yield


@contextmanager
def reading(store: str) -> Iterator[None]:
    """Show that a store is being read, on a terminal only: importing MLflow takes seconds."""
    with err.status(escape(f"reading the runs in {store}")) if err.is_terminal else nullcontext():
        yield


def show_engine(engine: Any) -> None:
    """Print the address of Dask's dashboard once workers have started; nothing for local work or in a sweep."""
    if not hasattr(engine, "dashboard") or in_sweep():
        return
    page = engine.dashboard
    err.print(f"[cyan]dask[/cyan]     {escape(page or 'its page needs bokeh: pip install bokeh')}", soft_wrap=True)


def pass_text(reading: PassProgress, left: float) -> str:
    """The number of the pass over the rows, the time of a pass, and an estimate of the time left.

    The estimate assumes that the gap falls by the same factor in every pass.

    Examples
    --------
    >>> from auclab.samples.blocks.engines import PassProgress
    >>> pass_text(PassProgress(3, 0.25, 4.2), 100.0)
    'pass 3, 25% · 4.2 s a pass · about 2 min left'
    """
    parts = [f"pass {reading.number}, {reading.share:.0%}"]
    parts += [f"{reading.seconds:.1f} s a pass"] if reading.seconds else []
    if left > 0:
        time = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min" if left < 5400 else f"{left / 3600:.1f} h"
        parts.append(f"about {time} left")
    return " · ".join(parts)


@dataclass(frozen=True)
class Stopped:
    """A sweep ended by Ctrl-C: its number of jobs, if known, and the command that resumes it."""

    total: int | None
    command: str


def show_sweep(
    counts: Counter[str],
    *,
    folder: Path,
    tracking: TrackingConfig,
    parent: str | None,
    other_code: Counter[str] | None = None,
    comparable: bool = True,
    stopped: Stopped | None = None,
    waiting: str = "",
    lost: int = 0,
) -> None:
    """Print the last lines of a sweep: jobs by status, where their runs are, and how to compare them.

    `other_code` counts, by status, the jobs that had finished with other code. The jobs of a study are not
    `comparable`: they hold values of claims. A sweep `stopped` by Ctrl-C reports its progress. `waiting`: why runs are
    not in the store yet, and what sends them. `lost`: jobs that left nothing in the folder of the sweep.
    """
    failed = f"[red]{counts['FAILED']} failed[/red]" if counts["FAILED"] else "0 failed"
    killed = f"[yellow]{counts['KILLED']} killed[/yellow]" if counts["KILLED"] else "0 killed"
    if parent is not None:
        out.print(f"parent run {parent}", soft_wrap=True)
        if comparable and counts["FINISHED"] + counts["SKIPPED"] > 1:
            out.print(f"compare:   {compare_command(tracking, parent)}", soft_wrap=True, markup=False)
        out.print(f"open it:   {open_command(tracking)}", soft_wrap=True, markup=False)
    else:
        out.print(f"files in   {short_path(folder)}", soft_wrap=True, markup=False)
    if counts["FAILED"]:
        out.print(f"tracebacks {short_path(folder)}/*/run.log", soft_wrap=True, markup=False)
    if waiting:
        err.print(f"[red]error:[/red] {escape(waiting)}", soft_wrap=True)
    if counts["SKIPPED"]:
        out.print("a job that finished before is skipped; rerun=true computes it again", soft_wrap=True)
    if stopped is not None:
        out.print(f"stopped:   {_how_far(counts, stopped.total)}", soft_wrap=True)
        out.print(f"continue:  {stopped.command}", soft_wrap=True, markup=False)
        kept = tracking.name == "mlflow"
        skipped = "what finished is skipped" if kept else "tracking=none keeps no runs: from the start"
        out.print(f"           {skipped}", style="dim")
    ended = f"{counts['FINISHED']} finished, {counts['SKIPPED']} skipped, {failed}, {killed}"
    ended += f", [red]{lost} not begun[/red]" if lost else ""
    out.print(f"sweep: {ended}{_other_code(other_code or Counter())}", soft_wrap=True)


def _how_far(counts: Counter[str], total: int | None) -> str:
    """Counts of jobs that ended, were stopped, and not begun; the last only if the total is known.

    Examples
    --------
    >>> _how_far(Counter(FINISHED=4, KILLED=1), 80)
    '4 of 80 jobs ended, 1 stopped in the middle, 75 not begun'
    >>> _how_far(Counter(SKIPPED=2), None)
    '2 jobs ended, 0 stopped in the middle'
    """
    killed = counts["KILLED"]
    ended = counts.total() - killed
    text = f"{ended} {'' if total is None else f'of {total} '}jobs ended, {killed} stopped in the middle"
    return text if total is None else f"{text}, {max(0, total - counts.total())} not begun"


def _other_code(counts: Counter[str]) -> str:
    """How many results of other code were reused or recomputed, and the setting that does the opposite.

    Examples
    --------
    >>> _other_code(Counter(FINISHED=12))
    '; other code: 12 computed again, rerun=false takes such results'
    >>> _other_code(Counter(SKIPPED=3))
    '; other code: 3 taken, rerun=stale computes them again'
    """
    taken, again = counts["SKIPPED"], counts.total() - counts["SKIPPED"]
    parts = [f"; other code: {taken} taken, rerun=stale computes them again"] if taken else []
    parts += [f"; other code: {again} computed again, rerun=false takes such results"] if again else []
    return "".join(parts)


def compare_command(tracking: TrackingConfig, parent: str) -> str:
    """The command that compares the runs of a sweep.

    Examples
    --------
    >>> compare_command(TrackingConfig(dir="mlruns"), "f73cfe24d8bd426e")
    'auclab compare --sweep f73cfe24'
    >>> compare_command(TrackingConfig(dir="my runs"), "f73cfe24d8bd426e")
    "auclab compare --sweep f73cfe24 --store 'my runs'"
    """
    return f"auclab compare --sweep {parent[:8]}{_store_option(tracking)}"


def next_commands(tracking: TrackingConfig, run: str, *, predicts: bool, classifier: Any = None) -> list[str]:
    """The commands that show a run, score new rows with its model, and open the store.

    `classifier`: one of the user's own is kept in the model, which is loaded only where its class is allowed.

    Examples
    --------
    >>> next_commands(TrackingConfig(dir="mlruns"), "f73cfe24", predicts=True)
    ['auclab show f73cfe24', 'auclab predict f73cfe24 NEW.csv', 'auclab ui']
    """
    store = _store_option(tracking)
    file = getattr(sys.modules.get(type(classifier).__module__), "__file__", None)
    allow = f" --allow {_class_of(classifier)}" if file and is_own(Path(file)) else ""
    predict = [f"auclab predict {run} NEW.csv{store}{allow}"] if predicts else []
    return [f"auclab show {run}{store}", *predict, open_command(tracking)]


def open_command(tracking: TrackingConfig) -> str:
    """The command that serves MLflow's page on the store; for a server, its address."""
    if Address.of_settings(tracking).is_server:
        return str(Address.of_settings(tracking))
    return "auclab ui" + _store_option(tracking)


def _store_option(tracking: TrackingConfig) -> str:
    """`` --store …`` where the store is not ./mlruns."""
    store = str(tracking.uri) if tracking.uri else str(tracking.dir)
    return "" if store == "mlruns" else f" --store {shlex.quote(store)}"


def short_path(path: Path) -> str:
    """Relative to the working directory if it lies below that."""
    return os.path.relpath(path) if path.absolute().is_relative_to(Path.cwd()) else str(path)


def facts_grid(width: int | None = None) -> Table:
    """A grid of labels, at least of some width, and texts."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True, min_width=width)
    grid.add_column(overflow="fold")
    return grid


def print_row(word: str, text: str, width: int, *, style: str = "cyan") -> None:
    """Print a label and a text that begins at column `width`; a command stays on one line, so that it can be copied."""
    if "auclab " in text:
        out.print(f"[{style}]{word:<{width - 1}}[/{style}] {escape(text)}", soft_wrap=True)
        return
    grid = facts_grid(width - 2)
    grid.add_row(Text(word, style), Text(text))
    out.print(grid)


def print_table(head: Sequence[str], lines: Sequence[Sequence[str | Text]], left: Sequence[int] = (0,)) -> None:
    """Print a table; the columns in `left` are text, the others numbers. Strings are shown without markup."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for index, name in enumerate(head):
        table.add_column(Text(name), justify="left" if index in left else "right", overflow="fold")
    for line in lines:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in line))
    out.print(table)


def show_notes() -> None:
    """Print warnings of the store and of Dask's engine from now on, in addition to the run's log file."""
    for name in ("auclab.runs.tracking", "auclab.samples.blocks.engines"):
        logging.getLogger(name).addHandler(_LINES)  # which happens once


class _Lines(logging.Handler):
    """Prints one line per record to the error stream, above a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(f"[yellow]note:[/yellow] {escape(' '.join(record.getMessage().split()))}", soft_wrap=True)


_LINES = _Lines(logging.WARNING)


#: Label of the number of columns.
ENCODED = "encoded"


def show_data(dataset: Dataset, columns: Columns | None) -> None:
    """Print the encoded width and notes, a line each; nothing for numeric tables without notes."""
    for word, text in data_notes(dataset, columns):
        style = "cyan" if word == ENCODED else "yellow"
        print_row(word, text, 9, style=style)


def data_notes(dataset: Dataset, columns: Columns | None) -> list[tuple[str, str]]:
    """The lines of `show_data`: `ENCODED` or ``note:``, and a sentence."""
    notes: list[tuple[str, str]] = []
    if columns is not None and columns.widths and (columns.nominal or columns.dates):
        widest = [item for item in sorted(columns.widths.items(), key=lambda item: -item[1]) if item[1] > 1][:FEW]
        named = ", ".join(f"{name} {width}" for name, width in widest)
        total = sum(columns.widths.values())
        several = f"; the widest: {named}" if named else ""
        notes.append((ENCODED, f"{len(columns.widths)} columns as {total} features{several}"))
        if total * _ROWS_PER_COLUMN > len(dataset.y):
            text = (
                f"{total} features are many for {len(dataset.y)} rows, and a scorer may learn the training part by "
                "heart: leave out wide columns with dataset.drop, or lower preprocess.max_categories"
            )
            notes.append(("note:", text))
    return notes + [("note:", note) for note in (*dataset.notes, *(columns.notes if columns else ()))]


#: Columns and pairs up to which branch and bound over pairs finished in seconds (docs/which_formulation.md).
FEW_COLUMNS, FEW_PAIRS = 3, 3_600


def foreseen(
    formulation: Any, y: NDArray[np.int64], n_features: int, *, weighted: bool = False, untuned: bool = False
) -> list[str]:
    """Notes to print before the run starts.

    `y` (n_samples,): 0/1, of the training part. `n_features`: features that the columns become. `weighted`: whether
    there are weights of the classes. `untuned`: whether inner folds were to choose a parameter, and the formulation has
    none.

    Examples
    --------
    >>> import numpy as np
    >>> from auclab.formulations import CSVM, ExactAUC, RankSVM
    >>> foreseen(CSVM(), np.array([0, 1]), 5, weighted=True), foreseen(RankSVM(), np.array([0, 1]), 5)
    ([], [])
    >>> foreseen(ExactAUC(), np.repeat([0, 1], [90, 15]), 8)[0][:64]
    'exact_auc counts 1,350 pairs in 8 features by branch and bound, '
    >>> foreseen(ExactAUC(), np.repeat([0, 1], [900, 15]), 8)  # 13,500 pairs, which the solver refuses
    []
    """
    from auclab.estimators.checked import CANCELS, cancels  # with scikit-learn

    found = []
    if weighted and cancels(formulation):
        found.append(CANCELS)
    if untuned:
        found.append(f"{formulation.name} has no parameter that inner folds could choose: tune=auto leaves it as it is")
        found[-1] += _how_to_tune(formulation)
    if formulation.kind != "mip":
        return found
    from auclab.solvers.budget import SMALL_MARGINS  # psutil

    pairs = int(y.sum()) * int((1 - y).sum())
    # The solver refuses more pairs than this: no time limit helps.
    if pairs <= SMALL_MARGINS and (n_features > FEW_COLUMNS or pairs > FEW_PAIRS):
        found.append(
            f"exact_auc counts {pairs:,} pairs in {n_features} features by branch and bound, which ends in seconds for "
            f"up to {FEW_PAIRS:,} pairs in {FEW_COLUMNS} features; beyond that expect the time limit and a wide gap "
            "(solver.time_limit=60 ends it earlier), or use formulation=bauc"
        )
    return found


def show_formulation(experiment: Experiment, dataset: Dataset, train: NDArray[np.intp], formulation: Any) -> None:
    """Print what is foreseen of a formulation, unless the run is part of a sweep.

    `train`: rows of the first training part.
    """
    if in_sweep():
        return
    from auclab.datasets.columns import sort_columns

    n_features = dataset.X.shape[1]
    if formulation.kind == "mip" and hasattr(dataset.X, "iloc"):  # categories and dates have several features
        n_features = sum(sort_columns(dataset, **experiment.encoding).widths.values())
    weighted = experiment.class_weight is not None
    untuned = experiment.given_tune.parameter is not None and experiment.tune.parameter is None
    show_foreseen(foreseen(formulation, dataset.y[train], n_features, weighted=weighted, untuned=untuned))


def show_foreseen(notes: list[str]) -> None:
    """Print a line per note."""
    for note in notes:
        err.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)
