"""The files of one run: certificate, multipliers, bounds, metrics, coefficients, scores, models; and its record."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from omegaconf import OmegaConf

from auclab._core.base import Array, AuclabError
from auclab._core.files import replace_file
from auclab._core.words import no_formula
from auclab.datasets.splits import take_rows
from auclab.export.formula import INTERCEPT
from auclab.inference.calibration import condensed
from auclab.runs.config.compose import Experiment, built
from auclab.runs.config.settings import RunConfig
from auclab.runs.screen.console import working
from auclab.runs.screen.result_screen import details, line_of
from auclab.runs.split.constrained import SolvedConstraints
from auclab.runs.split.formula import kept_model
from auclab.runs.split.measured import own_directions
from auclab.runs.split.results import Fold, Result
from auclab.runs.stored.stored_files import DETAILS_FILE, MOST_SCORES, SCORES_FILE, TUNING_FIELDS, TUNING_FILE
from auclab.runs.tracking.environment import BETTER_TAG, CODE_TAG, HASH_TAG, SETTINGS_TAG, code_of, fingerprint
from auclab.runs.tracking.model import save_model
from auclab.runs.tracking.record import DatasetEntry, Draft, recording
from auclab.solvers.solution import Fitted

if TYPE_CHECKING:
    from auclab.solvers.kernel.solution import KernelSolution


def write_blocks(
    path: Path, y: NDArray[Any], rows: NDArray[np.integer], name: str, blocks: Iterable[Array], *, part: str = ""
) -> bool:
    """Write a file with one row group per block, in one pass. If nothing would read it, write none and return False.

    `y` (n_samples,): 0/1. `rows` (n_samples,): row numbers in the data set. `name`: name of the column of values.
    `blocks`: the values in row order. `part`: value of a column ``part``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if len(y) > MOST_SCORES:
        return False
    of_part = [("part", pa.dictionary(pa.int8(), pa.string()))] if part else []
    schema = pa.schema([("row", pa.int64()), *of_part, ("y_true", pa.int8()), (name, pa.float64())])
    start = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for values in blocks:
            block = slice(start, start + values.size)
            parts = [pa.DictionaryArray.from_arrays(pa.array(np.zeros(values.size, np.int8)), pa.array([part]))]
            columns = [rows[block].astype(np.int64), *(parts if part else []), y[block].astype(np.int8), values]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema))
            start += values.size
    return True


#: The dual point that proves the lower bound: ``auclab check`` verifies it.
MULTIPLIERS_FILE = "multipliers.parquet"
#: Multipliers of the pairs of ranked rows, of the solvers that have one for every pair.
PAIRS_FILE = "pair_multipliers.parquet"


def write_artifacts(result: Result, folder: Path, *, config: str, export: Path | None = None) -> list[Path]:
    """Write all files of a run below `folder` and return the folder of each split.

    Several splits go to ``fold_0``, ``fold_1``, … and ``folds.csv``.

    `folder`: an existing empty folder. `config`: the resolved configuration as yaml. `export`: a path
    with the name of the model of each split; None for no models.
    """
    several, folders = len(result.folds) > 1, split_folders(folder, len(result.folds))
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    write_json(folder / "metrics.json", result.summary)
    write_json(folder / DETAILS_FILE, {"lines": details(result)})
    for fold, fold_folder in zip(result.folds, folders, strict=True):
        fold_folder.mkdir(exist_ok=True)
        write_fold(fold, fold_folder, dataset_sha256=result.dataset.sha256, prepared=result.prepared)
        if export is not None and fold.problem is not None:
            from auclab.models.pyomo_model import write_model

            write_model(fold.problem, fold_folder / export.name, fold.features)
    if several:
        rows = [_fold_row(fold) for fold in result.folds]
        pd.DataFrame(rows).to_csv(folder / "folds.csv", index=False)
    return folders


def split_folders(folder: Path, n_splits: int) -> list[Path]:
    """The folder of each split in the folder of a run."""
    return [folder / f"fold_{number}" for number in range(n_splits)] if n_splits > 1 else [folder]


