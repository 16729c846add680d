"""The solver that "auto" selects, by a small table of measured crossovers.

`benchmarks/auto_selection.py` measures them; docs/auto_selection.md shows its table. Newton's method wins on pairs of
any number and on points but the fewest, where a library that takes all margins at once needs no smoothing.
"""

from __future__ import annotations

from auclab.formulations.problem import Problem
from auclab.solvers.budget import CLARABEL_ENTRIES, NEWTON_FEATURES, SMALL_ENTRIES
from auclab.solvers.encodings import HIGHS_PAIRS, encodings, is_linear
from auclab.solvers.interior.solver import why_not
from auclab.solvers.reformulations import is_rotated
from auclab.solvers.registry import SOLVERS, capable_solvers

#: Programs with a norm and at most this number of rows, and of rows per column, are solved by systems of the size of
#: the rows.
INTERIOR_ROWS, INTERIOR_RATIO = 2_500, 2.5
#: With more pairs than this cutting planes in the span of the rows are faster where the norm is l2, and products with
#: sparse rows (text-like rows, 20,000 × 50,000, λ‖w‖² with 1e-5: 1.7 s; cutting planes have a gap of 1e-5 after 25 s).
INTERIOR_PAIRS = 300_000

#: The only solver of the programs of a kind.
_ONLY = {
    "integer": ("integer", "a scorecard has whole points"),
    "mip": ("highs", "counting pairs is a mixed-integer program"),
}


def select_solver(problem: Problem) -> tuple[str, str]:
    """The solver that "auto" selects, and the reason in one line."""
    name, reason = _selected(problem)
    return name, f"auto selected {name}: {reason}"


def _suits_interior(problem: Problem) -> bool:
    """Whether there are few rows relative to the columns, and few margins relative to the entries of the systems."""
    sample, n_rows = problem.sample, problem.sample.n_pos + problem.sample.n_neg
    if SOLVERS["interior"].capabilities.why_not(problem.program, problem.constraints) is not None:
        return False
    large = sample.n_features * n_rows > SMALL_ENTRIES or is_rotated(problem)
    return large and n_rows <= min(INTERIOR_ROWS, INTERIOR_RATIO * sample.n_features) and why_not(problem) is None


def _takes_products(problem: Problem) -> bool:
    """Whether there are too many columns for a Hessian, and steps by products with sparse rows end first.

    Over points, and over the hardest pairs, few margins are near the kink, and cutting planes are as fast or faster.
    """
    program, sample = problem.program, problem.sample
    of_many_pairs = problem.n_margins > INTERIOR_PAIRS and problem.over_pairs and not program.comparisons.hardest
    euclidean = program.uses_norm and program.regulariser.norm.is_euclidean
    large = sample.is_sparse and sample.n_features > NEWTON_FEATURES
    return large and of_many_pairs and euclidean and problem.constraints is None


def _selected(problem: Problem) -> tuple[str, str]:
    program, sample = problem.program, problem.sample
    n_features, entries = sample.n_features, sample.n_entries
    if program.kind in _ONLY:
        return _ONLY[program.kind]
    if problem.constraints is not None and not problem.constraints.is_convex:
        able = next(capable_solvers(program, problem.constraints), "newton")  # which says why it cannot
        return able, "max_features takes integer variables"
    if not program.is_convex:
        return "highs", "z > 0 is solved by many linear programs, each by the solver that suits it"
    if SOLVERS["newton"].capabilities.why_not(program) is not None:
        return "cutting_plane", "it forms no pairs"
    if sample.in_blocks:
        return "newton", "the sample is in blocks"
    if _takes_products(problem):
        return "newton", "of sparse rows with many columns it needs only products"
    if program.uses_norm and is_rotated(problem) and problem.over_pairs and problem.n_margins > INTERIOR_PAIRS:
        return "cutting_plane", "more columns than rows, and too many pairs to store each"
    if _suits_interior(problem):
        return "interior", "systems of the size of the rows, of which there are few"
    if is_rotated(problem):
        return "newton", "with more columns than rows the program is solved in the span of the rows"
    if n_features > NEWTON_FEATURES:
        return "cutting_plane", f"n = {n_features} is too many for a Hessian"
    if program.kind == "piecewise":
        return "newton", "it follows the minimum of a smooth loss"
    if is_linear(program) and problem.n_margins <= HIGHS_PAIRS and "aggregated" in encodings(program):
        return "highs", "a linear program over few pairs"
    if problem.over_pairs:
        return "newton", "the program is over pairs, which it never forms"
    if is_linear(program) and entries <= SMALL_ENTRIES:
        return "highs", "a linear program over few points"
    if not is_linear(program) and entries <= CLARABEL_ENTRIES:
        return "clarabel", "a conic program over few points"
    return "newton", "the program is over many points"
