"""What a reader asks first of an experiment: what was solved, whether it is optimal, how good it is on new rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rich.text import Text

from auclab.pipeline.config.decision_settings import rule_in_words
from auclab.pipeline.screen.bound_lines import BoundLine, best_of, weakest
from auclab.pipeline.split.decision import UNDECIDED
from auclab.pipeline.split.results import Fold, Result
from auclab.pipeline.split.tuning import SYMBOLS
from auclab.types import CONVERGED

#: Metrics of the held-out part that are named first, as they are written there.
_NAMES = {"auc": "AUC", "bauc": "bAUC"}
#: Metrics that are shares for scores in [0, 1] only: those of a run are no probabilities.
_IN_UNITS_OF_THE_SCORE = ("ferri_auc", "scored_auc")

#: What to try where a scorer is constant.
_BALANCED, _OTHER = "try class_weight=balanced", "ranksvm"
#: Number of metrics that the first screen shows.
N_SHOWN = 2


def answer(result: Result) -> list[tuple[str, Text]]:
    """Rows of the first screen: label and text."""
    rows = [("solved", _solved(result))]
    if (untuned := _untuned(result)) is not None:
        rows.append(("not tuned", untuned))
    rows += [("optimal", _optimal(result)), ("new rows", _new_rows(result))]
    rows += [("", Text(note, "yellow")) for note in _notes_on_intervals(result)]
    if (guarantee := _guarantee(result)) is not None:
        rows.append(("guarantee", guarantee))
    if (labels := _labels(result)) is not None:
        rows.append(("labels", labels))
    rows.append(("seconds", _seconds(result)))
    return rows + [("warning", Text(text, "yellow")) for text in warnings(result)]


def warnings(result: Result) -> list[str]:
    """What makes a result useless although its solver ended well: a scorer that gives every row the same score."""
    constant = [fold for fold in result.folds if is_constant(fold)]
    if not constant:
        return []
    share = "" if len(result.folds) == 1 else f" in {len(constant)} of {len(result.folds)} splits"
    return [f"the scorer is constant{share} (w = 0): it ranks nothing, and its AUC is 0.5; {_what_to_try(constant[0])}"]


def is_constant(fold: Fold) -> bool:
    """Whether all rows of the training part have one score."""
    return fold.parts["train"].all_tied


def _what_to_try(fold: Fold) -> str:
    """The setting that would change w = 0."""
    program, tuning = fold.solution.formulation, fold.tuning
    if tuning is not None:
        low, high = tuning.path["value"].min(), tuning.path["value"].max()
        values = f"{SYMBOLS[tuning.parameter]} from {low:g} to {high:g}"
        smaller = f"try smaller ones with {tuning.typed_beyond(above=False)}"
        if (tuning.path["mean"] == 0.5).all() and tuning.metric == "auc":
            first = _BALANCED if _is_outweighed(fold) else "try another formulation"
            return f"so it is for all values ({values}): {first}, or {smaller}"
        return f"the values ({values}) may all be too large: {smaller}, or another formulation"
    if _is_outweighed(fold):
        # Where the larger class outweighs the other, w = 0 may be optimal for every λ and z.
        return f"{_BALANCED}, which counts both classes alike, or tune={_tunable(program)}"
    if penalty := getattr(program, "penalty", 0.0):
        return f"λ = {penalty:g} is too large: try formulation.penalty={penalty / 100:g}, or tune=penalty"
    if weight := getattr(getattr(program, "regulariser", None), "weight", 0.0):
        return f"λ = {weight:g} is too large: try formulation.regulariser.weight={weight / 100:g}"
    if threshold := getattr(program, "threshold", 0.0):
        return f"z = {threshold:g} is too far from 0: try formulation.threshold={threshold / 10:g}, or tune=threshold"
    if not fold.solution.has_objective or program.name == _OTHER:
        return "check that the target is right"
    return f"w = 0 is the optimum of {program.name} on these rows, others may rank them: try formulation={_OTHER}"


def _is_outweighed(fold: Fold) -> bool:
    """Whether a class may outweigh the other: the loss is over points, and the classes have no weights."""
    of_points = fold.solution.has_objective and fold.solution.formulation.comparisons.name == "points"
    return of_points and getattr(fold.model[-1], "class_weight", None) is None


def _tunable(program: Any) -> str:
    """The parameter that could be chosen on inner folds."""
    return "penalty" if getattr(program, "penalty", 0.0) else "threshold"


def _solved(result: Result) -> Text:
    formulation, tuning = result.formulation, result.folds[0].tuning
    text = Text.assemble((formulation.name, "bold"), "  ", _equation(result))
    if tuning is None:
        return text
    if len(result.folds) > 1:  # the equation is that of the configuration
        return Text.assemble((formulation.name, "bold"), f"  with {tuning.symbol} chosen in every split by itself")
    return text.append(f"  {tuning.choice}, chosen by {tuning.metric} on inner folds")


def _untuned(result: Result) -> Text | None:
    """That λ or z is a number that nothing in the data has chosen; None where there is none, or it is 0."""
    fold, formulation = result.folds[0], result.formulation
    for parameter, symbol in SYMBOLS.items():
        if fold.tuning is not None or not (value := getattr(formulation, parameter, 0)):
            continue
        is_default = value == getattr(type(formulation), parameter, None)
        text = Text(f"{symbol} = {value:g}", "yellow" if is_default else "")  # typed or not, it is that number
        if fold.in_blocks is not None:  # rows in blocks are not split into inner folds
            return text
        choice = parameter if fold.solution.has_objective else "auto"
        choice = choice if fold.solution.on_landmarks is None else "kernel"
        also = "γ and it" if choice == "kernel" else "it"
        return text.append(f"; tune={choice} chooses {also} on inner folds", "default")
    return None


def _equation(result: Result) -> str:
    """That of the configuration; with a kernel that of functions h."""
    return result.folds[0].solution.in_words(result.formulation.equation())


def _optimal(result: Result) -> Text:
    """Yes with the proof's gap, or how the solver ended."""
    solutions = [fold.solution for fold in result.folds]
    largest = max(solution.gap for solution in solutions)
    if reason := solutions[0].not_verified(largest):
        return Text(f"not verified: {reason}")
    gap = f"gap {largest:.1e}"
    bad = [solution for solution in solutions if solution.status not in CONVERGED]
    several = len(solutions) > 1
    if bad:
        count = f"{len(solutions) - len(bad)} of {len(solutions)} splits are; " if several else ""
        return Text(f"no: {count}{bad[0].status}, {bad[0].status.advice}; {'largest ' if several else ''}{gap}", "red")
    proved = {solution.proved_for for solution in solutions}
    where = f"in every split{', ' + proved.pop() if len(proved) == 1 else ''}" if several else solutions[0].proved_for
    if result.folds[0].constraints is not None:
        where += " among the scorers that satisfy the constraints" if several else " that satisfies the constraints"
    return Text.assemble(("yes", "green"), f", proved {where}: {'largest ' if several else ''}{gap}")


