"""What a path varies, and the series of λ.

With Δ the mean of all margins' directions at w = 0, the difference of the class means over pairs, w = 0 is optimal
with λ‖w‖ from ``λ = ‖Δ‖_*`` on. With λ‖w‖² it never is: as long as no hinge is 0, ``w = Δ/(2λ)`` with the norm l2,
and at ``λ = ‖Δ‖²/2`` its mean margin is 1. Multiples of these would fit tables of any width and
scale, but no two samples would share a value: the series 1, 3, 10, 30, … is fixed, and only its part depends on the
data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from auclab._core.base import AuclabError
from auclab._core.validation import LARGEST_SQUARED
from auclab.formulations.base import Program, parameter_names
from auclab.samples.memory import Sample

#: The parameters that have a path, and the sign with which a larger value makes a shorter w.
PARAMETERS: Mapping[str, float] = {"penalty": 1.0, "threshold": -1.0}


def along(formulation: Program, parameter: str, values: Sequence[float]) -> list[Program]:
    """The formulation at every value of the parameter."""
    names = parameter_names(type(formulation))
    has = [key for key in PARAMETERS if key in names or (key == "penalty" and "regulariser" in names)]
    if parameter not in has:
        choices = " or ".join(has) or "none of λ (penalty) and z (threshold)"
        raise AuclabError(f"formulation {formulation.name} has no parameter {parameter!r}; it has {choices}")
    if len(values) == 0 or not all(math.isfinite(value) for value in values):
        raise AuclabError(f"a path needs a list of finite numbers, got {list(values)}")
    return [formulation.with_params(**{parameter: float(value)}) for value in values]


def simplest_first(parameter: str, values: Sequence[float]) -> list[int]:
    """Positions of the values, from the shortest w to the longest.

    Examples
    --------
    >>> simplest_first("penalty", [0.1, 3.0, 1.0]), simplest_first("threshold", [-1.0, -3.0])
    ([1, 2, 0], [1, 0])
    """
    return sorted(range(len(values)), key=lambda k: -PARAMETERS[parameter] * float(values[k]))


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
