"""What a solve would do, step by step, without doing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints, constraints_on_columns
from auclab.formulations.named import as_formulation
from auclab.formulations.problem import Problem
from auclab.formulations.ranked import Ranking
from auclab.solvers.column_generation import column_limits
from auclab.solvers.dispatch import choose_solver
from auclab.solvers.monitor import Monitor
from auclab.solvers.portfolio import candidates
from auclab.solvers.raw import RawSolution
from auclab.solvers.reformulations import reformulations
from auclab.solvers.registry import SOLVERS
from auclab.types import GroupWeights


@dataclass(frozen=True)
class Explanation:
    """The steps of a solve in their order, each in a line; `print` shows them numbered.

    See Also
    --------
    auclab.explain : Makes it.
    """

    steps: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, 1))

    __repr__ = __str__


def explain(
    formulation: str | Program,
    X: Any,
    y: ArrayLike | None,
    *,
    solver: str = "auto",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    ordered: bool = False,
    event: ArrayLike | None = None,
    group_weights: GroupWeights = "pairs",
    constraints: Constraints | ColumnConstraints | None = None,
) -> Explanation:
    """What `auclab.solve` would do with a formulation on a sample: which solver, on which problem, and what after it.

    As ``EXPLAIN`` of a database. Reformulations are carried out, as they tell what they would do; nothing is solved
    except for the hard-margin separator of more columns than rows, which may be the answer.

    Parameters
    ----------
    formulation, X, y, solver, sample_weight, pos_label, groups, ordered, event, group_weights, constraints
        As in `auclab.solve`.

    Returns
    -------
    Explanation
        `Solution.steps` says the same of a solve that was done, with seconds.

    Raises
    ------
    AuclabError
        As `auclab.solve`, for bad input and for a solver that cannot take the formulation.

    See Also
    --------
    auclab.solve : Does it.

    Examples
    --------
    >>> import auclab
    >>> auclab.explain("bauc", [[0.0], [2e6], [1e6], [3e6]], [0, 0, 1, 1], solver="newton")
    1. 2 positives and 2 negatives, 1 column: 4 pairs
    2. features in units of 1.05e+06
    3. newton
    4. value and certificate on the rows as given
    """
    ranking = Ranking(groups, ordered, event, group_weights)
    program, sample = ranking.problem_parts(as_formulation(formulation), X, y, sample_weight, pos_label)
    problem = Problem(program, sample, constraints_on_columns(constraints, sample))
    name, reason = choose_solver(problem, solver)
    return Explanation((_counts(problem), *_steps(problem, name, reason), "value and certificate on the rows as given"))


def _counts(problem: Problem) -> str:
    sample, columns = problem.sample, problem.sample.n_features
    margins = f": {problem.n_margins:,} pairs" if problem.over_pairs else ""
    rows = f"{sample.n_pos:,} positives and {sample.n_neg:,} negatives" if sample.is_of_classes else "ranked rows"
    return f"{rows}, {columns:,} column{'s' if columns != 1 else ''}{margins}"


def _steps(problem: Problem, name: str, reason: str) -> list[str]:
    """Reformulations, the solver, and those that may follow it."""
    entry, chosen = SOLVERS[name], reason or name
    if problem.program.threshold > 0:
        each = "the solver that suits it" if reason else name
        return [f"z > 0: the best of many convex programs over shifted rows, each by {each}"]
    if entry.generates_columns and column_limits(problem) is not None:
        return [f"column generation: on the columns that are not 0, {chosen}", *_others(problem, name, reason)]
    done: list[str] = []
    for found, _ in reformulations(entry.reformulations, problem, Monitor()):
        if isinstance(found, RawSolution):
            return [*done, "the hard-margin separator is the optimum"]
        done.append(str(found))
    return [*done, chosen, *_others(problem, name, reason)]


def _others(problem: Problem, name: str, reason: str) -> list[str]:
    """The solvers that continue if "auto" was asked, and the first proves no optimum."""
    labels = [candidate.label for candidate in candidates(problem, name) if candidate.solver != name] if reason else []
    return [f"only if that proves no optimum: {', '.join(labels)}"] if labels else []
