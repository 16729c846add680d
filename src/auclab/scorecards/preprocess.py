"""``preprocess=items``: a data set as the items of a scorecard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sklearn.pipeline import Pipeline

from auclab.datasets.columns import sort_columns
from auclab.datasets.labels import as_labels
from auclab.datasets.records import Dataset
from auclab.scorecards.items import ItemEncoder
from auclab.types import AuclabError


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
    given = None if cut_points is None else {str(name): list(points) for name, points in cut_points.items()}
    encoder = ItemEncoder(binning, bins, given, list(dataset.nominal), least_share, max_candidates)
    if dates is not None:
        parts = list(as_labels(dates))
        formats = dict(sort_columns(dataset, dates=parts, date_format=date_format).dates)
        encoder.set_params(dates=formats, date_parts=parts)
    return Pipeline([("items", encoder)])
