"""Uno's concordance and the cumulative/dynamic AUC, against sums over all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import AuclabError
from auclab.metrics import auc_score, censoring_weights, concordance_index, time_dependent_auc


def drawn(seed, n=30):
    """Times with ties, half of them censored; the first is an event and the last is censored."""
    rng = np.random.default_rng(seed)
    time, event = rng.integers(1, 12, n).astype(float), rng.random(n) < 0.6
    time[:2], event[:2] = (1.0, 12.0), (True, False)
    return time, event, np.round(rng.normal(size=n) - 0.2 * time, 1)


def uncensored(t, time, event):
    """Kaplan–Meier estimate of P(C > t), events before the censorings of the same time."""
    chance = 1.0
    for s in np.unique(time[time <= t]):
        at_risk = np.sum(time >= s) - np.sum((time == s) & event)
        if at_risk:
            chance *= 1.0 - np.sum((time == s) & ~event) / at_risk
    return chance


@given(st.integers(0, 10_000), st.sampled_from([None, 7.0]), st.sampled_from(["excluded", "censored_later"]))
def test_unos_concordance_is_the_sum_over_pairs(seed, tau, ties):
    time, event, s = drawn(seed)
    right = total = 0.0
    for i in np.flatnonzero(event):
        if tau is not None and time[i] >= tau:
            continue
        weight = uncensored(time[i], time, event) ** -2
        for j in range(time.size):
            later = time[j] > time[i] or (ties == "censored_later" and time[j] == time[i] and not event[j])
            if later:
                total += weight
                right += weight * ((s[i] > s[j]) + 0.5 * (s[i] == s[j]))
    found = concordance_index(time, event, s, weights="ipcw", tau=tau, tied_times=ties)
    assert found == pytest.approx(right / total, abs=1e-12)


@given(st.integers(0, 10_000))
def test_weights_of_rows_are_repetitions(seed):
    time, event, s = drawn(seed)
    weight = np.random.default_rng(seed).integers(1, 4, time.size)
    repeated = [np.repeat(of, weight) for of in (time, event, s)]
    assert concordance_index(time, event, s, weights="ipcw", sample_weight=weight) == pytest.approx(
        concordance_index(*repeated, weights="ipcw"), abs=1e-12
    )
    assert time_dependent_auc(time, event, s, 5.0, sample_weight=weight) == pytest.approx(
        time_dependent_auc(*repeated, 5.0), abs=1e-12
    )


@given(st.integers(0, 10_000))
def test_auc_at_a_time_is_the_sum_over_pairs(seed):
    time, event, s = drawn(seed)
    for t in (3.0, 7.5):
        cases, controls = np.flatnonzero(event & (time <= t)), np.flatnonzero(time > t)
        weight = np.array([1.0 / uncensored(time[i], time, event) for i in cases])
        kernel = (s[cases][:, None] > s[controls]) + 0.5 * (s[cases][:, None] == s[controls])
        expected = weight @ kernel.mean(axis=1) / weight.sum()
        assert time_dependent_auc(time, event, s, t)[0] == pytest.approx(expected, abs=1e-12)


def test_without_censoring():
    rng = np.random.default_rng(0)
    time, s = rng.permutation(20.0 * np.arange(20)), rng.normal(size=20)
    event = np.ones(20, dtype=bool)
    assert censoring_weights(time, event).tolist() == [1.0] * 20
    assert concordance_index(time, event, s, weights="ipcw") == pytest.approx(concordance_index(time, event, s))
    assert time_dependent_auc(time, event, s, [100.0])[0] == pytest.approx(auc_score(time <= 100.0, s))


def test_the_limit_does_not_depend_on_the_censoring():
    """Harrell's index is larger than that of all rows where long times, which the score ranks badly, are censored."""
    rng = np.random.default_rng(1)
    s = rng.normal(size=20_000)
    time = rng.exponential(size=s.size) * np.exp(-s)
    time = np.where(time > 1.0, 1.0 + rng.exponential(size=s.size), time)  # later the score says nothing
    censoring = rng.exponential(1.5, size=s.size)
    seen, event = np.minimum(time, censoring), time <= censoring
    everything = concordance_index(time, np.ones(s.size), s, tau=2.0)
    uno = concordance_index(seen, event, s, weights="ipcw", tau=2.0)
    harrell = concordance_index(seen, event, s, tau=2.0)
    assert abs(uno - everything) < 0.01 < harrell - everything


def test_values_of_scikit_survival():
    metrics = pytest.importorskip("sksurv.metrics", reason="compares with scikit-survival where it is installed")
    from sksurv.util import Surv

    time, event, s = drawn(2, 200)
    y = Surv.from_arrays(event, time)
    for tau in (None, 8.0):
        expected = metrics.concordance_index_ipcw(y, y, s, tau=tau)[0]
        found = concordance_index(time, event, s, weights="ipcw", tau=tau, tied_times="censored_later", tolerance=1e-8)
        assert found == pytest.approx(expected, abs=1e-12)
    expected = metrics.cumulative_dynamic_auc(y, y, s, [3.0, 8.0])[0]
    assert time_dependent_auc(time, event, s, [3.0, 8.0]) == pytest.approx(expected, abs=1e-12)


def test_what_is_refused():
    time, event, s = drawn(0)
    with pytest.raises(AuclabError, match="before tau"):
        concordance_index(time, event, s, weights="ipcw", tau=0.5)
    with pytest.raises(AuclabError, match="weights"):
        concordance_index(time, event, s, weights="uno")
    for t, what in ((0.5, "event"), (13.0, "row at risk")):
        with pytest.raises(AuclabError, match=what):
            time_dependent_auc(time, event, s, t)
    with pytest.raises(AuclabError, match="0 or 1"):
        censoring_weights([1.0, 2.0], [0, 2])
