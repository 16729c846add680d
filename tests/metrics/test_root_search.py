"""The root of a step function: right to the last bit, and in few sweeps."""

from __future__ import annotations

import bisect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab.metrics.pair_errors import Bracket, close_in, smallest_root


class Steps:
    """A non-decreasing step function given by its levels and values, which counts its sweeps."""

    def __init__(self, levels, values):
        self.levels, self.values, self.sweeps = list(levels), list(values), 0

    def __call__(self, level):
        self.sweeps += 1
        i = bisect.bisect_right(self.levels, level) - 1
        above = self.levels[i + 1] if i + 1 < len(self.levels) else math.inf
        return self.values[i], self.levels[i], above

    @property
    def root(self):
        return next(level for level, value in zip(self.levels, self.values, strict=True) if value >= 0)

    @property
    def bracket(self):
        return Bracket(self.levels[0], self.levels[-1], self.values[0] - 1.0, self.values[-1])


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30, unique=True),
    st.lists(st.floats(-1e9, 1e9), min_size=30, max_size=30),
    st.floats(-1e3, 1e3),
    st.floats(0, 1e3),
)
def test_finds_the_level_for_any_steps(levels, values, guess, radius):
    levels = sorted(level / 4 for level in levels)  # their span stays finite
    levels = sorted(set(levels))
    values = sorted(values)[: len(levels)]
    values[-1] = abs(values[-1])
    values[0] = min(values[0], values[-1])
    steps = Steps(levels, values)
    assert smallest_root(steps, steps.bracket) == steps.root
    assert steps.sweeps <= 4 * 64
    bracket = steps.bracket
    close_in(steps, bracket, guess, radius)
    assert bracket.low <= steps.root <= bracket.high
    assert smallest_root(steps, bracket) == steps.root


@pytest.mark.parametrize("shape", [lambda x: x**3, lambda x: np.exp(8 * x) - 20, lambda x: x + 1 - 1e-12])
def test_smooth_functions_need_few_sweeps(shape):
    levels = np.sort(np.random.default_rng(0).uniform(-1, 1, 10_000))
    steps = Steps(levels, shape(levels))
    assert smallest_root(steps, steps.bracket) == steps.root
    assert steps.sweeps <= 25


def test_a_root_at_the_lower_end():
    steps = Steps([1.0, 2.0], [0.0, 5.0])
    assert smallest_root(steps, steps.bracket) == 1.0


def test_stops_when_the_bracket_is_close():
    steps = Steps(np.linspace(-1, 1, 1001), np.linspace(-1, 1, 1001))
    bracket = steps.bracket
    level = smallest_root(steps, bracket, is_close=lambda b: b.high - b.low < 0.1)
    assert bracket.low <= steps.root <= bracket.high == level
