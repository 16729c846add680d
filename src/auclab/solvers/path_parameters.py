"""The parameters along which a formulation has a path, and the formulation at each of their values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from auclab.formulations.base import Program, parameter_names
from auclab.types import AuclabError

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
