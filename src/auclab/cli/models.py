"""What makes and uses models: `auclab predict`, `evaluate`, `export`, and the best of `auclab compare` on all rows."""

from __future__ import annotations

import math
import shlex
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from auclab._core.base import AuclabError
from auclab._core.files import replace_file
from auclab._core.words import few, visible, write_data
from auclab.datasets.target import WORDS
from auclab.runs import load_scorer
from auclab.runs.compare.models import find_model
from auclab.runs.compare.runs import GROUPS, fetch_files
from auclab.runs.config.settings import rule_in_words
from auclab.runs.record.artifacts import write_json
from auclab.runs.screen.console import err, out, print_row, print_table, reading
from auclab.runs.stored.new_rows import METRICS, PARTS, Evaluation, Measured, evaluate_file
from auclab.runs.tracking.address import Address

if TYPE_CHECKING:
    import pandas as pd

    from auclab.runs import Table

#: Level of a confidence interval, unless another is wanted; one minus it is the level of a test.
CONFIDENCE = 0.95


def predict(arguments: Namespace) -> int:
    """Score the rows of a file."""
    from auclab.runs.stored.new_rows import predict_file

    target = Path(arguments.out) if arguments.out else None
    if target is not None and target.suffix not in (".csv", ".parquet"):
        raise AuclabError(f"--out {target}: the name has to end in .csv or .parquet")
    with reading(arguments.store):
        folder = find_model(arguments.run, arguments.store, split=arguments.split, allow=arguments.allow)
    scorer = load_scorer(folder, allow=arguments.allow)
    written = {"sep": arguments.sep, "decimal": arguments.decimal, "encoding": arguments.encoding}
    found = predict_file(scorer, arguments.rows, keep=arguments.id, output=arguments.only, written=written)
    if target is None:
        write_data(found.as_csv())
    else:
        found.write(target)
    about, table = scorer.description["about"], found.table
    # If the table goes to standard output, messages go to standard error.
    screen = err if target is None else out

    def say(word: str, text: str) -> None:
        screen.print(f"[cyan]{word:<8}[/cyan] {escape(visible(text))}", soft_wrap=True)

    say("model", f"{about.get('formulation', 'model')} · {about.get('dataset', '')} · {about.get('split', '')}")
    if "label" in table:
        positive = int((table["label"] == scorer.labels[1]).sum())
        chosen = scorer.description["threshold"]
        rule = f"{_in_words(chosen.get('rule'))}, on {chosen.get('chosen_on', '')}"
        called = f"{positive} of {len(table)} rows {scorer.labels[1]}"
        say("labels", f"{called}: score above {scorer.threshold:.6g} ({rule})")
    calibration = scorer.description.get("probability")
    if "probability" in table and calibration is not None:
        method = f"{calibration.get('method', '')}, on {calibration.get('calibrated_on', '')}"
        say("probability", f"of {scorer.labels[1]}: {method}")
    elif "probability" in table:
        say("note", f"no probabilities: {about.get('no_probability', 'the scorer was not calibrated')}")
    for note in found.notes:
        say("note", note)
    if target is not None:
        say("written", f"{target} ({len(table)} rows)")
    return 0


def _in_words(rule: Any) -> str:
    """A threshold rule of a stored, untrusted model, as text."""
    try:
        return rule_in_words(rule)
    except (IndexError, TypeError, ValueError):
        return str(rule)


def export(arguments: Namespace) -> int:
    """Write a model in another language, or the program that it solves."""
    if arguments.to not in ("json", "sql", "onnx"):
        return _export_program(arguments)
    from auclab.export.writers import export_scorer

    with reading(arguments.store):
        folder = find_model(arguments.run, arguments.store, split=arguments.split, allow=arguments.allow)
    scorer = load_scorer(folder, allow=arguments.allow)
    content = export_scorer(scorer, arguments.to)
    if arguments.out is None and isinstance(content, str):
        write_data(content)
        return 0
    target = Path(arguments.out or f"scorer.{arguments.to}")
    target.write_bytes(content if isinstance(content, bytes) else content.encode())
    out.print(f"[cyan]written[/cyan]  {escape(str(target))} ({target.stat().st_size:,} bytes)", soft_wrap=True)
    return 0


