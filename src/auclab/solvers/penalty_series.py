"""The values of λ that are worth trying on a sample: those of a fixed series below the one at which w = 0.

With Δ the mean of all margins' directions at w = 0, the difference of the class means over pairs, w = 0 is optimal
with λ‖w‖ from ``λ = ‖Δ‖_*`` on. With λ‖w‖² it never is: as long as no hinge is 0, ``w = Δ/(2λ)`` with the norm l2,
and at ``λ = ‖Δ‖²/2`` its mean margin is 1. Multiples of these would fit tables of any width and
scale, but no two samples would share a value: the series 1, 3, 10, 30, … is fixed, and only its part depends on the
data.
"""

from __future__ import annotations

import math

from auclab.formulations.base import Program
from auclab.samples.memory import Sample
from auclab.validation import LARGEST_SQUARED

#: How many values there are by default: four powers of ten.
DEFAULT_COUNT = 9
#: Of each power of ten.
_MANTISSAS = (1.0, 3.0)
_LAST_POWER = int(math.log10(LARGEST_SQUARED))
#: The values that the series has, whatever the data: a bound over all of them holds for those that were tried.
SERIES_LENGTH = len(_MANTISSAS) * 2 * _LAST_POWER


def penalty_level(program: Program, sample: Sample) -> float:
    """``‖Δ‖_*``, or ``‖Δ‖_*²/2`` of a squared norm, times the slope of the loss; 1 where the class means agree.

    Over points Δ has the weight of the smaller class.
    """
    share = 1.0 if program.comparisons.name == "pairs" else min(sample.prior_pos, sample.prior_neg)
    slope = share * float(program.loss.slope(1.0))
    size = slope * program.regulariser.norm.dual(sample.mean_difference)
    level = 0.5 * size * size if program.regulariser.curvature > 0 else size
    return level if 1.0 / LARGEST_SQUARED < level < LARGEST_SQUARED else 1.0


def penalty_series(program: Program, sample: Sample, count: int = DEFAULT_COUNT) -> list[float]:
    """The `count` largest numbers of the series 1, 3, 10, 30, … below `penalty_level`, ascending.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> from auclab.samples.as_sample import as_sample
    >>> penalty_series(RankSVM(1.0), as_sample([[0.0, 0.0], [3.0, 4.0]], [0, 1]), 4)
    [0.1, 0.3, 1.0, 3.0]
    """
    return series_below(penalty_level(program, sample), count)


def series_below(level: float, count: int = DEFAULT_COUNT) -> list[float]:
    """The `count` largest numbers of the series below `level`, ascending."""
    power = math.floor(math.log10(level)) + 1
    lowest = power - 2 - count // len(_MANTISSAS)
    series = [float(f"{m:g}e{p}") for p in range(lowest, power + 1) for m in _MANTISSAS]
    return [max(value, 1.0 / LARGEST_SQUARED) for value in series if value < level][-count:]
