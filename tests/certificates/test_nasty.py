"""What the checker proves, against the exact optimum of nasty programs that the fuzzer finds by another way."""

from fractions import Fraction

import numpy as np
import pytest

import auclab
from auclab._core.base import AuclabError
from auclab.certificates.checker.bound import proved_bound
from auclab.certificates.checker.data import Data
from auclab.certificates.checker.program import Program, objective
from fuzz.exact import ExactSample, value
from fuzz.exact_optimum import optimum
from fuzz.nasty import seeded_case
from programs import stored


@pytest.mark.slow
@pytest.mark.covering(seed=8)
@pytest.mark.parametrize("seed", range(24))
def test_nothing_above_the_optimum_is_proved(seed):
    """By the multipliers of a solver, disturbed ones, and random ones."""
    case = seeded_case(seed, "nasty")
    try:
        solution = auclab.solve(case.program, case.X, case.y, sample_weight=case.weight, time_limit=5)
    except AuclabError:
        pytest.skip("the program is refused")
    program = Program.from_stored(stored(case.program))
    data = Data.of(case.X, np.asarray(case.y) == 1, case.weight)
    sample, coef = ExactSample.of(case.X, case.y, case.weight), [Fraction(float(c)) for c in solution.coef]
    low, high = objective(program, data, solution.coef, solution.intercept)
    unit = max(high, Fraction(1, 1000))
    for ours, theirs in zip((low, high), value(case.program, sample, coef, Fraction(solution.intercept)), strict=True):
        assert abs(ours - theirs) <= unit / 2**100
    if program.no_multipliers or solution.multipliers is None:
        return
    point = coef if case.program.comparisons.name == "pairs" else [*coef, Fraction(solution.intercept)]
    best = optimum(case.program, sample, [point], seconds=2)
    rng = np.random.default_rng(seed)
    size = solution.multipliers.size
    for multipliers in (solution.multipliers, solution.multipliers * rng.random(size), rng.random(size) / size):
        options = {"enough": high, "radius": np.inf, "spread": np.ones(data.n_features)}
        bound = proved_bound(program, data, multipliers, solution.shares_neg, **options)
        assert bound is not None
        assert bound.everywhere <= best.high
