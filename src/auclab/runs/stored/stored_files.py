"""Files that others may have written, read without links and within limits."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab._core.base import Array, AuclabError, GroupWeights
from auclab._core.words import visible
from auclab.datasets.target import Target

if TYPE_CHECKING:
    from auclab.scorecards import Card
    from auclab.solvers.kernel.solution import Stage

#: Stages of a kernel's history that are read.
_MOST_STAGES = 10_000

#: Labels and scores of the held-out part, or of the training part where nothing was held out: full precision, parquet.
SCORES_FILE = "scores.parquet"
#: Lines of `auclab show` that depend on the run alone: pairs of a label and a text.
DETAILS_FILE = "details.json"
#: The values that tuning compared, a line each, and what ``certificate.json`` has of it.
TUNING_FILE = "tuning.csv"
TUNING_FIELDS = ("parameter", "metric", "best", "selected", "one_standard_error", "gamma")
#: The scorecard of a split.
CARD_FILE = "card.json"
#: Bytes up to which a text file is read; the largest that a run writes, the history of a solve, has a few megabytes.
MOST_BYTES = 100_000_000
#: Rows up to which scores are read.
MOST_SCORES = 100_000_000


def stored_file(folder: Path, name: str, *, most: int | None = MOST_BYTES) -> Path | None:
    """A file of a run; None where there is none.

    `folder`: files of the run, or of one of its splits. `name`: name of the file. `most`: largest size in bytes.
    """
    path = _inside(folder, name)
    if not path.exists():
        return None
    if not path.is_file():
        raise AuclabError(f"{path} is not a file that could be read; remove it")
    if most is not None and (size := path.stat().st_size) > most:
        raise AuclabError(
            f"{path} has {size / 1e6:.0f} MB, more than the limit of {most / 1e6:.0f}; auclab did not write it"
        )
    return path


def inner_folder(folder: Path, name: str) -> Path:
    """A folder of a run, such as that of a split, which need not exist."""
    return _inside(folder, name)


def _inside(folder: Path, name: str) -> Path:
    """A path in a folder; links that lead out of it are refused."""
    path = folder / name
    if path.is_symlink():
        raise AuclabError(
            f"{path} is a link, which could lead out of the run's folder; runs contain no links. If you trust its "
            "target, put the target there instead"
        )
    return path


@contextmanager
def damaged(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn exceptions caused by unexpected contents, also those of other libraries, into an `AuclabError`."""
    unexpected: tuple[type[Exception], ...] = (
        *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
        *more,
    )
    try:
        yield
    except AuclabError:
        raise
    except unexpected as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise AuclabError(f"{path} is damaged ({what}); its format is not that of auclab") from error


def read_json(folder: Path, name: str) -> Any:
    """Contents of a JSON file of a run; None where there is none."""
    path = stored_file(folder, name)
    if path is None:
        return None
    with damaged(path):
        return json.loads(path.read_text(encoding="utf-8"))


def read_rows(folder: Path, name: str) -> list[dict[str, str]] | None:
    """Rows of a csv file of a run as text, keyed by its header; None without the file."""
    path = stored_file(folder, name)
    if path is None:
        return None
    # not pandas, which may round the last digit
    with damaged(path, csv.Error), path.open(encoding="utf-8", newline="") as file:
        rows = [{str(key): value for key, value in row.items()} for row in csv.DictReader(file)]
        if any(not isinstance(value, str) for row in rows for value in row.values()):
            raise ValueError("a line has more or fewer cells than the header")
        return rows


@dataclass(frozen=True)
class StoredScores:
    """Labels (0, 1) and scores of one part of a split, shape (n_samples,); `part` is ``train`` or ``test``.

    `row`: row numbers in the data set, from 0, where the file has them. `target`: which rows are compared,
    if not two classes; `y_true` are then grades or times.
    """

    part: str
    y_true: Array
    y_score: Array
    row: Array | None = None
    target: Target | None = None

    @property
    def is_of_classes(self) -> bool:
        """Whether every positive is compared with every negative."""
        return self.target is None


