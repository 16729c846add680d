"""The functionals, laws and curves of the statements that are tried on random examples, against plain twins."""

from fractions import Fraction

import numpy as np
import pytest
from experiments.maurer_pontil_2020 import lemmas
from experiments.norton_uryasev_2018 import propositions
from experiments.ratigan_cowen import statements
from experiments.ratigan_cowen.breast_cancer import lies_above

from auclab.metrics import auc_score, weighted_auc


@pytest.mark.parametrize(
    ("functional", "convention"), [(lemmas.largest_rank, "max_rank"), (lemmas.averaged, "average")]
)
def test_the_functional_is_the_weighted_auc_times_both_frequencies(functional, convention):
    random = np.random.default_rng(0)
    for _ in range(20):
        law = lemmas.random_law(random, int(random.integers(1, lemmas.UNIT)))
        frequency = float(law.of_0.sum())
        setting = lemmas.Setting(float(random.uniform(0, 0.5)), 4.0, np.inf, frequency)
        masses = np.concatenate([law.of_0, law.of_1])
        labels, scores = np.repeat([0, 1], len(lemmas.PLACES)), np.tile(lemmas.PLACES, 2)
        kept = masses > 0
        expected = weighted_auc(
            labels[kept], scores[kept], sample_weight=masses[kept], weight=setting.weight, convention=convention,
            ties="strict", breakpoints=(setting.start, setting.start + 0.25),
        )  # fmt: skip
        assert functional(law, setting) == pytest.approx(expected * frequency * law.of_1.sum(), abs=1e-12)


def test_the_search_finds_what_is_known_to_fail():
    random = np.random.default_rng(0)
    assert lemmas.search(lemmas.ratio_a, lemmas.largest_rank, random, 60, step=True) > 1.5
    assert lemmas.search(lemmas.ratio_a, lemmas.averaged, random, 60, step=True) <= 1 + 1e-9


def test_bpoe_by_the_definition_is_the_largest_share_with_that_average():
    random = np.random.default_rng(1)
    for _ in range(30):
        law = propositions.random_law(random)
        z = Fraction(int(random.integers(-20, 20)), 6)
        share = propositions.upper(law, z)
        if share:
            assert propositions.tail(law, share) >= z * share
        if 0 < share < 1:
            more = share + Fraction(1, 10**6)
            assert propositions.tail(law, more) < z * more
        assert propositions.formula(law, z) == share


def test_a_curve_that_lies_above_dominates_and_has_the_larger_area():
    random = np.random.default_rng(2)
    found = 0
    for _ in range(60):
        y = np.repeat([1, 0], 6)
        one, other = (random.integers(0, 6, 12) + 2.0 * y for _ in range(2))
        if lies_above(y, one, other):
            found += 1
            assert auc_score(y, one) >= auc_score(y, other)
    assert found > 3


def test_vertices_and_curves_disagree_where_the_erratum_says():
    grid = Fraction(1, 10)
    f = [(0 * grid, 0 * grid), (2 * grid, 9 * grid), (10 * grid, 10 * grid)]
    g = [(0 * grid, 0 * grid), (1 * grid, 3 * grid), (10 * grid, 10 * grid)]
    assert statements.above(f, g)
    assert not statements.vertices_dominate(f, g)
    assert statements.dominates(statements.hull(f), f)
