"""Compile time kept apart from solve time: a family of loops is called once on two observations before it is needed.

Numba compiles a loop for each layout and type of its arguments, in a tenth to half a second each. A solve asks for the
families that it needs, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numba.core import event

from auclab._core.hinge import FEW, ascending, pair_hinge_active, pair_hinge_value
from auclab._core.pieces import (
    opposite_piece_slopes,
    pair_piece_sums,
    point_piece_sums,
    slope_row_sums,
    smoothed_level,
    sparse_slope_row_sums,
    sweep_losses,
)
from auclab._core.rows import sparse_gram, sparse_window_products
from auclab._core.smooth import (
    add_window_differences,
    add_window_rows,
    sorted_with_prefix,
    sums_of_entries,
    sweep_neg,
    sweep_pos,
    window_sums,
)

#: Mean hinges over pairs; their subgradients; piecewise sums over pairs, or over points; the order of many scores; the
#: hardest negatives; sparse products.
Family = Literal["values", "cuts", "pairs", "points", "sorting", "hardest", "sparse"]
#: Seconds below which a call did not compile.
_MIN_COMPILE_SECONDS = 1e-3


def compile_loops(*families: Family) -> float:
    """Compile families of loops, or load them from numba's cache; the seconds it took, 0 if they were ready."""
    start = perf_counter()
    for family in families:
        _CALLS[family]()
    seconds = perf_counter() - start
    return seconds if seconds > _MIN_COMPILE_SECONDS else 0.0


@contextmanager
def compiling_to(listener: Callable[[bool], None]) -> Iterator[None]:
    """Call `listener` with True when numba begins to compile a loop and with False at the end; not of loading."""
    with event.install_listener("numba:compile", _Teller(listener)):
        yield


class _Teller(event.Listener):
    """Reports the outermost loop alone, not those that it calls."""

    def __init__(self, listener: Callable[[bool], None]) -> None:
        self._listener, self._depth = listener, 0

    def on_start(self, event: Any) -> None:
        """Numba calls this."""
        self._depth += 1
        if self._depth == 1:
            self._listener(True)

    def on_end(self, event: Any) -> None:
        """Numba calls this, also after an error."""
        self._depth -= 1
        if self._depth == 0:
            self._listener(False)


def cache_folder() -> Path:
    """Where numba keeps what it has compiled of this package: next to the modules, or below NUMBA_CACHE_DIR."""
    return Path(str(window_sums.stats.cache_path))


@cache
def _values() -> None:
    scores = np.array([0.0, 1.0])
    pair_hinge_value(scores, scores, 1.0, scores, scores)


@cache
def _cuts() -> None:
    scores = np.array([0.0, 1.0])
    pair_hinge_active(scores, scores, 1.0, scores, scores)


@cache
def _pairs() -> None:
    scores, table, slopes = np.array([0.0, 1.0]), np.ones((2, 3)), np.ones((2, 2))
    starts = np.array([0, 2])
    sides = scores, scores, scores, scores, starts, starts
    first = pair_piece_sums(*sides, 1.0, scores, table, slopes, table, scores)[0]
    opposite_piece_slopes(scores, scores, scores, starts, starts, 1.0, scores, slopes)
    window_sums(scores, first[0], first[1])
    sums_of_entries(scores, scores, first[0], 2)
    ordered = sorted_with_prefix(scores, scores, first[0])
    add_window_differences(scores.copy(), ordered[0], scores, first[0], first[0], first[0], *ordered[1:], 1.0, 1.0)
    k = first[0]
    add_window_rows(np.eye(2), k, scores, k, scores, k, k, 1.0, k, np.zeros((2, 2)))


@cache
def _points() -> None:
    scores, table, slopes = np.array([0.0, 1.0]), np.ones((2, 3)), np.ones((2, 2))
    point_piece_sums(scores, scores, scores, table, slopes, table)


@cache
def _sorting() -> None:
    ascending(np.arange(float(FEW)))


@cache
def _hardest() -> None:
    scores, rows = np.array([0.0, 1.0]), sp.csr_array(np.eye(2))
    first, last = sweep_losses(scores, scores, scores, 1.0, 0.5)[:2]
    sweep_pos(scores, scores, scores, scores, 1.0, 0.5)
    sweep_neg(scores, scores, scores, 1.0, 0.5)
    smoothed_level(scores, scores, 1.0, 0.5)
    windows = scores, scores, scores, first, last, 1.0, 0.5
    slope_row_sums(np.eye(2), *windows)
    sparse_slope_row_sums(rows.data, rows.indices, rows.indptr, np.array([0, 1], dtype=np.int32), *windows, 2)


@cache
def _sparse() -> None:
    rows, order = sp.csr_array(np.eye(2)), np.array([0, 1], dtype=np.int32)
    shares = np.ones(2)
    sparse_gram(rows, shares)
    sparse_window_products(rows, rows, (order, order), (shares, shares), order, order)


_CALLS: dict[Family, Callable[[], None]] = {
    "values": _values,
    "cuts": _cuts,
    "pairs": _pairs,
    "points": _points,
    "sorting": _sorting,
    "hardest": _hardest,
    "sparse": _sparse,
}
