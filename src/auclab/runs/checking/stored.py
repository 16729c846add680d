"""What a run stored: its model, its files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auclab._core.base import AuclabError, Status
from auclab._core.words import visible
from auclab.certificates.checker.constraints import StatedConstraints
from auclab.certificates.checker.correction import MOST_PAIRS, StoredPairs
from auclab.certificates.checker.kernel import StoredKernel
from auclab.certificates.checker.pieces import no_twin
from auclab.certificates.checker.program import CLASSES, FORMULATIONS, HOME
from auclab.datasets.target import Target
from auclab.export.scorer import SCORER_FILE
from auclab.runs.stored.stored_files import MOST_SCORES, damaged, read_json, read_rows, stored_file, stored_target

#: The part of the largest score by which two scores of a row may differ, for rounding.
ROUNDING = 1e-9
#: Rows of a sparse matrix that are scored, as a dense table.
MOST_SPARSE_ROWS = 2_000

Vector = NDArray[np.float64]


def scores_of_model(folder: Path, rows: Any, allow: Sequence[str]) -> Vector | str | None:
    """Scores of the first rows by the model of a split, or why there are none.

    None where no model was kept, and for rows in blocks.
    `folder`: of the split. `rows`: of the data set, not prepared. `allow`: types that the model may contain.
    """
    if not (folder / "model" / SCORER_FILE).exists() or hasattr(rows, "stream"):
        return None
    from auclab.runs.tracking.model import load_scorer

    try:
        scorer = load_scorer(folder / "model", allow=allow)
        table = rows[:MOST_SPARSE_ROWS].toarray() if hasattr(rows, "toarray") else rows
        if not hasattr(table, "columns"):
            table = pd.DataFrame(table, columns=[f"x{k}" for k in range(table.shape[1])])
        return np.asarray(scorer.score(table), dtype=np.float64)
    except AuclabError as error:
        return " ".join(str(error).split())


def farthest(scores: Vector, expected: Vector) -> float:
    """The largest difference of scores from expected ones plus a constant, in the largest of these."""
    differences = scores - expected[: scores.size]
    middle = 0.5 * (differences.max() + differences.min())
    return float(np.abs(differences - middle).max() / max(float(np.abs(expected).max()), np.finfo(float).tiny))


def range_of_auc(scores: Vector, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """The least and the largest AUC of scores of two classes that are known up to `ROUNDING`."""
    slack = ROUNDING * float(np.abs(scores).max())
    negatives = np.sort(scores[~positive])
    ends = [
        [np.searchsorted(negatives, scores[positive] + off, side).mean() / negatives.size for side in ("left", "right")]
        for off in (-slack, slack)
    ]
    return float(np.mean(ends[0])), float(np.mean(ends[1]))


@dataclass(frozen=True)
class Split:
    """The files of one solved split.

    `numbers` are those of ``metrics.json``; `table` has the columns of ``multipliers.parquet``, None if there is none,
    and `target` says what its rows are ranked by, where these are not two classes. With a `kernel`, `coef` has the
    coefficients of the rows of the data set in `landmarks`. `pairs` are those of ``pair_multipliers.parquet``.
    """

    number: int
    folder: Path
    certificate: Mapping[str, Any]
    numbers: Mapping[str, Any]
    coef: NDArray[np.float64]
    intercept: float
    table: Mapping[str, NDArray[Any]] | None
    target: Target | None = None
    kernel: StoredKernel | None = None
    landmarks: NDArray[np.intp] | None = None
    pairs: StoredPairs | None = None

    def number_of(self, name: str, default: float = math.nan) -> float:
        """A number of the certificate; files have null for NaN and text for infinity."""
        return as_number(self.certificate.get(name), default)


@dataclass(frozen=True)
class Training:
    """A training part that was prepared again: features, labels (1 = positive), the rows of the data set, checksums.

    `constraints` are those of the configuration on its columns; `weight` has that of its class for every observation,
    or is None where all count alike. `target` says what the rows are ranked by. `gamma` is the width of the kernel
    where the configuration takes it from these rows; `items` are the feature of each item of a scorecard, and `signs`
    what is stated of them. `groups` are the labels of the columns of a group lasso. `scores` are those of the kept
    model, or say why there are none.
    """

    X: Any
    y: NDArray[np.int64]
    rows: NDArray[np.intp]
    sha256: str
    dataset_sha256: str
    constraints: StatedConstraints | None = None
    weight: NDArray[np.float64] | None = None
    target: Target = field(kw_only=True)
    gamma: float | None = None
    items: NDArray[np.intp] | None = None
    signs: StatedConstraints | None = None
    groups: tuple[str | int, ...] | None = None
    scores: NDArray[np.float64] | str | None = None


@dataclass(frozen=True)
class Configured:
    """What ``config.yaml`` says of a program: its parameters, which of them was tuned, and the tolerance.

    `kernel` has the name and the parameters of a kernel, empty without one; with ``tune=kernel`` its γ was tuned, too.
    `own_bounds`: names of the bounds of the user's own.
    """

    parameters: Mapping[str, Any]
    tuned: str | None
    tolerance: float
    kernel: Mapping[str, Any] = field(default_factory=dict)
    own_bounds: tuple[str, ...] = ()


def as_number(value: Any, default: float = math.nan) -> float:
    """A number as files have it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        return float(value)
    except ValueError:
        return default


