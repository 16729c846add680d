"""The summary of scores in blocks: checked blocks, scores kept in a file, passes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_column, distinct, row_scores
from auclab._core.validation import finite_vector, positive_mask, same_length, weight_vector
from auclab.samples.blocks.files import FAN_IN, GROUP_ROWS, table_sum, tree_sum
from auclab.samples.blocks.labels import BlockLabels, LabelledRows, packed_labels
from auclab.samples.blocks.table import BlockTable

#: Scores of more rows are not kept: 0.8 GB.
MOST_KEPT = 100_000_000
#: The part of the free space of the temporary folder that they may take.
_SHARE_OF_DISK = 0.5


class _File:
    """A file without a name, closed with the last of those who read it."""

    def __init__(self) -> None:
        self.open: Any = tempfile.TemporaryFile(prefix="auclab-scores-")  # noqa: SIM115

    def __del__(self) -> None:
        self.open.close()


class KeptScores:
    """Scores of blocks that are read from a file without a name, 8 bytes each.

    `scores`: block by block, read once. `labels`: which observations of each block are positive.
    """

    def __init__(self, scores: Iterable[Array], labels: Sequence[NDArray[np.bool_]]):
        self._file, self._labels = _File(), labels
        for part in scores:
            np.asarray(part, dtype=np.float64).tofile(self._file.open)
        self._file.open.flush()

    def joined(self) -> KeptScores:
        """The same scores in larger blocks: sums over bins take less time in few of them."""
        groups: list[list[NDArray[np.bool_]]] = [[]]
        for positive in self._labels:
            if sum(part.size for part in groups[-1]) >= GROUP_ROWS:
                groups.append([])
            groups[-1].append(positive)
        found = copy(self)
        found._labels = [np.concatenate(parts) for parts in groups]
        return found

    @staticmethod
    def fits(n_rows: int) -> bool:
        """Whether the scores are kept: they are few enough, and there is space for them."""
        free = shutil.disk_usage(tempfile.gettempdir()).free
        return n_rows <= MOST_KEPT and 8 * n_rows <= _SHARE_OF_DISK * free

    def by_block(self) -> Iterator[Array]:
        """The scores block by block."""
        at = 0
        for positive in self._labels:
            self._file.open.seek(at)
            yield np.fromfile(self._file.open, np.float64, positive.size)
            at += 8 * positive.size

    def reduce(self, task: Task) -> Any:
        """The sum of a task over all blocks, in the order in which they are added where the rows are."""
        blocks = zip(self._labels, self.by_block(), strict=True)
        return tree_sum(task(scored_block(positive, scores)) for positive, scores in blocks)


class ScoredBlock(NamedTuple):
    """Scores of either class with their weights > 0, or None for ones."""

    pos: Array
    neg: Array
    weight_pos: Array | None
    weight_neg: Array | None


def scored_block(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> ScoredBlock:
    """Check a block and split it by class; rows of weight 0 are dropped, and a block may be empty."""
    positive = _positive(y_true, pos_label)
    column = as_column("y_score", y_score, may_be_empty=True)
    scores = np.ascontiguousarray(finite_vector("y_score", column, infinite=True)) if column.size else np.empty(0)
    same_length(y_true=positive, y_score=scores)
    if sample_weight is None or not scores.size:
        return ScoredBlock(scores[positive], scores[~positive], None, None)
    weight = weight_vector(sample_weight, scores.size)
    assert weight is not None
    pos, neg = positive & (weight > 0), ~positive & (weight > 0)
    return ScoredBlock(scores[pos], scores[neg], weight[pos], weight[neg])


def _positive(y_true: ArrayLike, pos_label: Any) -> NDArray[np.bool_]:
    """Which rows are positive, as `auclab._core.validation.positive_mask` says it for a sample with both classes."""
    labels = as_column("labels", y_true, may_be_empty=True)
    if labels.dtype.kind == "b" and pos_label is None:
        return labels
    if pos_label is None and labels.dtype.kind in "iuf":
        positive = labels == 1
        if (positive | (labels == 0)).all() or (positive | (labels == -1)).all():
            return np.asarray(positive)
    values = distinct("labels", labels).tolist()
    if pos_label is None:
        raise AuclabError(
            f"labels of a block must be 0/1, −1/+1 or booleans, got {', '.join(map(repr, values[:6]))}; "
            "name the positive one with pos_label"
        )
    if len([value for value in values if value != pos_label]) > 1:
        raise AuclabError(f"two classes are needed, got the labels {', '.join(map(repr, values[:6]))} in one block")
    return np.asarray(labels == pos_label)


T = TypeVar("T")
Task = Callable[[ScoredBlock], Any]


class ScoreBlocks(Protocol):
    """Blocks of scores that can be read several times.

    See Also
    --------
    score_blocks : Makes them from lists of arrays, functions, Dask collections.
    scored_table : Makes them from a table in blocks and coefficients.

    Examples
    --------
    >>> from auclab.metrics import score_blocks, summarise
    >>> blocks = score_blocks([([0, 0], [0.0, 2.0]), ([1, 1], [1.0, 3.0])])
    >>> summarise(blocks).n_pos, summarise(blocks).n_pos  # read once in each pass
    (2, 2)
    """

    def reduce(self, task: Task) -> Any:
        """The sum, by ``+``, of ``task(block)`` over all blocks; one pass."""


@dataclass(frozen=True)
class _BlocksByHand:
    """Tuples ``(y, s)`` or ``(y, s, weight)`` that a function yields again in each pass."""

    read: Callable[[], Iterable[Any]]
    pos_label: Any

    def reduce(self, task: Task) -> Any:
        return tree_sum(task(_checked(parts, self.pos_label)) for parts in self.read())


@dataclass(frozen=True)
class _DaskBlocks:
    """Partitions of Dask collections, summed in a tree on the workers."""

    parts: Sequence[tuple[Any, ...]]
    pos_label: Any

    def reduce(self, task: Task) -> Any:
        import dask

        from auclab.samples.blocks.dask_tables import computed

        level = [dask.delayed(_task_on_parts, pure=False)(task, self.pos_label, *parts) for parts in self.parts]
        while len(level) > 1:
            level = [dask.delayed(tree_sum, pure=False)(level[k : k + FAN_IN]) for k in range(0, len(level), FAN_IN)]
        return computed(level[0])


@dataclass(frozen=True)
class TableScores:
    """The scores ``table @ coef + intercept``; the task is computed, and its results added, where the rows are read."""

    table: BlockTable
    labels: BlockLabels
    coef: Array
    intercept: float = 0.0

    def reduce(self, task: Task) -> Any:
        """The sum of a task over all blocks; one pass."""
        return table_sum(partial(_task_on_rows, task, self.coef, self.intercept), self.table, self.labels)


def score_blocks(y_true: Any, y_score: Any = None, *, sample_weight: Any = None, pos_label: Any = None) -> ScoreBlocks:
    """Labels and scores in blocks, for `summarise`.

    Parameters
    ----------
    y_true : sequence of tuples, function, array, or Dask Array or Series
        Without `y_score`: tuples ``(y, s)`` or ``(y, s, weight)`` of arrays, one for each block, or a function without
        arguments that returns an iterable of them and is called once a pass. With it: the labels.
    y_score, sample_weight : arrays, or Dask Arrays or Series
        With the same partitions as `y_true`.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans. All other labels are
        negative; one class may be missing in a block.

    Raises
    ------
    AuclabError
        Partitions that do not match; Dask collections with others. What a block contains is checked when it is read.

    See Also
    --------
    summarise : Reads them.
    scored_table : The same from a table in blocks and coefficients.

    Examples
    --------
    >>> from auclab.metrics import summarise
    >>> blocks = score_blocks([([1, 1], [4.0, 1.0]), ([0, 0], [2.0, 0.0])])
    >>> summarise(blocks).auc()
    Interval(low=0.75, high=0.75)
    """
    if y_score is None:
        if callable(y_true):
            return _BlocksByHand(y_true, pos_label)
        tuples = list(y_true)
        if not tuples or not all(isinstance(parts, tuple | list) and len(parts) in (2, 3) for parts in tuples):
            raise AuclabError("blocks must be tuples (y, s) or (y, s, weight) of arrays, at least one")
        return _BlocksByHand(lambda: tuples, pos_label)
    given = [part for part in (y_true, y_score, sample_weight) if part is not None]
    if not any(hasattr(part, "to_delayed") for part in given):
        return _BlocksByHand(lambda: [tuple(given)], pos_label)
    if not all(hasattr(part, "to_delayed") for part in given):
        raise AuclabError("labels, scores and weights must all be Dask collections, or none of them")
    delayed = [_delayed(part) for part in given]
    if len({len(parts) for parts in delayed}) > 1:
        sizes = ", ".join(str(len(parts)) for parts in delayed)
        raise AuclabError(f"the Dask collections have {sizes} partitions; rechunk or repartition them alike")
    return _DaskBlocks(list(zip(*delayed, strict=True)), pos_label)


def _delayed(collection: Any) -> list[Any]:
    """The partitions of a collection; Dask's optimisation would join those of a series that is read from files."""
    if hasattr(collection, "simplify"):
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(np.ravel(collection.to_delayed()))


