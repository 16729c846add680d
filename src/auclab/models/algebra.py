"""Formulations as models of Pyomo and CVXPY, to which custom constraints can be added."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from auclab._core.base import AuclabError
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints, constraints_on_columns
from auclab.formulations.problem import Problem
from auclab.formulations.programs import as_formulation
from auclab.margins import Bicliques
from auclab.models.algebraic_model import AlgebraicModel
from auclab.samples.as_sample import as_sample

Language = Literal["pyomo", "cvxpy"]

#: Hinge rows up to which a model is built: Pyomo takes minutes from here on, and CVXPY the memory.
MOST_ROWS: dict[str, int] = {"pyomo": 2_000_000, "cvxpy": 20_000_000}


def build(
    formulation: str | Program,
    X: Any,
    y: ArrayLike,
    language: Language = "pyomo",
    *,
    constraints: Constraints | ColumnConstraints | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> AlgebraicModel:
    """Build a Pyomo or CVXPY model of a formulation on a sample, for custom constraints and any of their solvers.

    Every pair (or point) is a row: these models are for thousands of rows, `auclab.solve` for billions of pairs.

    Parameters
    ----------
    formulation : str or Program
        Convex. For a linear solver in Pyomo it must be linear: no norm, or unsquared l1 or linf.
    X : array, DataFrame or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans, of which the larger is positive, or any two values with `pos_label`.
    language : {"pyomo", "cvxpy"}
    constraints : Constraints or ColumnConstraints, optional
        As `auclab.solve` takes them.
    sample_weight : array of shape (n_samples,), optional
    pos_label : optional

    Returns
    -------
    AlgebraicModel

    Raises
    ------
    AuclabError
        Bad input, another language, a formulation that is not convex, or too many rows.

    See Also
    --------
    auclab.certify : Evaluates the solution with the exact objective and bounds its distance from the optimum.
    auclab.solve : Without a modelling language.

    Examples
    --------
    The best bAUC where the second feature counts at least as much as the first:

    >>> import auclab, pyomo.environ as pyo
    >>> X, y = [[0.0, 1.0], [2.0, 0.0], [1.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1]
    >>> built = build("bauc", X, y)
    >>> built.model.order = pyo.Constraint(expr=built.w[1] >= built.w[0])
    >>> _ = pyo.SolverFactory("highs").solve(built.model)
    >>> found = auclab.certify(built)
    >>> round(found.objective, 6), found.gap <= 1e-6, found.bound_for
    (0.0, True, 'every w that satisfies the 1 linear constraint on it')
    """
    if language not in MOST_ROWS:
        raise AuclabError(f"language must be pyomo or cvxpy, got {language!r}")
    program = as_formulation(formulation)
    if not program.is_convex:
        raise AuclabError(
            f"formulation {program.name} is not convex here, and models support convex ones only; use auclab.solve"
        )
    if isinstance(program.comparisons, Bicliques):
        raise AuclabError("models are over pairs of two classes or points, and not over bicliques; use auclab.solve")
    sample = as_sample(X, y, sample_weight, pos_label=pos_label)
    if sample.in_blocks:
        raise AuclabError("a model needs all rows in memory, but X is in blocks; use auclab.solve")
    if sample.offset is not None and not sample.is_sparse:  # scores of the model are those of the rows as they are
        rows = {"X_pos": sample.X_pos + sample.offset, "X_neg": sample.X_neg + sample.offset}
        sample = replace(sample, **rows, offset=None)
    problem = Problem(program, sample, constraints_on_columns(constraints, sample))
    if problem.n_margins > MOST_ROWS[language]:
        raise AuclabError(
            f"the model would have {problem.n_margins:,} rows, and in {language} {MOST_ROWS[language]:,} are possible; "
            "use fewer observations, or auclab.solve(…, constraints=…), which forms no pairs"
        )
    if language == "pyomo":
        from auclab.models.pyomo_model import in_pyomo

        return in_pyomo(problem)
    from auclab.models.cvxpy_model import in_cvxpy

    return in_cvxpy(problem)