def _new_rows(result: Result) -> Text:
    """The first two metrics of the held-out part with their intervals, or their spread over splits."""
    first = result.folds[0]
    if "test" not in first.parts:
        inner = result.folds[0].inner
        if inner is not None:
            return Text(f"none were held out; {inner.statement}")
        return Text("unknown: none were held out; split=holdout or split=kfold does")
    part, numbers = first.parts["test"], result.summary
    words = []
    for key in _shown(part.metrics):
        text = f"{_NAMES.get(key, key)} {numbers[f'test/{key}']:.4f}"
        if f"test/{key}_sd" in numbers:
            text += f" ± {numbers[f'test/{key}_sd']:.4f}"
        elif key in part.estimates and len(result.folds) == 1:
            estimate = part.estimates[key]
            text += f" ({estimate.level:.0%} interval {estimate.lower:.4f} to {estimate.upper:.4f})"
        words.append(text)
    count = f"{len(part.y_true)} held-out rows" if len(result.folds) == 1 else f"{len(result.folds)} splits"
    return Text.assemble((" · ".join(words), "bold"), f" on {count}")


def _shown(metrics: Collection[str]) -> list[str]:
    """The first metrics, shares where there are any."""
    shares = [key for key in metrics if key not in _IN_UNITS_OF_THE_SCORE]
    return (shares or list(metrics))[:N_SHOWN]


def _notes_on_intervals(result: Result) -> list[str]:
    """What is out of the ordinary about the intervals that are shown."""
    part = result.folds[0].parts.get("test")
    if part is None or len(result.folds) > 1:
        return []
    shown = [part.estimates[key] for key in _shown(part.metrics) if key in part.estimates]
    return list(dict.fromkeys(f"interval: {note}" for estimate in shown for note in estimate.notes))


def _guarantee(result: Result) -> Text | None:
    """The best bound of AUC, else of bAUC, that says anything."""
    lines = weakest([BoundLine.of(item) for fold in result.folds for item in fold.guarantees])
    if not lines:
        return None
    best = best_of(lines)
    if best is None:
        which = "the one bound excludes" if len(lines) == 1 else f"all {len(lines)} bounds exclude"
        return Text(f"none: {which} nothing with so few rows")
    several = "in every split, " if len(result.folds) > 1 else ""
    return Text(f"{best.statement} {several}with probability {result.confidence:g} ({best.name}, {best.sample} part)")


def _labels(result: Result) -> Text | None:
    """Where the scores of the kept model are cut, and how that was chosen; None where nothing was."""
    decisions = [fold.decision for fold in result.folds]
    if any(decision is UNDECIDED for decision in decisions):
        return None
    first = decisions[0]
    where = f"above {first.threshold:.6g}" if len(decisions) == 1 else "above a threshold of every split"
    words = f"{result.dataset.positive} for scores {where}: {rule_in_words(first.rule)}, on {first.source}"
    return Text(words + (" (decision.threshold)" if first.rule == "prior" else ""))


def _seconds(result: Result) -> Text:
    """All of the experiment, and what the solver took of it."""
    parts: dict[str, float] = {"solve": 0.0, "tuning": 0.0, "compile": 0.0}
    for fold in result.folds:
        times = fold.solution.timings
        parts["solve"] += times.build + times.load + times.solve
        parts["compile"] += times.compile
        parts["tuning"] += fold.tuning.seconds if fold.tuning else 0.0
    shown = ", ".join(f"{name} {value:.2f}" for name, value in parts.items() if value >= 0.005)
    rest = f": {shown}, the rest data, metrics, bounds and calibration" if shown else ""
    return Text(f"{result.seconds:.2f} from the data to the bounds, without start and storing{rest}")
