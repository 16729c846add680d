"""A card per data set, from the inputs that MLflow records for each run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from auclab.comparison.runs import open_reader, readable
from auclab.pipeline.stored.visible import visible
from auclab.types import AuclabError


@dataclass(frozen=True)
class Card:
    """A data set as it was read; `sha256`: checksum of the file or of the generated numbers, `runs`: number of runs.

    `compared`: what rows are ranked by, if not two classes.
    """

    name: str
    rows: int
    features: int
    positive: int
    negative: int
    source: str
    sha256: str
    citation: str
    runs: int
    compared: str = ""


def read_cards(store_dir: str | Path, runs: pd.DataFrame) -> list[Card]:
    """Cards of the data sets of some runs, by name; one card for each checksum."""
    with_data = runs[runs["data_sha256"].notna()].drop_duplicates("run_id")
    with readable(store_dir, "data sets"):
        client = open_reader(store_dir)
        blocks = (block for _, block in with_data.groupby("data_sha256", sort=False))
        cards = [_card(client.get_run(block["run_id"].iloc[-1]), block.iloc[-1], len(block)) for block in blocks]
    return sorted(cards, key=lambda card: card.name)


def _card(run: Any, first: pd.Series[Any], runs: int) -> Card:
    """The card of the data of a run; `runs`: number of runs that used the data."""
    try:
        dataset = run.inputs.dataset_inputs[0].dataset
        counts, source = json.loads(dataset.profile), json.loads(dataset.source)
        compared = visible(str(counts.get("compared", "")))
        rows, citation = int(counts["rows"]), first.get("dataset.citation")
        positive, negative = (0, rows) if compared else (int(counts["positive"]), int(counts["negative"]))
        if positive + negative < 1:
            raise ValueError("no observations")
        where, sha256 = (visible(str(source.get(key) or "")) for key in ("uri", "sha256"))
        about = citation if isinstance(citation, str) else ""
        counted = (rows, int(counts["features"]), positive, negative)
        return Card(visible(str(dataset.name)), *counted, where, sha256, about, runs, compared)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise AuclabError(
            f"the record of the data of run {first['run']} is damaged ({type(error).__name__}: {error}); leave the run "
            f"out (--filter \"attributes.run_id != '{first['run_id']}'\")"
        ) from error
