"""The table of `auclab compare` for the page with the runs behind every cell, and what runs have fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from auclab._core.base import AuclabError
from auclab._core.words import LINES, visible
from auclab.runs.compare.cells import arrange
from auclab.runs.compare.formats import caption, cell_text, sentences, summary
from auclab.runs.compare.run_screen import read_effects
from auclab.runs.compare.runs import open_reader, readable
from auclab.runs.compare.table import Table, compare_runs
from auclab.runs.report.figures import MOST_SOLVES, Drawn, draw_stages, draw_table
from auclab.runs.report.paths import configurations, named
from auclab.runs.stored.stored_files import described_kernels, read_card, read_kernel
from auclab.scorecards.render import as_html

#: Largest number of configurations that a section shows.
MOST_SCORERS = 40


def read_cards(store_dir: str | Path, runs: pd.DataFrame) -> list[dict[str, Any]]:
    """The data sets of some runs as they were read, by name; one card for each checksum."""
    with_data = runs[runs["data_sha256"].notna()].drop_duplicates("run_id")
    with readable(store_dir, "data sets"):
        client = open_reader(store_dir)
        blocks = (block for _, block in with_data.groupby("data_sha256", sort=False))
        cards = [_card(client.get_run(block["run_id"].iloc[-1]), block.iloc[-1], len(block)) for block in blocks]
    return sorted(cards, key=lambda card: str(card["name"]))


def _card(run: Any, first: pd.Series[Any], runs: int) -> dict[str, Any]:
    """The card of the data of a run. `runs`: number of runs that used the data.

    ``compared`` says what rows are ranked by, if not two classes.
    """
    try:
        dataset = run.inputs.dataset_inputs[0].dataset
        counts, source = json.loads(dataset.profile), json.loads(dataset.source)
        compared = visible(str(counts.get("compared", "")))
        rows, citation = int(counts["rows"]), first.get("dataset.citation")
        positive, negative = (0, rows) if compared else (int(counts["positive"]), int(counts["negative"]))
        if positive + negative < 1:
            raise ValueError("no observations")
        where, sha256 = (visible(str(source.get(key) or "")) for key in ("uri", "sha256"))
        about = {"name": visible(str(dataset.name)), "rows": rows, "features": int(counts["features"]), "runs": runs}
        about |= {"positive": positive, "negative": negative, "compared": compared, "source": where, "sha256": sha256}
        return about | {"citation": citation if isinstance(citation, str) else ""}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise AuclabError(
            f"the record of the data of run {first['run']} is damaged ({type(error).__name__}: {error}); leave the run "
            f"out (--filter \"attributes.run_id != '{first['run_id']}'\")"
        ) from error


#: Columns up to which all pairs are tested: the number of tests is quadratic.
MOST_COLUMNS = MOST_SCORERS


def compare_sheet(
    runs: pd.DataFrame, metric: str, numbers: Mapping[str, int], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """The comparison of finished runs in one metric, for the template; ``problem`` says why there is no table.

    `runs`: as `auclab.runs.read_runs` gives it. `metric`: a column of numbers, such as ``test/auc``. `numbers`:
    the number on the page of each ``run_id``. `notes`: on what the caller left out.
    """
    try:
        count = arrange(runs, metric=metric).values.shape[1]
        if count > MOST_COLUMNS:
            raise AuclabError(
                f"{count} configurations are too many to test each against each; choose fewer with --where, or "
                "one of them at a time with auclab compare --columns"
            )
        table = compare_runs(runs, metric=metric, notes=notes)
    except AuclabError as error:
        return {"metric": metric, "problem": str(error), "figures": ()}
    entries = [[_entry(table, row, column, numbers) for column in table.columns] for row in table.rows]
    keys, names, others = table.cells.rows, table.rows, table.columns
    if table.is_wide:
        entries, keys, names, others = [*zip(*entries, strict=True)], table.cells.columns, others, names
    return {
        "metric": metric,
        "problem": "",
        "caption": caption(table),
        "head": [", ".join(keys), *others],
        "lines": list(zip(names, entries, strict=True)),
        "summary": summary(table),
        "notes": sentences(table),
        "figures": draw_table(table),
    }


def _entry(table: Table, row: str, column: str, numbers: Mapping[str, int]) -> dict[str, Any]:
    """A cell: its text, its sort key, and the numbers of the runs in its mean."""
    cell, runs = table.cell(row, column), [numbers[run_id] for run_id in table.cells.runs_of(row, column)]
    text = cell_text(table, row, column)
    return {"text": text, "value": cell.mean, "level": cell.level, "best": cell.best, "runs": runs}


def scorer_effects(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """The columns of every configuration over its seeds and folds; those without coefficients are left out.

    `runs`: finished runs, as `auclab.runs.read_runs` gives them. Returns: ``name``, ``splits``, ``columns``
    (those with the largest shares), ``count`` (of all columns).
    """
    found: list[dict[str, Any]] = []
    for block, telling in configurations(runs):
        columns = read_effects([Path(folder) for folder in block["fold_folder"]])
        if columns and len(found) < MOST_SCORERS:
            about = {"name": named(block, telling), "splits": len(block), "count": len(columns)}
            found.append({**about, "columns": columns[:LINES]})
    return found


def run_cards(runs: pd.DataFrame) -> list[tuple[str, Markup]]:
    """Name and scorecard, with all text escaped, of the first splits of runs, the newest first."""
    found: list[tuple[str, Markup]] = []
    for row in runs.drop_duplicates("run_id").iloc[::-1].to_dict("records"):
        card = read_card(Path(row["fold_folder"]))
        if card is not None and len(found) < MOST_SCORERS:
            found.append((visible(str(row["run"])), Markup(as_html(card))))
    return found


def kernel_lines(runs: pd.DataFrame, numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    """A line per run with a kernel, the oldest first: that of every split, landmarks, and for what the bounds hold.

    `numbers`: of the runs on the page, by their ids. ``gap`` is the largest over the splits, ``most`` the largest
    number of landmarks, ``stages`` are those of the first split.
    """
    lines = []
    for run_id, block in runs.groupby("run_id", sort=False):
        found = [kernel for folder in block["fold_folder"] if (kernel := read_kernel(Path(folder))) is not None]
        if found:
            words, landmarks, space = described_kernels(found)
            line = {"number": numbers[str(run_id)], "name": visible(str(block["run"].iloc[0])), "kernel": words}
            line |= {"landmarks": landmarks, "space": space, "most": max(kernel.landmarks for kernel in found)}
            lines.append(line | {"gap": float(block["gap"].max()), "stages": found[0].stages})
    return lines


def draw_kernels(lines: Sequence[Mapping[str, Any]]) -> Drawn | None:
    """The stages of the first splits of the last runs; None where no run has several."""
    several = [line for line in lines if len(line["stages"]) > 1][-MOST_SOLVES:]
    return draw_stages([(line["name"], line["stages"]) for line in several]) if several else None
