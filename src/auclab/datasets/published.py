"""Published data sets: a csv file on the search path, downloaded from OpenML once, or bundled with scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auclab._core.base import AuclabError, GroupWeights
from auclab.datasets import openml
from auclab.datasets.catalogue import VARIABLE, cache_dir, find_file, search_path
from auclab.datasets.labels import as_labels
from auclab.datasets.records import Dataset, array_sha256, verified_sha256
from auclab.datasets.table import ALL, make_dataset, read_csv
from auclab.datasets.target import Roles, Target

if TYPE_CHECKING:
    import pandas as pd


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
        openml.store(table, path, source=f"OpenML data set {openml_id}", nominal=nominal_there)
    origin = openml.origin(path)
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
        return openml.fetch(openml_id, target=target, labels=labels)
    except openml.OFFLINE as error:
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
