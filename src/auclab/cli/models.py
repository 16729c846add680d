"""What makes and uses models: `auclab predict`, `auclab export`, and the best of `auclab compare` on all rows."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from auclab.comparison.models import find_model
from auclab.comparison.runs import GROUPS, fetch_files
from auclab.pipeline.config.settings import rule_in_words
from auclab.pipeline.screen.console import err, out, reading
from auclab.pipeline.screen.encoding import write_data
from auclab.pipeline.stored.visible import visible
from auclab.tracking import load_scorer
from auclab.tracking.address import Address
from auclab.types import AuclabError
from auclab.wording import few

if TYPE_CHECKING:
    import pandas as pd

    from auclab.comparison import Table


def predict(arguments: Namespace) -> int:
    """Score the rows of a file."""
    from auclab.pipeline.stored.new_rows import predict_file

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
    say = err if target is None else out
    model = f"{about.get('formulation', 'model')} · {about.get('dataset', '')} · {about.get('split', '')}"
    say.print(f"[cyan]model[/cyan]    {escape(visible(model))}", soft_wrap=True)
    if "label" in table:
        positive = int((table["label"] == scorer.labels[1]).sum())
        chosen = scorer.description["threshold"]
        rule = visible(f"{_in_words(chosen.get('rule'))}, on {chosen.get('chosen_on', '')}")
        say.print(
            f"[cyan]labels[/cyan]   {positive} of {len(table)} rows {escape(visible(scorer.labels[1]))}: score above "
            f"{scorer.threshold:.6g} ({escape(rule)})",
            soft_wrap=True,
        )
    calibration = scorer.description.get("probability")
    if "probability" in table and calibration is not None:
        method = visible(f"{calibration.get('method', '')}, on {calibration.get('calibrated_on', '')}")
        say.print(f"[cyan]probability[/cyan] of {escape(visible(scorer.labels[1]))}: {escape(method)}", soft_wrap=True)
    elif "probability" in table:
        reason = about.get("no_probability", "the scorer was not calibrated")
        say.print(f"[cyan]note[/cyan]     no probabilities: {escape(visible(str(reason)))}", soft_wrap=True)
    for note in found.notes:
        say.print(f"[cyan]note[/cyan]     {escape(visible(note))}", soft_wrap=True)
    if target is not None:
        say.print(f"[cyan]written[/cyan]  {escape(str(target))} ({len(table)} rows)", soft_wrap=True)
    return 0


def _in_words(rule: Any) -> str:
    """A threshold rule of a stored, untrusted model, as text."""
    try:
        return rule_in_words(rule)
    except (IndexError, TypeError, ValueError):
        return str(rule)


def export(arguments: Namespace) -> int:
    """Write a model in another language."""
    from auclab.export.writers import export_scorer

    with reading(arguments.store):
        folder = find_model(arguments.run, arguments.store, split=arguments.split, allow=arguments.allow)
    scorer = load_scorer(folder, allow=arguments.allow)
    content = export_scorer(scorer, arguments.to)
    if arguments.out is None and isinstance(content, str):
        write_data(content)
        return 0
    target = Path(arguments.out or f"scorer.{arguments.to}")
    if isinstance(content, bytes):
        target.write_bytes(content)
    else:
        target.write_text(content, encoding="utf-8")
    out.print(f"[cyan]written[/cyan]  {escape(str(target))} ({target.stat().st_size:,} bytes)", soft_wrap=True)
    return 0


def refit_best(table: Table, runs: pd.DataFrame, arguments: Namespace) -> None:
    """Fit the best configuration of the one row of a table to all rows, keep it as a run, and register its model.

    `runs`: the finished runs behind the table.
    """
    from auclab.pipeline.refit import refit, tracking_of
    from auclab.tracking.registry import check_name, register_model

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
