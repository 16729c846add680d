"""Copies of published data sets from OpenML: downloaded once and kept in the user's cache with their origin."""

from __future__ import annotations

import gzip
import http.client
import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab._core.base import AuclabError
from auclab._core.files import replace_file
from auclab.datasets.cache import limited_downloads
from auclab.datasets.labels import label_text
from auclab.datasets.records import file_sha256

if TYPE_CHECKING:
    import pandas as pd

#: Seconds to wait for an answer of the server.
TIMEOUT = 20.0


@dataclass(frozen=True)
class Origin:
    """Where a copy in the cache is from, its SHA-256, and its nominal columns by their names at OpenML."""

    source: str
    sha256: str
    nominal: tuple[str, ...]


def fetch(
    data_id: int, *, target: str, labels: Mapping[Any, Any] | None = None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A data set from OpenML as one table, the target last, and the names of its nominal columns.

    `data_id`: OpenML's number of the data set. `target`: name given to the target column. `labels`: from OpenML's
    labels to those of the published file.
    """
    from sklearn.datasets import fetch_openml

    with limited_downloads(seconds=TIMEOUT), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one for every repeated attempt; the outcome is reported below
        try:
            bunch = fetch_openml(data_id=data_id, as_frame=True, cache=False, n_retries=1, parser="auto")
        except TypeError:
            # scikit-learn up to 1.9 with pandas 3.1: categories that look like numbers arrive as numbers, and its
            # fast parser expects text (its pull request 34902); the slow one takes both
            bunch = fetch_openml(data_id=data_id, as_frame=True, cache=False, n_retries=1, parser="liac-arff")
    frame = bunch.data
    nominal = tuple(str(name) for name, kind in frame.dtypes.items() if str(kind) in ("category", "object", "str"))
    renamed = {str(there): str(here) for there, here in (labels or {}).items()}
    texts = bunch.target.astype(object).map(label_text)
    return frame.assign(**{target: texts.map(lambda text: renamed.get(text, text))}), nominal


#: What `fetch` raises if network or server cannot be reached.
OFFLINE = (OSError, ValueError, http.client.HTTPException)


def store(frame: pd.DataFrame, path: Path, *, source: str, nominal: tuple[str, ...]) -> None:
    """Write `frame` as csv and its origin as json next to it; either file appears complete or not at all."""
    content = frame.to_csv(index=False, lineterminator="\n").encode("utf-8")
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)  # no time stamp: every download has the same bytes
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as part:
            part.write_bytes(content)
            note = asdict(Origin(source, file_sha256(part), nominal))
            with replace_file(_origin_path(path)) as origin_part:  # first: no data file without its origin
                origin_part.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise AuclabError(
            f"{source} was downloaded but cannot be written to {path.parent}: {error.strerror or error}; free "
            "some space, or allow writing there"
        ) from error


def origin(path: Path) -> Origin | None:
    """The origin of a downloaded copy; None for any other file."""
    if not _origin_path(path).is_file():
        return None
    try:
        note = json.loads(_origin_path(path).read_text(encoding="utf-8"))
        return Origin(note["source"], note["sha256"], tuple(note["nominal"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AuclabError(
            f"{_origin_path(path)} is damaged ({error!r}); remove it and {path.name} to fetch the set again"
        ) from error


def _origin_path(path: Path) -> Path:
    return path.with_name(path.name + ".origin.json")
