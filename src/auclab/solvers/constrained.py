"""Constraints as a user gives them to a solve, on the columns of its sample, and which programs take them."""

from __future__ import annotations

from typing import Any

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints
from auclab.types import AuclabError


def constraints_on_columns(
    constraints: Constraints | ColumnConstraints | None, X: Any, n_features: int
) -> ColumnConstraints | None:
    """The constraints on the columns of X, by their names where it has some, else by their numbers.

    Parameters
    ----------
    constraints : Constraints or ColumnConstraints, optional
    X : array, DataFrame, CSR matrix or blocks
    n_features : int

    Raises
    ------
    AuclabError
        A name that X does not have, or constraints on another number of columns.
    """
    if constraints is None:
        return None
    if isinstance(constraints, Constraints):
        columns = getattr(X, "columns", None)
        names = range(n_features) if columns is None or len(columns) != n_features else columns
        constraints = constraints.on_columns([str(name) for name in names])
    if not isinstance(constraints, ColumnConstraints):
        raise AuclabError(
            f"constraints are a {type(constraints).__name__}; use auclab.Constraints(nonnegative=[...], "
            "upper={...}), or ColumnConstraints.of(n_features, lower=..., matrix=..., limit=...)"
        )
    if constraints.n_features != n_features:
        raise AuclabError(f"constraints are on {constraints.n_features} columns, but X has {n_features}")
    return constraints


def check_constrainable(program: Program, constraints: ColumnConstraints | None) -> None:
    """Raise `AuclabError` if constraints are given and the program does not take any."""
    if constraints is None or program.is_convex or program.has_whole_points:
        return
    what = f"z = {program.threshold:g} > 0 makes it not convex" if program.encodings else "it counts pairs"
    raise AuclabError(
        f"formulation {program.name} takes no constraints on w: {what}, and a bound over the constrained scorers is "
        "not known for it; use a convex formulation, such as bauc, or ranksvm with its penalty"
    )
