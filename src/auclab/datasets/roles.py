"""The columns of a table that are not features: target or time and event, the group of a row, what is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.labels import binarise, label_text, refuse_missing
from auclab.datasets.target import Target
from auclab.types import AuclabError, GroupWeights

if TYPE_CHECKING:
    import pandas as pd


class Ranked(NamedTuple):
    """What rows are ranked by, which rows of the table that is, and the labels of both classes."""

    target: Target
    kept: NDArray[np.bool_]
    positive: str
    negative: str


@dataclass(frozen=True)
class Roles:
    """Which column says what.

    `target`: labels, or grades; none where there are times. `group`: rows with one value of it are compared, and no
    others. `time`, `event`: times, and whether they are those of an event. `graded`: whether the target are grades,
    numbers of which a larger one is better. `drop`: columns to leave out. `group_weights`: what counts the same, every
    pair or every group.
    """

    target: str | None = None
    group: str | None = None
    time: str | None = None
    event: str | None = None
    graded: bool = False
    drop: tuple[str, ...] = ()
    group_weights: GroupWeights = "pairs"

    def __post_init__(self) -> None:
        if (self.time is None) != (self.event is None):
            given, missing = ("time", "event") if self.event is None else ("event", "time")
            raise AuclabError(
                f"dataset.{given} is given and dataset.{missing} is not; times that may be censored need both, such as "
                "dataset.time=days dataset.event=died"
            )
        if self.time is not None and (self.target is not None or self.graded):
            other = f"dataset.target={self.target}" if self.target is not None else "dataset.graded=true"
            raise AuclabError(f"dataset.time ranks rows by their times, and {other} by a target; leave out one of them")
        if self.group_weights not in ("pairs", "groups"):
            raise AuclabError(f"dataset.group_weights is {self.group_weights!r}; choose pairs or groups")
        if self.group_weights == "groups" and self.group is None:
            raise AuclabError(
                "dataset.group_weights=groups gives all groups equal weight, but there are none; add dataset.group=…"
            )
        columns = [name for name in self.named.values() if name is not None]
        if twice := [name for name in columns if columns.count(name) > 1]:
            keys = " and ".join(f"dataset.{key}" for key, name in self.named.items() if name == twice[0])
            raise AuclabError(f"column {twice[0]!r} is given as {keys}; a column has one role")

    @property
    def named(self) -> Mapping[str, str | None]:
        """The columns by the setting that names them."""
        return {"target": self.target, "group": self.group, "time": self.time, "event": self.event}

    @property
    def ranking(self) -> tuple[str, ...]:
        """The columns that rank rows: the target, or time and event."""
        return tuple(name for name in (self.target, self.time, self.event) if name is not None)

    @property
    def texts(self) -> tuple[str, ...]:
        """Those that are labels, and are read as text: all but times and grades."""
        numbers = (self.time, self.target if self.graded else None)
        return tuple(name for name in self.named.values() if name is not None and name not in numbers)

    @property
    def columns(self) -> tuple[str, ...]:
        """All that are not features."""
        return (*(name for name in self.named.values() if name is not None), *self.drop)

    def ranked(self, frame: pd.DataFrame, positive: Any, negative: Any) -> Ranked:
        """What the rows of a table are ranked by."""
        y: Any
        event = None
        kept, labels = np.ones(len(frame), dtype=np.bool_), ("", "")
        if self.event is not None:
            seen = binarise(frame[self.event], positive, negative)
            y, event = _numbers(frame[self.time], "time"), seen.y == 1
            y, kept, labels = y[seen.kept], seen.kept, (seen.positive, seen.negative)
        elif self.graded:
            if positive is not None or negative is not None:
                raise AuclabError("dataset.graded=true takes all grades as they are; leave out dataset.positive")
            y = _numbers(frame[self.target], "graded")
        else:
            sides = binarise(frame[self.target], positive, negative)
            y, kept, labels = sides.y, sides.kept, (sides.positive, sides.negative)
        groups = None if self.group is None else group_labels(frame[self.group])[kept]
        return Ranked(Target(y, groups, self.graded, event, weights=self.group_weights), kept, *labels)

    def aside(self, frame: pd.DataFrame, kept: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
        """The columns that are not features, as they are."""
        return {name: np.asarray(frame[name])[kept] for name in self.columns if name in frame}


def group_labels(column: pd.Series) -> NDArray[Any]:
    """The labels of groups as text; whole numbers have no decimal point."""
    refuse_missing(column, "group column")
    codes, values = column.factorize()
    return np.array([label_text(value) for value in values])[codes]


def _numbers(column: Any, role: str) -> NDArray[np.float64]:
    import pandas as pd

    refuse_missing(column, {"time": "time column", "graded": "target column"}[role])
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    if not np.isfinite(numbers).all():
        at = int(np.flatnonzero(~np.isfinite(numbers))[0])
        what = "a time is a number, such as days" if role == "time" else "a grade is a number, the better the larger"
        raise AuclabError(f"column {column.name!r} has {column.iloc[at]!r} in row {at + 1}; {what}")
    return numbers
