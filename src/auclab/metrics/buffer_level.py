"""γ*, the level at which the buffer of the ranking errors starts."""

from __future__ import annotations

import math

from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.root_search import Bracket, close_in, smallest_root
from auclab.metrics.tail_excess import ExcessSweep, Level, ZoomedSweep


def buffer_level(errors: PairErrors, threshold: float, *, exact: bool = True) -> Level | None:
    """γ*: smallest level with ``D(γ) ≥ 0``, for ``E ξ < threshold < max ξ``.

    Unless `exact`, an error above γ* that gives bPOE to 17 digits all the same. Both ``C(h) + D(h)/(z −
    h)`` at the upper end h of the bracket and the same with ``z − low`` enclose N · bPOE, and ``D(just
    below z)/(max ξ − z)`` is at most the weight of ``ξ ≥ z``, hence at most N · bPOE.

    None in one rare case: all errors above the threshold round to it or to its neighbour, and the sign of
    their sum lies in digits that the rounded differences do not have.
    """
    sweep = ExcessSweep(errors, threshold)
    value, high, _ = sweep(math.nextafter(threshold, -math.inf))
    if value < 0.0:
        return None
    bracket = Bracket(errors.bottom, high, errors.mean_excess(threshold) * errors.pairs[0], value)
    if errors.is_large:
        guess, coarse = (buffer_level(small, threshold) for small in errors.thinned)
        if guess and coarse:
            close_in(sweep, bracket, guess.value, abs(guess.value - coarse.value))
    tolerance = 2.0**-56 * value / (errors.top - threshold)

    def is_close(bracket: Bracket) -> bool:
        narrow, wide = threshold - bracket.high, threshold - bracket.low
        # quotients: the product of two levels may exceed the largest double
        return not exact and bracket.value_high / narrow * ((bracket.high - bracket.low) / wide) <= tolerance

    def is_small(bracket: Bracket) -> bool:
        # A sweep over so few pairs costs nothing compared with one over the scores of a large sample.
        return is_close(bracket) or (errors.is_large and sweep.pairs_left() <= 2**15)

    value = smallest_root(sweep, bracket, is_small)
    if bracket.low == bracket.high or is_close(bracket):
        return sweep.level(value)
    zoomed = ZoomedSweep(sweep)
    return zoomed.level(smallest_root(zoomed, bracket, is_close))
