"""Intervals of Uno's concordance and of the AUC at a time, against derivatives in the weights of the rows."""

import numpy as np
import pytest

from auclab import AuclabError, estimate
from auclab.inference import estimate_concordance, estimate_time_dependent_auc
from auclab.metrics import concordance_index, time_dependent_auc


def drawn(seed: int, n: int = 40, censored: float = 0.5, grid: int = 0) -> tuple[np.ndarray, ...]:
    """Times with hazards e^s, censored at random; with `grid` in whole numbers, with ties."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    life, until = rng.exponential(np.exp(-s)), rng.exponential((1 - censored) / censored, n)
    time, event = np.minimum(life, until), life <= until
    if grid:
        time = np.ceil(grid * np.minimum(time, 3.0))
    return time, event, s + rng.normal(size=n)


def by_differences(value, n: int, h: float = 1e-5) -> float:
    """``√(n/(n−1) Σ (∂ value/∂ω_k)²)`` at weights of 1."""
    derivatives = []
    for k in range(n):
        up, down = np.ones(n), np.ones(n)
        up[k], down[k] = 1 + h, 1 - h
        derivatives.append((value(up) - value(down)) / (2 * h))
    assert np.sum(derivatives) == pytest.approx(0.0, abs=1e-6)
    return float(np.sqrt(n / (n - 1) * np.sum(np.square(derivatives))))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("tau", "grid"), [(None, 0), (4.0, 5)])
def test_error_of_unos_concordance_is_that_of_its_derivatives(seed, tau, grid):
    time, event, s = drawn(seed, grid=grid)

    def value(weight):
        return concordance_index(time, event, s, weights="ipcw", tau=tau, sample_weight=weight)

    found = estimate_concordance(time, event, s, tau=tau)
    assert found.value == pytest.approx(value(None), abs=1e-12)
    assert found.standard_error == pytest.approx(by_differences(value, s.size), rel=1e-5)
    assert found.lower < found.value < found.upper


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("t", "grid"), [(0.5, 0), (3.0, 5)])
def test_error_of_the_auc_at_a_time_is_that_of_its_derivatives(seed, t, grid):
    time, event, s = drawn(seed, grid=grid)

    def value(weight):
        return time_dependent_auc(time, event, s, t, sample_weight=weight)[0]

    (found,) = estimate_time_dependent_auc(time, event, s, t)
    assert found.value == pytest.approx(value(None), abs=1e-12)
    assert found.standard_error == pytest.approx(by_differences(value, s.size), rel=1e-5)


def test_without_censoring_it_is_the_error_of_auc():
    time, _, s = drawn(0, 60)
    (found,) = estimate_time_dependent_auc(time, np.ones(60), s, 0.4)
    classes = estimate(time <= 0.4, s)
    assert found.value == pytest.approx(classes.value)
    m = (time <= 0.4).sum()
    assert found.standard_error == pytest.approx(classes.standard_error, rel=1 / m)  # n/(n−1) of all rows, not of each


def test_weights_of_rows_are_scaled_and_rows_of_weight_0_are_left_out():
    time, event, s = drawn(3, 50)
    weight = np.r_[np.zeros(10), np.full(40, 3.0)]
    for of in (estimate_concordance, lambda *given, **more: estimate_time_dependent_auc(*given, 0.4, **more)[0]):
        some, rest = of(time, event, s, sample_weight=weight), of(time[10:], event[10:], s[10:])
        assert (some.value, some.standard_error) == pytest.approx((rest.value, rest.standard_error))


def test_a_perfect_order_has_limits_for_what_it_cannot_show():
    time = np.arange(1.0, 21.0)
    for found in (
        estimate_concordance(time, np.ones(20), -time),
        estimate_time_dependent_auc(time, np.ones(20), -time, 10.0)[0],
    ):
        assert (found.value, found.upper) == (1.0, 1.0)
        assert found.lower < 0.8
        assert "cannot show" in found.notes[0]


def test_few_events_have_a_note_and_a_wrong_level_is_refused():
    time, event, s = drawn(1, 12)
    assert "may be too narrow" in estimate_concordance(time, event, s).notes[0]
    with pytest.raises(AuclabError, match="level"):
        estimate_concordance(time, event, s, level=1.5)


@pytest.mark.slow
@pytest.mark.parametrize("censored", [0.3, 0.7])
def test_intervals_cover_the_value_of_many_rows(censored):
    big = drawn(9, 200_000, censored)
    truth = concordance_index(*big, weights="ipcw", tau=0.5), time_dependent_auc(*big, 0.4)[0]
    hits = np.zeros(2)
    for seed in range(300):
        sample = drawn(1000 + seed, 150, censored)
        found = estimate_concordance(*sample, tau=0.5), estimate_time_dependent_auc(*sample, 0.4)[0]
        hits += [each.lower <= value <= each.upper for each, value in zip(found, truth, strict=True)]
    assert (hits / 300 > 0.91).all()
