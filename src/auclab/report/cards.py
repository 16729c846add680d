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
        cards = [_card_of(client, block.iloc[-1], len(block)) for block in blocks]
    return sorted(cards, key=lambda card: card.name)


def _card_of(client: Any, first: pd.Series[Any], runs: int) -> Card:
    """The card of the data of a run; `runs`: number of runs that used the data."""
    inputs = client.get_run(first["run_id"]).inputs
    try:
        return _card(inputs.dataset_inputs[0].dataset, first, runs)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise AuclabError(
            f"the record of the data of run {first['run']} is damaged ({type(error).__name__}: {error}); leave the run "
            f"out (--filter \"attributes.run_id != '{first['run_id']}'\")"
        ) from error


def _card(dataset: Any, first: pd.Series[Any], runs: int) -> Card:
    counts, source = json.loads(dataset.profile), json.loads(dataset.source)
    citation = first.get("dataset.citation")
    compared = visible(str(counts.get("compared", "")))
    rows, features = int(counts["rows"]), int(counts["features"])
    positive, negative = (0, rows) if compared else (int(counts["positive"]), int(counts["negative"]))
    if positive + negative < 1:
        raise ValueError("no observations")
    return Card(
        name=visible(str(dataset.name)),
        rows=rows,
        features=features,
        positive=positive,
        negative=negative,
        source=visible(str(source.get("uri") or "")),
        sha256=visible(str(source.get("sha256") or "")),
        citation=citation if isinstance(citation, str) else "",
        runs=runs,
        compared=compared,
    )
