"""What the person sees: a screen for an experiment, a line for a job of a sweep, a line for an error."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import Progress as Bar
from rich.progress import ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from auclab.jobs import add_line, in_sweep
from auclab.progress import Progress, progress_to
from auclab.tracking.address import Address, hide_password
from auclab.types import AuclabError, Status

if TYPE_CHECKING:
    from auclab.guarantees import Guarantee
    from auclab.results import Result
    from auclab.tracking import Run

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

#: Seconds after which a solve gets a bar.
PATIENCE = 2.0

GOOD, BAD = (Status.OPTIMAL, Status.LOCAL), "red"


@contextmanager
def plain_errors(
    failure: Callable[[str], BaseException], *, stopped: str = "the run is marked KILLED"
) -> Iterator[None]:
    """Errors of the reader's making as one line without a traceback, Ctrl-C as exit code 130.

    Parameters
    ----------
    failure : callable
        What is raised after the line is printed: makes an exception of the message.
    stopped : str
        What Ctrl-C has left behind.
    """
    # A copy of stderr: the modelling layer that is interrupted may have put another in its place.
    with os.fdopen(os.dup(2), "w") as terminal:
        try:
            yield
        except KeyboardInterrupt:
            line = f"[red]stopped:[/red] Ctrl-C; {stopped}"
            Console(file=terminal, highlight=False).print(line, soft_wrap=True)
            raise SystemExit(130) from None
        except (AuclabError, OSError, MemoryError) as error:
            line = " ".join(str(error).split()) or type(error).__name__
            err.print(f"[red]error:[/red] {escape(line)}", soft_wrap=True)
            raise failure(line) from None


@contextmanager
def working(what: str) -> Iterator[None]:
    """A line that says what is being worked on, while it is, on a terminal only.

    A solve that reports its progress and takes more than two seconds gets a bar, from a gap of 1 to the tolerance.
    """
    columns = (SpinnerColumn(), TextColumn("{task.description}"), _GapColumn(), TimeElapsedColumn())
    with Bar(*columns, console=err, transient=True, disable=in_sweep() or not err.is_terminal) as bar:
        task = bar.add_task(escape(what), total=1.0, gap=math.nan)

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.share, gap=progress.gap)

        with progress_to(show):
            yield


class _GapColumn(ProgressColumn):
    """The bar and the gap, once there is something to wait for."""

    def render(self, task: Task) -> Text | Table:
        if math.isnan(task.fields["gap"]) or (task.elapsed or 0.0) < PATIENCE:
            return Text("")
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(total=1.0, completed=task.completed, width=30), f"gap {task.fields['gap']:.1g}")
        return grid


def show_result(result: Result, run: Run, tracking: Mapping[str, Any]) -> None:
    """The screen of a finished experiment."""
    out.print()
    out.print(_story(result))
    out.print(_metrics(result))
    for line in _bounds(result):
        out.print(line)
    out.print()
    _whereabouts(run, tracking)


def show_line(result: Result, run: Run, tracking: Mapping[str, Any]) -> None:
    """One line for a job of a sweep."""
    numbers = result.summary
    part = "test" if "test" in result.folds[0].parts else "train"
    shown = [f"objective {numbers['objective']:.6g}", f"gap {_small(numbers['gap'])}"]
    shown += [f"{part} {key} {numbers[f'{part}/{key}']:.4f}" for key in result.folds[0].parts[part].metrics][:2]
    good = all(fold.solution.status in GOOD for fold in result.folds)
    mark = "[green]✓[/green]" if good else "[yellow]![/yellow]"
    line = f"{mark} {escape(result.name)}  [dim]{escape('  '.join(shown))}[/dim]"
    if in_sweep():  # its process alone writes to the terminal
        add_line(run.output, line, status="FINISHED")
    else:
        out.print(line, soft_wrap=True)


def skipped_line(name: str, run_id: str) -> str:
    """One line for a job whose result is in the store already."""
    return f"[dim]· {escape(name)}  finished before, run {run_id[:8]}[/dim]"


def failed_line(name: str, error: BaseException) -> str:
    """One line for a job that failed; an error that is not of the reader's making has its type."""
    words = " ".join(str(error).split())
    plain = isinstance(error, AuclabError | OSError | MemoryError) and words
    told = words if plain else f"{type(error).__name__}: {words}".rstrip(": ")
    return f"[red]error:[/red] {escape(told)}  [dim]{escape(name)}[/dim]"