def copy_models(folder: Path, n_splits: int, export: Path | None) -> list[Path]:
    """Copy the models of a run to where its user wants them, several with the number of the split in their names.

    `folder`: files of the run. `export`: the path; None for no models. Returns the paths.
    """
    copies: list[Path] = []
    if export is None:
        return copies
    for source in split_folders(folder, n_splits):
        copy = export if n_splits == 1 else export.with_stem(f"{export.stem}_{source.name}")
        try:
            copy.parent.mkdir(parents=True, exist_ok=True)
            with replace_file(copy) as draft:
                shutil.copyfile(source / export.name, draft)
        except OSError as error:
            raise AuclabError(
                f"the run is kept, and its model is {source / export.name}, but it cannot be copied to {copy}: {error}"
            ) from error
        copies.append(copy)
    return copies


def _fold_row(fold: Fold) -> dict[str, Any]:
    words = {"fold": fold.split.name, "status": str(fold.solution.status)}
    return words | {"scorer": "constant" if fold.is_constant else ""} | fold.numbers


def write_fold(fold: Fold, folder: Path, *, dataset_sha256: str = "", prepared: Sequence[str] = ()) -> None:
    """Certificate, multipliers, bounds, metrics, coefficients, history and scores of one solved split."""
    solution = fold.solution
    certificate = asdict(solution.certificate) | {
        "status": str(solution.status),
        "advice": solution.status.advice,
        "solver": solution.solver,
        "formulation": solution.equation,
        "program": _program(fold),
        "tolerance": getattr(fold.model[-1], "tolerance", None),  # a baseline has none
        "data": {
            "dataset_sha256": dataset_sha256,
            "training_sha256": fold.training_sha256,
            "rows": len(fold.split.train),
            "features": len(fold.features),
            "prepared": list(prepared),
        },
        "seconds": asdict(solution.timings) | {"tune": fold.seconds_of_tuning, "total": fold.seconds},
        "iterations": solution.iterations,
        "optimum": None if fold.optimum is None else asdict(fold.optimum),
        "notes": list(solution.notes),
        "steps": [asdict(step) for step in solution.steps],
    }
    if (scorer := solution.on_landmarks) is not None:
        certificate["kernel"] = _kernel(scorer)
        landmark_table(fold, scorer).to_csv(folder / "landmarks.csv", index=False)
    if scorers := getattr(solution, "dual_scorers", ()):  # a baseline has none
        certificate["scorers"] = [
            {"weight": weight, "coef": coef.tolist(), "half_width": width} for weight, coef, width in scorers
        ]
    if functions := getattr(solution, "dual_functions", ()):  # of kernels alone
        certificate["scorers"] = [_function(*each) for each in functions]
    if solution.spread is not None:
        certificate["spread"] = solution.spread.tolist()
    if fold.constraints is not None:
        certificate["constraints"] = _constraints(fold.solution, fold.constraints)
    if fold.tuning is not None:
        certificate["tuning"] = {name: getattr(fold.tuning, name) for name in TUNING_FIELDS}
    write_json(folder / "certificate.json", certificate)
    _write_multipliers(fold, folder)
    bounds = [asdict(item) | {"statement": item.statement} for item in fold.guarantees]
    write_json(folder / "bounds.json", {"bounds": bounds, "remarks": list(fold.remarks)})
    write_json(folder / "metrics.json", fold.numbers)
    if fold.solution.coef is not None:  # trees and kernels have none
        coefficient_table(fold).to_csv(folder / "coefficients.csv", index=False)
    history = pd.DataFrame(list(solution.history), columns=["seconds", "objective", "lower_bound"])
    history.to_csv(folder / "history.csv", index=False)
    name = "test" if "test" in fold.parts else "train"
    _write_scores(fold, name, folder)
    if fold.card is not None:
        from auclab.runs.split.formula import write_card

        write_card(fold.card, folder)
    if fold.tuning is not None:
        fold.tuning.path.to_csv(folder / TUNING_FILE, index=False)


