"""Standard errors from summaries: the limits contain that of the scores in memory."""

from __future__ import annotations

import numpy as np
import pytest

from auclab._core.base import AuclabError
from auclab.inference import estimate, estimate_summary
from auclab.metrics import ScoreSummary, score_edges


def case(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """Labels, scores, weights, edges: spread, tied, far off or with heavy tails."""
    n_pos, n_neg = rng.integers(2, 400, 2)
    y = np.repeat([1, 0], [n_pos, n_neg])
    s = rng.normal(size=y.size) + rng.choice([0.5, 1.5]) * y
    match rng.integers(5):
        case 0:
            s = np.round(2 * s)
        case 1:
            s = s + 1e6
        case 2:
            s = rng.standard_cauchy(y.size)
        case 3:
            s = np.round(s, 1)
    w = (None, rng.integers(1, 4, y.size).astype(float), rng.uniform(0.1, 5.0, y.size))[rng.integers(3)]
    edges = (score_edges(s[y == 1], s[y == 0], int(rng.integers(4, 100))), np.empty(0), np.unique(rng.choice(s, 3)))
    return y, s, w, edges[rng.choice(3, p=[0.8, 0.1, 0.1])]


@pytest.mark.slow
@pytest.mark.covering(seed=20)
@pytest.mark.parametrize("seed", range(60))
def test_limits_contain_the_standard_error(seed):
    rng = np.random.default_rng(seed)
    y, s, w, edges = case(rng)
    summary = ScoreSummary.from_scores(y, s, edges=edges, sample_weight=w)
    for metric, options in (("auc", {}), ("auc", {"ties": "strict"}), ("bauc", {}), ("bauc", {"threshold": 0.4})):
        expected = estimate(y, s, metric, sample_weight=w, **options)
        limits = estimate_summary(summary, metric, **options)
        low, high = limits.standard_error
        assert low <= expected.standard_error <= high
        assert limits.value.low <= expected.value <= limits.value.high
        if not expected.notes:
            assert limits.lower <= expected.lower + 1e-12
            assert limits.upper >= expected.upper - 1e-12


def test_limits_shrink_with_the_bins():
    rng = np.random.default_rng(0)
    y = (rng.random(50_000) < 0.4).astype(int)
    s = rng.normal(size=y.size) + y
    for metric in ("auc", "bauc"):
        errors = [
            estimate_summary(ScoreSummary.from_scores(y, s, edges=score_edges(s[y == 1], s[y == 0], n)), metric)
            for n in (256, 1024, 4096)
        ]
        widths = [part.standard_error.width / part.standard_error.high for part in errors]
        assert widths[0] > 2.5 * widths[1] > 6 * widths[2]
        assert widths[2] < 0.01


def test_perfect_order_has_the_limits_of_memory():
    y, s = np.repeat([0, 1], 10), np.arange(20.0)
    summary = ScoreSummary.from_scores(y, s, edges=[9.5])
    expected = estimate(y, s)
    result = estimate_summary(summary)
    assert result.standard_error == pytest.approx((0.0, 0.0), abs=1e-12)
    assert (result.lower, result.upper) == pytest.approx((expected.lower, expected.upper))


def test_equal_scores_have_the_limits_of_memory():
    y, s = np.tile([0, 1], 10), np.ones(20)
    result, expected = estimate_summary(ScoreSummary.from_scores(y, s, edges=[])), estimate(y, s)
    assert (result.lower, result.upper) == pytest.approx((expected.lower, expected.upper))


def test_what_has_no_standard_error_is_said():
    y, s = np.tile([0, 1], 10), np.arange(20.0)
    summary = ScoreSummary.from_scores(y, s, edges=[])
    with pytest.raises(AuclabError, match="are those of auc and bauc, not of voros"):
        estimate_summary(summary, "voros")
    with pytest.raises(AuclabError, match="level must lie in"):
        estimate_summary(summary, level=1.0)
    alone = ScoreSummary.from_scores([1, 0, 0], [1.0, 0.0, 2.0], edges=[])
    result = estimate_summary(alone)
    assert np.isnan(result.standard_error.low)
    assert (result.lower, result.upper) == (0.0, 1.0)
