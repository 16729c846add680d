"""bPOE and superquantile of plain samples against exact rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from auclab._core.base import AuclabError
from auclab.metrics import bpoe, superquantile
from strategies import problems

SAMPLES = problems(most=9).map(lambda p: (p.neg, p.weight_neg))
LEVELS = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), st.floats(0, 1))


def exact(sample):
    values, weight = sample
    return reference.pair_errors([0.0], values, None, weight)


@given(SAMPLES, st.data())
def test_bpoe_is_the_minimum_over_gamma(sample, data):
    z = data.draw(st.one_of(st.sampled_from(sample[0]), st.floats(-12, 12), st.just(float(np.mean(sample[0])))))
    expected = float(reference.buffered(exact(sample), z).bpoe)
    assert bpoe(sample[0], z, sample_weight=sample[1]) == pytest.approx(expected, abs=1e-15, rel=4e-16)


@given(SAMPLES, LEVELS)
def test_superquantile_is_the_minimum_over_gamma(sample, level):
    expected = float(reference.superquantile(exact(sample), level))
    size = max(abs(v) for v in sample[0])
    assert superquantile(sample[0], level, sample_weight=sample[1]) == pytest.approx(expected, abs=4e-15 * size)


@given(SAMPLES.filter(lambda s: len(set(s[0])) > 1), st.floats(0.01, 0.99))
def test_superquantile_inverts_bpoe(sample, level):
    values = np.array(sample[0])
    values = (values - values.mean()) / np.ptp(values)  # an offset of 10⁹ leaves the thresholds seven digits
    z = superquantile(values, level, sample_weight=sample[1])
    weight = np.ones(values.size) if sample[1] is None else np.array(sample[1])
    top = weight[values == values[weight > 0].max()].sum() / weight.sum()
    mean = np.average(values, weights=weight)
    if 1 - level > top + 1e-6 and z - mean > 1e-6:
        assert bpoe(values, z, sample_weight=sample[1]) == pytest.approx(1 - level, abs=1e-6)


@given(SAMPLES)
def test_ends_of_the_level_are_mean_and_maximum(sample):
    values, weight = np.array(sample[0]), sample[1]
    present = values if weight is None else values[np.array(weight) > 0]
    assert superquantile(values, 1.0, sample_weight=weight) == present.max()
    size = np.abs(values).max()
    assert superquantile(values, 0.0, sample_weight=weight) == pytest.approx(
        np.average(values, weights=weight), abs=1e-14 * size
    )


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=9), st.data())
def test_mean_of_an_upper_part_has_the_share_of_that_part(values, data):
    """z = E[X | X ≥ s] gives bPOE_z = P(X ≥ s), atoms or not."""
    cut = data.draw(st.sampled_from(values))
    part = [v for v in values if v >= cut]
    z = min(float(np.nextafter(np.mean(part), -np.inf)), max(values))  # not above it: bPOE jumps at the maximum
    assert bpoe(values, z) == pytest.approx(len(part) / len(values), abs=1e-14)


@given(SAMPLES, st.floats(-12, 12))
def test_is_at_least_the_probability_of_exceedance(sample, z):
    values, weight = np.array(sample[0]), np.ones(len(sample[0])) if sample[1] is None else np.array(sample[1])
    assert bpoe(values, z, sample_weight=sample[1]) >= weight[values >= z].sum() / weight.sum() - 1e-15


def test_at_the_maximum_the_two_kinds_differ():
    assert bpoe([1.0, 2.0, 2.0], 2.0) == 2 / 3
    assert bpoe([1.0, 2.0, 2.0], 2.0, kind="lower") == 0.0
    above, below = np.nextafter(2.0, 3.0), np.nextafter(2.0, 1.0)
    assert bpoe([1.0, 2.0, 2.0], above) == 0.0
    assert bpoe([1.0, 2.0, 2.0], below) == pytest.approx(2 / 3, abs=1e-15)
    assert bpoe([1.0, 2.0, 2.0], below, kind="lower") == bpoe([1.0, 2.0, 2.0], below)


def test_a_constant_sample():
    assert bpoe([3.0, 3.0], 3.0) == 1.0
    assert bpoe([3.0, 3.0], 3.0, kind="lower") == 0.0
    assert bpoe([3.0, 3.0], 2.9) == 1.0
    assert superquantile([3.0, 3.0], 0.7) == 3.0


def test_atoms_of_the_formula_sheet():
    """X = −1 with probability 0.6, +1 with 0.4: a tail of mean 0 holds as much of −1 as of +1, so 0.8."""
    assert bpoe([-1] * 6 + [1] * 4, 0.0) == 0.8


def test_running_average_recipe_is_wrong_for_constants():
    """It stops at the first average ≤ 0 and so gives 1/n for n zeros; the tail of mean 0 is all of them."""
    values = np.zeros(5)
    average = np.cumsum(np.sort(values)[::-1]) / np.arange(1, 6)
    assert (np.flatnonzero(average <= 0)[0] + 1) / 5 == 0.2
    assert bpoe(values, 0.0) == 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bpoe([], 0.0), "non-empty"),
        (lambda: bpoe([1.0, np.inf], 0.0), "finite"),
        (lambda: bpoe([1.0], np.nan), "threshold"),
        (lambda: bpoe([1.0], "a"), "threshold"),
        (lambda: bpoe([1.0], 0.0, kind="middle"), "kind"),
        (lambda: bpoe([1.0, 2.0], 0.0, sample_weight=[0, 0]), "weights of the sample"),
        (lambda: superquantile([1.0], 1.5), "level"),
        (lambda: superquantile([1.0], -0.1), "level"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError, match=words):
        call()
