"""Compile time kept apart from solve time: each family of loops is called once on two observations beforehand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp

from auclab.compiled.hardest import slope_row_sums, smoothed_level, sparse_slope_row_sums, sweep_losses
from auclab.compiled.hinge import pair_hinge_active, pair_hinge_value
from auclab.compiled.pieces import opposite_piece_slopes, pair_piece_sums, point_piece_sums
from auclab.compiled.smooth import sweep_neg, sweep_pos, window_row_sums, window_sums
from auclab.compiled.sparse_rows import sparse_gram, sparse_window_products

#: Seconds below which a call did not compile.
_MIN_COMPILE_SECONDS = 1e-3


def compile_hinge() -> float:
    """Compile the loops of `hinge` or load them from numba's cache; the seconds it took, 0 if they were ready."""
    return _seconds(_hinge)


def compile_smooth() -> float:
    """Compile the loops of `pieces` and `smooth` or load them; the seconds it took, 0 if they were ready."""
    return _seconds(_smooth)


def compile_hardest() -> float:
    """Compile the loops of `hardest` or load them from numba's cache; the seconds it took, 0 if they were ready."""
    return _seconds(_hardest)


def compile_sparse() -> float:
    """Compile the loops of `sparse_rows` or load them from numba's cache; the seconds it took, 0 if they were ready."""
    return _seconds(_sparse)


def cache_folder() -> Path:
    """Where numba keeps what it has compiled of this package: beside the modules, or below NUMBA_CACHE_DIR."""
    return Path(str(window_sums.stats.cache_path))


def _seconds(call: Callable[[], None]) -> float:
    start = perf_counter()
    call()
    seconds = perf_counter() - start
    return seconds if seconds > _MIN_COMPILE_SECONDS else 0.0


@cache
def _hinge() -> None:
    scores = np.array([0.0, 1.0])
    pair_hinge_value(scores, scores, 1.0, scores, scores)
    pair_hinge_active(scores, scores, 1.0, scores, scores)


@cache
def _smooth() -> None:
    scores, table, slopes = np.array([0.0, 1.0]), np.ones((2, 3)), np.ones((2, 2))
    starts = np.array([0, 2])
    sides = scores, scores, scores, scores, starts, starts
    first = pair_piece_sums(*sides, 1.0, scores, table, slopes, table, scores)[0]
    opposite_piece_slopes(scores, scores, scores, starts, starts, 1.0, scores, slopes)
    point_piece_sums(scores, scores, scores, table, slopes, table)
    window_sums(scores, first[0], first[1])
    window_row_sums(np.eye(2), scores, first[0], first[1])


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
