"""Quantiles, probability of exceedance and the minimisers of bPOE against definitions on all values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab._core.base import AuclabError
from auclab.metrics import bpoe, buffered_exceedance, quantile

SAMPLES = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def objective(x, z, gamma):
    return np.mean(np.maximum(x - gamma, 0.0)) / (z - gamma)


@given(SAMPLES, st.integers(0, 12))
def test_quantiles_are_the_two_definitions(sample, twelfths):
    level = twelfths / 12
    values = sorted(set(sample))
    distribution = [sum(x <= v for x in sample) / len(sample) for v in values]
    lower = next(v for v, f in zip(values, distribution, strict=True) if f >= level)
    upper = next((v for v, f in zip(values, distribution, strict=True) if f > level), values[-1])
    assert quantile(sample, level) == (lower, upper)
    weight = [sample.count(v) for v in values]
    assert quantile(values, level, sample_weight=weight) == (lower, upper)


@given(SAMPLES, st.integers(-10, 10).map(lambda k: k / 2))
def test_every_level_of_the_interval_attains_the_value(sample, z):
    x = np.array(sample, float)
    found = buffered_exceedance(x, z)
    assert found.value == pytest.approx(bpoe(x, z), abs=1e-15)
    assert found.exceedance == np.mean(x > z) <= found.value + 1e-15
    least = min((objective(x, z, g) for g in np.arange(-40, 2 * z) / 2), default=1.0)
    assert found.value <= least + 1e-12
    if math.isnan(found.gamma_left):
        assert z <= x.mean()
        return
    right = min(found.gamma_right, z - 1e-3)
    for gamma in (found.gamma_left, 0.5 * (found.gamma_left + right), right):
        assert objective(x, z, gamma) == pytest.approx(found.value, abs=1e-12)
    assert objective(x, z, found.gamma_left - 1e-3) > found.value or found.value == 0.0 == objective(
        x, z, found.gamma_left
    )


@given(SAMPLES, st.integers(-10, 10).map(lambda k: k / 2))
def test_the_minimisers_are_quantiles(sample, z):
    x = np.array(sample, float)
    found = buffered_exceedance(x, z)
    if x.mean() < z < x.max():
        lower, upper = quantile(x, 1.0 - found.value)
        assert lower - 1e-12 <= found.gamma_left <= found.gamma_right <= upper + 1e-12


def test_a_level_outside_the_unit_interval_is_refused():
    with pytest.raises(AuclabError, match="level"):
        quantile([1.0, 2.0], 1.5)
