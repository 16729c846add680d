"""The exact verdicts themselves: by hand, against SciPy, and on answers that are known to be wrong."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from auclab import CSVM, ECSVM, BufferedAUC, ExactAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from fuzz import exact, programs
from fuzz.exact import ExactSample, value
from fuzz.exact_optimum import optimum
from fuzz.nasty import KINDS, Case, seeded_case
from fuzz.simplex import boxed_optimum
from fuzz.verdicts import Answer, judge
from programs import PROBLEMS, label
from reference_programs import best_auc_in_the_plane, objective, optimal_cvar, optimal_value

LINEAR = [
    BufferedAUC(),
    CSVM(0.0),
    ECSVM(-0.1, "l1"),
    *(kind(0.02, norm) for kind in (RankSVM, CSVM) for norm in ("l1", "linf")),
    *(GeneralizedBufferedAUC(-0.1, norm) for norm in ("l1", "linf")),
]


def test_roots_enclose():
    assert exact.root(Fraction(9, 16)) == (Fraction(3, 4), Fraction(3, 4))
    low, high = exact.root(Fraction(2))
    assert low * low < 2 < high * high
    assert high - low < Fraction(1, 10**40)
    low, high = exact.root(Fraction(5e-324) ** 2 * 3)
    assert 0 < low < high


def test_simplex_by_hand():
    # max q0 + q1 with q0 + 2 q1 = 3, both at most 2: q = (2, ½).
    best, point = boxed_optimum(
        [{0: Fraction(1)}, {0: Fraction(2)}], [Fraction(3)], [Fraction(1), Fraction(1)], [Fraction(2), Fraction(2)]
    )
    assert best == Fraction(5, 2)
    assert point == [Fraction(1, 2)]
    # The same row twice: the rows are dependent, the optimum is not.
    twice = boxed_optimum(
        [{0: Fraction(1), 1: Fraction(1)}, {0: Fraction(2), 1: Fraction(2)}],
        [Fraction(3), Fraction(3)],
        [Fraction(1), Fraction(1)],
        [Fraction(2), Fraction(2)],
    )
    assert twice[0] == best


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("name", ["overlapping", "tied", "separable", "imbalanced", "equal_means"])
@pytest.mark.parametrize("program", LINEAR, ids=label)
def test_linear_optima_are_those_of_scipy(program, name):
    X, y = PROBLEMS[name]
    weight = None if name != "overlapping" else np.linspace(0.0, 2.0, y.size)
    found = optimum(program, ExactSample.of(X, y, weight))
    assert found.low == found.high
    assert float(found.high) == pytest.approx(optimal_value(program, X, y, weight), abs=1e-9)
    reached = value(program, ExactSample.of(X, y, weight), *exact.split(program, found.point))
    assert reached == (found.high, found.high)


@pytest.mark.parametrize(
    "program", [PartialAUC(0.3), PartialAUC(0.4, 0.02, "l1"), PartialAUC(0.4, 0.02, "linf")], ids=label
)
def test_partial_auc_is_that_of_scipy(program):
    X, y = PROBLEMS["overlapping"]
    found = optimum(program, ExactSample.of(X, y))
    assert found.width < 1e-9
    assert float(found.high) == pytest.approx(optimal_cvar(program, X, y), abs=1e-9)


def test_values_are_those_of_all_margins():
    generator = np.random.default_rng(0)
    X, y = PROBLEMS["overlapping"]
    weight = generator.uniform(0, 2, y.size)
    every = [
        BufferedAUC(), ECSVM(0.2), GeneralizedBufferedAUC(0.3, "l1"), GeneralizedBufferedAUC(-0.3, "linf"),
        *(kind(0.1, norm, sq) for kind in (RankSVM, CSVM) for norm in ("l1", "l2", "linf") for sq in (False, True)),
        PartialAUC(0.3, 0.1),
    ]  # fmt: skip
    for program in every:
        coef, intercept = generator.normal(size=X.shape[1]), 0.3
        low, high = value(program, ExactSample.of(X, y, weight), exact.fractions(coef), Fraction(intercept))
        assert low <= high <= low + Fraction(1, 10**30)
        assert float(low) == pytest.approx(objective(program, coef, intercept, X, y, weight), rel=1e-12), label(program)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (RankSVM(1.0), Fraction(1, 5)),  # one pair (3, 4): w along it with w·d = 1, ‖w‖ = 1/5
        (RankSVM(6.0), Fraction(1)),  # λ above ‖d‖: w = 0
        (RankSVM(1.0, "l1"), Fraction(1, 4)),
        (RankSVM(1.0, "linf"), Fraction(1, 7)),
        (RankSVM(1.0, squared=True), Fraction(1, 25)),
        (RankSVM(25.0, squared=True), Fraction(3, 4)),  # 1 − 5t + 25t² is least at t = 1/10
        (RankSVM(25.0, "l1", squared=True), 1 - Fraction(16, 100)),  # 1 − ‖d‖∞²/(4λ)
        (GeneralizedBufferedAUC(-2.0), Fraction(0)),  # 5t − 2t = 1
        (GeneralizedBufferedAUC(-5.5), Fraction(1)),
        (GeneralizedBufferedAUC(2.0, "linf"), Fraction(0)),
    ],
    ids=lambda x: label(x) if hasattr(x, "name") else str(x),
)
def test_one_pair_by_hand(program, expected):
    found = optimum(program, ExactSample.of([[3.0, 4.0], [0.0, 0.0]], [1, 0]))
    assert found.low <= expected <= found.high
    assert found.width < 1e-9


@pytest.mark.parametrize(
    "program", [RankSVM(0.02), CSVM(0.02), RankSVM(0.3, squared=True), CSVM(0.3, "linf", True), ECSVM(-0.1)], ids=label
)
def test_enclosures_hold_the_solvers_between_them(program):
    X, y = PROBLEMS["overlapping"]
    solution = solve(program, X, y, tolerance=1e-9)
    found = optimum(program, ExactSample.of(X, y), seconds=5)
    assert found.width < 1e-6
    assert float(found.low) <= solution.objective * (1 + 1e-9)
    assert float(found.high) >= solution.lower_bound * (1 - 1e-9)


def test_a_long_w_is_found():
    """Margins of 1e-9: the pairs are separable, by w = 1e9 and longer."""
    X, y = [[1 + 1e-9], [1.0], [1e-9], [0.0]], [1, 0, 1, 0]
    found = optimum(BufferedAUC(), ExactSample.of([X[0], X[1]], [1, 0]))
    assert found.high == 0
    assert found.point[0] == 1 / (Fraction(1 + 1e-9) - 1)
    # With the second pair the pair (1e-9, 1) is wrong for every w > 0: its hinge stays.
    assert optimum(BufferedAUC(), ExactSample.of(X, y)).high > Fraction(1, 4)


@pytest.mark.parametrize("seed", range(4))
def test_auc_in_the_plane(seed):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-3, 4, size=(9, 2)).astype(float), np.r_[np.ones(4), np.zeros(5)]
    found = optimum(ExactAUC(), ExactSample.of(X, y))
    assert 1 - float(found.high) == pytest.approx(best_auc_in_the_plane(X, y))


# ------------------------------------------------------------------------------------------- verdicts
CASE = Case(np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([0, 0, 1, 1]), None, BufferedAUC, {}, "by hand")
RIGHT = Answer("highs", "solved", "optimal", 0.5, 0.5, math.inf, (1.0,))


def word(answer, case=CASE, spread=(1.0,)):
    return judge(case, [answer], spread, 1e-6)[0].word


def test_right_answers_pass():
    assert word(RIGHT) == "optimal"
    assert word(replace(RIGHT, bound=0.5 - 1e-7)) == "optimal"
    assert word(replace(RIGHT, status="time_limit", objective=1.0, bound=0.0, coef=(0.0,))) == "time_limit"


def test_wrong_answers_are_caught():
    assert word(replace(RIGHT, bound=0.5 + 1e-9)) == "FALSE_BOUND"
    assert word(replace(RIGHT, objective=0.5 - 1e-8)) == "WRONG_OBJECTIVE"
    assert word(replace(RIGHT, objective=1.0, bound=0.4, coef=(0.0,))) == "FALSE_OPTIMUM"
    assert word(replace(RIGHT, objective=0.5 + 2e-6, bound=0.5, coef=(1.0 + 8e-6,))) == "FALSE_OPTIMUM"
    assert word(replace(RIGHT, objective=math.nan)) == "WRONG_OBJECTIVE"
    assert word(replace(RIGHT, coef=(math.nan,))) == "CRASH"
    assert [word(Answer("highs", end)) for end in ("crash", "hang", "refused")] == ["CRASH", "HANG", "REFUSED"]


def test_bounds_within_a_radius_speak_of_short_w_alone():
    """The margins are w·(1, −1, 3, 1): the value is 0.625 at ½, 0.5625 at ¾ and 0.5, the least, at 1."""
    short = replace(RIGHT, status="optimal_within", objective=0.625, bound=0.625, coef=(0.5,), norm_bound=0.5)
    assert word(short) == "optimal_within"
    assert word(replace(short, norm_bound=0.75)) == "FALSE_BOUND"
    assert word(replace(short, bound=0.0, norm_bound=0.75)) == "FALSE_OPTIMUM"
    # "optimal" speaks of every w, whatever the radius of the bound.
    assert word(replace(short, status="optimal")) == "FALSE_OPTIMUM"
    # In units of the spread: where it is 2, w = ½ has the length 1, and w = ¾ is out of a radius of 1.2 but not of 2.
    assert word(replace(short, norm_bound=1.0), spread=(2.0,)) == "optimal_within"
    assert word(replace(short, norm_bound=2.0), spread=(2.0,)) == "FALSE_BOUND"


def test_seeds_stand_for_cases():
    for kind in KINDS:
        assert seeded_case(3, kind).code() == seeded_case(3, kind).code()
        assert seeded_case(3, kind).code() != seeded_case(4, kind).code()


@pytest.mark.weekly
def test_a_worker_that_does_not_come_back_is_given_up():
    worker = programs.Worker(warm=())
    try:
        assert worker.ask(("solve", "random", 0, "auto"), limit=1e-3) is None
        process = worker.process
        worker.replace()
        assert not process.is_alive()
        assert worker.ask(("solve", "random", 0, "auto"), limit=60.0).end in ("solved", "refused")
    finally:
        worker.stop()
