"""A formulation as a Pyomo model with its parts by name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.repn import generate_standard_repn

from auclab.formulations.problem import Problem
from auclab.models.algebraic_model import AlgebraicModel, OwnConstraints, with_rows
from auclab.models.pyomo_model import to_pyomo
from auclab.types import Array, AuclabError


@dataclass(frozen=True, repr=False)
class PyomoModel(AlgebraicModel):
    """A formulation in Pyomo; `model` imports the duals of its solver.

    With integers there are none, and Pyomo's interfaces stop where they are requested: ``model.dual.deactivate()``.

    `components`: the constraints that the model was built with.
    """

    components: tuple[Any, ...] = ()

    def coef(self, solved: Any = None) -> Array:
        """The values of w."""
        values = [variable.value for variable in self.w.values()]
        if any(value is None for value in values):
            raise AuclabError("the model has no values yet: solve it first, pyo.SolverFactory('highs').solve(….model)")
        return np.array(values, dtype=float)

    def weights(self) -> Array | None:
        """The duals of the hinge rows."""
        return self._duals(self.hinge)

    def share_neg(self) -> Array | None:
        """The duals of the rows `tail`."""
        tail = self.model.component("tail")
        return None if tail is None else self._duals(tail)

    def _duals(self, rows: Any) -> Array | None:
        duals = self.model.component("dual")
        found = [None if duals is None else duals.get(row) for row in rows.values()]
        return None if any(value is None for value in found) else np.array(found, dtype=float)

    def own_constraints(self, solved: Any = None) -> OwnConstraints:
        """Bounds of the variables w, and constraints linear in w or in `scores`."""
        for part in self.components:
            if self.model.component(part.local_name) is not part:
                raise AuclabError(
                    f"the model's own constraint {part.local_name!r} was replaced by another of this name; build the "
                    "model again, and give yours a name that it does not have"
                )
        sample, w = self.stated.sample, list(self.w.values())
        built = {part.local_name for part in self.components}
        lower = np.array([-math.inf if v.lb is None else v.lb for v in w])
        upper = np.array([math.inf if v.ub is None else v.ub for v in w])
        for k, variable in enumerate(w):
            if variable.fixed:
                lower[k] = upper[k] = float(variable.value)
        of_variable = {id(variable): row for variable, row in zip(w, np.eye(len(w)), strict=True)}
        rows: list[tuple[Array, float, bool]] = []
        left_out: list[str] = []
        for constraint in self.model.component_data_objects(pyo.Constraint, active=True):
            if constraint.parent_component().local_name in built:
                continue
            found = _linear(constraint, of_variable) or _linear(constraint, of_variable | self._of_scores(sample))
            if found is None:
                left_out.append(constraint.name)
            else:
                rows += found
        if any(True for _ in self.model.component_objects(pyo.SOSConstraint, active=True)):
            left_out.append("SOS")
        stated = with_rows(self.stated.constraints, len(w), rows, lower, upper)
        n_added = len(rows) + int(np.isfinite(lower).sum() + (np.isfinite(upper) & (lower != upper)).sum())
        return OwnConstraints(stated, n_added, tuple(left_out))

    def _of_scores(self, sample: Any) -> dict[int, Array]:
        """The row of X of every score variable."""
        sides = ((self.model.score_pos, sample.X_pos), (self.model.score_neg, sample.X_neg))
        return {
            id(variable): np.asarray(X[i].toarray().ravel() if sample.is_sparse else X[i])
            for variables, X in sides
            for i, variable in variables.items()
        }


def in_pyomo(problem: Problem) -> PyomoModel:
    """The model of `auclab.models.pyomo_model.to_pyomo` with its parts by name."""
    model = to_pyomo(problem)
    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    pos, neg = iter(model.score_pos.values()), iter(model.score_neg.values())
    return PyomoModel(
        model=model,
        w=model.coef,
        intercept=None if problem.over_pairs else model.intercept,
        scores=[next(pos if positive else neg) for positive in problem.sample.positive],
        hinge=model.hinge,
        objective=model.objective,
        stated=problem,
        components=tuple(model.component_objects(pyo.Constraint)),
    )


def _linear(constraint: Any, of_variable: dict[int, Array]) -> list[tuple[Array, float, bool]] | None:
    """A constraint as rows ``a·w ≤ c``; None if it is not linear or has other variables."""
    form = generate_standard_repn(constraint.body, compute_values=True)
    if not form.is_linear() or any(id(variable) not in of_variable for variable in form.linear_vars):
        return None
    if not form.linear_vars:
        return []
    parts = zip(form.linear_coefs, form.linear_vars, strict=True)
    row = np.sum([float(factor) * of_variable[id(variable)] for factor, variable in parts], axis=0)
    constant = float(form.constant)
    ends = (constraint.lower, constraint.upper)
    low, high = (None if end is None else float(pyo.value(end)) - constant for end in ends)
    if constraint.equality:
        return [(row, float(high if high is not None else 0.0), True)]
    found = [(row, high, False)] if high is not None else []
    return found + ([(-row, -low, False)] if low is not None else [])