def read_splits(folder: Path) -> list[Split]:
    """The splits of a run, in order."""
    folders = [(0, folder)] if (folder / "certificate.json").exists() else []
    if not folders:
        numbered = [path for path in folder.glob("fold_*") if path.name[5:].isdecimal() and not path.is_symlink()]
        folders = sorted((int(path.name[5:]), path) for path in numbered)
    if not folders:
        raise AuclabError(f"{folder} has no certificate.json, so there is nothing to check; is it the folder of a run?")
    return [_read_split(number, path) for number, path in folders]


def _read_split(number: int, folder: Path) -> Split:
    certificate, numbers = read_json(folder, "certificate.json"), read_json(folder, "metrics.json") or {}
    if not isinstance(certificate, dict) or not isinstance(certificate.get("program"), dict):
        raise AuclabError(
            f"{folder / 'certificate.json'} does not say which program was solved: the run was made before multipliers "
            "were kept; run it again (auclab rerun shows whether its numbers can be reproduced)"
        )
    if certificate.get("status") == Status.BASELINE:
        raise AuclabError(
            f"the run is a baseline, fitted by {visible(str(certificate.get('solver')))}: it has no certificate, so "
            "there is nothing to check"
        )
    if "kernel" in certificate:
        return _read_kernel_split(number, folder, certificate, numbers)
    rows = read_rows(folder, "coefficients.csv")
    if not rows:
        raise AuclabError(f"{folder / 'coefficients.csv'} is missing, and the point to check is in it; run again")
    with damaged(folder / "coefficients.csv"):
        values = np.array([float(row["coefficient"]) for row in rows])
        if rows[-1]["feature"] != "(intercept)" or not np.isfinite(values).all():
            raise ValueError("its last line is not an intercept, or a coefficient is not finite")
    table, target = _read_multipliers(folder)
    pairs = None if table is None else _read_pairs(folder, table["row"])
    return Split(number, folder, certificate, numbers, values[:-1], float(values[-1]), table, target, pairs=pairs)


def _read_kernel_split(number: int, folder: Path, certificate: Mapping[str, Any], numbers: Mapping[str, Any]) -> Split:
    stored = certificate["kernel"] if isinstance(certificate["kernel"], Mapping) else {}
    kernel, intercept = StoredKernel.of(stored), as_number(stored.get("intercept"))
    if not math.isfinite(intercept):
        raise AuclabError(
            f"{folder / 'certificate.json'} has no intercept of the kernel's scorer: the run was made before it was "
            "kept; run it again"
        )
    rows = read_rows(folder, "landmarks.csv")
    if rows is None:
        raise AuclabError(f"{folder / 'landmarks.csv'} is missing, and it contains the point to check")
    with damaged(folder / "landmarks.csv"):
        values = np.array([float(row["coefficient"]) for row in rows], dtype=np.float64)
        landmarks = np.array([int(row["row"]) for row in rows], dtype=np.intp)
        if not np.isfinite(values).all():
            raise ValueError("a coefficient is not finite")
    table, target = _read_multipliers(folder)
    return Split(number, folder, certificate, numbers, values, intercept, table, target, kernel, landmarks)


def _read_multipliers(folder: Path) -> tuple[dict[str, NDArray[Any]] | None, Target | None]:
    path = stored_file(folder, "multipliers.parquet", most=None)
    if path is None:
        return None, None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with damaged(path), pq.ParquetFile(path) as file:
            if file.metadata.num_rows > MOST_SCORES:
                raise AuclabError(
                    f"{path} says it has {file.metadata.num_rows:,} rows, of at most {MOST_SCORES:,}; run again"
                )
            table = file.read().replace_schema_metadata(None)
            numbers = [name for name in table.column_names if name not in ("event", "group", "groups_alike")]
            found = {name: table.column(name).to_numpy() for name in numbers}
            target = stored_target(table)
            kinds = {"row": np.int64, "y_true": np.int8 if target is None else np.float64, "multiplier": np.float64}
            kinds |= {"share": np.float64} if "share" in found else {}
            return {name: found[name].astype(kind) for name, kind in kinds.items()}, target
    except (OSError, pa.ArrowException) as error:
        what = " ".join(str(error).split())[:200]
        raise AuclabError(f"{path} cannot be read ({what}); check its permissions, or run again") from error


