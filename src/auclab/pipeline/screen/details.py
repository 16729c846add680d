"""Details of a run: the program, the rows, the certificate, the labels, the best bound and the time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from auclab.datasets.target import METRIC_NAMES, WORDS
from auclab.pipeline.config.settings import rule_in_words
from auclab.pipeline.screen.answer import warnings
from auclab.pipeline.screen.bound_lines import BoundLine, best_of, weakest
from auclab.pipeline.split.decision import UNDECIDED
from auclab.pipeline.split.results import Result
from auclab.types import CONVERGED
from auclab.wording import few

#: Shown instead of a certificate.
NO_CERTIFICATE = "none: a baseline of another library, whose fit is not verified"


def details(result: Result) -> list[tuple[str, str]]:
    """Label and text of each line; stored with the run, for `auclab show`."""
    data, folds = result.dataset, result.folds
    fold = folds[0]
    program: Any = result.formulation if data.target.is_of_classes else fold.solution.formulation
    rows = [("program", fold.solution.in_words(program.equation()))]
    count = f"{data.X.shape[0]} rows × {data.X.shape[1]} columns"
    rows.append(("rows", f"{data.name} · {count}: {data.census}"))
    rows.append(("source", " · ".join(filter(None, [data.source, data.sha256 and f"sha256 {data.sha256[:12]}"]))))
    rows += (_of_one if len(folds) == 1 else _of_many)(result)
    if (found := labels(result)) is not None:
        rows.append(("labels", found))
    if bound := guarantee(result):
        rows.append(("guarantee", bound))
    rows += [("note", note) for note in (*result.prepared, *_counted(fold.solution.notes for fold in folds))]
    rows += [("warning", text) for text in warnings(result)]
    return [*rows, ("seconds", seconds(result))]


def _of_one(result: Result) -> list[tuple[str, str]]:
    """The parts, the tuning, the solve and its certificate of the only split."""
    (fold,) = result.folds
    solution = fold.solution
    rows = [("parts", f"{len(fold.split.train)} rows to train, {len(fold.split.test)} to test")]
    if fold.inner is not None:
        rows.append(("inner folds", fold.inner.statement))
    if solution.status in CONVERGED and fold.optimum is not None:
        buffered = WORDS[METRIC_NAMES[result.dataset.target.kind]["bauc"]]
        rows.append(("optimum", fold.optimum.statement.replace("bAUC", buffered)))
    if fold.tuning is not None:
        rows.append(("tuned", "; ".join(filter(None, (fold.tuning.statement, fold.tuning.note)))))
    rows.append(("solver", f"{solution.solver} · {solution.status}: {solution.status.advice}"))
    radius = f" · for {solution.radius_text}" if solution.radius_text else ""
    values = f"objective {solution.objective:.8g} · lower bound {_number(solution.lower_bound, '.8g')}"
    certificate = f"{values} · gap {_number(solution.gap, '.1e')}{radius}"
    rows.append(("certificate", certificate if solution.has_objective else NO_CERTIFICATE))
    if (scorer := solution.on_landmarks) is not None:
        rows.append(("kernel", scorer.words))
    if fold.constraints is not None:
        rows.append(("constraints", fold.constraints.statement))
    return rows


def _of_many(result: Result) -> list[tuple[str, str]]:
    """The same, counted over several splits."""
    folds, numbers = result.folds, result.summary
    rows = [("splits", f"{len(folds)} · numbers are mean ± standard deviation over them")]
    if tunings := [fold.tuning for fold in folds if fold.tuning is not None]:
        taken = ", ".join(_counted([each.choice] for each in tunings))
        rows.append(("tuned", f"in every split by itself, by {tunings[0].metric}: {taken}"))
    statuses = Counter(fold.solution.status for fold in folds)
    outcome = ", ".join(f"{count} × {status} ({status.advice})" for status, count in statuses.items())
    rows.append(("solver", f"{folds[0].solution.solver} · {outcome}"))
    objective = f"objective {numbers['objective']:.6g} on average" if "gap" in numbers else NO_CERTIFICATE
    gap = f" · largest gap {_number(numbers['gap'], '.1e')}" if "gap" in numbers else ""
    rows.append(("certificate", objective + gap))
    if scorers := [scorer for fold in folds if (scorer := fold.solution.on_landmarks) is not None]:
        sizes = [scorer.n_landmarks for scorer in scorers]
        words = ", ".join(_counted([str(scorer.kernel)] for scorer in scorers))
        rows.append(("kernel", f"{words} · {min(sizes)} to {max(sizes)} landmarks"))
    if constrained := [fold.constraints for fold in folds if fold.constraints is not None]:
        texts = few(_counted([each.text for each in solved.active] for solved in constrained))
        rows.append(("constraints", f"hold with equality: {texts or 'none'}"))
    return rows


def _counted(texts: Iterable[Iterable[str]]) -> list[str]:
    """Texts of every split, those of some splits with their number."""
    every = list(texts)
    counts = Counter(text for of_one in every for text in of_one)
    return [text if count == len(every) else f"{text} ({count} ×)" for text, count in counts.most_common()]


def guarantee(result: Result) -> str:
    """The best non-vacuous bound of AUC, else of bAUC; empty without bounds."""
    lines = weakest([BoundLine.of(item) for fold in result.folds for item in fold.guarantees])
    if not lines:
        return ""
    best = best_of(lines)
    if best is None:
        which = "the one bound excludes" if len(lines) == 1 else f"all {len(lines)} bounds exclude"
        return f"none: {which} nothing with so few rows"
    several = "in every split, " if len(result.folds) > 1 else ""
    return f"{best.statement} {several}with probability {result.confidence:g} ({best.name}, {best.sample} part)"


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


def _number(value: float, form: str) -> str:
    return "unknown" if math.isnan(value) else format(value, form)
