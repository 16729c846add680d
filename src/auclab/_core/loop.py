"""The decorator of compiled loops."""

from __future__ import annotations

from functools import partial

from numba import njit

#: Numba's `njit`, kept on disk. Without the entry point for C, which nothing calls, a loop compiles in 0.8 of the time.
loop = partial(njit, cache=True, no_cfunc_wrapper=True)
