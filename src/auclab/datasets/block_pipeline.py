"""A preprocessing of `auclab.datasets.preprocess` for tables in blocks: two passes fit it, reading rows applies it.

Its steps are those of memory, fitted to what the passes found; rows in memory go through them as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from auclab._core.base import Array, AuclabError
from auclab.datasets.block_statistics import (
    BlockEncoding,
    CategoryColumns,
    NumberStatistics,
    TableStatistics,
    number_columns,
    table_medians,
    table_statistics,
)
from auclab.datasets.columns import MAX_CATEGORIES
from auclab.datasets.dates import find_dates
from auclab.datasets.labels import override
from auclab.datasets.steps import CategoryImputer, category_of_gaps, fitted_standard_scaler
from auclab.samples.blocks.row_forms import norms
from auclab.samples.blocks.table import BlockTable
from auclab.samples.tables import in_memory


class BlockPipeline(Pipeline):
    """A `Pipeline` of the steps encode, vary, scale and ball, which may be fitted to a `BlockTable`.

    One pass counts categories, gaps, and sums of the columns of numbers, and a second one (rarely a third) finds their
    medians; with a ball, another one finds the longest row. Every worker sums up its blocks, and the sums are added in
    an order that does not depend on the number of workers.

    `steps`: as `auclab.datasets.preprocess` makes them. `nominal`: columns that are categories however many values they
    have. `encoding_`: all steps as one, for the rows of a block.
    """

    def __init__(
        self,
        steps: Any,
        *,
        nominal: Sequence[str] = (),
        transform_input: Any = None,
        memory: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(steps, transform_input=transform_input, memory=memory, verbose=verbose)
        self.nominal = nominal

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit all steps to a table in blocks, or to rows in memory."""
        if in_memory(X):
            super().fit(X, y, **params)
            return self
        self.columns_ = list(X.columns)
        statistics = table_statistics(X)
        _refuse_text(X, statistics, self.nominal)
        medians = table_medians(X, statistics)
        encode = self.named_steps["encode"]
        categories = _fit_encode(encode, X, statistics, medians)
        parts = _encoded_parts(encode, X, statistics, medians, categories)
        kept = np.arange(parts.columns.mean.size)
        if "vary" in self.named_steps:
            ends = np.stack([parts.columns.low, parts.columns.high])
            kept = np.flatnonzero(self.named_steps["vary"].fit(ends).get_support())
        shift, factor = np.zeros(kept.size), np.ones(kept.size)
        if "scale" in self.named_steps:
            shift, scale = _fit_scale(self, statistics.n_rows, parts.columns, kept)
            factor = 1.0 / scale
        self.encoding_ = parts.encoding(kept, shift, factor, medians)
        if "ball" in self.named_steps:
            self.encoding_ = _fit_ball(self.named_steps["ball"], X, self.encoding_, kept.size)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """`fit`, then `transform`."""
        if in_memory(X):
            return super().fit_transform(X, y, **params)
        return self.fit(X, y, **params).transform(X)

    @property
    def in_memory(self) -> Pipeline:
        """The same fitted steps without what is for blocks."""
        return Pipeline(self.steps)

    def transform(self, X: Any, **params: Any) -> Any:
        """A table in blocks, to be encoded when it is read; rows in memory are encoded now."""
        if not in_memory(X):
            return X.changed(self.encoding_, [str(name) for name in self.get_feature_names_out()])
        if not hasattr(X, "iloc") and hasattr(self, "columns_"):
            import pandas as pd

            X = pd.DataFrame(np.asarray(X), columns=self.columns_)
        return super().transform(X, **params)


@dataclass(frozen=True)
class _Parts:
    """Where the encoded columns come from, and what is known of them before any is left out.

    `categories` are, for every column of categories, pairs of a text and its encoded column, the column of a missing
    value, and that of any other value (−1 for none); columns count over those of zeros and ones.
    """

    columns: NumberStatistics
    n_numbers: int
    n_onehot: int
    categories: tuple[CategoryColumns, ...]
    gaps: tuple[tuple[bool, int], ...]

    def encoding(self, kept: NDArray[np.intp], shift: Array, factor: Array, fill: Array) -> BlockEncoding:
        """The step for the rows of a block."""
        numbers = kept[kept < self.n_numbers]
        onehot = kept[(kept >= self.n_numbers) & (kept < self.n_numbers + self.n_onehot)] - self.n_numbers
        gaps = kept[kept >= self.n_numbers + self.n_onehot] - self.n_numbers - self.n_onehot
        place = np.full(self.n_onehot + 1, -1)  # the last is that of no column, −1
        place[onehot] = np.arange(onehot.size)
        categories = tuple(
            CategoryColumns(
                tuple((text, int(place[column])) for text, column in each.known),
                int(place[each.missing]),
                int(place[each.other]),
            )
            for each in self.categories
        )
        return BlockEncoding(
            fill=tuple(fill.tolist()),
            categories=categories,
            gaps=tuple(self.gaps[k] for k in gaps),
            numbers=tuple(numbers.tolist()),
            n_onehot=onehot.size,
            shift=tuple(shift.tolist()),
            factor=tuple(factor.tolist()),
        )


