"""What runs have fitted: contributions of columns, scorecards, scorers of kernel spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from auclab.comparison.cells import DATA, METHOD, label, settings_of, telling_settings
from auclab.comparison.coefficients import ColumnEffect, read_effects
from auclab.pipeline.stored.stored_files import StoredKernel, described_kernels, read_card, read_kernel
from auclab.pipeline.stored.visible import visible
from auclab.report.figures import MOST_SOLVES, Drawn, draw_stages
from auclab.scorecards.render import as_html
from auclab.sizes import LINES

#: Largest number of configurations that a section shows.
MOST_SCORERS = 40


@dataclass(frozen=True)
class ScorerEffects:
    """A configuration: its name, its columns with the largest shares over seeds and folds, and their number."""

    name: str
    splits: int
    columns: tuple[ColumnEffect, ...]
    count: int


def scorer_effects(runs: pd.DataFrame) -> list[ScorerEffects]:
    """The columns of every configuration over its seeds and folds; those without coefficients are left out.

    `runs`: finished runs, as `auclab.comparison.read_runs` gives them.
    """
    fixed = [name for name in settings_of(runs, (*DATA, *METHOD)) if runs[name].notna().any()]
    telling = telling_settings(runs, fixed)
    found = []
    for _, block in runs.groupby(fixed, dropna=False, sort=False):
        columns = read_effects([Path(folder) for folder in block["fold_folder"]])
        if columns:
            name = label(telling, [block.iloc[0][key] for key in telling])
            found.append(ScorerEffects(name, len(block), tuple(columns[:LINES]), len(columns)))
        if len(found) == MOST_SCORERS:
            break
    return found


def run_cards(runs: pd.DataFrame) -> list[tuple[str, Markup]]:
    """Name and scorecard, with all text escaped, of the first splits of runs, the newest first."""
    found: list[tuple[str, Markup]] = []
    for row in runs.drop_duplicates("run_id").iloc[::-1].to_dict("records"):
        card = read_card(Path(row["fold_folder"]))
        if card is not None and len(found) < MOST_SCORERS:
            found.append((visible(str(row["run"])), Markup(as_html(card))))
    return found


@dataclass(frozen=True)
class KernelLine:
    """A run: the kernel of every split, the number of their landmarks, the scorers for which the bounds hold.

    `gap` is the largest over the splits, `most` the largest number of landmarks.
    """

    number: int
    name: str
    kernel: str
    landmarks: str
    space: str
    most: int
    gap: float
    first: StoredKernel


def kernel_lines(runs: pd.DataFrame, numbers: dict[str, int]) -> list[KernelLine]:
    """A line per run with a kernel, the oldest first.

    `numbers`: of the runs on the page, by their ids.
    """
    lines = []
    for run_id, block in runs.groupby("run_id", sort=False):
        found = [kernel for folder in block["fold_folder"] if (kernel := read_kernel(Path(folder))) is not None]
        if found:
            name, gap = visible(str(block["run"].iloc[0])), float(block["gap"].max())
            most = max(kernel.landmarks for kernel in found)
            lines.append(KernelLine(numbers[str(run_id)], name, *described_kernels(found), most, gap, found[0]))
    return lines


def draw_kernels(lines: Sequence[KernelLine]) -> Drawn | None:
    """The stages of the first splits of the last runs; None where no run has several."""
    several = [line for line in lines if len(line.first.stages) > 1][-MOST_SOLVES:]
    return draw_stages([(line.name, line.first.stages) for line in several]) if several else None
