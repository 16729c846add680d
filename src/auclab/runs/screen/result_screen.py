"""Printed results: the answer of a finished experiment, its details and bounds, and one line per job of a sweep."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from auclab._core.base import CONVERGED
from auclab._core.words import LINES, few
from auclab.datasets.target import METRIC_NAMES, WORDS
from auclab.runs.config.compose import SYMBOLS, symbol_of
from auclab.runs.config.settings import rule_in_words
from auclab.runs.screen.console import facts_grid, next_commands, out, print_table, short_path
from auclab.runs.split.decision import UNDECIDED
from auclab.runs.split.guarantees import Guarantee
from auclab.runs.split.results import Fold, Result
from auclab.runs.tracking.record import RunRecord

#: Beside a bound of the user's own.
NOT_PROVED = " (yours, not proved)"
#: Order of preference if several quantities are bounded.
_FIRST = tuple(WORDS.values())


@dataclass(frozen=True)
class BoundLine:
    """A bound to print: of an experiment that has just ended, or from the file ``bounds.json`` of a run."""

    name: str
    quantity: str
    sample: str
    statement: str
    lower_end: float
    vacuous: bool
    assumptions: tuple[str, ...]
    test_value: float = math.nan
    own: bool = False

    @classmethod
    def of(cls, item: Guarantee) -> BoundLine:
        """From a bound in memory."""
        return cls.of_stored(asdict(item) | {"statement": item.statement})

    @classmethod
    def of_stored(cls, item: Mapping[str, Any]) -> BoundLine:
        """From an entry of ``bounds.json``, where infinity is a string and NaN is null."""
        bound = item.get("bound") or {}
        estimate, half_width = _number(item.get("estimate")), _number(bound.get("half_width"))
        lower = _number(bound.get("lower"))
        end, statement = (lower if math.isnan(half_width) else estimate - half_width), str(item["statement"])
        if bound.get("vacuous") and math.isnan(half_width) and lower < 0:
            statement = f"{item['quantity']} ≥ 0 (computed as {lower:.4g})"
        own = item.get("own") is True
        return cls(
            *(str(item["name"]), str(item["quantity"]), str(item.get("sample", ""))),
            statement + NOT_PROVED * own,
            *(end, bool(bound.get("vacuous")), tuple(map(str, bound.get("assumptions") or ()))),
            *(_number(item.get("test_value")), own),
        )


def weakest(lines: Sequence[BoundLine]) -> list[BoundLine]:
    """The weakest bound of each name over several splits."""
    names = dict.fromkeys(line.name for line in lines)
    return [min((line for line in lines if line.name == name), key=lambda line: line.lower_end) for name in names]


def best_of(lines: Sequence[BoundLine]) -> BoundLine | None:
    """The best proved bound of the AUC, else of the bAUC, else of anything; None where all are vacuous."""
    telling = [line for line in lines if not (line.vacuous or line.own)]
    for quantity in (*_FIRST, *(line.quantity for line in telling)):
        if found := [line for line in telling if line.quantity == quantity]:
            return max(found, key=lambda line: line.lower_end)
    return None


def all_lines(lines: Sequence[BoundLine], remarks: Sequence[str]) -> Iterator[Any]:
    """Each bound with the test value; assumptions are numbered and listed once."""
    shown = weakest(lines)
    assumptions = list(dict.fromkeys(text for line in shown for text in line.assumptions))
    best = {quantity: best_of([line for line in shown if line.quantity == quantity]) for quantity in _quantities(shown)}
    for line in shown:
        marks = "".join(f"[{assumptions.index(text) + 1}]" for text in line.assumptions)
        beside = "" if math.isnan(line.test_value) else f" (test {line.test_value:.4f})"
        verdict = ("  vacuous: it excludes nothing", "yellow") if line.vacuous else ""
        mark = (f"  best for {line.quantity}", "green") if line is best[line.quantity] else ""
        text = Text.assemble(
            (line.statement, "bold"), beside, f"  {line.name}, {line.sample} part ", (marks, "dim"), verdict, mark
        )
        yield Padding.indent(text, 2)
    for number, assumed in enumerate(assumptions, start=1):
        yield Padding.indent(Text(f"[{number}] assumed: {assumed}", style="dim"), 2)
    for remark in remarks:
        yield Padding.indent(Text(remark, style="dim"), 2)


def _quantities(lines: Sequence[BoundLine]) -> list[str]:
    return list(dict.fromkeys(line.quantity for line in lines))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | str) else math.nan


#: Metrics that lie in [0, 1] only if the scores do; the scores of a run are not probabilities.
_IN_UNITS_OF_THE_SCORE = ("ferri_auc", "scored_auc")

#: What to try if a scorer is constant.
_BALANCED, _OTHER = "try class_weight=balanced", "ranksvm"
#: Shown if nothing was held out.
_NOT_MEASURED = "not measured: split=holdout or split=kfold holds rows out"


def answer(result: Result) -> list[tuple[str, Text]]:
    """Rows of the first screen: label and text."""
    key = shown_metric(result.folds[0].parts["train"].metrics)
    rows = [("model", _model(result)), (f"test {WORDS.get(key, key)}", _test(result, key))]
    rows.append(("optimal", _optimal(result)))
    rows += [("", Text(note, "yellow")) for note in _notes_on_interval(result, key)]
    rows.append(("rows", Text(_rows(result))))
    if columns := _used_columns(result):
        rows.append(("columns", Text(columns)))
    return rows + [("warning", Text(text, "yellow")) for text in warnings(result)]


def warnings(result: Result) -> list[str]:
    """Warn of a result that misleads: columns that tell the target, metrics without a value, one score for all rows."""
    constant = [fold for fold in result.folds if fold.is_constant]
    values = [pair for fold in result.folds for part in fold.parts.values() for pair in part.metrics.items()]
    lacking = dict.fromkeys(f"the metric {key} is nan" for key, value in values if math.isnan(value))
    if not constant:
        return [*result.leaks, *lacking]
    share = "" if len(result.folds) == 1 else f" in {len(constant)} of {len(result.folds)} splits"
    name = WORDS[METRIC_NAMES[result.dataset.target.kind]["auc"]]
    return [
        *(*result.leaks, *lacking),
        f"the scorer is constant{share} (w = 0): it ranks nothing, and its {name} is 0.5; {_what_to_try(constant[0])}",
    ]


def _what_to_try(fold: Fold) -> str:
    """The setting to change if w = 0."""
    program, tuning = fold.solution.formulation, fold.tuning
    if getattr(fold.solution, "null_for_every_value", False):  # a baseline has no λ_max
        every = "λ" if hasattr(program, "penalty") or program.threshold == 0 else "z ≤ 0"
        balanced = f"{_BALANCED}, which counts both classes alike, or" if _is_outweighed(fold) else "try"
        return f"so it is for every {every}, because λ_max = 0: {balanced} formulation={_OTHER}"
    if tuning is not None:
        low, high = tuning.path["value"].min(), tuning.path["value"].max()
        values = f"{symbol_of(tuning.parameter)} from {low:g} to {high:g}"
        above = tuning.parameter == "threshold"  # ‖w‖ grows as z approaches 0
        smaller = f"try {'larger' if above else 'smaller'} ones with {tuning.typed_beyond(above=above)}"
        if (tuning.path["mean"] == 0.5).all() and tuning.metric in WORDS:
            first = _BALANCED if _is_outweighed(fold) else "try another formulation"
            return f"so it is for all values ({values}): {first}, or {smaller}"
        return (
            f"the values ({values}) may all be too {'small' if above else 'large'}: {smaller}, or another formulation"
        )
    if _is_outweighed(fold):
        # Where the larger class outweighs the other, w = 0 may be optimal for every λ and z.
        return f"{_BALANCED}, which counts both classes alike, or tune={_tunable(program)}"
    if (penalty := getattr(program, "penalty", 0.0)) and program.comparisons.hardest:
        smaller = f"try formulation.penalty={penalty / 100:g}, tune=penalty, or formulation={_OTHER}"
        return f"λ = {penalty:g} is too large, or λ_max = 0, so that every λ is: {smaller}"
    if penalty:
        return f"λ = {penalty:g} is too large: try formulation.penalty={penalty / 100:g}, or tune=penalty"
    if weight := getattr(getattr(program, "regulariser", None), "weight", 0.0):
        return f"λ = {weight:g} is too large: try formulation.regulariser.weight={weight / 100:g}"
    if threshold := getattr(program, "threshold", 0.0):
        return f"z = {threshold:g} is too far from 0: try formulation.threshold={threshold / 10:g}, or tune=threshold"
    if not fold.solution.has_objective or program.name == _OTHER:
        return "check that the target is right"
    return f"w = 0 is the optimum of {program.name} on these rows, others may rank them: try formulation={_OTHER}"


def _is_outweighed(fold: Fold) -> bool:
    """Whether one class may outweigh the other: the loss is over points and there are no class weights."""
    of_points = fold.solution.has_objective and fold.solution.formulation.comparisons.name == "points"
    return of_points and getattr(fold.model[-1], "class_weight", None) is None


def _tunable(program: Any) -> str:
    """The parameter to suggest for tuning."""
    return "penalty" if getattr(program, "penalty", 0.0) else "threshold"


def _model(result: Result) -> Text:
    """The formulation, its parameter and how it was chosen, and the training rows."""
    folds, data = result.folds, result.dataset
    parameter = _parameter(result)
    rows = f"{len(folds[0].split.train)} rows" if len(folds) == 1 else f"{len(folds)} splits of {data.X.shape[0]} rows"
    trained = f" · {rows} of {data.name}, {data.X.shape[1]} columns"
    # A composed program is called what it was chosen by, such as group_lasso.
    name = result.formulation.name if result.formulation.name != "composed" else result.name.partition(" ")[0]
    return Text.assemble((name, "bold"), parameter, trained)


def _rows(result: Result) -> str:
    """How many rows there are of either class, of events or of grades."""
    data = result.dataset
    if not data.target.is_of_classes:
        return data.census
    return f"{data.census}; share of {data.positive} {f'{data.n_pos / len(data.y):.3g}'.removeprefix('0')}"


def _parameter(result: Result) -> Text:
    """``, λ = 0.01`` and whether inner folds chose it; empty if there is no parameter or it is 0."""
    fold, formulation = result.folds[0], result.formulation
    if (tuning := fold.tuning) is not None:
        chosen = tuning.choice if len(result.folds) == 1 else f"{tuning.symbol} in every split"
        return Text(f", {chosen} chosen by cross-validated {WORDS.get(tuning.metric, tuning.metric)}")
    regulariser = getattr(formulation, "regulariser", None)  # baselines have none
    for parameter, symbol in SYMBOLS.items():
        value = regulariser.weight if parameter == "penalty" and regulariser else getattr(formulation, parameter, 0)
        if not value:
            continue
        is_default = value == getattr(type(formulation), parameter, None)
        text = Text.assemble(", ", (f"{symbol} = {value:g}", "yellow" if is_default else ""))  # typed or not
        if fold.in_blocks is not None:  # rows in blocks are not split into inner folds
            return text
        choice = parameter if fold.solution.has_objective else "auto"
        tunes_kernel = fold.solution.on_landmarks is not None and result.dataset.target.is_of_classes
        choice = "kernel" if tunes_kernel else choice
        what = "γ and it" if choice == "kernel" else "it"
        return text.append(f" not tuned (tune={choice} chooses {what} by cross-validation)", "default")
    return Text("")


def _used_columns(result: Result) -> str:
    """The columns that `max_features` leaves in use, of a run of one split; empty without a limit."""
    rules = result.folds[0].constraints
    if len(result.folds) > 1 or rules is None or rules.used is None:
        return ""
    return f"{len(rules.used)} of {result.dataset.X.shape[1]} used: {few(rules.used, LINES) or 'none'}"


def _optimal(result: Result) -> Text:
    """``yes`` with the certified gap, or how the solver ended."""
    solutions = [fold.solution for fold in result.folds]
    largest = max(solution.gap for solution in solutions)
    if reason := solutions[0].not_verified():
        return Text(f"not verified: {reason}")
    several = len(solutions) > 1
    bad = [solution for solution in solutions if solution.status not in CONVERGED]
    if bad:
        count = f"{len(solutions) - len(bad)} of {len(solutions)} splits are; " if several else ""
        return Text(
            f"no: {count}{bad[0].status}, {bad[0].status.advice}; {'largest ' if several else ''}gap {largest:.1e}",
            "red",
        )
    where = "in every split, " if several else ""
    proved = {solution.proved_for for solution in solutions}
    where += proved.pop() if len(proved) == 1 else ""
    if result.folds[0].constraints is not None:
        where += " among the scorers that satisfy the constraints"
    near = f"the objective is within {largest:.1e} (relative) of the smallest possible"
    constant = (f"; the scorer is {result.constant}" if result.constant else "", "yellow")
    return Text.assemble(("yes", "green"), f", proved {where.rstrip(', ')}: {near}", constant)


def _test(result: Result, key: str) -> Text:
    """The metric of the held-out part with its interval, or its mean and standard deviation over splits."""
    first = result.folds[0]
    if "test" not in first.parts:
        if first.inner is not None:
            return Text(f"no rows were held out; {first.inner.statement}")
        return Text(_NOT_MEASURED)
    numbers, part = result.summary, first.parts["test"]
    value = f"{numbers[f'test/{key}']:.4f}"
    if len(result.folds) > 1:
        value += f" ± {numbers[f'test/{key}_sd']:.4f}" if f"test/{key}_sd" in numbers else ""
        return Text.assemble((value, "bold"), f", mean ± standard deviation over {len(result.folds)} splits")
    rows = f" on {len(part.y_true)} held-out rows"
    if (estimate := part.estimates.get(key)) is None:
        return Text.assemble((value, "bold"), rows)
    interval = f" ({estimate.level:.0%} interval {estimate.lower:.4f} to {estimate.upper:.4f})"
    return Text.assemble((value, "bold"), interval, rows)


def shown_metric(metrics: Collection[str]) -> str:
    """The first metric with values in [0, 1], else the first metric."""
    shares = [key for key in metrics if key not in _IN_UNITS_OF_THE_SCORE]
    return (shares or list(metrics))[0]


def _notes_on_interval(result: Result, key: str) -> list[str]:
    """Notes on an unusual interval."""
    part = result.folds[0].parts.get("test")
    if part is None or len(result.folds) > 1 or key not in part.estimates:
        return []
    return [f"interval: {note}" for note in part.estimates[key].notes]


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
    values = f"objective {solution.objective:.8g} · lower bound {_formatted(solution.lower_bound, '.8g')}"
    certificate = f"{values} · gap {_formatted(solution.gap, '.1e')}{radius}"
    rows.append(("certificate", certificate if solution.has_objective else NO_CERTIFICATE))
    if solution.steps:
        rows.append(("steps", " → ".join(map(str, solution.steps))))
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
    gap = f" · largest gap {_formatted(numbers['gap'], '.1e')}" if "gap" in numbers else ""
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
    best = best_of(lines) or next((line for line in lines if line.own and not line.vacuous), None)
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


def _formatted(value: float, form: str) -> str:
    return "unknown" if math.isnan(value) else format(value, form)


#: Width of the labels.
LABELS = 9


def show_solution(result: Result, *, whole: bool = False) -> None:
    """Print the first lines of a finished experiment, and a scorecard; `whole`: all details, as no store keeps them."""
    out.print()
    grid = facts_grid(LABELS)
    for label, text in answer(result):
        grid.add_row(label, text)
    out.print(grid)
    if whole:
        grid = facts_grid(LABELS)
        for label, line in details(result):
            if label != "warning":  # which the first lines have
                grid.add_row(label, Text(line))
        out.print()
        out.print(grid)
        _show_metrics(result)
    if len(result.folds) == 1 and result.folds[0].card is not None:
        out.print()
        out.print(Text(str(result.folds[0].card)), soft_wrap=True)
        out.print()


def show_run(result: Result, record: RunRecord, in_all: float, models: Sequence[Path] = ()) -> None:
    """Print the time since the command began, the models that were written, and commands to try next."""
    grid = facts_grid(LABELS)
    grid.add_row("seconds", seconds(result, in_all))
    if models:
        grid.add_row("model", Text(", ".join(map(short_path, models))))
    out.print(grid)
    if record.tracking is None or record.run_id is None:
        out.print(f"[cyan]{'files':<{LABELS}}[/cyan]  {escape(short_path(record.files_folder))}", soft_wrap=True)
        return
    own, alone = getattr(result.formulation, "estimator", None), len(result.folds) == 1
    commands = next_commands(record.tracking, record.run_id[:8], predicts=alone, classifier=own)
    out.print(f"[cyan]{'next':<{LABELS}}[/cyan]  {escape(' · '.join(commands))}", soft_wrap=True)


def line_of(result: Result) -> str:
    """The result in a few words, for the line of a job in a sweep."""
    numbers = result.summary
    part = "test" if "test" in result.folds[0].parts else "train"
    certified = "gap" in numbers
    shown = [f"objective {numbers['objective']:.6g}", f"gap {_small(numbers['gap'])}"] if certified else ["baseline"]
    shown += [f"{part} {key} {numbers[f'{part}/{key}']:.4f}" for key in result.folds[0].parts[part].metrics][:2]
    shown += [str(each) for each in dict.fromkeys(fold.solution.status for fold in result.folds)
              if each not in CONVERGED]  # fmt: skip
    shown += ["constant scorer, w = 0"] if result.constant else []
    return "  ".join(shown)


def _show_metrics(result: Result) -> None:
    numbers, first = result.summary, result.folds[0]
    estimates = first.parts["test"].estimates if "test" in first.parts and len(result.folds) == 1 else {}
    head = ["metric", *first.parts]
    if estimates:
        head.append(f"{next(iter(estimates.values())).level:.0%} interval")
    lines = []
    for key in first.parts["train"].metrics:
        cells = []
        for part in first.parts:
            deviation = numbers.get(f"{part}/{key}_sd")
            mean = _formatted(numbers[f"{part}/{key}"], ".4f")
            cells.append(mean if deviation is None else f"{mean} ± {_formatted(deviation, '.4f')}")
        if estimates:
            known = estimates.get(key)
            cells.append(
                "" if known is None else f"{_formatted(known.lower, '.4f')} to {_formatted(known.upper, '.4f')}"
            )
        lines.append([key, *cells])
    print_table(head, lines)


def _small(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.1e}"
