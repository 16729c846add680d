"""``tune=auto`` and ``tune=kernel``: the parameter that a formulation has, with the list of its values."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from auclab.types import AuclabError

#: In order of preference: λ, z, and those of baselines.
TUNABLE = ("penalty", "threshold", "C", "n_estimators")
#: Those that can be tuned together with γ.
BESIDE_GAMMA = ("penalty", "threshold")


def resolve_tuning(tune: Mapping[str, Any], formulation: Mapping[str, Any]) -> dict[str, Any]:
    """The group ``tune`` with the parameter of this formulation and its values.

    `tune`: as composed; ``parameter`` may be ``auto`` or ``kernel``, and ``grids`` then has the values of every
    parameter. `formulation`: as composed; its keys are its parameters. Returns: no ``grids``, no settings that make
    no difference; ``{"parameter": None}`` where nothing is tuned.
    """
    found = {key: value for key, value in tune.items() if key != "grids"}
    way = found.get("parameter")
    if way != "kernel":
        found.pop("gammas", None)
    if found.get("tolerance") is None:
        found.pop("tolerance", None)
    if way not in ("auto", "kernel"):
        return found if way is not None else {"parameter": None}
    if found.get("values"):
        raise AuclabError(
            f"tune={way} has a list for each parameter, as λ and z have no values in common: write "
            "tune.grids.penalty=[0.01,0.1] or tune.grids.threshold=[-0.1,-0.01] in place of tune.values"
        )
    names = BESIDE_GAMMA if way == "kernel" else TUNABLE
    parameter = next((name for name in names if name in parameters_of(formulation)), None)
    if parameter is None and way == "auto":
        return {"parameter": None}
    if parameter is None:
        raise AuclabError(
            "tune=kernel selects γ together with λ or z, and the formulation has neither: use formulation=ranksvm, or "
            "compare values of γ with -m kernel.gamma=0.1,1"
        )
    values = (tune.get("grids") or {}).get(parameter)
    may_be_empty = way == "auto" and parameter == "penalty"  # λ has a default series
    if (
        not isinstance(values, Sequence)
        or not (values or may_be_empty)
        or not all(isinstance(each, int | float) for each in values)
    ):
        raise AuclabError(f"tune.grids.{parameter} is {values!r}; a list of numbers is needed, such as [0.01,0.1]")
    return found | {"parameter": parameter if way == "auto" else way, "values": [float(each) for each in values]}


def check_multiples(gammas: Sequence[float]) -> None:
    """Refuse an empty list, and values that are not numbers > 0."""
    if not gammas or not all(0 < gamma < math.inf for gamma in gammas):
        raise AuclabError(
            f"tune.gammas is {list(gammas)}; multiples > 0 of γ are needed, such as tune.gammas=[0.1,1,10]"
        )


def tuned_parameter(tune: Mapping[str, Any], formulation: Collection[str]) -> str | None:
    """The parameter of the formulation that is selected, alone or together with γ, or None.

    Examples
    --------
    >>> tuned_parameter({"parameter": "kernel"}, {"threshold": -1.0}), tuned_parameter({"parameter": "penalty"}, {})
    ('threshold', 'penalty')
    """
    parameter = tune.get("parameter")
    if parameter != "kernel":
        return parameter
    return next((name for name in BESIDE_GAMMA if name in parameters_of(formulation)), None)


def parameters_of(formulation: Collection[str]) -> list[str]:
    """The parameters of a formulation, from its keys; the scale of a regulariser is `penalty`.

    Examples
    --------
    >>> parameters_of({"_target_": "auclab.formulations.composed.Composed", "regulariser": {}, "threshold": 0.0})
    ['penalty', 'threshold']
    """
    fixed = ("norm", "squared", "loss", "comparisons")
    names = ("penalty" if str(key) == "regulariser" else str(key) for key in formulation)
    return [name for name in names if not name.startswith("_") and name not in fixed]
