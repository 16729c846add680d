"""Requests that `solve` cannot meet are refused in one line that says what to try."""

import numpy as np
import pytest

from auclab import CSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import Status
from programs import overlapping, separable

X, Y = overlapping()


def test_another_norm_is_no_advice_where_the_loss_is_refused():
    with pytest.raises(AuclabError, match="supports the hinge alone") as refusal:
        solve(RankSVM(0.1, loss="squared_hinge"), X, Y, solver="highs")
    assert "keep solver" not in str(refusal.value)


@pytest.mark.parametrize(
    ("program", "request_", "message"),
    [
        (
            RankSVM(0.1),
            {"solver": "highs"},
            "use solver=clarabel or solver=cutting_plane or solver=newton or solver=scs, "
            "or keep solver=highs with norm l1 or linf",
        ),
        (RankSVM(0.1, "l1", squared=True), {"solver": "highs"}, "squared=false"),
        (BufferedAUC(), {"solver": "gurobi"}, "clarabel, cutting_plane, highs, integer, interior, newton, scs"),
        (BufferedAUC(), {"solver": "highs", "encoding": "some"}, "choose one of auto, full, dual, aggregated"),
        (CSVM(0.1, "l1"), {"solver": "highs", "encoding": "aggregated"}, "use encoding=full or encoding=dual"),
        (BufferedAUC(), {"solver": "clarabel", "encoding": "full"}, "solver=clarabel has no option encoding"),
        (BufferedAUC(), {"solver": "newton", "binss": 3}, "has no option binss (did you mean 'bins'?); options are"),
        (BufferedAUC(), {"tolerance": 0.0}, "tolerance must be a positive number"),
        (BufferedAUC(), {"time_limit": -1.0}, "time_limit must be a positive number"),
    ],
)
def test_refusals_say_what_works(program, request_, message):
    with pytest.raises(AuclabError) as refusal:
        solve(program, X, Y, **request_)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_auto_says_what_it_selected_and_why():
    assert "auto selected highs: a linear program over few pairs" in solve(BufferedAUC(), X, Y).notes
    assert solve(RankSVM(0.1), X, Y).solver == "newton"
    assert solve(GeneralizedBufferedAUC(0.2, "linf"), X, Y).solver == "highs"


@pytest.mark.parametrize("solver", ["highs", "clarabel", "scs"])
def test_separable_data_get_the_hard_margin(solver):
    data, labels = separable()
    solution = solve(BufferedAUC(), data, labels, solver=solver)
    scores = data @ solution.coef
    margins = scores[labels == 1][:, None] - scores[labels == 0][None, :]
    assert solution.objective == solution.lower_bound == 0.0
    assert margins.min() == pytest.approx(1.0, rel=1e-9)
    assert any("hard-margin" in note for note in solution.notes)
    # Shortest: the nearest points of the two convex hulls are 1/‖w‖ apart, so w is a combination of differences.
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = solution.coef + 0.05 * rng.normal(size=3)
        margin = (data @ other)[labels == 1].min() - (data @ other)[labels == 0].max()
        if margin > 0:
            assert np.linalg.norm(other) / margin >= np.linalg.norm(solution.coef) - 1e-9


def test_seconds_are_kept_apart():
    timings = solve(BufferedAUC(), X, Y, solver="highs", encoding="full").timings
    assert timings.build > 0
    assert timings.load > 0
    assert timings.solve > 0
    assert timings.total == pytest.approx(timings.build + timings.load + timings.compile + timings.solve)


def test_a_time_limit_is_the_status():
    data, labels = overlapping(21, 300, 300, 10)
    solution = solve(BufferedAUC(), data, labels, solver="highs", encoding="dual", time_limit=0.3)
    assert solution.status is Status.TIME_LIMIT


@pytest.mark.parametrize("program", [BufferedAUC(), PartialAUC(0.3)], ids=["bauc", "partial_auc"])
def test_clarabel_takes_columns_that_depend_on_each_other(program):
    """With Clarabel's own regularisation it ends in its first iteration."""
    rng, y = np.random.default_rng(2), np.arange(80) % 2
    categories = [np.eye(n)[rng.integers(0, n, y.size)] for n in (2, 2, 2, 3, 4)]
    X = np.hstack([*categories, 250.0 + 50.0 * rng.normal(size=(80, 2)) + 20.0 * y[:, None]])
    found = solve(program, X, y, solver="clarabel")
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(solve(program, X, y).objective, abs=2e-6)