def _export_program(arguments: Namespace) -> int:
    """Write the program of a run on its prepared rows."""
    from auclab.runs.programs import LANGUAGES, stored_program, write_program

    ending = LANGUAGES[arguments.to]
    target = Path(arguments.out or f"program{ending}")
    if target.suffix != ending:
        raise AuclabError(f"--out {target}: the name has to end in {ending}")
    with reading(arguments.store):
        program = stored_program(arguments.run, arguments.store, split=arguments.split, allow=arguments.allow)
    for path in write_program(program, arguments.to, target):
        _row("written", f"{path} ({path.stat().st_size:,} bytes)")
    _row("objective", f"{program.objective:.12g} of the run")
    return 0


def refit_best(table: Table, runs: pd.DataFrame, arguments: Namespace) -> None:
    """Fit the best configuration of the one row of a table to all rows, keep it as a run, and register its model.

    `runs`: the finished runs behind the table.
    """
    from auclab.runs.experiment import refit, tracking_of
    from auclab.runs.tracking.store import check_name, register_model

    if len(table.rows) > 1:
        raise AuclabError(
            f"--refit fits one model, and the table has {len(table.rows)} rows ({few(table.rows)}): choose one of them "
            f"with --where {table.cells.rows[0]}=…"
        )
    if arguments.register is not None:
        check_name(arguments.register)
    (row,) = table.rows
    best = runs[runs["run_id"].isin(table.cells.runs_of(row, table.ordered(row)[0]))].tail(1)
    fetch_files(best, arguments.store, allow=arguments.allow)
    newest = best.iloc[0]
    command = newest.get("tag.command")
    _, record = refit(
        Path(newest["folder"]),
        tracking_of(str(newest.get("tracking.experiment") or "auclab"), arguments.store),
        choices={group: newest[group] for group in GROUPS if isinstance(newest.get(group), str)},
        command=command if isinstance(command, str) else "",
        allow=arguments.allow,
    )
    out.print(f"run      {record.name}  {record.run_id}", soft_wrap=True, markup=False)
    model = str(record.run_id)[:8]
    if arguments.register:
        version = register_model(Address.parse(arguments.store), str(record.run_id), arguments.register)
        model = f"models:/{arguments.register}/{version}"
        out.print(f"model    {model}", soft_wrap=True, markup=False)
    store = "" if arguments.store == "mlruns" else f" --store {shlex.quote(arguments.store)}"
    out.print(f"use it   auclab predict {model} ROWS.csv --out scores.csv{store}", soft_wrap=True, markup=False)


def evaluate(arguments: Namespace) -> int:
    """Evaluate, print, and write the requested file."""
    if len(arguments.runs) > 2:
        raise AuclabError(f"{len(arguments.runs)} models are given; evaluate measures one, or compares two")
    if arguments.out is not None and Path(arguments.out).suffix != ".json":
        raise AuclabError(f"--out {arguments.out}: the name has to end in .json")
    if not 0 < arguments.level < 1:
        raise AuclabError(f"--level {arguments.level}: a confidence level lies between 0 and 1")
    with reading(arguments.store):
        folders = [
            find_model(name, arguments.store, split=arguments.split, allow=arguments.allow) for name in arguments.runs
        ]
    scorers = [load_scorer(folder, allow=arguments.allow) for folder in folders]
    found = evaluate_file(
        scorers,
        arguments.rows,
        target=arguments.target,
        positive=arguments.positive or None,
        metrics=arguments.metric or METRICS,
        level=arguments.level,
        written={"sep": arguments.sep, "decimal": arguments.decimal, "encoding": arguments.encoding},
    )
    total = found.n_pos + found.n_neg
    share = found.n_pos / total
    classes = found.census or f"{found.n_pos:,} positive ({found.positive}, {share:.1%}), {found.n_neg:,} negative"
    _row("rows", f"{total:,} of {arguments.rows}: {classes}")
    for note in found.notes:
        _row("note", note)
    names = arguments.runs if len(arguments.runs) > 1 else [""]
    for name, model in zip(names, found.models, strict=True):
        _show_model(name, model, found, arguments.level)
    if found.comparisons:
        _show_comparisons(found, arguments.runs, arguments.level)
    if arguments.out is not None:
        with replace_file(Path(arguments.out)) as draft:
            write_json(draft, _plain(found, arguments))
        _row("written", arguments.out)
    return 0


