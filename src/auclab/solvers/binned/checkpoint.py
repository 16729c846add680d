"""The state of a solve over bins, written after every pass, from which it can go on."""

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

#: Of the layout of the file.
_VERSION = 1


@dataclass(frozen=True)
class State:
    """Where a solve is before its next pass; points are ``θ = (w, b, ‖w‖)``, shape (n_features + 2,).

    `next`: where the next pass is made. `n_bins`: its bins. `passes`: that have been made. `best`: the best point so
    far. `value`: its objective, an upper limit. `bound`, `residual`, `radius`: what has been proved. `proof_coef`,
    `proof_moves`, `proof_edges`, `proof_values`: the multipliers that prove the bound, as `BinMultipliers` has them.
    `predicted`: by how much the objective falls on the way to `next`, as its model says. `step`: from the best point to
    the next one that was proposed. `other`: where the last program of bin means had its minimum. `failures`: passes
    since the best point at points that were worse. `tried_other`: whether `other` has been tried since the steps have
    converged. `history` (k, 3): seconds, objective, bound.
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
    """The file of a solve in a folder, by what it depends on: the program, the tolerance, the blocks with their labels.

    Of the rows, which are not read for it, count their files with the time of the last change, those that were drawn,
    and the ranges of all: rows of a file that was replaced are a solve of their own.

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
    """Write the state in place of an earlier one; a file is always whole."""
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
