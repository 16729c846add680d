"""A formulation as a CVXPY problem with its parts by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.algebraic_model import AlgebraicModel, OwnConstraints, rows_in_order, with_rows
from auclab.models.cvxpy_model import ConvexModel, to_cvxpy
from auclab.types import Array, AuclabError


@dataclass(frozen=True, repr=False)
class CvxpyModel(AlgebraicModel):
    """A formulation in CVXPY.

    `constraints`: of `model`; further ones are added to them in a problem that the caller builds.
    """

    constraints: tuple[Any, ...] = ()
    parts: ConvexModel | None = None

    def coef(self, solved: Any = None) -> Array:
        """The values of w."""
        if self.w.value is None:
            raise AuclabError("the model has no values yet: solve it first, with ….model.solve()")
        return np.asarray(self.w.value, dtype=float)

    def weights(self) -> Array | None:
        """The dual values of the hinge rows."""
        return None if self.parts is None else self.parts.weights()

    def share_neg(self) -> Array | None:
        """The dual values of the rows over negatives."""
        return None if self.parts is None else self.parts.share_neg()

    def own_constraints(self, solved: Any = None) -> OwnConstraints:
        """Constraints of the problem `solved`, that has further ones, linear in w or in `scores`."""
        known = {constraint.id for constraint in self.constraints}
        rows: list[tuple[Array, float, bool]] = []
        left_out: list[str] = []
        for constraint in () if solved is None else solved.constraints:
            if constraint.id in known:
                continue
            found = self._linear(constraint)
            if found is None:
                left_out.append(str(constraint))
            else:
                rows += found
        stated = with_rows(self.stated.constraints, self.stated.sample.n_features, rows)
        return OwnConstraints(stated, len(rows), tuple(left_out))

    def _linear(self, constraint: Any) -> list[tuple[Array, float, bool]] | None:
        """A constraint as rows ``a·w ≤ c``; None if it is not linear or has other variables.

        The rows of an affine expression are its values at the unit vectors.
        """
        kinds: dict[type, float] = {
            cp.constraints.Inequality: 1.0,
            cp.constraints.NonPos: 1.0,
            cp.constraints.NonNeg: -1.0,
            cp.constraints.Equality: 0.0,
            cp.constraints.Zero: 0.0,
        }
        if type(constraint) not in kinds or self.parts is None:
            return None
        sign, parts, sample = kinds[type(constraint)], self.parts, self.stated.sample
        compared = isinstance(constraint, cp.constraints.Inequality | cp.constraints.Equality)
        expression: Any = constraint.expr if compared else constraint.args[0]
        variables = (self.w, parts.scores_pos, parts.scores_neg)
        ids = {variable.id for variable in variables}
        if not expression.is_affine() or any(variable.id not in ids for variable in expression.variables()):
            return None
        before = [variable.value for variable in variables]

        def at(w: Array) -> Array:
            for variable, value in zip(variables, (w, sample.X_pos @ w, sample.X_neg @ w), strict=True):
                variable.value = np.asarray(value)
            return np.atleast_1d(np.asarray(expression.value, dtype=float)).ravel()

        constant = at(np.zeros(sample.n_features))
        matrix = np.array([at(unit) - constant for unit in np.eye(sample.n_features)]).T
        for variable, value in zip(variables, before, strict=True):
            variable.value = value
        factor = sign or 1.0
        return [
            (factor * row, float(-factor * limit), sign == 0.0) for row, limit in zip(matrix, constant, strict=True)
        ]


def in_cvxpy(problem: Problem) -> CvxpyModel:
    """The model of `auclab.models.cvxpy_model.to_cvxpy`, whose objective is the formulation's value."""
    parts = to_cvxpy(problem, unit=1.0)
    return CvxpyModel(
        model=parts.problem,
        w=parts.coef,
        intercept=parts.intercept,
        scores=rows_in_order(problem) @ cp.hstack([parts.scores_pos, parts.scores_neg]),
        hinge=parts.hinge,
        objective=parts.problem.objective,
        stated=problem,
        constraints=tuple(parts.problem.constraints),
        parts=parts,
    )
