"""One-sided tests, margins, joint tests of several scorers, Holm's correction."""

import numpy as np
import pytest
from scipy.stats import chi2, norm

from auclab import AuclabError, compare_scorers
from auclab.inference.comparison import holm


def sample(seed=0, n=80, lifts=(1.0, 0.8, 0.3)):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n // 2, n - n // 2])
    shared = rng.normal(size=n)
    return y, [shared + 0.7 * rng.normal(size=n) + lift * y for lift in lifts]


def contrast_test(y, scores):
    """The test of DeLong et al. (1988), eq. 5, with the covariances of the kernel's rows and columns."""
    rows, columns, values = [], [], []
    for s in scores:
        kernel = (s[y == 1][:, None] > s[y == 0]) + 0.5 * (s[y == 1][:, None] == s[y == 0])
        rows.append(kernel.mean(axis=1))
        columns.append(kernel.mean(axis=0))
        values.append(kernel.mean())
    covariance = np.cov(rows) / len(rows[0]) + np.cov(columns) / len(columns[0])
    L = np.column_stack([np.ones(len(scores) - 1), -np.eye(len(scores) - 1)])
    lead = L @ np.array(values)
    return float(lead @ np.linalg.solve(L @ covariance @ L.T, lead))


def test_the_joint_test_is_that_of_the_contrasts():
    y, scores = sample()
    found = compare_scorers(y, scores)
    assert found.statistic == pytest.approx(contrast_test(y, scores), rel=1e-10)
    assert (found.df, found.p_value) == (2, pytest.approx(chi2.sf(found.statistic, 2)))
    assert [(pair.first, pair.second) for pair in found.pairs] == [(0, 1), (0, 2), (1, 2)]
    for pair in found.pairs:
        assert pair.comparison == compare_scorers(y, scores[pair.first], scores[pair.second])
    assert [pair.p_holm for pair in found.pairs] == holm([pair.comparison.p_value for pair in found.pairs]).tolist()


def test_scorers_that_are_the_same_add_no_degree_of_freedom():
    y, (a, b, _) = sample()
    once, twice = compare_scorers(y, [a, b]), compare_scorers(y, [a, b, b, 2 * b + 1])
    assert (twice.df, twice.statistic) == (1, pytest.approx(once.statistic, rel=1e-8))
    same = compare_scorers(y, [a, a])
    assert (same.statistic, same.df, same.p_value) == (0.0, 0, 1.0)


@pytest.mark.parametrize("metric", ["bauc", "soft_auc"])
def test_two_scorers_have_the_square_of_their_statistic(metric):
    y, (a, b, _) = sample()
    options = {"beta": 2.0} if metric == "soft_auc" else {}
    pair = compare_scorers(y, a, b, metric, **options)
    assert compare_scorers(y, [a, b], metric=metric, **options).statistic == pytest.approx(pair.statistic**2, rel=1e-8)


def test_a_difference_that_all_rows_share_is_not_no_difference():
    y, s = np.repeat([0, 1], 20), np.arange(40.0)
    found = compare_scorers(y, [s, -s, 2 * s])
    assert (found.statistic, found.df) == (np.inf, 0)
    assert np.isnan(found.p_value)
    assert found.pairs[0].comparison.p_value < 1e-4


def test_one_sided_tests_share_the_two_sided_p():
    y, (a, b, _) = sample()
    two, greater, less = (compare_scorers(y, a, b, alternative=side) for side in ("two-sided", "greater", "less"))
    assert greater.p_value + less.p_value == pytest.approx(1.0)
    assert 2 * min(greater.p_value, less.p_value) == pytest.approx(two.p_value)
    assert greater.interval == two.interval


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_a_margin_moves_the_hypothesis(margin):
    y, (a, b, _) = sample()
    found = compare_scorers(y, b, a, alternative="greater", margin=margin)
    z = (found.difference + margin) / found.standard_error
    assert (found.statistic, found.p_value) == (pytest.approx(z), pytest.approx(norm.sf(z)))
    other = compare_scorers(y, a, b, alternative="less", margin=margin)
    assert other.p_value == pytest.approx(found.p_value)


def test_scorers_that_no_row_distinguishes():
    y, s = np.repeat([0, 1], 20), np.arange(40.0)
    same = compare_scorers(y, s, 2 * s, alternative="greater", margin=0.1)
    assert same.p_value == pytest.approx((1 / 1.1) ** 20)  # 20 disjoint pairs
    assert compare_scorers(y, s, 2 * s, alternative="greater").p_value == 1.0
    assert compare_scorers(y, s, -s, alternative="less").p_value == 1.0
    assert compare_scorers(y, s, -s, alternative="greater").p_value == pytest.approx(0.5**20)


def test_what_is_refused():
    y, (a, b, _) = sample()
    for changes, message in (
        ({"margin": 0.1}, "one-sided"),
        ({"margin": -0.1, "alternative": "less"}, "at least 0"),
        ({"alternative": "more"}, "alternative"),
        ({"method": "adjusted"}, "one scorer"),
    ):
        with pytest.raises(AuclabError, match=message):
            compare_scorers(y, a, b, **changes)
    with pytest.raises(AuclabError, match="two scorers"):
        compare_scorers(y, [a])
    with pytest.raises(AuclabError, match="components"):
        compare_scorers(y, [a, b], metric="voros")


@pytest.mark.slow
@pytest.mark.covering(alternative=1)
@pytest.mark.parametrize("alternative", ["greater", "joint"])
def test_size(alternative):
    rng, rejected, repeats = np.random.default_rng(5), 0, 400
    for _ in range(repeats):
        y, scores = sample(int(rng.integers(1 << 30)), lifts=(0.8, 0.8, 0.8))
        found = (
            compare_scorers(y, scores)
            if alternative == "joint"
            else compare_scorers(y, *scores[:2], alternative="greater")
        )
        rejected += found.p_value < 0.05
    assert rejected / repeats <= 0.085


def test_holm_is_the_step_down_procedure():
    rng = np.random.default_rng(6)
    for _ in range(50):
        p = rng.random(5) ** 3
        order, adjusted = np.argsort(p), np.empty(5)
        running = 0.0
        for rank, k in enumerate(order):
            running = max(running, (5 - rank) * p[k])
            adjusted[k] = min(running, 1.0)
        assert holm(p) == pytest.approx(adjusted)
