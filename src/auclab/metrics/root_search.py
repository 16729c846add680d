"""Root of a step function of the level γ that is evaluated by sweeps."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass

Sweep = Callable[[float], tuple[float, float, float]]


@dataclass
class Bracket:
    """Two attained levels around the root: F < 0 everywhere below `low`, and ``F(high) ≥ 0``.

    `value_low` and `value_high` are F just below `low` and at `high`.
    """

    low: float
    high: float
    value_low: float
    value_high: float

    def probe(self, sweep: Sweep, trial: float) -> bool:
        """Sweep at a trial in [low, high), shrink to the attained levels next to it; whether high moved."""
        value, below, above = sweep(trial)
        if value >= 0.0:
            self.high, self.value_high = below, value
        else:
            self.low, self.value_low = above, value
        return value >= 0.0

    def doubles(self) -> int:
        """Number of doubles between the ends."""
        return double_rank(self.high) - double_rank(self.low)


def close_in(sweep: Sweep, bracket: Bracket, guess: float, radius: float) -> None:
    """Shrink the bracket around a guess of the root, with steps of growing length in the root's direction."""
    went_down = went_up = False
    while bracket.low < guess < bracket.high and not (went_down and went_up):
        if bracket.probe(sweep, guess):
            went_down = True
            guess -= radius
        else:
            went_up = True
            guess += radius
        radius *= 8.0


def never(bracket: Bracket) -> bool:
    """No early end: search until the root is exact to the last bit."""
    return False


def smallest_root(sweep: Sweep, bracket: Bracket, is_close: Callable[[Bracket], bool] = never) -> float:
    """Smallest γ with ``F(γ) ≥ 0``, F a non-decreasing step function that jumps at attained levels only.

    The root is therefore one of the attained levels (here: the ranking errors), to the last bit. Steps of
    regula falsi (Illinois) make the bracket shrink superlinearly; whenever three of them did not halve the
    number of doubles in it, a bisection does, so that no input takes more than 4 · 64 sweeps.

    `sweep`: ``γ → (F(γ), largest attained level ≤ γ, smallest attained level > γ)``. `bracket`: it closes around the
    root. `is_close`: whether a bracket is close enough; its upper end is returned then.
    """
    size, tries = bracket.doubles(), 0
    trust_low = trust_high = 1.0  # an end that has stayed for two steps counts half, then a quarter, …
    moved_high: bool | None = None
    while bracket.low < bracket.high and not is_close(bracket):
        if tries == 3:
            trial = double_at((double_rank(bracket.low) + double_rank(bracket.high)) // 2)
        else:
            fall, rise = -bracket.value_low * trust_low, bracket.value_high * trust_high
            share = fall / (fall + rise) if fall + rise > 0.0 else 0.5
            trial = bracket.low + (bracket.high - bracket.low) * share
        # high is a root, low may be one: the trial lies in [low, high)
        trial = min(max(trial, bracket.low), math.nextafter(bracket.high, -math.inf))
        last_moved_high, moved_high = moved_high, bracket.probe(sweep, trial)
        if moved_high:
            trust_low, trust_high = trust_low * (0.5 if last_moved_high else 1.0), 1.0
        else:
            trust_low, trust_high = 1.0, trust_high * (0.5 if last_moved_high is False else 1.0)
        remaining = bracket.doubles()
        if tries == 3 or 2 * remaining <= size:
            size, tries = remaining, 0
        else:
            tries += 1
    return bracket.high


def double_rank(value: float) -> int:
    """Position of a double among all doubles in ascending order; both zeros have the same."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else -(bits + 2**63)


def double_at(rank: int) -> float:
    """The double at a position: the inverse of `_rank`."""
    value: float = struct.unpack("<d", struct.pack("<Q", rank if rank >= 0 else 2**63 - rank))[0]
    return value
