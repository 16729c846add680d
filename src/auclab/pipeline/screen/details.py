"""Details of a run: the program, the rows, the labels, the bounds and the time."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from auclab.datasets.target import METRIC_NAMES, WORDS
from auclab.pipeline.config.decision_settings import rule_in_words
from auclab.pipeline.screen.bound_lines import BoundLine, best_of, weakest
from auclab.pipeline.split.decision import UNDECIDED
from auclab.pipeline.split.results import Result
from auclab.types import CONVERGED


def details(result: Result) -> list[tuple[str, str]]:
    """Label and text of each line; stored with the run, for `auclab show`."""
    data, folds = result.dataset, result.folds
    fold = folds[0]
    program: Any = result.formulation if data.target.is_of_classes else fold.solution.formulation
    rows = [("program", fold.solution.in_words(program.equation()))]
    count = f"{data.X.shape[0]} rows × {data.X.shape[1]} columns"
    rows.append(("rows", f"{data.name} · {count}: {data.census}"))
    rows.append(("source", " · ".join(filter(None, [data.source, data.sha256 and f"sha256 {data.sha256[:12]}"]))))
    if len(folds) == 1:
        rows.append(("parts", f"{len(fold.split.train)} rows to train, {len(fold.split.test)} to test"))
        if fold.inner is not None:
            rows.append(("inner folds", fold.inner.statement))
        if fold.solution.status in CONVERGED and fold.optimum is not None:
            buffered = WORDS[METRIC_NAMES[data.target.kind]["bauc"]]
            rows.append(("optimum", fold.optimum.statement.replace("bAUC", buffered)))
    if kernel := kernels(result):
        rows.append(("kernel", kernel))
    if (found := labels(result)) is not None:
        rows.append(("labels", found))
    return [*rows, ("seconds", seconds(result))]


def kernels(result: Result) -> str:
    """The kernels of all splits and the numbers of their landmarks; empty for scorers without landmarks."""
    found = [scorer for fold in result.folds if (scorer := fold.solution.on_landmarks) is not None]
    if not found:
        return ""
    names = ", ".join(dict.fromkeys(str(each.kernel) for each in found))
    sizes = [each.n_landmarks for each in found]
    return f"{names} · {f'{min(sizes)} to {max(sizes)}' if len(sizes) > 1 else sizes[0]} landmarks"


def guarantee(result: Result) -> Text | None:
    """The best non-vacuous bound of AUC, else of bAUC."""
    lines = weakest([BoundLine.of(item) for fold in result.folds for item in fold.guarantees])
    if not lines:
        return None
    best = best_of(lines)
    if best is None:
        which = "the one bound excludes" if len(lines) == 1 else f"all {len(lines)} bounds exclude"
        return Text(f"none: {which} nothing with so few rows")
    several = "in every split, " if len(result.folds) > 1 else ""
    return Text(f"{best.statement} {several}with probability {result.confidence:g} ({best.name}, {best.sample} part)")


def labels(result: Result) -> str | None:
    """The threshold of the stored model and how it was chosen; None without one."""
    decisions = [fold.decision for fold in result.folds]
    if any(decision is UNDECIDED for decision in decisions):
        return None
    if all(fold.is_constant for fold in result.folds):
        return "the same for every row: the scorer is constant"
    first = decisions[0]
    where = f"above {first.threshold:.6g}" if len(decisions) == 1 else "above a threshold of every split"
    words = f"{result.dataset.positive} for scores {where}: {rule_in_words(first.rule)}, chosen on {first.source}"
    return words + (" (decision.threshold)" if first.rule == "prior" else "")


def seconds(result: Result, in_all: float | None = None) -> str:
    """The time of the steps, and of the whole command if known."""
    parts: dict[str, float] = {"tuning": 0.0, "compiling": 0.0, "solving": 0.0}
    for fold in result.folds:
        times = fold.solution.timings
        parts["solving"] += times.build + times.load + times.solve
        parts["compiling"] += times.compile
        parts["tuning"] += fold.tuning.seconds if fold.tuning else 0.0
    shown = ", ".join(f"{name} {value:.2f}" for name, value in parts.items() if value >= 0.005)
    total = f"{in_all:.1f} in all" if in_all is not None else f"{result.seconds:.2f} from the data to the bounds"
    return f"{total}: {shown}" if shown else total
