"""The first lines of a finished experiment: the model, its test AUC, whether it is optimal, and warnings."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rich.text import Text

from auclab.datasets.target import METRIC_NAMES, WORDS
from auclab.pipeline.split.results import Fold, Result
from auclab.pipeline.split.tuning import SYMBOLS
from auclab.sizes import LINES
from auclab.types import CONVERGED
from auclab.wording import few

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
    if columns := _used_columns(result):
        rows.append(("columns", Text(columns)))
    return rows + [("warning", Text(text, "yellow")) for text in warnings(result)]


def warnings(result: Result) -> list[str]:
    """Warn of a result that is useless although the solver succeeded: every row has the same score."""
    constant = [fold for fold in result.folds if fold.is_constant]
    if not constant:
        return []
    share = "" if len(result.folds) == 1 else f" in {len(constant)} of {len(result.folds)} splits"
    name = WORDS[METRIC_NAMES[result.dataset.target.kind]["auc"]]
    return [
        f"the scorer is constant{share} (w = 0): it ranks nothing, and its {name} is 0.5; {_what_to_try(constant[0])}"
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
        values = f"{SYMBOLS[tuning.parameter]} from {low:g} to {high:g}"
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
    if reason := solutions[0].not_verified(largest):
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
