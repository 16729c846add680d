# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the models may use."""

import pyomo.environ as pyo

from auclab.models import build
from auclab.models.dual_lp import quiet_highs, set_options
from messages.situations import X2, Y, auclab
from messages.situations.formulations import ColumnConstraints


def modelled(formulation: object = "bauc", **options: object) -> object:
    """The model of four rows."""
    return build(formulation, X2, Y, **options)


def own_constraint(model: object, *, twice: bool) -> object:
    """The model, a constraint of its own replaced by another of its name if `twice`."""
    first = model.components[0].local_name
    if twice:
        model.model.del_component(first)
        model.model.add_component(first, pyo.Constraint(expr=model.w[0] >= 0.0))
    return model
