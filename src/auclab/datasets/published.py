"""Published data sets: a csv file on the search path, downloaded from OpenML once, or bundled with scikit-learn.

Copies from OpenML are kept in the user's cache with their origin.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auclab._core.base import AuclabError, GroupWeights
from auclab._core.files import replace_file
from auclab.datasets.cache import limited_downloads
from auclab.datasets.catalogue import VARIABLE, cache_dir, find_file, search_path
from auclab.datasets.formats import ALL, make_dataset, read_csv
from auclab.datasets.labels import as_labels, label_text
from auclab.datasets.records import Dataset, array_sha256, file_sha256, verified_sha256
from auclab.datasets.target import Roles, Target

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


def origin_of(path: Path) -> Origin | None:
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


def load_published(
    *,
    name: str,
    file: str,
    target: str | None = None,
    positive: Any = None,
    negative: Any = None,
    group: str | None = None,
    time: str | None = None,
    event: str | None = None,
    graded: bool = False,
    group_weights: GroupWeights = "pairs",
    nominal: Sequence[str] | str = (),
    columns: Sequence[str] | None = None,
    sha256: str | None = None,
    rows: int | None = None,
    features: int | None = None,
    n_pos: int | None = None,
    n_neg: int | None = None,
    openml_id: int | None = None,
    openml_labels: Mapping[Any, Any] | None = None,
    citation: str = "",
    data_dir: str | Path | None = None,
) -> Dataset:
    """Load a published data set.

    Parameters
    ----------
    name : str
        Name of the data set.
    file : str
        Name of a csv file, plain or gzipped, searched for in `auclab.datasets.catalogue.search_path`.
    target : str
        Column with the labels.
    positive, negative : label or list of labels
        Labels of each class, compared as text. Without `negative` all others are negative; rows of neither
        class are left out. Of times, the labels of an event.
    group, time, event, graded, group_weights
        As in `auclab.datasets.file.load_file`.
    nominal : list of str, or "ALL"
        Columns that are categories.
    columns : list of str, optional
        Features to keep; all if left out.
    sha256 : str, optional
        Checksum of the file; None accepts any file.
    rows, features : int, optional
        Size of the file, checked on a copy from OpenML, whose bytes differ from the file's.
    n_pos, n_neg : int, optional
        Rows of each class, checked likewise.
    openml_id : int, optional
        Number of the data set at OpenML; None where there is no equal copy.
    openml_labels : mapping, optional
        From OpenML's labels to those of the file.
    citation : str
        Source of the data set.
    data_dir : path, optional
        Folder that is searched first.

    Returns
    -------
    Dataset
        With the checksum of the file that was read.

    Raises
    ------
    AuclabError
        The file is not found and cannot be downloaded, differs from its checksum, or does not fit the description.
    """
    if set(file) & set("/\\:") or file in ("", ".", ".."):
        raise AuclabError(f"dataset.file is {file!r}; it is the name of a file, and its folder is given by data_dir=…")
    roles = Roles(target, group, time, event, graded, group_weights=group_weights)
    path = find_file(file, data_dir)
    if path is None:
        expected = {"rows": rows, "features": features, "n_pos": n_pos, "n_neg": n_neg}
        table, nominal_there = _fetch(name, file, target or str(time), openml_id, openml_labels, data_dir)
        _check_shape(name, table, roles, roles.ranked(table, positive, negative).target, expected)
        path = cache_dir() / file
        store(table, path, source=f"OpenML data set {openml_id}", nominal=nominal_there)
    origin = origin_of(path)
    digest = verified_sha256(path, origin.sha256 if origin else sha256)
    if origin and nominal and nominal != ALL:
        nominal = origin.nominal  # the columns have other names there
    labels = [] if target is None or graded else [target]
    table = read_csv(path, text=ALL if nominal == ALL else [*as_labels(nominal), *labels])
    return make_dataset(
        table, target=roles, positive=positive, negative=negative, nominal=nominal, columns=columns,
        name=name, sha256=digest, source=origin.source if origin else str(path), citation=citation,
    )  # fmt: skip


def _fetch(
    name: str,
    file: str,
    target: str,
    openml_id: int | None,
    labels: Mapping[Any, Any] | None,
    data_dir: str | Path | None,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The data set from OpenML, or one error with every folder that was tried and the ways out."""
    tried = [os.path.abspath(folder / file) for folder in search_path(data_dir)]
    if openml_id is None:
        reason, way_out = "there is no equal copy at OpenML", "get the file from its authors once"
        raise _not_found(name, file, tried, reason, way_out)
    try:
        return fetch(openml_id, target=target, labels=labels)
    except OFFLINE as error:
        tried.append(f"OpenML data set {openml_id}")
        reason = f"it could not be fetched from OpenML ({getattr(error, 'reason', None) or error})"
        raise _not_found(name, file, tried, reason, "go online once, the copy is then kept in the cache") from error


def _not_found(name: str, file: str, tried: Sequence[str], reason: str, way_out: str) -> AuclabError:
    return AuclabError(
        f"data set {name!r} is not on this machine, and {reason}. Tried: {'; '.join(tried)}. "
        f"Ways out: put {file} into one of these folders; or name its folder with data_dir=… or {VARIABLE}; "
        f"or {way_out}. ionosphere and breast_cancer come with the package"
    )


def _check_shape(
    name: str, table: pd.DataFrame, roles: Roles, target: Target, expected: Mapping[str, int | None]
) -> None:
    """Compare a copy, whose bytes differ from the published file's, with the size and class counts of the data set."""
    found = {"rows": len(table), "features": table.shape[1] - len(roles.columns)}
    if not roles.graded:
        n_pos = int(np.count_nonzero(target.y == 1 if target.event is None else target.event))
        found |= {"n_pos": n_pos, "n_neg": target.y.size - n_pos}
    differs = [
        f"{key} {found[key]} instead of {value}"
        for key, value in expected.items()
        if value is not None and value != found.get(key, value)
    ]
    if differs:
        raise AuclabError(
            f"OpenML's copy of {name!r} is not the published data set: {', '.join(differs)}; it was not kept. "
            "Put the published file into ./data; or, if you chose other labels, set dataset.n_pos=null "
            "dataset.n_neg=null"
        )


def load_breast_cancer(
    *,
    name: str = "breast_cancer",
    citation: str = "Wolberg, W. et al. (1993). Breast Cancer Wisconsin (Diagnostic). UCI.",
) -> Dataset:
    """Wisconsin's diagnostic breast cancer set: 569 tumours, 30 measurements, 212 malignant.

    The positive class is *malignant*, the minority and what is looked for; scikit-learn has 1 for benign.

    Examples
    --------
    >>> dataset = load_breast_cancer()
    >>> dataset.positive, dataset.n_pos, dataset.n_neg
    ('malignant', 212, 357)
    """
    from sklearn import datasets

    bunch = datasets.load_breast_cancer(as_frame=True)
    negative = list(bunch.target_names).index("benign")
    X, y = bunch.data, (bunch.target != negative).to_numpy(dtype=np.int64)
    return Dataset(
        name=name, X=X, y=y, positive="malignant", negative="benign",
        sha256=array_sha256(X.to_numpy(), y), source="sklearn.datasets.load_breast_cancer", citation=citation,
    )  # fmt: skip