def show_sweep(counts: Counter[str], *, folder: Path, tracking: Mapping[str, Any], parent: str | None) -> None:
    """The last lines of a sweep: how many jobs ended how, and where they are."""
    failed = f"[red]{counts['FAILED']} failed[/red]" if counts["FAILED"] else "0 failed"
    killed = f"[yellow]{counts['KILLED']} killed[/yellow]" if counts["KILLED"] else "0 killed"
    if parent is not None:
        out.print(f"parent run {parent}", soft_wrap=True)
        out.print(f"open it:   {open_command(tracking)}", soft_wrap=True, markup=False)
    else:
        out.print(f"files in   {_short(folder)}", soft_wrap=True, markup=False)
    if counts["FAILED"]:
        out.print(f"tracebacks {_short(folder)}/*/run.log", soft_wrap=True, markup=False)
    if counts["SKIPPED"]:
        out.print("a job that finished before is skipped; rerun=true computes it again", soft_wrap=True)
    words = f"{counts['FINISHED']} finished, {counts['SKIPPED']} skipped"
    out.print(f"sweep: {words}, {failed}, {killed}", soft_wrap=True)


def open_command(tracking: Mapping[str, Any]) -> str:
    """The command that opens MLflow's page on the store; its job runner would take two gigabytes more.

    Of a server: its address.
    """
    store = Address.of_settings(tracking)
    if store.is_server:
        return str(store)
    place = hide_password(store.uri) if store.file is None else f"sqlite:///{_short(store.file)}"
    return f"MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false mlflow ui --workers 1 --backend-store-uri {place}"