def _show_model(name: str, model: Measured, found: Evaluation, level: float) -> None:
    out.print()
    words = _words(model.estimates, found)
    _row("model", f"{name + ': ' if name else ''}{model.about}")
    for metric, each in model.estimates.items():
        limits = f"{level:.0%} interval {each.lower:.4f} to {each.upper:.4f}"
        _row(words[metric], f"{each.value:.4f} ({limits})" + "".join(f"; {note}" for note in each.notes))
    if found.census:
        _show_drift(model)
        return
    precision = f", {model.found / model.labelled:.1%} of them rightly" if model.labelled else ""
    recall = model.found / found.n_pos
    _row(
        "labels",
        f"{model.labelled:,} rows called {found.positive}{precision}; {recall:.1%} of the {found.n_pos:,} are found",
    )
    _show_calibration(model, level)
    _show_drift(model)


def _show_calibration(model: Measured, level: float) -> None:
    check = model.calibration
    if check is None:
        setting = "decision.probability=sigmoid"
        way = "" if setting in model.no_probability else f"; {setting} makes a run with them"
        _row("calibrated", f"no probabilities: {model.no_probability}{way}")
        return
    low, high = check.interval
    _row(
        "calibrated",
        f"mean probability {check.expected:.4f}, share of positives {check.observed:.4f} ({level:.0%} interval "
        f"{low:.4f} to {high:.4f}); Brier score {check.brier:.4f}",
    )
    if math.isfinite(check.p_value):
        verdict = (
            "the probabilities are wrong"
            if check.p_value < 1 - CONFIDENCE
            else "nothing speaks against the probabilities"
        )
        _row("", f"{verdict} (Spiegelhalter's test, p = {check.p_value:.2g})")
    if math.isfinite(check.slope):
        _row(
            "",
            f"logit slope {check.slope:.2f} ± {check.slope_error:.2f} (1 is right, below 1 too extreme), intercept "
            f"{check.intercept:.2f} ± {check.intercept_error:.2f} (0 is right)",
        )


def _show_drift(model: Measured) -> None:
    if not model.drift:
        _row("drift", "unknown: the run kept no scores of its own to compare with")
        return
    for name, each in model.drift.items():
        verdict = "the scores are distributed differently" if each.p_value < 1 - CONFIDENCE else "no drift is seen"
        seen = ", which the model was fitted to" if name == "train" else ""
        test = f"distance {each.statistic:.3f}, p = {each.p_value:.2g} (Kolmogorov and Smirnov)"
        _row("drift", f"from the {each.n_reference:,} rows of the {PARTS[name]}{seen}: {test}; {verdict}")
    name, each = next(iter(model.drift.items()))
    lines = [
        [f"{level:g}", f"{before:.4g}", f"{after:.4g}", f"{after - before:+.4g}", f"{position:.2f}"]
        for level, before, after, position in zip(each.levels, each.reference, each.new, each.positions, strict=True)
    ]
    head = ["quantile of the score", PARTS[name], "new rows", "shift", "level it had"]
    print_table(head, lines, left=())


def _show_comparisons(found: Evaluation, names: list[str], level: float) -> None:
    out.print()
    words = _words(found.comparisons, found)
    _row("compared", f"{names[0]} less {names[1]}, on the same {found.n_pos + found.n_neg:,} rows")
    for metric, each in found.comparisons.items():
        low, high = each.interval
        verdict = "different" if each.p_value < 1 - level else "no difference is seen"
        _row(
            words[metric],
            f"{each.difference:+.4f} ({level:.0%} interval {low:+.4f} to {high:+.4f}), p = {each.p_value:.2g}: "
            + "; ".join([verdict, *each.notes]),
        )


def _row(word: str, text: str) -> None:
    print_row(word, visible(text), 12)


def _words(metrics: Iterable[str], found: Evaluation) -> dict[str, str]:
    """What metrics are called on the screen."""
    return {metric: WORDS[metric] if found.census else metric for metric in metrics}


def _plain(found: Evaluation, arguments: Namespace) -> dict[str, Any]:
    """Every number, for a file; unknown ones are null."""
    models = [
        {
            "model": name,
            "about": model.about,
            "metrics": {metric: asdict(each) for metric, each in model.estimates.items()},
            "labels": {"positive": model.labelled, "rightly": model.found},
            "calibration": None if model.calibration is None else asdict(model.calibration),
            "drift": {part: asdict(each) for part, each in model.drift.items()},
        }
        for name, model in zip(arguments.runs, found.models, strict=True)
    ]
    comparisons = {metric: asdict(each) for metric, each in found.comparisons.items()}
    head = {"rows": str(arguments.rows), "positive": found.positive, "n_pos": found.n_pos, "n_neg": found.n_neg}
    return {**head, "models": models, "comparisons": comparisons, "notes": list(found.notes)}