def _read_pairs(folder: Path, rows: NDArray[np.int64]) -> StoredPairs | None:
    """Multipliers of single pairs, with their rows counted within the training part; None where there are none."""
    path = stored_file(folder, "pair_multipliers.parquet", most=None)
    if path is None:
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with damaged(path), pq.ParquetFile(path) as file:
            if file.metadata.num_rows > MOST_PAIRS:
                raise AuclabError(
                    f"{path} says it has {file.metadata.num_rows:,} pairs, of at most {MOST_PAIRS:,}; run again"
                )
            table = file.read().replace_schema_metadata(None)
            upper, lower = (table.column(name).to_numpy().astype(np.int64) for name in ("upper", "lower"))
            multiplier = table.column("multiplier").to_numpy().astype(np.float64)
            order = np.argsort(rows, kind="stable")
            places = [np.minimum(np.searchsorted(rows, side, sorter=order), rows.size - 1) for side in (upper, lower)]
            first, second = (order[place] for place in places)
            if (rows[first] != upper).any() or (rows[second] != lower).any():
                raise ValueError("a pair has a row that is not in multipliers.parquet")
            return StoredPairs(first, second, multiplier)
    except (OSError, pa.ArrowException) as error:
        what = " ".join(str(error).split())[:200]
        raise AuclabError(f"{path} cannot be read ({what}); check its permissions, or run again") from error


def prepare_training(folder: Path, numbers: Sequence[int], allow: Sequence[str] = ()) -> Iterator[Training]:
    """The training parts of the splits with these numbers, prepared from the data set as the run did."""
    from auclab.datasets.records import part_sha256
    from auclab.datasets.splits import split_rows, take_rows
    from auclab.export.formula import prepared_columns
    from auclab.runs.config.compose import build, load_dataset
    from auclab.runs.split.constrained import constraints_of
    from auclab.runs.split.formula import column_names, stated_signs
    from auclab.runs.stored.configuration import stored_experiment

    experiment = stored_experiment(folder, allow=allow)
    dataset = load_dataset(experiment)
    splits, target = split_rows(build(experiment.config.split), dataset)
    rules = constraints_of(experiment.constraints, dataset, experiment.encoding) if experiment.constraints else None
    for number in numbers:
        if number >= len(splits):
            raise AuclabError(
                f"the configuration has {len(splits)} splits, none with number {number}: restore the files, or rerun"
            )
        rows = splits[number].train
        if hasattr(dataset.X, "stream"):  # rows of files are read in file order
            rows = np.sort(rows)
        y = target.y[rows]
        preprocessing = build(experiment.config.preprocess)(dataset)
        table = take_rows(dataset.X, rows)
        X = preprocessing.fit_transform(table, y)
        stated = None if rules is None else rules.on(preprocessing)
        weight = _weight(experiment.class_weight, y)
        compared = target.take(rows)
        made = Training(X, y, rows, part_sha256(X, compared), dataset.sha256, stated, weight, target=compared)
        split = folder if (folder / "certificate.json").exists() else folder / f"fold_{number}"
        made = replace(made, scores=scores_of_model(split, table, allow))
        if experiment.kernel is not None and isinstance(experiment.kernel.gamma, str):
            made = replace(made, gamma=_width(experiment.kernel.gamma, X))
        if (items := getattr(preprocessing[-1], "items_", None)) is not None:
            signs = stated_signs(build(experiment.config.formulation), preprocessing, dataset)
            made = replace(made, items=np.array([item.feature for item in items]), signs=signs)
        regulariser = experiment.config.formulation.get("regulariser")
        if regulariser is not None and "groups" in regulariser:
            sources = prepared_columns(preprocessing, column_names(dataset.X)).sources
            made = replace(made, groups=tuple(build(regulariser).on_columns(partial(tuple, sources)).groups))
        yield made


def _width(rule: str, X: Any) -> float:
    """The γ that ``scale`` or ``auto`` takes from rows: 1/n_features, divided by the variance of all entries."""
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    variance = 1.0 if rule == "auto" else float(rows.var())
    return 1.0 / (rows.shape[1] * variance) if variance > 0 else 1.0


def _weight(of_classes: Mapping[int, float] | str | None, y: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """A weight for every observation; "balanced" counts those of a class as many times as the other one has."""
    if of_classes is None:
        return None
    n_pos = int((y == 1).sum())
    weights = {0: float(n_pos), 1: float(y.size - n_pos)} if isinstance(of_classes, str) else of_classes
    return np.where(y == 1, weights[1], weights[0])


def configured_program(folder: Path, allow: Sequence[str] = ()) -> Configured:
    """The program in ``config.yaml``."""
    from auclab.runs.stored.configuration import stored_experiment

    experiment = stored_experiment(folder, allow=allow)
    configuration = experiment.configuration
    formulation = {key: value for key, value in configuration["formulation"].items() if not key.startswith("_")}
    target = str(configuration["formulation"].get("_target_", ""))
    name = CLASSES.get(target.rpartition(".")[2])
    if name is None or not target.startswith(HOME):
        raise no_twin("formulation", target, FORMULATIONS)
    tuned = (configuration.get("tune") or {}).get("parameter")
    kernel = configuration.get("kernel") or {}
    tolerance = as_number((kernel or configuration.get("solver") or {}).get("tolerance"))
    own = {key: kernel[key] for key in ("name", "gamma", "degree", "coef0") if key in kernel}
    bounds = tuple((configuration.get("bounds") or {}).get("own") or ())
    return Configured(formulation | {"name": name}, tuned, tolerance, own, bounds)