def _story(result: Result) -> Table:
    """Data, formulation, solver and certificate."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    data = result.dataset
    n_samples, n_features = data.X.shape
    grid.add_row("data", f"[bold]{escape(data.name)}[/bold] · {n_samples} rows × {n_features} features")
    classes = f"{data.n_pos} positive ({data.positive}), {data.n_neg} negative ({data.negative})"
    grid.add_row("classes", Text(classes))
    grid.add_row("source", Text(" · ".join(filter(None, [data.source, data.sha256 and f"sha256 {data.sha256[:12]}"]))))
    grid.add_row("formulation", Text.assemble((result.formulation.name, "bold"), "  ", result.formulation.equation()))
    (_one_solution if len(result.folds) == 1 else _many_solutions)(grid, result)
    return grid


def _one_solution(grid: Table, result: Result) -> None:
    fold = result.folds[0]
    solution, times, rows = fold.solution, fold.solution.timings, fold.split
    grid.add_row("split", f"{escape(rows.name)} · {len(rows.train)} rows to train, {len(rows.test)} to test")
    if fold.tuning is not None:
        grid.add_row("tuned", Text(fold.tuning.statement))
    style = "green" if solution.status in GOOD else BAD
    grid.add_row(
        "solver",
        f"[bold]{solution.solver}[/bold] · [{style}]{solution.status}[/{style}]: {solution.status.advice}",
    )
    grid.add_row(
        "certificate",
        f"objective [bold]{solution.objective:.8f}[/bold] · lower bound {_number(solution.lower_bound, 8)} · "
        f"gap {_small(solution.gap)}",
    )
    grid.add_row(
        "seconds",
        f"build {times.build:.2f} · load {times.load:.2f} · compile {times.compile:.2f} · solve {times.solve:.2f}",
    )
    if solution.status in GOOD:
        grid.add_row("optimum", Text(fold.optimum.statement))
    for note in solution.notes:
        grid.add_row("note", Text(note))


def _many_solutions(grid: Table, result: Result) -> None:
    numbers = result.summary
    folds = result.folds
    statuses = Counter(fold.solution.status for fold in folds)
    grid.add_row("splits", f"{len(folds)} · numbers are mean ± standard deviation over them")
    tunings = [fold.tuning for fold in folds if fold.tuning is not None]
    if tunings:
        chosen = Counter(f"{it.symbol} = {it.chosen:g}" for it in tunings)
        taken = ", ".join(f"{value} ({count} ×)" for value, count in chosen.most_common())
        grid.add_row("tuned", Text(f"in every split by itself, by {tunings[0].metric}: {taken}"))
    words = ", ".join(f"{count} × {status} ({status.advice})" for status, count in statuses.items())
    style = "green" if all(status in GOOD for status in statuses) else BAD
    grid.add_row("solver", f"[bold]{folds[0].solution.solver}[/bold] · [{style}]{words}[/{style}]")
    objective = f"objective [bold]{numbers['objective']:.6f}[/bold] on average · largest gap {_small(numbers['gap'])}"
    grid.add_row("certificate", objective)
    grid.add_row("seconds", f"{sum(fold.solution.timings.total for fold in folds):.2f} for all splits")
    for note in dict.fromkeys(note for fold in folds for note in fold.solution.notes):
        count = sum(note in fold.solution.notes for fold in folds)
        grid.add_row("note", Text(note if count == len(folds) else f"{note} ({count} of {len(folds)} splits)"))


def _metrics(result: Result) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric")
    numbers, first = result.summary, result.folds[0]
    for part in first.parts:
        table.add_column(part, justify="right")
    estimates = first.parts["test"].estimates if "test" in first.parts and len(result.folds) == 1 else {}
    if estimates:
        level = next(iter(estimates.values())).level
        table.add_column(f"{level:.0%} interval", justify="right")
    for key in first.parts["train"].metrics:
        cells = []
        for part in first.parts:
            deviation = numbers.get(f"{part}/{key}_sd")
            mean = _number(numbers[f"{part}/{key}"], 4)
            cells.append(mean if deviation is None else f"{mean} ± {_number(deviation, 4)}")
        if key in estimates:
            cells.append(f"{_number(estimates[key].lower, 4)} to {_number(estimates[key].upper, 4)}")
        table.add_row(key, *cells)
    return table


def _bounds(result: Result) -> Iterator[Any]:
    """Each bound beside the test value, and under numbers what they assume; of several splits, the weakest bound."""
    every = [item for fold in result.folds for item in fold.guarantees]
    remarks = list(dict.fromkeys(words for fold in result.folds for words in fold.remarks))
    if not (every or remarks):
        return
    several = ", for each split by itself; the weakest is shown" if len(result.folds) > 1 else ""
    yield Text.assemble(("bounds", "cyan"), f"  each with probability at least {result.confidence:g}{several}")
    names = dict.fromkeys(item.name for item in every)
    shown = [min((item for item in every if item.name == name), key=lambda item: item.lower_end) for name in names]
    assumptions = list(dict.fromkeys(words for item in shown for words in item.bound.assumptions))
    for item, is_best in zip(shown, _best(shown), strict=True):
        marks = "".join(f"[{assumptions.index(words) + 1}]" for words in item.bound.assumptions)
        beside = "" if math.isnan(item.test_value) else f" (test {item.test_value:.4f})"
        verdict = ("  vacuous: it excludes nothing", "yellow") if item.bound.vacuous else ""
        best = (f"  best for {item.quantity}", "green") if is_best else ""
        line = Text.assemble(
            (item.statement, "bold"), beside, f"  {item.name}, {item.sample} part ", (marks, "dim"), verdict, best
        )
        yield Padding(line, (0, 0, 0, 2))
    for number, words in enumerate(assumptions, start=1):
        yield Padding(Text(f"[{number}] assumed: {words}", style="dim"), (0, 0, 0, 2))
    for remark in remarks:
        yield Padding(Text(remark, style="dim"), (0, 0, 0, 2))


def _best(guarantees: list[Guarantee]) -> list[bool]:
    """For each guarantee, whether it is the best one of its quantity and not vacuous."""
    best: dict[str, float] = {}
    for item in guarantees:
        if not item.bound.vacuous:
            best[item.quantity] = max(best.get(item.quantity, -math.inf), item.lower_end)
    return [not item.bound.vacuous and item.lower_end == best[item.quantity] for item in guarantees]


def _whereabouts(run: Run, tracking: Mapping[str, Any]) -> None:
    if run.run_id is not None:
        out.print(f"[cyan]run[/cyan]      {escape(run.name)}  [dim]{run.run_id}[/dim]", soft_wrap=True)
    out.print(f"[cyan]figures[/cyan]  {escape(_short(run.folder))}", soft_wrap=True)
    if run.run_id is not None:
        out.print(f"[cyan]open[/cyan]     {escape(open_command(tracking))}", soft_wrap=True)


def _number(value: float, digits: int) -> str:
    return "unknown" if math.isnan(value) else f"{value:.{digits}f}"


def _small(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.1e}"


def _short(path: Path) -> str:
    """Relative to where the reader stands, if it lies below."""
    return os.path.relpath(path) if path.absolute().is_relative_to(Path.cwd()) else str(path)
