"""The figures of a stored run, drawn into the folders of its splits."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from auclab.comparison.coefficients import read_effects
from auclab.displays.coefficients import draw_coefficients
from auclab.displays.style import DPI
from auclab.files import replace_file
from auclab.pipeline.record.figures import draw_figures
from auclab.sizes import LINES


def draw_run(rows: pd.DataFrame) -> None:
    """ROC curve, ranking errors and scores of every split, from its stored scores, and its coefficients.

    `rows`: one run, as `read_run` gives it.
    """
    for folder, split in zip(map(Path, rows["fold_folder"]), rows["fold"], strict=True):
        draw_figures(folder, split=str(split))
        shown = read_effects([folder])[:LINES]
        if shown:  # coefficients in the units of the data
            figure = draw_coefficients(
                *([each.column for each in shown], [each.share for each in shown], [each.direction for each in shown])
            )
            with replace_file(folder / "coefficients.png") as draft:
                figure.savefig(draft, dpi=DPI)
