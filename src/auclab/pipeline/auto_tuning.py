"""``tune=auto``: the parameter that a formulation has, with the list of values of this parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: In the order in which they are looked for: λ, z, and those of baselines.
TUNABLE = ("penalty", "threshold", "C", "n_estimators")


def resolve_tuning(tune: Mapping[str, Any], formulation: Mapping[str, Any]) -> dict[str, Any]:
    """The group ``tune`` with the parameter and the values that this formulation takes.

    Parameters
    ----------
    tune : mapping
        As composed; ``parameter`` may be ``auto``, and ``grids`` then has the values of every parameter.
    formulation : mapping
        As composed: its keys are what it has.

    Returns
    -------
    dict
        Without ``grids``; ``{"parameter": None}`` where nothing is tuned.

    Raises
    ------
    AuclabError
        ``auto`` with one list of values for all parameters, or without a list for this one.

    Examples
    --------
    >>> auto = {"parameter": "auto", "folds": 5, "grids": {"penalty": [0.1, 1.0], "threshold": [-1.0]}}
    >>> resolve_tuning(auto, {"penalty": 0.01, "norm": "l2"})
    {'parameter': 'penalty', 'folds': 5, 'values': [0.1, 1.0]}
    >>> resolve_tuning(auto, {})
    {'parameter': None}
    """
    found = {key: value for key, value in tune.items() if key != "grids"}
    if found.get("parameter") != "auto":
        return found if found.get("parameter") is not None else {"parameter": None}
    from auclab.types import AuclabError  # NumPy, which --help does not need

    if found.get("values"):
        raise AuclabError(
            "tune=auto has a list for each parameter, as λ and z have no values in common: write "
            "tune.grids.penalty=[0.01,0.1] or tune.grids.threshold=[-0.1,-0.01] in place of tune.values"
        )
    parameter = next((name for name in TUNABLE if name in formulation), None)
    if parameter is None:
        return {"parameter": None}
    values = (tune.get("grids") or {}).get(parameter)
    if not isinstance(values, Sequence) or not values or not all(isinstance(each, int | float) for each in values):
        raise AuclabError(f"tune.grids.{parameter} is {values!r}; a list of numbers is needed, such as [0.01,0.1]")
    return found | {"parameter": parameter, "values": [float(each) for each in values]}