def landmark_table(fold: Fold, solution: KernelSolution) -> pd.DataFrame:
    """``landmarks.csv``: row in the data set (from 0) and coefficient of each landmark."""
    rows = np.asarray(fold.split.train)[solution.landmarks]
    return pd.DataFrame({"row": rows, "coefficient": solution.dual_coef})


def _kernel(solution: KernelSolution) -> dict[str, Any]:
    """The kernel, the function space in which the bound holds, and the stages of the solve."""
    return {
        "name": solution.kernel.name,
        **solution.kernel.get_params(),
        "space": solution.space,
        "landmarks": solution.n_landmarks,
        "intercept": solution.intercept,
        "length": solution.length,
        "rounding": solution.rounding,
        "stages": [asdict(stage) for stage in solution.stages],
    }


def coefficient_table(fold: Fold) -> pd.DataFrame:
    """``coefficients.csv``: a line per prepared feature; the constant comes last.

    ``feature`` and ``coefficient`` are those of the scorer after preprocessing; ``column``, ``value``, ``effect`` and
    ``share`` are in the units of the data (`auclab.export.formula.Effects`), where the scorer is a formula there.
    """
    names = map(no_formula, map(str, fold.features))  # names in a data file are untrusted
    coef = np.asarray(fold.solution.coef)
    rows = [*zip(names, coef, strict=True), (INTERCEPT, fold.solution.intercept)]
    table = pd.DataFrame(rows, columns=["feature", "coefficient"])
    if fold.effects is None:
        return table
    own = fold.effects.table
    constant = pd.DataFrame([{"column": "", "value": "", "effect": fold.effects.base, "share": math.nan}])
    own = pd.concat([own.assign(column=own["column"].map(no_formula), value=own["value"].map(no_formula)), constant])
    return pd.concat([table, own.reset_index(drop=True)], axis=1)


def _program(fold: Fold) -> dict[str, Any]:
    """The formulation that was solved; over comparable pairs, also which rows are compared."""
    named, solved = fold.formulation, fold.solution.formulation
    described = {"name": named.name, "class": _class_of(named), **_parameters(named)}
    return described if named is solved else described | {"comparisons": _described(solved.comparisons)}


def _parameters(program: Any) -> dict[str, Any]:
    """Parameters of the equation under their configuration names."""
    shared = {}
    if (regulariser := getattr(program, "regulariser", None)) is not None:  # else a baseline
        shared = regulariser.stored() | {"threshold": program.threshold}
    return {name: _described(value) for name, value in (shared | program.get_params()).items()}


def _described(value: Any) -> Any:
    """A parameter unchanged, or the class and fields of a piece, which may come from another package."""
    if type(value).__module__ in ("builtins", "numpy"):
        return value
    parts = {field.name: getattr(value, field.name) for field in fields(value)} if is_dataclass(value) else {}
    return {"class": _class_of(value)} | {name: _described(part) for name, part in parts.items()}


def _function(weight: float, coef: Array, half_width: float, start: float) -> dict[str, Any]:
    """A scorer over a kernel: the training rows that have a coefficient, and what margins are taken from."""
    used = np.flatnonzero(coef)
    values = {"places": used.tolist(), "coef": coef[used].tolist()}
    return {"weight": weight, **values, "half_width": half_width, "start": start}


