"""Units of the features change nothing beyond rounding, in any solver."""

from dataclasses import replace

import numpy as np
import pytest

from auclab import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.portfolio import PROVED
from auclab.solvers.reformulations import scaled, units_of, with_scaled_parameters
from auclab.solvers.registry import capable_solvers, encodings
from programs import label

#: One column of each, beside one another.
SCALES = np.array([1e-9, 1.0, 1e9])


def problem():
    """Three features with a difference of the means, 9 + 12 observations that overlap."""
    rng = np.random.default_rng(3)
    y = np.repeat([1, 0], [9, 12])
    return rng.normal(size=(y.size, 3)) + 0.8 * y[:, None], y


def ways(program):
    for name in capable_solvers(program):
        if name == "highs":
            yield from ((name, {"encoding": encoding}) for encoding in encodings(program))
        else:
            yield name, {}


@pytest.mark.parametrize("program", [BufferedAUC(), CSVM(0.0), PartialAUC(0.5)], ids=label)
def test_columns_of_any_scale_beside_each_other(program):
    X, y = problem()
    for solver, options in ways(program):
        plain = solve(program, X, y, solver=solver, **options)
        stretched = solve(program, X * SCALES, y, solver=solver, **options)
        assert stretched.objective == pytest.approx(plain.objective, abs=1e-6), (solver, options)
        assert {plain.status, stretched.status} <= set(PROVED), (solver, options)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e-60, 1e60])
@pytest.mark.parametrize(
    "program",
    [
        RankSVM(0.05),
        RankSVM(0.05, "l1"),
        RankSVM(0.05, "linf", squared=True),
        CSVM(0.05, "linf"),
        GeneralizedBufferedAUC(-0.1),
        ECSVM(-0.1, "l1"),
    ],
    ids=label,
)
def test_one_unit_for_all_features_is_taken_up_by_the_parameters(program, scale):
    X, y = problem()
    moved = with_scaled_parameters(program, scale)
    for solver, options in ways(program):
        plain = solve(program, X, y, solver=solver, **options)
        stretched = solve(moved, X * scale, y, solver=solver, **options)
        assert stretched.objective == pytest.approx(plain.objective, rel=2e-6), (solver, options)
        assert {plain.status, stretched.status} <= set(PROVED), (solver, options)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_a_feature_too_small_to_matter_changes_nothing(norm):
    X, y = problem()
    small = np.c_[X, 1e-9 * np.random.default_rng(0).normal(size=y.size)]
    program = RankSVM(0.05, norm)
    without = solve(program, X, y).objective
    for solver, options in ways(program):
        # w of the small feature would have to be 1e9 long to matter, at a penalty of 5e7.
        assert solve(program, small, y, solver=solver, **options).objective == pytest.approx(without, rel=2e-6)


def test_units_are_powers_of_two_and_undone_without_rounding():
    X, y = problem()
    given = Problem(BufferedAUC(), as_sample(X * SCALES, y))
    unit = units_of(given)
    assert (np.frexp(unit)[0] == 0.5).all()
    small = scaled(given, unit)
    assert (small.sample.X_pos * unit == given.sample.X_pos).all()
    assert (small.sample.spread > 0.1).all()
    assert (small.sample.spread < 10).all()
    assert units_of(Problem(BufferedAUC(), as_sample(X, y))) is None


def test_scaled_parameters_stay_in_their_range():
    X, y = problem()
    sample = as_sample(1e140 * X, y)
    for program in (RankSVM(1e-100), RankSVM(1e-20, squared=True), GeneralizedBufferedAUC(-1e-140)):
        unit = units_of(Problem(program, sample))
        tiny = scaled(Problem(program, sample), unit).program  # would be refused if out of range
        assert tiny != program
        assert replace(tiny) == tiny
