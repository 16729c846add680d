"""Compile time kept apart: each family of kernels is called once on two observations before a clock starts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import perf_counter

import numpy as np

from auclab.compiled.hinge import pair_hinge_active, pair_hinge_value
from auclab.compiled.smooth import sweep_neg, sweep_pos, window_row_sums, window_sums

#: Less than this is a call, not a compilation.
_NOTICEABLE = 1e-3


def compile_hinge() -> float:
    """Compile the hinge kernels, or load them from numba's cache; the seconds it took, 0 when they are ready."""
    return _seconds(_hinge)


def compile_smooth() -> float:
    """Compile the kernels of the smoothed hinge; the seconds it took, 0 when they are ready."""
    return _seconds(_smooth)


def _seconds(kernels: Callable[[], None]) -> float:
    start = perf_counter()
    kernels()
    seconds = perf_counter() - start
    return seconds if seconds > _NOTICEABLE else 0.0


@cache
def _hinge() -> None:
    scores = np.array([0.0, 1.0])
    pair_hinge_value(scores, scores, 1.0, scores, scores)
    pair_hinge_active(scores, scores, 1.0, scores, scores)


@cache
def _smooth() -> None:
    scores = np.array([0.0, 1.0])
    first, last = sweep_pos(scores, scores, scores, scores, 1.0, 0.5)[:2]
    sweep_neg(scores, scores, scores, 1.0, 0.5)
    window_sums(scores, first, last)
    window_row_sums(np.eye(2), scores, first, last)