def _class_of(value: Any) -> str:
    """Module and name of the class of a formulation or piece: another package may have a class of the same name."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _constraints(solution: Fitted, solved: SolvedConstraints) -> dict[str, Any]:
    """Constraints on the prepared columns, the active ones, and multipliers in the order of `all_rows`."""
    stated, multipliers = solution.constraints, solution.constraint_multipliers
    rows = [{"columns": np.flatnonzero(row).tolist(), "values": row[row != 0].tolist()} for row in stated.matrix]
    return {
        "lower": stated.lower.tolist(),
        "upper": stated.upper.tolist(),
        "rows": rows,
        "limit": stated.limit.tolist(),
        "equal": stated.equal.tolist(),
        "max_features": stated.max_features,
        "multipliers": None if multipliers is None else multipliers.tolist(),
        "active": [asdict(each) for each in solved.active],
        "statement": solved.statement,
    }


def _write_multipliers(fold: Fold, folder: Path) -> None:
    """The dual point of the bound, a row per training observation in full precision; no file without one.

    For partial AUC, `share` are the weights r of the negatives. `row` counts the data set's rows from 0. A model of
    every pair within groups, of grades or of times has the multipliers of single pairs in a file of their own.
    """
    solution, y_true, path = fold.solution, fold.parts["train"].y_true, folder / MULTIPLIERS_FILE
    target = fold.parts["train"].part.ranked_by
    if fold.in_blocks is not None and solution.bin_multipliers is not None:
        values = solution.bin_multipliers.by_block(fold.in_blocks, y_true, pos_label=1)
        write_blocks(path, y_true, fold.split.train, "multiplier", values)
        return
    if solution.multipliers is None:
        return
    of_rows = {"y_true": y_true.astype("int8")} if target is None else target.columns
    table = {"row": fold.split.train, **of_rows, "multiplier": solution.multipliers}
    if solution.shares_neg is not None:
        shares = np.full(y_true.size, math.nan)
        shares[y_true == 0] = solution.shares_neg
        table["share"] = shares
    pd.DataFrame(table).to_parquet(path, index=False, compression="zstd")
    if (pairs := getattr(solution, "dual_pairs", None)) is not None:
        rows, (upper, lower, multipliers) = np.asarray(fold.split.train), pairs
        of_pairs = pd.DataFrame({"upper": rows[upper], "lower": rows[lower], "multiplier": multipliers})
        of_pairs.to_parquet(folder / PAIRS_FILE, index=False, compression="zstd")


def _write_scores(fold: Fold, name: str, folder: Path) -> None:
    """Labels and scores, from which all figures and metrics of the part can be recomputed; `row` counts from 0."""
    part, rows = fold.parts[name], fold.split.test if name == "test" else fold.split.train
    if part.y_score is None:
        write_blocks(folder / SCORES_FILE, part.y_true, rows, "score", part.part.by_block(), part=name)
        return
    target = part.part.ranked_by
    of_rows = {"y_true": part.y_true.astype("int8")} if target is None else target.columns
    table = {"row": rows, "part": name, **of_rows, "score": part.y_score}
    pd.DataFrame(table).astype({"part": "category"}).to_parquet(folder / SCORES_FILE, index=False, compression="zstd")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file; NaN becomes null, infinity a string."""
    text = json.dumps(_strict(content), indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _strict(value: Any) -> Any:
    """Values that JSON can represent: NaN becomes null, infinity a string."""
    if isinstance(value, Mapping):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


#: Rows from which MLflow infers the names and types of the columns.
SIGNATURE_ROWS = 5

#: Settings that say what the rows of a data set are ranked by, and their empty values; models store the rest, so that
#: they can be evaluated on new rows.
_TARGETS = ("target", "positive", "negative", "group", "time", "event", "graded", "group_weights")
_UNSAID = (None, False, "pairs")


def record_run(
    experiment: Experiment, folder: Path, *, sweep: str | None = None, parent: str | None = None
) -> AbstractContextManager[Draft]:
    """Compute an experiment in the block; its folder has everything afterwards, also if it failed."""
    return recording(
        folder,
        name=experiment.name,
        tracking=experiment.tracking if experiment.tracking.name == "mlflow" else None,
        params=experiment.params,
        tags={SETTINGS_TAG: fingerprint(experiment.configuration), CODE_TAG: code_of(experiment.configuration)},
        sweep=sweep,
        parent=parent,
    )


def write_run(result: Result, experiment: Experiment, run: Draft) -> None:
    """Write all files to the run's staging folder, and its numbers and tags to its record."""
    wanted = RunConfig(figures=experiment.config.get("figures", "auto")).figures
    if wanted == "auto" and (run.record.sweep is not None or experiment.tracking.name != "mlflow"):
        wanted = "none"
    with working(f"{run.record.name} · writing files"):
        config = OmegaConf.to_yaml(experiment.kept_config, resolve=True)
        folders = write_artifacts(result, run.staging, config=config, export=experiment.export)
        for fold, fold_folder in zip(result.folds, folders, strict=True):
            example = _example(result.dataset.X, fold.split.train[:SIGNATURE_ROWS])
            model = kept_model(fold.model, result.dataset, fold.decision)
            given = experiment.configuration["dataset"]
            scorer = {
                **(fold.scorer or {}),
                "missing": list(given.get("missing") or ()),
                **_reading(result.dataset.written),
                "target": {key: given[key] for key in _TARGETS if given.get(key) not in _UNSAID},
                "scores": _distributions(fold),
            }
            save_model(model, example, fold_folder / "model", scorer=scorer)
            if wanted != "none" and (wanted != "auto" or fold is result.folds[0]):
                _draw(fold, fold_folder, wanted)
    tags = {
        HASH_TAG: fingerprint(experiment.configuration, result.dataset.sha256),
        "status": str(result.folds[-1].solution.status),
    }
    tags |= {f"{BETTER_TAG}.{key}": end for key, end in own_directions(built(experiment, "metrics")).items()}
    if result.constant:
        tags["scorer"] = result.constant
    if experiment.command:
        tags["command"] = experiment.command
    run.keep(
        status="KILLED" if result.interrupted else "FINISHED",
        metrics={key: float(value) for key, value in result.summary.items()},
        dataset=DatasetEntry.of(result.dataset),
        line=line_of(result),
        tags=tags,
    )


def _reading(written: Mapping[str, Any]) -> dict[str, Any]:
    """What new rows need to be read as the training file was, as ``scorer.json`` has it."""
    facts = {key: written[key] for key in ("missing", "usual_missing", "forms") if key in written}
    return {**facts, "written": {key: value for key, value in written.items() if key not in facts}}


def _distributions(fold: Fold) -> dict[str, Any]:
    """Summaries of the scores of both parts, to compare those of new rows with."""
    known = {name: part.y_score for name, part in fold.parts.items() if part.y_score is not None}
    return {
        name: {"rows": int(scores.size), "quantiles": condensed(scores).tolist()}
        for name, scores in known.items()
        if scores.size and np.isfinite(scores).all()
    }


def _draw(fold: Fold, folder: Path, wanted: str) -> None:
    """Draw the figures of the held-out part or of both parts; if nothing was held out, of the training part.

    `wanted`: ``auto`` (ROC curve and scores alone), ``test``, or ``all``: those of the training part too.
    """
    from auclab.runs.record import figures  # imports matplotlib, which takes a third of a second

    figures.draw_tuning(folder)
    last = "test" if "test" in fold.parts else "train"
    title = f"{fold.split.name} · {last} part"
    if fold.parts[last].part.ranked_by is not None:
        for name in fold.parts if wanted == "all" else (last,):
            ending = "" if name == last else f"_{name}"
            part_title = f"{fold.split.name} · {name} part"
            figures.draw_ranked_part(fold.parts[name].part, folder, title=part_title, ending=ending)
        return
    if wanted == "auto":
        figures.draw_part(fold.parts[last].part.for_figures, folder, title=title, stems=("roc", "scores"))
    elif fold.parts[last].y_score is None:
        figures.draw_part(fold.parts[last].part.for_figures, folder, title=title)
    else:
        figures.draw_figures(folder, split=fold.split.name)
    if wanted == "all" and "test" in fold.parts:
        title = f"{fold.split.name} · train part"
        figures.draw_part(fold.parts["train"].part.for_figures, folder, title=title, ending="_train")


def _example(X: Any, rows: NDArray[np.intp]) -> Any:
    """A few rows in memory."""
    some = take_rows(X, rows)
    return some.to_frame() if hasattr(some, "to_frame") else some
