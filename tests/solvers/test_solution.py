"""What a solve takes besides objects and labels 0/1, how a solution is printed, and the one point of separable data."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from auclab import CSVM, ECSVM, AuclabError, GeneralizedBufferedAUC, PartialAUC, RankSVM, Status, certify, solve
from auclab.formulations import FORMULATIONS
from auclab.regularisers import L2, norm_named
from auclab.solvers.path import solve_path
from programs import label, overlapping, separable

X, Y = overlapping(61)
WORDS = np.where(Y == 1, "yes", "no")


@pytest.mark.parametrize("name", [name for name in FORMULATIONS if name != "exact_auc"])
def test_a_name_is_the_formulation_with_its_defaults(name):
    found, expected = solve(name, X, WORDS, pos_label="yes"), solve(FORMULATIONS[name](), X, Y)
    assert found.formulation == expected.formulation
    np.testing.assert_array_equal(found.coef, expected.coef)
    given = {"multipliers": found.multipliers, "shares_neg": found.shares_neg, "pos_label": "yes"}
    assert certify(name, X, WORDS, found.coef, found.intercept, **given).objective == pytest.approx(found.objective)


def test_a_path_takes_names_and_labels_too():
    (found,) = solve_path("ranksvm", X, WORDS, [0.1], pos_label="yes")
    assert found.formulation == RankSVM(0.1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: solve("bauc", X, WORDS), "labels are 'no': 18, 'yes': 14; name it with pos_label='yes', or pass np."),
        (lambda: solve("bauc", X, WORDS, pos_label="Yes"), "pos_label='Yes' does not occur"),
        (lambda: solve("ranksmv", X, Y), "formulation='ranksmv' is unknown (did you mean 'ranksvm'?)"),
        (
            lambda: solve("bauc", X, Y, solver="newtn"),
            "solver='newtn' is unknown (did you mean 'newton'?); choose one ",
        ),
        (lambda: solve(RankSVM, X, Y), "RankSVM is a class; pass an object of it, RankSVM()"),
        (lambda: solve(None, X, Y), "formulation must be a name (bauc, "),
    ],
)
def test_what_cannot_be_solved_is_named(call, words):
    with pytest.raises(AuclabError) as refusal:
        call()
    assert words in str(refusal.value)


@dataclass(frozen=True)
class DualTooSmall(L2):
    """A norm whose dual is not its own: every lower bound is too large."""

    factor: float

    def dual(self, g):
        return self.factor * super().dual(g)


@pytest.mark.parametrize("solver", ["auto", "newton", "cutting_plane", "clarabel"])
def test_a_bound_above_the_objective_is_a_failure_with_its_reason(solver, monkeypatch):
    program = RankSVM(0.1, norm=DualTooSmall(0.5), squared=True)
    with pytest.raises(AuclabError, match="does not hold"):
        solve(program, X, Y, solver=solver)
    # A few points may not show it.
    monkeypatch.setattr("auclab.formulations.problem.check_own_pieces", lambda *pieces: None)
    found = solve(program, X, Y, solver=solver)
    assert found.status is Status.FAILED
    assert np.isnan(found.lower_bound)
    assert np.isnan(found.gap)
    assert "is above the objective" in found.notes[-1]
    right = solve(RankSVM(0.1, squared=True), X, Y)
    with pytest.raises(AuclabError, match=r"lower bound .* is above the objective .* a norm or loss of your own"):
        certify(program, X, Y, right.coef, multipliers=right.multipliers)


def test_a_bound_above_the_objective_by_rounding_is_none():
    right = solve(RankSVM(0.1, squared=True), X, Y)
    for part, status in ((1e-12, Status.OPTIMAL), (1e-6, Status.FAILED)):
        bound = right.objective * (1.0 + part)
        assert replace(right, certificate=replace(right.certificate, lower_bound=bound)).status is status


def test_a_solution_is_printed_on_one_line():
    text = repr(solve("bauc", np.hstack([X] * 10), Y))
    assert text.startswith("Solution(BufferedAUC(), coef=[")
    assert "..., " in text
    assert "(30 features)" in text
    assert "status=optimal" in text
    assert "multipliers" not in text
    assert "\n" not in text
    assert len(text) < 300
    assert "features" not in repr(solve("bauc", X, Y))


@pytest.mark.parametrize(
    "program",
    [RankSVM(), RankSVM(squared=True), CSVM(), ECSVM(), GeneralizedBufferedAUC(), GeneralizedBufferedAUC(-0.05, "l1"),
     PartialAUC(0.3, 0.01), ECSVM(-0.01, "linf")],
    ids=label,
)  # fmt: skip
def test_separable_data_have_the_hard_margin_separator_as_their_one_point(program):
    X, y = separable(62)
    solution = solve(program, X, y)
    assert solution.status is Status.OPTIMAL
    assert "hard-margin" in solution.notes[-1]
    # The hard margin itself: the least ‖u‖₂ with margins of 1, from the program without norms.
    plain = solve("bauc" if program.comparisons.name == "pairs" else CSVM(0.0), X, y).coef
    assert "hard-margin" in solve("bauc", X, y).notes[-1]
    shrunk = 1.0 + program.threshold * norm_named(program.regulariser.name)(plain)
    np.testing.assert_allclose(solution.coef, plain / shrunk, rtol=1e-6)


def test_a_buffer_wider_than_the_margin_leaves_the_solver_its_point():
    X, y = separable(62)
    margin = 1.0 / norm_named("l2")(solve("bauc", X, y).coef)
    solution = solve(GeneralizedBufferedAUC(-1.01 * margin), X, y)
    assert solution.objective > 0
    assert not any("hard-margin" in note for note in solution.notes)
