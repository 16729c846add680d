"""Paired tests against SciPy and against sums done by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from auclab._core.base import AuclabError
from auclab.runs import paired_test
from auclab.runs.compare.paired import smallest_p

values = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=20)


@given(values)
def test_t_is_scipys(pairs):
    a, b = np.array(pairs, dtype=float).T
    found = paired_test(a, b)
    if np.ptp(a - b) > 0:
        theirs = stats.ttest_rel(a, b)
        assert found.statistic == pytest.approx(theirs.statistic, rel=1e-10, abs=1e-12)
        assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-8)
    else:
        assert found.p_value == (1.0 if a[0] == b[0] else 0.0)


@given(values)
def test_signed_ranks_by_counting_all_signs(pairs):
    """Up to ten differences without ties: p is the share of sign patterns that are at least as one-sided."""
    difference = np.unique(np.abs([a - b for a, b in pairs]))
    difference = (difference[difference > 0][:10]).astype(float)
    if not len(difference):
        assert paired_test([1.0, 2.0], [1.0, 2.0], test="wilcoxon").p_value == 1.0
        return
    signs = np.where(np.arange(len(difference)) % 3 == 0, -1.0, 1.0)
    found = paired_test(difference * signs, np.zeros(len(difference)), test="wilcoxon")
    ranks = np.arange(1, len(difference) + 1)
    patterns = (np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks))) & 1
    sums = patterns @ ranks
    observed = min(ranks[signs > 0].sum(), ranks[signs < 0].sum())
    assert found.statistic == observed
    assert found.p_value == pytest.approx(min(1.0, 2 * (sums <= observed).mean()))


@given(values, st.floats(0.01, 1.0))
def test_corrected_t_is_t_with_a_larger_error(pairs, ratio):
    a, b = np.array(pairs, dtype=float).T
    plain, corrected = (paired_test(a, b, test=test, test_train_ratio=ratio) for test in ("t", "corrected-t"))
    if np.ptp(a - b) > 0:
        n = len(a)
        assert corrected.statistic == pytest.approx(plain.statistic / math.sqrt(1 + n * ratio), abs=1e-12)
        assert corrected.p_value >= plain.p_value
        assert corrected.p_value == pytest.approx(2 * stats.t.sf(abs(corrected.statistic), n - 1))


def test_the_order_of_the_two_changes_only_the_sign():
    a, b = [0.9, 0.8, 0.85, 0.7], [0.88, 0.81, 0.8, 0.69]
    for test in ("t", "wilcoxon", "corrected-t"):
        one, other = (
            paired_test(a, b, test=test, test_train_ratio=0.1),
            paired_test(b, a, test=test, test_train_ratio=0.1),
        )
        assert one.p_value == pytest.approx(other.p_value)
    assert paired_test([3, 3], [1, 1]).statistic == math.inf
    assert paired_test([1, 1], [3, 3]).statistic == -math.inf


def test_too_few_pairs_are_unknown():
    assert math.isnan(paired_test([1.0], [2.0]).p_value)
    assert math.isnan(paired_test([], [], test="wilcoxon").p_value)
    # One-sided in all signs: nothing smaller exists, and 6 pairs are the first that can be below 5 %.
    for n in (3, 5, 6):
        p = paired_test(np.arange(1, n + 1), np.zeros(n), test="wilcoxon").p_value
        assert p == smallest_p(n, "wilcoxon") == 2 / 2**n
    assert smallest_p(5, "wilcoxon") > 0.05 > smallest_p(6, "wilcoxon")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2, 3]), "same length"),
        (([1, math.nan], [1, 2]), "finite"),
        (([[1, 2]], [[1, 2]]), "same length"),
    ],
)
def test_what_is_no_pair_is_refused(arguments, message):
    with pytest.raises(AuclabError, match=message):
        paired_test(*arguments)


def test_a_test_that_is_not_known_or_lacks_its_ratio_is_refused():
    with pytest.raises(AuclabError, match="corrected-t, t, wilcoxon"):
        paired_test([1, 2], [1, 3], test="sign")
    with pytest.raises(AuclabError, match="n_test/n_train"):
        paired_test([1, 2], [1, 3], test="corrected-t")
