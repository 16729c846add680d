"""A scorecard, and the preprocessing that makes its items."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from auclab._core.base import Array, AuclabError
from auclab.datasets.columns import sort_columns
from auclab.datasets.labels import as_labels
from auclab.datasets.records import Dataset
from auclab.scorecards.items import Item, ItemEncoder
from auclab.scorecards.render import as_html, as_text

#: Level of a confidence interval, unless another is wanted; one minus it is the level of a test.
CONFIDENCE = 0.95


def items(
    dataset: Dataset,
    *,
    binning: str = "quantile",
    bins: int = 3,
    cut_points: Mapping[str, Sequence[float]] | None = None,
    least_share: float = 0.02,
    max_candidates: int | None = 12,
    dates: str | Sequence[str] | None = None,
    date_format: str | None = None,
) -> Pipeline:
    """An unfitted pipeline to zeros and ones.

    The parameters are those of `auclab.scorecards.ItemEncoder`; the default of `max_candidates` is 12. `dates` and
    `date_format`: see `auclab.datasets.columns.Encoding`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]})
    >>> toy = Dataset(name="toy", X=X, y=np.array([0, 0, 1, 1]))
    >>> items(toy, bins=2).fit_transform(X, toy.y).ravel().tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    if not hasattr(dataset.X, "iloc"):
        raise AuclabError("preprocess=items needs a table in memory: sparse data and blocks have no bins")
    if dataset.text:
        raise AuclabError("preprocess=items has no items for words; leave out dataset.text")
    given = None if cut_points is None else {str(name): list(points) for name, points in cut_points.items()}
    encoder = ItemEncoder(binning, bins, given, list(dataset.nominal), least_share, max_candidates)
    if dates is not None:
        parts = list(as_labels(dates))
        formats = dict(sort_columns(dataset, dates=parts, date_format=date_format).dates)
        encoder.set_params(dates=formats, date_parts=parts)
    return Pipeline([("items", encoder)])


#: Version of the layout of ``card.json``.
CARD_FORMAT = "auclab-card-1"
#: Largest number of rows of the table of totals; neighbours with few observations are joined.
MOST_TOTALS = 12


@dataclass(frozen=True)
class CardItem:
    """A line of the card: an item and its points.

    See Also
    --------
    auclab.scorecards.Card : The card it is a line of.

    Examples
    --------
    >>> from auclab.scorecards.items import Item
    >>> line = CardItem(Item(0, "age", low=40.0), points=2)
    >>> line.item.name, line.points
    ('age', 2)
    """

    item: Item
    points: int


@dataclass(frozen=True)
class Total:
    """Totals from `low` to `high`: of `count` training rows with such a total, `positives` were positive.

    `share` is positives / count, `lower` and `upper` are the ends of its 95 % interval (Wilson 1927). Integer weights
    count as repetitions; other weights are rescaled to add up to the number of rows, and rounded.

    See Also
    --------
    auclab.scorecards.Card : The card that it belongs to.

    Examples
    --------
    >>> Total(low=2, high=3, count=20, positives=5, share=0.25, lower=0.11, upper=0.47).label
    '2 to 3'
    """

    low: int
    high: int
    count: int
    positives: int
    share: float
    lower: float
    upper: float

    @property
    def label(self) -> str:
        """The totals: one number, or a range."""
        return f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"