def read_scores(folder: Path) -> StoredScores | None:
    """The stored scores of a split; None without them."""
    path = stored_file(folder, SCORES_FILE, most=None)
    if path is None:
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    with damaged(path, OSError, pa.ArrowException), pq.ParquetFile(path) as file:
        # A small file may declare more rows than fit into memory.
        if (n_rows := file.metadata.num_rows) > MOST_SCORES:
            raise AuclabError(f"{path} says it has {n_rows:,} rows, more than the limit of {MOST_SCORES:,}")
        if n_rows < 1:
            raise ValueError("it has no rows")
        # Without pandas' own metadata, which may name types.
        optional = [name for name in ("row", "event", "group", "groups_alike") if name in file.schema.names]
        names = ["part", "y_true", "score", *optional]
        table = file.read(columns=names).replace_schema_metadata(None)
        part = str(table.column("part")[0].as_py())
        y_true, y_score = (table.column(name).to_numpy() for name in ("y_true", "score"))
        row = table.column("row").to_numpy().astype("int64") if "row" in names else None
        target = stored_target(table)
        y = y_true.astype("int8") if target is None else target.y
        return StoredScores(part, y, y_score.astype(float), row, target)


def stored_target(table: Any) -> Target | None:
    """What the rows of a file of scores or multipliers are ranked by; None for two classes."""
    y = table.column("y_true").to_numpy()
    event, group = (
        table.column(name).to_numpy(zero_copy_only=False) if name in table.column_names else None
        for name in ("event", "group")
    )
    if event is None and group is None and y.dtype.kind != "f":
        return None
    groups = None if group is None else group.astype(str)
    weights: GroupWeights = "groups" if "groups_alike" in table.column_names else "pairs"
    seen = None if event is None else event.astype(bool)
    return Target(y.astype(float), groups, event is None, seen, weights=weights)


#: The scorers for which a lower bound holds, by the stored word.
SPACES = {"whole": "every scorer of the space", "span": "the scorers in the span of the landmarks"}
_SYMBOLS = {"gamma": "γ", "degree": "degree", "coef0": "c₀"}


@dataclass(frozen=True)
class StoredKernel:
    """The kernel of a split and how its space was searched.

    `name`: as in the configuration. `parameters`: those of γ, degree and c₀ that the kernel has. `space`: the scorers
    for which the lower bound holds. `length`: ``‖h‖_H``.
    """

    name: str
    parameters: dict[str, float]
    space: str
    landmarks: int
    length: float
    stages: tuple[Stage, ...]

    @property
    def words(self) -> str:
        """The kernel with its parameters.

        Examples
        --------
        >>> StoredKernel("rbf", {"gamma": 0.5}, "whole", 20, 1.0, ()).words
        'rbf γ = 0.5'
        """
        return " ".join(
            [self.name, ", ".join(f"{_SYMBOLS[key]} = {value:g}" for key, value in self.parameters.items())]
        )


def described_kernels(kernels: Sequence[StoredKernel]) -> tuple[str, str, str]:
    """The kernels of several splits, the range of their landmarks, and the scorers for which the bounds hold."""
    counts, sizes = Counter(kernel.words for kernel in kernels), sorted(kernel.landmarks for kernel in kernels)
    words = "; ".join(name if len(counts) == 1 else f"{count} × {name}" for name, count in counts.items())
    landmarks = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    return words, landmarks, " or ".join(dict.fromkeys(SPACES[kernel.space] for kernel in kernels))


def read_kernel(folder: Path) -> StoredKernel | None:
    """The kernel in ``certificate.json`` of a split; None for a run without one."""
    content = read_json(folder, "certificate.json")
    if content is None or content.get("kernel") is None:
        return None
    from auclab.solvers.kernel.solution import Stage  # with the compiled loops, which most runs do not need

    with damaged(folder / "certificate.json"):
        kernel = content["kernel"]
        stages = tuple(
            Stage(int(stage["landmarks"]), *(float(stage[key]) for key in ("seconds", "objective", "lower_bound")))
            for stage in kernel["stages"][:_MOST_STAGES]
        )
        if kernel["space"] not in SPACES:
            raise ValueError(f"the space {kernel['space']!r} is unknown")
        return StoredKernel(
            name=visible(str(kernel["name"])),
            parameters={key: float(kernel[key]) for key in _SYMBOLS if key in kernel},
            space=kernel["space"],
            landmarks=int(kernel["landmarks"]),
            length=float(kernel["length"]),
            stages=stages,
        )


def read_card(folder: Path) -> Card | None:
    """The scorecard of a split; None if it has none."""
    content = read_json(folder, CARD_FILE)
    if content is None:
        return None
    from auclab.scorecards import Card

    with damaged(folder / CARD_FILE):
        return Card.from_dict(content)
