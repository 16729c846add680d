"""What runs have fitted: contributions of columns, scorecards, scorers of kernel spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from auclab._core.words import LINES, visible
from auclab.runs.compare.coefficients import read_effects
from auclab.runs.report.figures import MOST_SOLVES, Drawn, draw_stages
from auclab.runs.report.paths import configurations, named
from auclab.runs.stored.stored_files import described_kernels, read_card, read_kernel
from auclab.scorecards.render import as_html

#: Largest number of configurations that a section shows.
MOST_SCORERS = 40


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
