"""Levels of the checker. They are its own, so that no change of the solvers' levels changes what counts as proved."""

from __future__ import annotations

#: Spacing of the floats at 1.
EPSILON = 2.0**-52
#: What rounding leaves of a few sums; numbers that count as equal.
ROUNDING, EQUAL = 1e-12, 1e-9
#: Below this objective a gap is absolute, in units of it.
SMALL_OBJECTIVE = 1e-3
#: The most steps of a correction.
MOST_STEPS = 200
