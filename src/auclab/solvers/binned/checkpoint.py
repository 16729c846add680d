"""The state of a solve over bins, written after every pass so that the solve can be resumed."""

from __future__ import annotations

import hashlib
import os
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from auclab.formulations.problem import Problem
from auclab.samples.blocks.block_sample import BlockSample
from auclab.samples.blocks.files import file_state
from auclab.types import Array, AuclabError

#: Version of the file's layout.
_VERSION = 1


@dataclass(frozen=True)
class State:
    """The state of a solve before its next pass; points are ``θ = (w, b, ‖w‖)``, shape (n_features + 2,).

    `next`: the point of the next pass. `n_bins`: its bins. `passes`: number of passes so far. `best`: the best point so
    far. `value`: its objective, an upper limit. `bound`, `residual`, `radius`: the proved bound. `proof_coef`,
    `proof_moves`, `proof_edges`, `proof_values`: the multipliers that prove the bound, as `BinMultipliers` has them.
    `predicted`: decrease of the objective that the model predicts for `next`. `step`: from the best point to the last
    proposed one. `other`: the minimum of the last program of bin means. `failures`: passes at worse points since the
    best one. `tried_other`: whether `other` has been tried since the steps converged. `history` (k, 3): seconds,
    objective, bound.
    """

    next: Array
    n_bins: int
    passes: int = 0
    best: Array = field(default_factory=lambda: np.empty(0))
    value: float = np.inf
    bound: float = -np.inf
    residual: float = np.nan
    radius: float = np.inf
    proof_coef: Array = field(default_factory=lambda: np.empty(0))
    proof_moves: Array = field(default_factory=lambda: np.empty(0))
    proof_edges: Array = field(default_factory=lambda: np.empty(0))
    proof_values: Array = field(default_factory=lambda: np.empty((2, 0)))
    predicted: float = np.inf
    step: Array = field(default_factory=lambda: np.empty(0))
    other: Array = field(default_factory=lambda: np.empty(0))
    failures: int = 0
    tried_other: bool = False
    history: Array = field(default_factory=lambda: np.empty((0, 3)))


def checkpoint_path(folder: str | Path, problem: Problem, tolerance: float) -> Path:
    """The file of a solve in a folder; its name is a hash of the program, the tolerance, and the labelled blocks.

    The rows are not read for it: they enter by their files with the times of the last change, the drawn rows, and
    peaks, spreads and offsets of the columns, so that a replaced file starts a new solve.

    `folder`: made if it does not exist. `problem`: its sample is in blocks.
    """
    sample = cast("BlockSample", problem.sample)
    digest = hashlib.sha256(repr((problem.program, tolerance, sample.n_pos, sample.n_neg)).encode())
    for path in sorted({str(each.block.source.path) for each in sample.labels if hasattr(each.block.source, "path")}):
        digest.update(repr((path, file_state(path))).encode())
    for each in sample.labels:
        digest.update(repr((each.block.source, each.block.steps, each.before)).encode())
        for part in (each.block.kept, each.labels):
            digest.update(part or b"")
        digest.update(b"" if each.weight is None else np.ascontiguousarray(each.weight).tobytes())
    drawn = [] if sample.drawn is None else [sample.drawn.X_pos, sample.drawn.X_neg]
    for values in (sample.peaks, sample.spread, sample.offset, *drawn):
        digest.update(b"" if values is None else np.ascontiguousarray(values).tobytes())
    place = Path(folder).expanduser()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuclabError(f"the folder {place} for checkpoints cannot be made: {error}") from error
    return place / f"{digest.hexdigest()[:32]}.npz"


def write_checkpoint(path: Path, state: State) -> None:
    """Write the state in place of an earlier one, atomically."""
    part = path.with_name(path.name + ".part")
    content: dict[str, Any] = {name: np.asarray(each) for name, each in vars(state).items()}
    try:
        with part.open("wb") as file:
            np.savez(file, version=_VERSION, **content)
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise AuclabError(f"the checkpoint {path} cannot be written ({error}); choose another folder") from error


def read_checkpoint(path: Path) -> State | None:
    """The state in a file; None where there is no file."""
    if not path.exists():
        return None
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
        if int(content.pop("version")) != _VERSION:
            raise ValueError("of another version")
        plain = State(content["next"], int(content["n_bins"]))
        values = {
            name: content[name] if isinstance(value, np.ndarray) else type(value)(content[name])
            for name, value in vars(plain).items()
        }
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise AuclabError(f"{path} is not a checkpoint of a solve ({error}); delete it") from error
    return replace(plain, **values)