def _refuse_text(table: BlockTable, statistics: TableStatistics, allowed: Sequence[str]) -> None:
    """Reject text that is different in most rows, dates, and numbers as text."""
    import pandas as pd

    for name, counted in zip(table.nominal, statistics.categories, strict=True):
        if name in allowed or not counted:
            continue
        drop, keep = override("dataset.drop", [name]), override("dataset.nominal", [name])
        example = next(iter(counted))
        if find_dates(pd.Series(list(counted))) is not None:
            raise AuclabError(
                f"column {name!r} holds dates as text, such as {example!r}, and blocks have no features of dates: make "
                f"columns of them in the files, drop it with {drop}, or take it as a category with {keep}"
            )
        spelt = pd.to_numeric(pd.Series(list(counted), dtype=object), errors="coerce").notna()
        if 2 * sum(count for count, number in zip(counted.values(), spelt, strict=True) if number) >= counted.total():
            raise AuclabError(
                f"column {name!r} holds text that is mostly numbers, such as {example!r}: store it as numbers, drop "
                f"it with {drop}, or take it as a category with {keep}"
            )
        if len(counted) > max(MAX_CATEGORIES, statistics.n_rows // 2):
            raise AuclabError(
                f"column {name!r} holds text with {len(counted)} different values in {statistics.n_rows} rows, such as "
                f"{example!r}: identifiers, names and damaged numbers are not categories. Drop it with {drop}, or take "
                f"it as a category with {keep}"
            )


def _fit_encode(
    encode: Any, table: BlockTable, statistics: TableStatistics, medians: Array
) -> tuple[Counter[str], ...]:
    """Fit the `ColumnTransformer` to a few rows with the same medians, categories and gaps; counts with gaps filled."""
    import pandas as pd

    numbers, gaps = statistics.numbers.count > 0, statistics.with_gaps
    limit = next((part[-1].max_categories for name, part, _ in encode.transformers if name == "nominal"), None)
    imputer = next((part[1] for name, part, _ in encode.transformers if name == "nominal"), CategoryImputer())
    modes = [_fill(imputer, counted, statistics.n_rows) for counted in statistics.categories]
    filled = []
    for counted, mode in zip(statistics.categories, modes, strict=True):
        missing = statistics.n_rows - counted.total()
        filled.append(counted + Counter({mode: missing}) if counted else counted)
    lists = [_some_of_each(counted, limit) for counted in filled]
    n_rows = max([1, *map(len, lists)])

    def frame(middle: Any, categories: Sequence[Sequence[Any]], length: int) -> pd.DataFrame:
        known = dict(zip(number_columns(table), middle, strict=True))
        known |= {
            name: np.array([*texts, *[texts[-1]] * (length - len(texts))], dtype=object)
            for name, texts in zip(table.nominal, categories, strict=True)
        }
        return pd.DataFrame({name: known[name] for name in table.columns}, index=range(length))

    middle = np.where(numbers, medians, np.nan)
    encode.fit(frame(middle, [texts or [np.nan] for texts in lists], n_rows))
    fitted = encode.named_transformers_
    if "nominal" in fitted:  # the rows above have the categories, and these the most frequent ones
        one = frame(middle, [[mode] for mode in modes], 1)[list(table.nominal)]
        fitted["nominal"][1].fit(fitted["nominal"][0].transform(one))
    if "missing" in fitted:
        with_gaps = frame(np.where(gaps[0], np.nan, 0.0), [[np.nan if gap else "a"] for gap in gaps[1]], 1)
        fitted["missing"].fit(with_gaps)
    return tuple(filled)


def _fill(imputer: CategoryImputer, counted: Counter[str], n_rows: int) -> Any:
    """The category of gaps, or the most frequent one: of several the first by alphabet; NaN if there is none."""
    if imputer.has_category(1.0 - counted.total() / n_rows):
        return category_of_gaps(counted)
    most = max(counted.values(), default=0)
    return min((text for text, count in counted.items() if count == most), default=np.nan)


def _some_of_each(counted: Counter[str], limit: int | None) -> list[str]:
    """Every category once, and again those with a column of their own, so that the encoder pools the others.

    Which are pooled is scikit-learn's rule: the ``K − (limit − 1)`` least frequent, of equally frequent ones the first.
    """
    texts = sorted(counted)
    if limit is None or limit > len(texts):
        return texts
    order = np.argsort([counted[text] for text in texts], kind="mergesort")
    return [*texts, *(texts[k] for k in sorted(order[len(texts) - limit + 1 :]))]


def _encoded_parts(
    encode: Any,
    table: BlockTable,
    statistics: TableStatistics,
    medians: Array,
    filled: Sequence[Counter[str]],
) -> _Parts:
    """Sources and moments of the columns that a fitted `ColumnTransformer` makes."""
    n_rows, fitted = statistics.n_rows, encode.named_transformers_
    counts: list[int] = []
    categories: list[CategoryColumns] = []
    if "nominal" in fitted:
        imputer, encoder = fitted["nominal"][1], fitted["nominal"][-1]
        pooled = getattr(encoder, "infrequent_categories_", [None] * len(filled))
        for fill, values, rare, counted in zip(imputer.statistics_, encoder.categories_, pooled, filled, strict=True):
            few = set() if rare is None else set(rare)
            own = {str(text): len(counts) + k for k, text in enumerate(text for text in values if text not in few)}
            other = -1 if rare is None else len(counts) + len(own)
            categories.append(CategoryColumns(tuple(own.items()), own.get(str(fill), other), other))
            # A column without any value has one category, that of its gaps.
            counts += [counted[text] if counted else n_rows for text in own]
            counts += [sum(counted[text] for text in few)] if rare is not None else []
    gaps = list(_gaps(table, fitted["missing"].with_gaps_)) if "missing" in fitted else []
    categories_missing = [n_rows - counted.total() for counted in statistics.categories]
    for number, k in gaps:
        counts.append(n_rows - int(statistics.numbers.count[k]) if number else categories_missing[k])
    numbers = statistics.numbers.filled(n_rows, medians)
    return _Parts(
        _joined(numbers, _zeros_and_ones(np.array(counts, np.int64), n_rows)),
        numbers.mean.size,
        len(counts) - len(gaps),
        tuple(categories),
        tuple(gaps),
    )


def _gaps(table: BlockTable, names: Sequence[str]) -> Iterator[tuple[bool, int]]:
    """For every marked column whether it is one of numbers, and its place among them or among the categories."""
    numbers = number_columns(table)
    for name in names:
        yield (name in numbers, numbers.index(name) if name in numbers else table.nominal.index(name))


def _zeros_and_ones(ones: NDArray[np.int64], n_rows: int) -> NumberStatistics:
    """Moments of columns of zeros and ones."""
    share = np.asarray(ones / n_rows, dtype=np.float64)
    rows = np.full(ones.size, n_rows)
    low, high = (ones == n_rows).astype(np.float64), (ones > 0).astype(np.float64)
    return NumberStatistics(rows, ones, low, high, share, n_rows * share * (1.0 - share))


def _joined(a: NumberStatistics, b: NumberStatistics) -> NumberStatistics:
    """Columns side by side."""
    names = ("count", "nonzero", "low", "high", "mean", "squares")
    return NumberStatistics(*(np.concatenate([getattr(a, name), getattr(b, name)]) for name in names))


def _fit_scale(
    pipeline: BlockPipeline, n_rows: int, columns: NumberStatistics, kept: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Fit the scaler to moments of the kept columns; what is subtracted, and by what is divided."""
    at = next(place for place, (name, _) in enumerate(pipeline.steps) if name == "scale")
    scaler = pipeline.steps[at][1]
    low, high, mean, squares = (getattr(columns, name)[kept] for name in ("low", "high", "mean", "squares"))
    if hasattr(scaler, "fit_moments"):
        scaler.fit_moments(n_rows, columns.nonzero[kept] / n_rows, low, high, mean, squares / n_rows)
        return scaler.shift_, scaler.scale_
    if isinstance(scaler, StandardScaler):
        fitted = fitted_standard_scaler(n_rows, mean, squares / n_rows)
        pipeline.steps[at] = ("scale", fitted)
        return mean, fitted.scale_
    raise AuclabError(
        f"{type(scaler).__name__} cannot be fitted to rows in blocks; use preprocess=standard, minmax or none"
    )


def _fit_ball(ball: Any, table: BlockTable, encoding: BlockEncoding, n_features: int) -> BlockEncoding:
    """Fit `UnitBall` to the longest row, by one pass; the encoding with the ball."""
    longest = max(table.changed(encoding, [""] * n_features).run(_longest))
    ball.fit(np.array([[longest, *[0.0] * (n_features - 1)]]))
    margin = 1.0 + (n_features + 4) * float(np.finfo(np.float64).eps)
    return replace(encoding, ball=(float(ball.radius_), margin))


def _longest(rows: Any, argument: Any) -> float:
    """A task."""
    return float(norms(rows).max(initial=0.0))