@dataclass(frozen=True)
class Card:
    """A scorecard that can be printed.

    Attributes
    ----------
    items : tuple of CardItem
        Those with points, feature by feature.
    totals : tuple of Total
        Ascending; the lowest begins at the lowest total that is possible, the highest ends at the highest.
    classes : (str, str)
        The negative and the positive class; more points favour the positive class.
    threshold : int or None
        Lowest total for which the positive class is predicted; None if there is none.
    objective, lower_bound, gap : float
        The certificate: no card of these items, points and margins has a smaller value than `lower_bound`.
    status, seconds, margin
        Status and seconds of the solve, and the margin γ of the value.

    See Also
    --------
    auclab.formulations.Scorecard : The formulation that finds one.
    auclab.estimators.ScorecardClassifier : The same for scikit-learn.

    Examples
    --------
    >>> from auclab.scorecards.items import Item
    >>> total = Total(low=0, high=2, count=20, positives=5, share=0.25, lower=0.11, upper=0.47)
    >>> card = Card((CardItem(Item(0, "age", low=40.0), 2),), (total,), ("no", "yes"), threshold=2)
    >>> card.n_items, card.range, card.positive
    (1, (0, 2), 'yes')
    """

    items: tuple[CardItem, ...]
    totals: tuple[Total, ...]
    classes: tuple[str, str] = ("0", "1")
    threshold: int | None = None
    objective: float = math.nan
    lower_bound: float = math.nan
    gap: float = math.nan
    status: str = ""
    seconds: float = math.nan
    margin: int = 1
    about: dict[str, Any] = field(default_factory=dict)
    level: ClassVar[float] = CONFIDENCE

    @classmethod
    def of(
        cls,
        items: Sequence[Item],
        points: Array,
        matrix: Array,
        positive: NDArray[np.bool_],
        weight: Array | None = None,
        **facts: Any,
    ) -> Card:
        """The card of points, with the shares of a training part.

        Parameters
        ----------
        items : sequence of Item, length n_items
        points : array of shape (n_items,)
            Whole numbers.
        matrix : array of shape (n_samples, n_items)
            Zeros and ones.
        positive : array of bool, shape (n_samples,)
        weight : array of shape (n_samples,), optional
            Counts of the rows.
        **facts
            The other attributes.
        """
        whole = np.rint(points).astype(int)
        used = [CardItem(item, int(point)) for item, point in zip(items, whole, strict=True) if point]
        scores = np.rint(matrix @ whole).astype(int)
        return cls(tuple(used), meanings(scores, positive, possible_range(used), weight), **facts)

    @property
    def negative(self) -> str:
        """The negative class."""
        return self.classes[0]

    @property
    def positive(self) -> str:
        """The positive class."""
        return self.classes[1]

    @property
    def n_items(self) -> int:
        """Number of items with points."""
        return len(self.items)

    @property
    def range(self) -> tuple[int, int]:
        """The lowest and the highest total that is possible."""
        return possible_range(self.items)

    def probability(self, totals: Any) -> Array:
        """The share of positives at each total, non-decreasing and shrunk towards ½ where there were few rows.

        ``(positives + 1) / (count + 2)`` of the lines of the table; neighbours with decreasing shares are pooled.
        Totals beyond the table take the value at its end.
        """
        at = np.searchsorted([total.low for total in self.totals], np.asarray(totals), side="right") - 1
        return rising_shares(self.totals)[np.clip(at, 0, len(self.totals) - 1)]

    def to_dict(self) -> dict[str, Any]:
        """The contents of ``card.json`` (docs/scorecards.md)."""
        items = [asdict(each.item) | {"label": each.item.label, "points": each.points} for each in self.items]
        certificate = {name: _finite(getattr(self, name)) for name in ("objective", "lower_bound", "gap", "seconds")}
        return {
            "format": CARD_FORMAT,
            "classes": {"positive": self.positive, "negative": self.negative},
            "items": items,
            "range": list(self.range),
            "threshold": self.threshold,
            "totals": [asdict(total) for total in self.totals],
            "certificate": certificate | {"status": self.status, "margin": self.margin},
            "about": self.about,
        }

    def write_json(self, path: str | Path) -> None:
        """Write ``card.json``."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Card:
        """The card that `to_dict` wrote; its entries are converted to numbers, whoever wrote the file.

        Raises
        ------
        KeyError, TypeError, ValueError
            Contents that are not a card.
        """
        certificate = content["certificate"]
        facts = {name: _number_of(certificate[name]) for name in ("objective", "lower_bound", "gap", "seconds")}
        threshold = content["threshold"]
        return cls(
            tuple(CardItem(_item_of(each), int(each["points"])) for each in content["items"]),
            tuple(_total_of(each) for each in content["totals"]),
            (str(content["classes"]["negative"]), str(content["classes"]["positive"])),
            None if threshold is None else int(threshold),
            status=str(certificate["status"]),
            margin=int(certificate["margin"]),
            about=dict(content["about"]),
            **facts,
        )

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def possible_range(items: Sequence[CardItem]) -> tuple[int, int]:
    """The lowest and the highest total: of the bins and categories of one feature at most one is true.

    Examples
    --------
    >>> old, young = Item(0, "age", low=40.0), Item(0, "age", high=25.0)
    >>> possible_range([CardItem(old, 2), CardItem(young, 3), CardItem(Item(1, "debt", low=1.0), -1)])
    (-1, 3)
    """
    of_features: dict[tuple[int, str | None], list[int]] = {}
    for each in items:
        of_features.setdefault((each.item.feature, each.item.part), [0]).append(each.points)
    return sum(min(points) for points in of_features.values()), sum(max(points) for points in of_features.values())


def rising_shares(totals: Sequence[Total]) -> Array:
    """The smoothed share of each line, shape (n_totals,), with neighbours pooled until none is below the one before."""
    pools: list[tuple[float, int, int]] = []  # positives, count, lines
    for total in totals:
        pool = total.share * total.count if total.count else 0.0, total.count, 1  # not an integer with weights
        while pools and (pools[-1][0] + 1) * (pool[1] + 2) > (pool[0] + 1) * (pools[-1][1] + 2):
            before = pools.pop()
            pool = pool[0] + before[0], pool[1] + before[1], pool[2] + before[2]
        pools.append(pool)
    return np.concatenate([np.full(lines, (positives + 1) / (count + 2)) for positives, count, lines in pools])


def meanings(
    scores: NDArray[np.int_], positive: NDArray[np.bool_], ends: tuple[int, int], weight: Array | None = None
) -> tuple[Total, ...]:
    """Share of positives at each total, at most 12 lines; neighbours are joined so that each has observations."""
    counts = np.ones(scores.size) if weight is None else _rows_counted(weight)
    low, high = min(ends[0], int(scores.min())), max(ends[1], int(scores.max()))
    size = high - low + 1
    of_all = np.bincount(scores - low, weights=counts, minlength=size)
    of_positive = np.bincount(scores - low, weights=counts * positive, minlength=size)
    least = of_all.sum() / MOST_TOTALS if (of_all > 0).sum() > MOST_TOTALS else 0.0
    groups: list[list[int]] = []
    for at in range(size):
        if groups and of_all[groups[-1]].sum() <= 0.5 * least:
            groups[-1].append(at)
        else:
            groups.append([at])
    joined: list[list[int]] = []
    for group in groups:  # totals without any observation belong to those above, the highest to those below
        if joined and of_all[joined[-1]].sum() == 0:
            joined[-1] += group
        else:
            joined.append(group)
    if len(joined) > 1 and of_all[joined[-1]].sum() == 0:
        last = joined.pop()
        joined[-1] += last
    return tuple(_total(group, low, of_all[group].sum(), of_positive[group].sum()) for group in joined)


def _rows_counted(weight: Array) -> Array:
    """The count of each row: integer weights are repetitions; others are rescaled to add up to the number of rows."""
    if (weight == np.rint(weight)).all():
        return weight
    return np.asarray(weight * ((weight > 0).sum() / weight.sum()))


def _total(group: list[int], low: int, count: float, positives: float) -> Total:
    from scipy.stats import norm

    n, z = float(count), float(norm.ppf(0.5 + 0.5 * CONFIDENCE))
    share = positives / n if n else math.nan
    if n:
        center = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        ends = max(0.0, center - half), min(1.0, center + half)
    else:
        ends = 0.0, 1.0
    return Total(low + group[0], low + group[-1], round(n), round(positives), float(share), *ends)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _number_of(value: Any) -> float:
    return math.nan if value is None else float(value)


def _item_of(content: dict[str, Any]) -> Item:
    low, high = (None if content[end] is None else float(content[end]) for end in ("low", "high"))
    category = None if content["category"] is None else str(content["category"])
    part, latest = (None if content.get(name) is None else str(content[name]) for name in ("part", "latest"))
    missing = bool(content["missing"])
    return Item(int(content["feature"]), str(content["name"]), low, high, category, missing, part, latest)


def _total_of(content: dict[str, Any]) -> Total:
    whole = [int(content[name]) for name in ("low", "high", "count", "positives")]
    return Total(*whole, *(_number_of(content[name]) for name in ("share", "lower", "upper")))
