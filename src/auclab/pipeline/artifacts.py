"""The files of one run: certificate, bounds, metrics, coefficients, and the scores."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from auclab.pipeline.results import Fold, Result
from auclab.tracking.address import hide_password

#: Labels and scores of the held-out part, or of the training part where nothing was held out: full precision, parquet.
SCORES_FILE = "scores.parquet"


def write_artifacts(result: Result, folder: Path, *, config: str) -> list[Path]:
    """Write all files of a run below `folder` and return the folder of each split.

    Several splits go to ``fold_0``, ``fold_1``, … and ``folds.csv``.

    Parameters
    ----------
    result : Result
    folder : Path
        Exists and is empty.
    config : str
        The resolved configuration as yaml; passwords in addresses are not kept.
    """
    several = len(result.folds) > 1
    folders = [folder / f"fold_{number}" if several else folder for number in range(len(result.folds))]
    (folder / "config.yaml").write_text(hide_password(config), encoding="utf-8")
    _write_json(folder / "metrics.json", result.summary)
    for fold, fold_folder in zip(result.folds, folders, strict=True):
        fold_folder.mkdir(exist_ok=True)
        write_fold(fold, fold_folder)
    if several:
        rows = [{"fold": fold.split.name, "status": str(fold.solution.status), **fold.numbers} for fold in result.folds]
        pd.DataFrame(rows).to_csv(folder / "folds.csv", index=False)
    return folders


def write_fold(fold: Fold, folder: Path) -> None:
    """Certificate, bounds, metrics, coefficients, history and scores of one solved split."""
    solution = fold.solution
    certificate = asdict(solution.certificate) | {
        "status": str(solution.status),
        "advice": solution.status.advice,
        "solver": solution.solver,
        "formulation": solution.formulation.equation(),
        "seconds": asdict(solution.timings) | {"total": solution.timings.total},
        "iterations": solution.iterations,
        "optimum": asdict(fold.optimum),
        "notes": list(solution.notes),
    }
    _write_json(folder / "certificate.json", certificate)
    bounds = [asdict(item) | {"statement": item.statement} for item in fold.guarantees]
    _write_json(folder / "bounds.json", {"bounds": bounds, "remarks": list(fold.remarks)})
    _write_json(folder / "metrics.json", fold.numbers)
    rows = [*zip(fold.features, solution.coef, strict=True), ("(intercept)", solution.intercept)]
    pd.DataFrame(rows, columns=["feature", "coefficient"]).to_csv(folder / "coefficients.csv", index=False)
    history = pd.DataFrame(list(solution.history), columns=["seconds", "objective", "lower_bound"])
    history.to_csv(folder / "history.csv", index=False)
    name = "test" if "test" in fold.parts else "train"
    _write_scores(fold, name, folder)
    if fold.tuning is not None:
        from auclab.pipeline.tuning_path import DPI, draw_tuning_path

        fold.tuning.path.to_csv(folder / "tuning.csv", index=False)
        draw_tuning_path(fold.tuning).savefig(folder / "tuning.png", dpi=DPI)


def _write_scores(fold: Fold, name: str, folder: Path) -> None:
    """What every figure and metric of the part can be made from again; `row` counts the data set's rows from 0."""
    part, rows = fold.parts[name], fold.split.test if name == "test" else fold.split.train
    table = {"row": rows, "part": name, "y_true": part.y_true.astype("int8"), "score": part.y_score}
    pd.DataFrame(table).astype({"part": "category"}).to_parquet(folder / SCORES_FILE, index=False, compression="zstd")


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(_strict(content), indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _strict(value: Any) -> Any:
    """JSON knows neither NaN, which becomes null, nor infinity, which becomes a string."""
    if isinstance(value, Mapping):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
