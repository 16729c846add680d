"""One sort for a part of a split, and one computation for each of its numbers."""

import numpy as np
import pytest

from auclab import AuclabError, metrics
from auclab.inference import estimate, estimate_part
from auclab.metrics import METRICS, ScoredPart, buffered, roc

OPTIONS = {
    "gauc": {"modifier": np.tanh},
    "partial_auc": {"max_fpr": 0.6, "standardized": "mcclish"},
    "polynomial_soft_auc": {"beta": 2.0},
    "probabilistic_auc": {"width": 0.1},
    "ranking_superquantile": {"level": 0.7},
    "soft_auc": {"beta": 2.0},
    "two_way_partial_auc": {"min_tpr": 0.1, "max_fpr": 0.9},
    "weighted_auc": {"weight": np.square},
}
RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 60)
S = np.round(RNG.normal(size=60) + Y, 1)
WEIGHT = RNG.integers(0, 4, 60).astype(float)


@pytest.fixture
def sorts(monkeypatch):
    """Class sizes of every sort."""
    calls, sort = [], roc._sort_both

    def counted(pos, neg):
        calls.append((pos.size, neg.size))
        sort(pos, neg)

    monkeypatch.setattr(roc, "_sort_both", counted)
    return calls


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("name", METRICS)
def test_values_are_those_of_the_functions(name, weight):
    part, options = ScoredPart(Y, S, weight), OPTIONS.get(name, {})
    expected = METRICS[name].function(Y, S, sample_weight=weight, **options)
    assert part.value(name, **options) == part.value(METRICS[name].function, **options) == expected


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.has_interval])
def test_intervals_are_those_of_labels_and_scores(name, weight):
    part, options = ScoredPart(Y, S, weight), OPTIONS.get(name, {})
    assert estimate_part(part, name, **options) == estimate(Y, S, name, sample_weight=weight, **options)


def test_scores_are_sorted_once(sorts):
    part = ScoredPart(Y, S)
    for name in METRICS:
        part.value(name, **OPTIONS.get(name, {}))
        if METRICS[name].has_interval:
            estimate_part(part, name, **OPTIONS.get(name, {}))
    assert part.pair_errors is part.pair_errors
    assert sorts == [(part.n_pos, part.n_neg)] == [(Y.sum(), 60 - Y.sum())]


def test_a_value_is_computed_once_for_each_set_of_options(monkeypatch):
    calls, solve = [], buffered.solve_bpoe

    def counted(errors, threshold, **options):
        calls.append(threshold)
        return solve(errors, threshold, **options)

    monkeypatch.setattr(buffered, "solve_bpoe", counted)
    part = ScoredPart(Y, S)
    first = [part.value("bauc"), part.value("bauc", threshold=0.0), part.value(metrics.bauc_score)]
    assert calls == [0.0]
    assert first == [metrics.bauc_score(Y, S)] * 3
    assert part.value("bauc", threshold=0.5) == metrics.bauc_score(Y, S, threshold=0.5)
    assert calls == [0.0, 0.0, 0.5, 0.5]
    assert part.value("voros", cost_range=[0.2, 0.3]) == part.value("voros", cost_range=(0.2, 0.3))


def test_other_functions_get_labels_and_scores():
    part = ScoredPart(2 * Y - 1, S)
    assert part.value(lambda y, s, shift: float(np.mean(y * s)) + shift, shift=1.0) == np.mean((2 * Y - 1) * S) + 1.0
    breaks = np.array([0.25, 0.5])  # an option without a hash
    value = part.value("weighted_auc", weight=np.square, breakpoints=breaks)
    assert value == metrics.weighted_auc(Y, S, weight=np.square, breakpoints=breaks)


def test_infinite_scores_are_for_ranks():
    part = ScoredPart(Y, np.where(S.max() == S, np.inf, S))
    assert part.value("auc") == metrics.auc_score(Y, S)
    for needs_differences in (lambda: part.value("bauc"), lambda: part.pair_errors):
        with pytest.raises(AuclabError, match=r"y_score\[\d+\] is inf"):
            needs_differences()


def test_parts_without_two_classes_are_refused_at_the_first_use():
    part = ScoredPart(np.ones(3), np.arange(3.0))
    with pytest.raises(AuclabError, match="two classes are needed"):
        part.value("auc")
