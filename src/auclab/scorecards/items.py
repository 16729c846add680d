"""Items of scorecards: bins and categories as zeros and ones, parts of dates.

A numeric feature is cut into bins, and each bin is an item; of two bins only the upper one. Each category of a nominal
feature is an item. The year of a date and its age in years are cut into bins; its months and weekdays are categories.
Rare values, and values unknown when the card is used, belong to no item and have 0 points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_array, as_column, column_names
from auclab._core.validation import check_choice
from auclab._core.words import WEEKDAYS
from auclab.datasets.dates import SECONDS_A_YEAR, as_dates

if TYPE_CHECKING:
    import pandas as pd


def latest_of(dates: pd.Series) -> str:
    """The latest date of a training part, as ISO text; without any date 2000-01-01."""
    latest = dates.max()
    return "2000-01-01" if latest is None or latest != latest else str(latest.isoformat()).removesuffix("T00:00:00")


def part_of_dates(dates: pd.Series, part: str, latest: str | None) -> Any:
    """A part of each date: numbers, with NaN for gaps, or text, with None for gaps.

    `latest`: the date up to which ``age`` counts the years.

    Examples
    --------
    >>> import pandas as pd
    >>> dates = pd.Series(pd.to_datetime(["2024-05-01", None, "2023-12-24"]))
    >>> part_of_dates(dates, "year", None).tolist(), part_of_dates(dates, "weekday", None).tolist()
    ([2024.0, nan, 2023.0], ['Wed', None, 'Sun'])
    """
    import numpy as np
    import pandas as pd

    if part == "year":
        return dates.dt.year.to_numpy(dtype=float)
    if part == "age":
        since = (pd.Timestamp(str(latest)) - dates).dt.total_seconds()
        return (since / SECONDS_A_YEAR).to_numpy(dtype=float)
    numbers = dates.dt.month if part == "month" else dates.dt.day_of_week
    names = {number: str(number) for number in range(1, 13)} if part == "month" else dict(enumerate(WEEKDAYS))
    return np.array([names.get(number) for number in numbers.to_numpy(dtype=float)], dtype=object)


def title_of(name: str, part: str, latest: str | None) -> str:
    """The name of a part on a card.

    Examples
    --------
    >>> title_of("since", "month", None), title_of("since", "age", "2024-12-04")
    ('month of since', 'years from since to 2024-12-04')
    """
    return f"years from {name} to {latest}" if part == "age" else f"{part} of {name}"


#: How numeric features are cut.
BINNINGS = ("quantile", "tree")


@dataclass(frozen=True)
class Item:
    """A question about one feature: is it at least `low` and below `high`, is it `category`, is it missing.

    `feature` is the number of the column, and `name` its name; `low` and `high` are None where there is no end;
    `category` is None for numbers. `part`: year, month, weekday or age where the question is about that part of a date;
    `latest`: the date up to which an age counts.
    """

    feature: int
    name: str
    low: float | None = None
    high: float | None = None
    category: str | None = None
    missing: bool = False
    part: str | None = None
    latest: str | None = None

    @property
    def source(self) -> str:
        """The column, or the part of a date, as settings name it: ``since_year``."""
        return self.name if self.part is None else f"{self.name}_{self.part}"

    @property
    def title(self) -> str:
        """The column, or the part of a date, as a card names it: ``year of since``."""
        return self.name if self.part is None else title_of(self.name, self.part, self.latest)

    @property
    def answer(self) -> str:
        """The condition on the feature, as text.

        Examples
        --------
        >>> Item(0, "age", low=25.0, high=40.0).answer, Item(1, "city", category="Rome").answer
        ('25 to < 40', 'Rome')
        """
        if self.missing:
            return "missing"
        if self.category is not None:
            return self.category
        if self.low is None:
            return f"< {_number(self.high)}"
        return f"≥ {_number(self.low)}" if self.high is None else f"{_number(self.low)} to < {_number(self.high)}"

    @property
    def label(self) -> str:
        """Feature and answer in one: ``age ≥ 40``, ``city = Rome``."""
        sign = " = " if self.category is not None else " is " if self.missing else " "
        return f"{self.title}{sign}{self.answer}"

    def holds(self, column: Any) -> NDArray[np.bool_]:
        """The rows for which it is true; `column` has the values of the column, or of the part of its dates."""
        if self.category is not None or self.missing:
            texts = _texts(column)
            return np.array([text is None if self.missing else text == self.category for text in texts])
        values = np.asarray(column, dtype=float)
        with np.errstate(invalid="ignore"):  # comparisons with NaN are false
            above = values >= (-np.inf if self.low is None else self.low)
            below = values < (np.inf if self.high is None else self.high)
        return np.asarray(above & below & ~np.isnan(values))


class ItemEncoder(TransformerMixin, BaseEstimator):
    """Encode a table as zeros and ones, fitted on the training part only.

    Parameters
    ----------
    binning : {"quantile", "tree"}
        Numeric features are cut at quantiles, or where a tree of one feature with `bins` leaves cuts them.
    bins : int
        Bins of a numeric feature, ≥ 2; a feature with no more values than that has a bin for each.
    cut_points : mapping of str or int to sequence of float, optional
        The cut points of single features, in place of `binning`.
    nominal : sequence of str or int, optional
        Columns that are categories whatever their type is; columns of text, categories and booleans always are.
    least_share : float
        Items that hold for a smaller share of the training rows, or for more than 1 − `least_share`, are dropped; in
        [0, 0.5).
    max_candidates : int, optional
        Largest number of items to keep: those that boosted stumps of the training part use most. With fewer items a
        card is proved optimal sooner, among the cards of these items only.
    dates : mapping of str or int to str, optional
        Columns of dates, each with its format in text, such as ``%d.%m.%Y``; None if it is stored as dates.
    date_parts : sequence of {"year", "month", "weekday", "age"}
        What items of a date are about: its year and its age (years up to the latest date of the training part) are
        numbers, its month and weekday are categories.

    Attributes
    ----------
    items_ : list of Item
        In the order of the columns of the output.
    groups_ : array of int, shape (n_items,)
        Feature of each item.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "city": ["Rome", "Oslo", "Rome", "Bonn"]})
    >>> encoder = ItemEncoder(bins=2).fit(X)
    >>> encoder.get_feature_names_out().tolist()
    ['age ≥ 40', 'city = Bonn', 'city = Oslo', 'city = Rome']
    >>> encoder.transform(X).tolist()[0]
    [0.0, 0.0, 0.0, 1.0]

    See Also
    --------
    auclab.ScorecardClassifier : Assigns points to the items.
    """

    def __init__(
        self,
        binning: str = "quantile",
        bins: int = 3,
        cut_points: Mapping[Any, Sequence[float]] | None = None,
        nominal: Sequence[Any] | None = None,
        least_share: float = 0.02,
        max_candidates: int | None = None,
        dates: Mapping[Any, str | None] | None = None,
        date_parts: Sequence[str] = ("year", "month", "age"),
    ) -> None:
        self.binning = binning
        self.bins = bins
        self.cut_points = cut_points
        self.nominal = nominal
        self.least_share = least_share
        self.max_candidates = max_candidates
        self.dates = dates
        self.date_parts = date_parts

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> ItemEncoder:
        """Find the items of a training part; `y` is needed for trees and `max_candidates`.

        Weights > 0 count as repetitions.
        """
        self._check_choices(y)
        columns, names = self._columns(X, reset=True)
        dates = {self._place(name, names): written for name, written in (self.dates or {}).items()}
        self.formats_ = {names[at]: written for at, written in dates.items()}
        subjects = [each for at, name in enumerate(names) for each in self._subjects(at, name, columns[at])]
        sources = [each.source for each in subjects]
        cuts = {self._source(name, names, sources): points for name, points in (self.cut_points or {}).items()}
        nominal = {self._place(name, names) for name in self.nominal or ()}
        n_rows = len(columns[0])
        weight = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        share = weight / weight.sum()
        items: list[Item] = []
        for about in subjects:
            values = self._values(about, columns)
            found = (
                list(_categories(about, values))
                if about.feature in nominal or _is_text(values)
                else list(self._bins(about, np.asarray(values, dtype=float), y, weight, cuts.get(about.source)))
            )
            least = self.least_share
            kept = [item for item in found if least <= float(share @ item.holds(values)) <= 1 - least]
            new = [kept[-1]] if len(found) == 2 and len(kept) == 2 else kept
            items += [item for item in new if not item.missing or about.part in (None, self.date_parts[0])]
        if not items:
            raise AuclabError(
                f"no item is true for between {self.least_share:.0%} and {1 - self.least_share:.0%} of the training "
                "rows; set a lower least_share, or cut_points"
            )
        self.items_ = self._candidates(items, columns, y, weight)
        self.groups_ = np.array([item.feature for item in self.items_])
        return self

    def transform(self, X: Any) -> Array:
        """Zeros and ones, shape (n_samples, n_items)."""
        check_is_fitted(self)
        columns, _ = self._columns(X, reset=False)
        return self._matrix(self.items_, columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The label of each item."""
        check_is_fitted(self)
        return np.array([item.label for item in self.items_], dtype=object)

    def _check_choices(self, y: ArrayLike | None) -> None:
        check_choice("binning", self.binning, BINNINGS)
        if self.bins != int(self.bins) or self.bins < 2:
            raise AuclabError(f"bins must be a whole number of at least 2, got {self.bins}")
        if not 0 <= self.least_share < 0.5:
            raise AuclabError(f"least_share must be in [0, 0.5), got {self.least_share}")
        most = self.max_candidates
        if most is not None and (isinstance(most, bool) or most != int(most) or most < 1):
            raise AuclabError(f"max_candidates must be a whole number of at least 1 or None, got {most!r}")
        for name, points in (self.cut_points or {}).items():
            if not all(math.isfinite(point) for point in points):
                raise AuclabError(f"the cut_points of {name!r} are {list(points)}; they must be finite numbers")
        if y is None and (self.binning == "tree" or self.max_candidates is not None):
            raise AuclabError("binning=tree and max_candidates read the labels; pass y to fit")

    def _columns(self, X: Any, *, reset: bool) -> tuple[list[Any], list[str]]:
        """The columns of a table or array, and their names."""
        X = as_table(X)
        if hasattr(X, "iloc"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if X.shape[0] == 0:
                raise AuclabError("the table has no rows")
            return [X.iloc[:, at] for at in range(X.shape[1])], [str(name) for name in X.columns]
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        if X.dtype.kind == "O":
            try:
                X = X.astype(np.float64)
            except (TypeError, ValueError):  # mixed text and numbers: columns are examined one by one
                return [X[:, at] for at in range(X.shape[1])], [f"x{at}" for at in range(X.shape[1])]
        return [X[:, at] for at in range(X.shape[1])], [f"x{at}" for at in range(X.shape[1])]

    def _subjects(self, at: int, name: str, column: Any) -> Iterable[Item]:
        """What items of a column are about: the column, or the parts of its dates."""
        if name not in self.formats_:
            return [Item(at, name)]
        latest = latest_of(self._dates(name, column))
        return [Item(at, name, part=part, latest=latest if part == "age" else None) for part in self.date_parts]

    def _values(self, about: Item, columns: list[Any]) -> Any:
        """The values of a column, or of a part of its dates."""
        column = columns[about.feature]
        if about.part is None or about.missing:
            return column
        return part_of_dates(self._dates(about.name, column), about.part, about.latest)

    def _dates(self, name: str, column: Any) -> Any:
        import pandas as pd

        return as_dates(pd.Series(column, name=name), self.formats_[name])

    def _matrix(self, items: Sequence[Item], columns: list[Any]) -> Array:
        values: dict[tuple[int, str | None], Any] = {}
        for item in items:
            key = item.feature, None if item.missing else item.part
            if key not in values:
                values[key] = self._values(item, columns)
        held = [item.holds(values[item.feature, None if item.missing else item.part]) for item in items]
        return np.column_stack(held).astype(np.float64)

    def _source(self, name: Any, names: list[str], sources: list[str]) -> str:
        """The column or the part of a date that `cut_points` name."""
        source = names[int(name)] if isinstance(name, int | np.integer) and 0 <= name < len(names) else str(name)
        if source in self.formats_:
            parts = ", ".join(f"{source}_{part}" for part in self.date_parts)
            raise AuclabError(f"cut_points name the column of dates {source!r}; name a part of it: {parts}")
        if source not in sources:
            raise AuclabError(f"there is no column {name!r}; columns are {', '.join(sources[:10])}")
        return source

    def _place(self, name: Any, names: list[str]) -> int:
        if isinstance(name, int | np.integer) and 0 <= name < len(names):
            return int(name)
        if str(name) not in names:
            raise AuclabError(f"there is no column {name!r}; columns are {', '.join(names[:10])}")
        return names.index(str(name))

    def _bins(
        self, about: Item, values: Array, y: ArrayLike | None, weight: Array, given: Sequence[float] | None
    ) -> Iterable[Item]:
        is_known = np.isfinite(values)
        known = values[is_known]
        if given is not None:
            cuts = sorted({float(point) for point in given})
        else:
            cuts = self._cuts(known, None if y is None else np.asarray(y)[is_known], weight[is_known])
        ends = [None, *cuts, None]
        if cuts:
            for low, high in itertools.pairwise(ends):
                yield replace(about, low=low, high=high)
        if known.size < values.size:
            yield _gap(about)

    def _cuts(self, known: Array, y: Any, weight: Array) -> list[float]:
        """Cut points: between two values, at a round number if possible."""
        distinct = np.unique(known)
        if distinct.size < 2:
            return []
        if distinct.size <= self.bins:
            wanted = distinct[:-1]
        elif self.binning == "tree":
            from sklearn.tree import DecisionTreeClassifier

            least = max(self.least_share, 0.01)
            tree = DecisionTreeClassifier(max_leaf_nodes=self.bins, min_weight_fraction_leaf=least, random_state=0)
            tree.fit(known[:, None], y, sample_weight=weight)
            wanted = np.sort(tree.tree_.threshold[tree.tree_.feature >= 0])
        else:
            wanted = np.quantile(known, np.arange(1, self.bins) / self.bins, method="inverted_cdf", weights=weight)
        cuts = set()
        for value in wanted:
            above = int(np.searchsorted(distinct, value, side="right"))
            if 0 < above < distinct.size:
                cuts.add(_round_between(float(distinct[above - 1]), float(distinct[above])))
        return sorted(cuts)

    def _candidates(self, items: list[Item], columns: list[Any], y: Any, weight: Array) -> list[Item]:
        if self.max_candidates is None or len(items) <= self.max_candidates:
            return items
        from sklearn.ensemble import GradientBoostingClassifier

        matrix = self._matrix(items, columns)
        stumps = GradientBoostingClassifier(n_estimators=200, max_depth=1, random_state=0).fit(matrix, y, weight)
        kept = np.sort(np.argsort(-stumps.feature_importances_, kind="stable")[: self.max_candidates])
        return [items[at] for at in kept]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def as_table(X: Any) -> Any:
    """Rows of any library as a DataFrame of pandas where the columns have names, else as an array."""
    if sp.issparse(X):
        raise AuclabError(f"a scorecard does not take sparse rows, got {type(X).__name__}; give X.toarray()")
    if hasattr(X, "iloc"):
        return X
    names = column_names(X)
    if names is None:
        return as_array("X", X)
    import pandas as pd

    return pd.DataFrame({name: as_column(name, X[name]) for name in names})


def _categories(about: Item, column: Any) -> Iterable[Item]:
    texts = _texts(column)
    for text in sorted({text for text in texts if text is not None}):
        yield replace(about, category=text)
    if None in texts:
        yield _gap(about)


def _gap(about: Item) -> Item:
    """The item that a value is missing, the same for every part of a date."""
    return replace(about, missing=True, part=None, latest=None)


def _is_text(column: Any) -> bool:
    """Whether a column is not made of numbers."""
    kind = getattr(column.dtype, "kind", "O")
    return kind not in "iuf"


def _texts(column: Any) -> list[str | None]:
    """Values as text, whole numbers without a decimal point; None where they are missing."""
    import pandas as pd

    values = np.asarray(column, dtype=object)
    missing = pd.isna(values)
    names: dict[Any, str] = {}
    found: list[str | None] = []
    for value, is_missing in zip(values, missing, strict=True):
        if is_missing:
            found.append(None)
            continue
        if value not in names:
            whole = isinstance(value, float | np.floating) and float(value).is_integer()
            names[value] = str(int(value)) if whole else str(value)
        found.append(names[value])
    return found


def _round_between(low: float, high: float) -> float:
    """The number with the fewest digits that is above `low` and at most `high`.

    Examples
    --------
    >>> _round_between(24.0, 25.0), _round_between(0.1234, 0.1267), _round_between(30.0, 40.0)
    (25.0, 0.125, 40.0)
    """
    middle = 0.5 * (low + high)
    if middle == 0:
        return 0.0
    first = math.floor(math.log10(abs(middle)))
    for digits in range(17):
        unit = 10.0 ** (first - digits)
        both = (float(f"{round_to(middle / unit) * unit:.15g}") for round_to in (math.floor, math.ceil))
        if good := [each for each in both if low < each <= high]:
            return min(good, key=lambda each: abs(each - middle))
    return high


def _number(value: float | None) -> str:
    return f"{value:.6g}"
