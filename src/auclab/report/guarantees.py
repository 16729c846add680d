"""Lower bounds and held-out values: a point per bound and split, a table row per bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from auclab.pipeline.stored.stored_files import damaged, read_json
from auclab.pipeline.stored.visible import visible


@dataclass(frozen=True)
class BoundPoint:
    """One bound of one split: its lower end, cut at 0, and the value on the held-out part, NaN without one."""

    name: str
    quantity: str
    sample: str
    lower: float
    test_value: float
    vacuous: bool


@dataclass(frozen=True)
class BoundLine:
    """One kind of bound over all splits. `below`: held-out values that lie at or above the lower end."""

    name: str
    quantity: str
    sample: str
    count: int
    lower: float
    test_value: float
    below: int
    vacuous: int


def read_bounds(folders: Iterable[Path]) -> list[BoundPoint]:
    """The bounds that runs have stored in ``bounds.json``."""
    found = []
    for folder in folders:
        content = read_json(folder, "bounds.json")
        if content is not None:
            with damaged(folder / "bounds.json"):
                found += [_bound_point(item) for item in content["bounds"]]
    return found


def _bound_point(item: dict[str, Any]) -> BoundPoint:
    bound = item["bound"]
    half = _number(bound["half_width"])
    lower = _number(bound["lower"]) if math.isnan(half) else _number(item["estimate"]) - half
    return BoundPoint(
        *(visible(str(item["name"])), visible(str(item["quantity"])), visible(str(item["sample"]))),
        lower=max(lower, 0.0),
        test_value=_number(item.get("test_value")),
        vacuous=bool(bound["vacuous"]),
    )


def bound_lines(bounds: Iterable[BoundPoint]) -> list[BoundLine]:
    """Means and counts per kind of bound, over the splits that have a held-out value.

    Examples
    --------
    >>> kind = "margin", "AUC", "train"
    >>> (line,) = bound_lines([BoundPoint(*kind, 0.5, 0.9, False), BoundPoint(*kind, 0.0, 0.7, True)])
    >>> line.count, line.lower, line.below, line.vacuous
    (2, 0.25, 2, 1)
    """
    kinds: dict[tuple[str, str, str], list[BoundPoint]] = {}
    for each in bounds:
        if not math.isnan(each.test_value):
            kinds.setdefault((each.name, each.quantity, each.sample), []).append(each)
    return [
        BoundLine(
            *kind,
            count=len(of_kind),
            lower=fmean(each.lower for each in of_kind),
            test_value=fmean(each.test_value for each in of_kind),
            below=sum(each.lower <= each.test_value for each in of_kind),
            vacuous=sum(each.vacuous for each in of_kind),
        )
        for kind, of_kind in kinds.items()
    ]


def _number(value: float | str | None) -> float:
    """A number of a JSON file, where unknown is null and infinity a string."""
    return math.nan if value is None else float(value)
