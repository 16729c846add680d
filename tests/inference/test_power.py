"""Power and sample size, against their formula and against simulated studies."""

import numpy as np
import pytest
from scipy.stats import norm

from auclab import AuclabError, compare_scorers
from auclab.inference import DifferenceDesign, design_of_difference


def drawn(n_pos: int, n_neg: int, rng: np.random.Generator, gain: float = 0.35) -> tuple[np.ndarray, ...]:
    """Labels, and two correlated scorers of which the first is better."""
    y = np.repeat([1, 0], [n_pos, n_neg])
    common = rng.normal(size=y.size)
    a = y * (0.9 + gain) + 0.7 * common + 0.7 * rng.normal(size=y.size)
    b = y * 0.9 + 0.7 * common + 0.7 * rng.normal(size=y.size)
    return y, a, b


def test_variance_is_that_of_the_test_for_the_size_of_the_pilot() -> None:
    y, a, b = drawn(30, 70, np.random.default_rng(0))
    for metric in ("auc", "bauc"):
        design, test = design_of_difference(y, a, b, metric), compare_scorers(y, a, b, metric)
        assert design.difference == test.difference
        error = np.sqrt(design.variance_pos / 30 + design.variance_neg / 70)
        assert error == pytest.approx(test.standard_error, rel=1e-12)
        statistic = abs(test.difference) / test.standard_error
        expected = norm.cdf(statistic - norm.isf(0.025)) + norm.cdf(-statistic - norm.isf(0.025))
        assert design.power(30, 70) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "alternative", "margin"),
    [("auc", "two-sided", 0.0), ("bauc", "two-sided", 0.0), ("auc", "greater", 0.02), ("bauc", "greater", 0.0)],
)
def test_simulated_studies_reject_as_often_as_the_power_says(metric: str, alternative: str, margin: float) -> None:
    rng = np.random.default_rng(1)
    design = design_of_difference(*drawn(4000, 4000, rng), metric, alternative=alternative, margin=margin, share=0.4)
    n_pos, n_neg = design.sample_size(0.8)
    assert 0.8 <= design.power(n_pos, n_neg) < 0.82
    given = {"alternative": alternative, "margin": margin}
    rejected = [compare_scorers(*drawn(n_pos, n_neg, rng), metric, **given).p_value < 0.05 for _ in range(600)]
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.06)  # 3.5 standard errors of 600 studies are 0.057


def test_least_numbers_have_the_power_and_fewer_have_not() -> None:
    design = DifferenceDesign(-0.03, 0.09, 0.04, 0.25, "two-sided", 0.0, 0.05)
    n_pos, n_neg = design.sample_size(0.9)
    assert n_neg == pytest.approx(3 * n_pos, abs=3)
    assert design.power(n_pos, n_neg) >= 0.9 > design.power(n_pos - 1, n_neg - 3)


def test_what_has_no_answer_is_refused() -> None:
    y, a, b = drawn(30, 30, np.random.default_rng(2))
    with pytest.raises(AuclabError, match="not on the side"):
        design_of_difference(y, a, b, difference=-0.1, alternative="greater").sample_size()
    with pytest.raises(AuclabError, match="components"):
        design_of_difference(y, a, b, "voros")
    with pytest.raises(AuclabError, match="do not distinguish"):
        design_of_difference(y, a, a)
    with pytest.raises(AuclabError, match="share must lie"):
        design_of_difference(y, a, b, share=1.0)
    with pytest.raises(AuclabError, match="alpha must lie"):
        design_of_difference(y, a, b, alpha=0.0)
    with pytest.raises(AuclabError, match="margin must be"):
        design_of_difference(y, a, b, margin=0.1)
    with pytest.raises(AuclabError, match="power must lie"):
        design_of_difference(y, a, b).sample_size(0.01)
    with pytest.raises(AuclabError, match="n_pos must be"):
        design_of_difference(y, a, b).power(1, 30)
