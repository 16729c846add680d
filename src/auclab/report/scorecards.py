"""Scorecards of runs, as HTML fragments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from auclab.pipeline.split.scorecards import CARD_FILE, stored_card
from auclab.pipeline.stored.stored_files import read_json
from auclab.pipeline.stored.visible import visible
from auclab.report.coefficients import MOST_SCORERS
from auclab.scorecards.render import as_html


@dataclass(frozen=True)
class RunCard:
    """The card of a run: its name and its tables, with all text escaped."""

    name: str
    page: Markup


def run_cards(runs: pd.DataFrame) -> list[RunCard]:
    """The cards of the first splits of runs, the newest first.

    `runs`: finished runs, as `auclab.comparison.read_runs` gives them.
    """
    found: list[RunCard] = []
    for row in runs.drop_duplicates("run_id").iloc[::-1].to_dict("records"):
        content = read_json(Path(row["fold_folder"]), CARD_FILE)
        if content is not None and len(found) < MOST_SCORERS:
            found.append(RunCard(visible(str(row["run"])), Markup(as_html(stored_card(content)))))
    return found