def scored_table(
    table: BlockTable,
    y_true: ArrayLike,
    coef: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> ScoreBlocks:
    """The scores ``table @ coef`` of a table in blocks, computed where the rows are read; for `summarise`.

    Parameters
    ----------
    table : BlockTable of shape (n_rows, n_columns)
    y_true : array of shape (n_rows,)
        Labels.
    coef : array of shape (n_columns,)
    sample_weight : array of shape (n_rows,), optional
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Raises
    ------
    AuclabError
        One class only, lengths that differ, negative weights.

    See Also
    --------
    score_blocks : Scores from anywhere else.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from auclab.metrics import summarise
    >>> from auclab.samples.blocks import open_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"age": [30.0, 40.0], "y": [0, 1]}).to_parquet(f"{folder}/rows.parquet")
    ...     table, labels = open_parquet(folder, target="y")
    ...     print(summarise(scored_table(table, labels.astype(int), [1.0])).n_pos)
    1
    """
    positive, vector = positive_mask(y_true, pos_label), np.asarray(coef, dtype=np.float64)
    if len(table) != positive.size or vector.shape != (table.shape[1],):
        raise AuclabError(
            f"a table of shape {table.shape} needs a label per row and a coefficient per column, got "
            f"{positive.size} labels and coefficients of shape {vector.shape}"
        )
    return TableScores(table, packed_labels(table, positive, weight_vector(sample_weight, positive.size)), vector)


def _checked(parts: Any, pos_label: Any) -> ScoredBlock:
    y, s, *weight = parts
    return scored_block(y, s, weight[0] if weight else None, pos_label)


def _task_on_parts(task: Task, pos_label: Any, *parts: Any) -> Any:
    """A task of a Dask worker."""
    return task(_checked(parts, pos_label))


def _task_on_rows(task: Task, coef: Array, intercept: float, block: LabelledRows) -> Any:
    """A task of an engine."""
    return task(scored_block(block.positive, row_scores(block.rows, coef) + intercept, block.weight))
