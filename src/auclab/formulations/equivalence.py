"""RankSVM and bAUC_z, C-SVM and EC-SVM have the same optima up to length (Norton & Uryasev 2018, Props. 6 and 7).

With V the value:  ``z = −λ/V``,  ``λ = −zV``,  ``w = v/(1 + z‖v‖)``,  ``v = w/(1 − z‖w‖)``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol, Self, TypeVar

from auclab._core.base import Array, AuclabError
from auclab.formulations.base import Optimum, Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.hinge_program import HingeProgram
from auclab.formulations.programs import CSVM, ECSVM, GeneralizedBufferedAUC, RankSVM

#: The equivalent programs by what they compare.
BY_PENALTY, BY_THRESHOLD = {"pairs": RankSVM, "points": CSVM}, {"pairs": GeneralizedBufferedAUC, "points": ECSVM}


class Solved(Protocol):
    """The attributes of a solution that the maps use.

    See Also
    --------
    auclab.Solution : What `auclab.solve` returns.
    """

    @property
    def formulation(self) -> Program:
        """The program that was solved."""

    @property
    def coef(self) -> Array:
        """w, shape (n_features,)."""

    @property
    def objective(self) -> float:
        """The value at w."""

    @property
    def lower_bound(self) -> float:
        """The largest lower bound of the value that is proved; NaN if there is none."""

    def mapped_to(self, formulation: Program, scale: float, value: float) -> Self:
        """The solution of an equivalent program: w times `scale`, of another value."""


S = TypeVar("S", bound=Solved)


def read_optimum(solution: Solved) -> Optimum:
    """Read a solution as a statement on buffered probability (Norton & Uryasev 2018, Prop. 5).

    A penalised program is first mapped to its threshold form by 7.4: ``z = −λ/V``. The hinge over the hardest
    negatives bounds the partial AUC, and a count of pairs is the AUC itself.

    This requires that the length of w is free. With constraints that leave it free, such as signs, the statement holds
    among the scorers that satisfy them; with other constraints the mean hinge is only an upper bound of the buffered
    probability of the scorer.

    See Also
    --------
    auclab.formulations.base.Program.read_optimum : What each program says.

    Examples
    --------
    >>> import auclab
    >>> solution = auclab.solve(auclab.BufferedAUC(), [[0.0], [1.0]], [0, 1])
    >>> read_optimum(solution).level  # separated
    1.0
    """
    program, constraints = solution.formulation, _constraints_of(solution)
    if isinstance(program, HingeProgram) and program.loss.is_hinge and not (constraints is None or constraints.is_cone):
        hinge = solution.objective - program.regulariser.value(solution.coef)
        at = "" if program.threshold == 0 or program.comparisons.hardest else f" at z = {program.threshold:.4g}"
        score = f"{program.comparisons.score_name}{at}"
        name = "the partial AUC, divided by its band," if program.comparisons.hardest else score
        statement = f"{name} is at least {max(0.0, 1 - hinge):.4f}; the constraints fix the length of w"
        return Optimum(program.threshold, hinge, 1 - hinge, math.nan, math.nan, statement)
    found = program.read_optimum(solution.objective, solution.lower_bound, solution.coef)
    if constraints is None:
        return found
    statement = found.statement.replace("no linear scorer has", "no linear scorer that satisfies the constraints has")
    return replace(found, statement=statement)


def _constraints_of(solution: Solved) -> ColumnConstraints | None:
    """The constraints of a solution; None if it has none."""
    constraints: ColumnConstraints | None = getattr(solution, "constraints", None)
    return constraints


def _check_free_length(solution: Solved) -> None:
    """Raise `AuclabError` if the constraints do not leave the length of w free, as the maps require."""
    constraints = _constraints_of(solution)
    if constraints is not None and not constraints.is_cone:
        raise AuclabError(
            "the solution has constraints that fix the length of w (bounds or limits other than 0), and the map "
            "changes it; solve the other formulation with these constraints"
        )


def ranksvm_to_threshold(solution: S) -> S:
    """Convert a RankSVM (C-SVM) solution to the equivalent bAUC_z (EC-SVM) solution.

    With V = H(v) + λ‖v‖ and H(v) > 0:  ``z = −λ/V``, ``w = v/(1 + z‖v‖)``, value V (formulas derived from Norton
    & Uryasev 2018, Props. 6 and 7). For the squared penalty the equivalent λ is ``2λ‖v‖``.

    Parameters
    ----------
    solution : Solution
        Of RankSVM or C-SVM.

    Returns
    -------
    Solution
        Its `formulation` has the threshold, also as `.threshold`; `objective` is V, and `gap` is unchanged.

    Raises
    ------
    AuclabError
        Not a RankSVM or C-SVM solution, or the hinge is 0 (separable data: z = −1/‖v‖ is constant there, the
        infimum is not attained), or v = 0, or constraints that do not leave the length of v free.

    See Also
    --------
    auclab.threshold_to_ranksvm : The inverse.

    Examples
    --------
    >>> import auclab
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> ranksvm = auclab.solve(auclab.RankSVM(0.1), X, y)
    >>> found = ranksvm_to_threshold(ranksvm)
    >>> round(found.threshold, 6) == round(-0.1 / ranksvm.objective, 6)
    True
    """
    program = solution.formulation
    if not isinstance(program, RankSVM | CSVM):
        raise AuclabError(f"a RankSVM or C-SVM solution is needed, got {program.name}")
    if not program.loss.is_hinge:
        raise AuclabError(
            f"thresholds are defined for the hinge, but the solution has {program.loss}; solve with the hinge"
        )
    _check_free_length(solution)
    if program.regulariser.norm(solution.coef) == 0:
        raise AuclabError("w = 0 has no direction to convert; choose a penalty below null_penalty(X, y)")
    if program.is_separated(solution.objective, solution.coef):
        raise AuclabError(
            "the hinge loss is 0 (separable data): for all such penalties the threshold is z = −1/‖v‖ and the "
            "bAUC_z infimum is not attained; choose a larger penalty"
        )
    form = program.as_threshold(solution.objective, solution.coef)
    by_threshold = BY_THRESHOLD[program.comparisons.name]
    return solution.mapped_to(by_threshold(form.threshold, program.norm), form.scale, form.value)


def threshold_to_ranksvm(solution: S) -> S:
    """Convert a bAUC_z (EC-SVM) solution with z < 0 to the equivalent unsquared RankSVM (C-SVM) solution.

    ``λ = −zV``, ``v = w/(1 − z‖w‖)``, value V.

    Parameters
    ----------
    solution : Solution
        Of generalised bAUC or EC-SVM.

    Raises
    ------
    AuclabError
        Not such a solution, z ≥ 0, w = 0, value 0 (no penalty corresponds to it), or constraints that do not leave the
        length of w free.

    See Also
    --------
    auclab.ranksvm_to_threshold : The inverse.

    Examples
    --------
    >>> import auclab
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> found = threshold_to_ranksvm(ranksvm_to_threshold(auclab.solve(auclab.RankSVM(0.1), X, y)))
    >>> round(found.penalty, 6)
    0.1
    """
    program = solution.formulation
    if not isinstance(program, GeneralizedBufferedAUC | ECSVM):
        raise AuclabError(f"a generalised bAUC or EC-SVM solution is needed, got {program.name}")
    _check_free_length(solution)
    length, z = program.regulariser.norm(solution.coef), program.threshold
    if z >= 0:
        raise AuclabError(f"z = {z:g}: only z < 0 corresponds to a penalty")
    if length == 0 or solution.objective <= 0:
        raise AuclabError(
            f"no penalty corresponds to ‖w‖ = {length:g} with value {solution.objective:g}; "
            "0 < value and w ≠ 0 are needed"
        )
    penalised = BY_PENALTY[program.comparisons.name]
    counterpart = penalised(penalty=-z * solution.objective, norm=program.norm)
    return solution.mapped_to(counterpart, 1.0 / (1.0 - z * length), solution.objective)
