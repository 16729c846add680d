"""Friedman and Nemenyi against SciPy, sums by hand and published tables."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from auclab._core.base import AuclabError
from auclab.runs import critical_difference, rank_columns
from auclab.runs.report.figures import draw_critical_difference

#: Demšar (2006), Table 5(a): critical values of the two-tailed Nemenyi test for 2 to 10 classifiers.
Q_05 = dict(zip(range(2, 11), (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164), strict=True))
Q_10 = dict(zip(range(2, 11), (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920), strict=True))


def frame(rows):
    rows = np.asarray(rows, dtype=float)
    return pd.DataFrame(rows, columns=[f"method {j}" for j in range(rows.shape[1])])


tables = st.integers(3, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 4), min_size=k, max_size=k), min_size=2, max_size=8)
)


@given(tables, st.booleans())
def test_friedman_is_scipys_and_the_sum_over_ranks(rows, lower):
    means = frame(rows)
    found = rank_columns(means, lower_is_better=lower)
    ranks = np.array([stats.rankdata(row if lower else -row) for row in means.to_numpy()])
    n, k = ranks.shape
    averages = ranks.mean(axis=0)
    assert found.average_ranks.to_dict() == pytest.approx(dict(zip(means, averages, strict=True)))
    ties = sum((counts**3 - counts).sum() for counts in (np.unique(row, return_counts=True)[1] for row in ranks))
    correction = 1 - ties / (n * k * (k * k - 1))
    if correction == 0:
        assert (found.chi_square, found.p_value) == (0.0, 1.0)
        return
    by_hand = 12 * n / (k * (k + 1)) * ((averages**2).sum() - k * (k + 1) ** 2 / 4) / correction
    assert found.chi_square == pytest.approx(by_hand, abs=1e-9)
    theirs = stats.friedmanchisquare(*means.to_numpy().T)
    assert found.chi_square == pytest.approx(theirs.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(theirs.pvalue)
    left = n * (k - 1) - by_hand
    if left > 1e-6:
        f = (n - 1) * by_hand / left
        assert found.f_statistic == pytest.approx(f, rel=1e-6, abs=1e-9)
        assert found.f_p_value == pytest.approx(stats.f.sf(f, k - 1, (k - 1) * (n - 1)), abs=1e-6)


@pytest.mark.parametrize(("alpha", "published"), [(0.05, Q_05), (0.10, Q_10)])
def test_critical_values_are_those_of_the_published_table(alpha, published):
    for k, q in published.items():
        distance = critical_difference(k, 6, alpha=alpha)
        assert distance / math.sqrt(k * (k + 1) / 36) == pytest.approx(q, abs=1.1e-3)


def test_two_columns_are_a_normal_test():
    """The range of two normal variables divided by √2 is |N(0, 1)|: q = 1.96."""
    assert critical_difference(2, 1) == pytest.approx(stats.norm.ppf(0.975))


def test_the_example_of_demsar():
    """Demšar (2006), sections 3.2.2 and 3.2.3: average ranks 3.143, 2.000, 2.893, 1.964 over 14 data sets.

    χ² = 12·14/(4·5) · (3.143² + 2.000² + 2.893² + 1.964² − 4·25/4) = 9.28 without the correction for ties;
    CD = 2.569 √(20/84) = 1.25. The ranks here are made to have the same sums 44, 28, 40.5, 27.5. One row is tied
    throughout, 4³ − 4 = 60, five have a tied pair, 2³ − 2 = 6, so the correction is 1 − 90/(14·4·15) = 25/28.
    """
    rows = [
        [4, 2, 3, 1],
        [4, 1, 3, 2],
        [4, 1, 2, 3],
        [3, 2, 4, 1],
        [4, 3, 2, 1],
        [1, 2, 3, 4],
        [3, 1, 4, 2],
        [3, 2, 4, 1],
    ]
    tied = [[4, 3, 1.5, 1.5], [1, 2.5, 4, 2.5], [2.5, 2.5, 4, 1], [4, 2.5, 1, 2.5], [4, 1, 2.5, 2.5], [2.5] * 4]
    found = rank_columns(frame([*rows, *tied]), lower_is_better=True)
    assert found.average_ranks[[f"method {j}" for j in range(4)]].round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert found.chi_square * 25 / 28 == pytest.approx(9.28, abs=0.005)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    # 3.143 − 1.964 = 1.18 is below 1.25: no two columns differ, though Friedman's test rejects equal ranks.
    assert found.p_value < 0.05
    assert found.groups == (("method 3", "method 1", "method 2", "method 0"),)


def test_groups_that_nemenyi_does_not_separate():
    """Three rows that agree on five columns: ranks 1 … 5, CD = 2.728 √(30/18) = 3.52, so 1–4 and 2–5 go together."""
    means = frame([[5, 4, 3, 2, 1]] * 3)
    found = rank_columns(means)
    assert found.critical_difference == pytest.approx(2.728 * math.sqrt(30 / 18), abs=2e-3)
    names = list(means)
    assert found.groups == (tuple(names[:4]), tuple(names[1:]))
    assert found.f_statistic == math.inf
    assert found.f_p_value == 0
    assert rank_columns(frame([[2, 2, 2], [1, 1, 1]])).groups == (("method 0", "method 1", "method 2"),)
    # Ten thousand rows: CD = 0.03, nobody goes with anybody.
    assert rank_columns(frame([[3, 2, 1]] * 10_000)).groups == ()


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(AuclabError, match="3 columns and 2 rows or more, got 2 and 5"):
        rank_columns(frame([[1, 2]] * 5))
    with pytest.raises(AuclabError, match="needs complete rows"):
        rank_columns(frame([[1, 2, math.nan], [1, 2, 3]]))
    with pytest.raises(AuclabError, match="alpha is 5"):
        rank_columns(frame([[1, 2, 3]] * 2), alpha=5)


def test_the_diagram_shows_ranks_names_and_groups(tmp_path):
    ranking = rank_columns(frame([[5, 4, 3, 2, 1]] * 3))
    figure = draw_critical_difference(ranking)
    [axes] = figure.axes
    words = [text.get_text() for text in axes.texts]
    for name, rank in ranking.average_ranks.items():
        assert f"{name}  {rank:.2f}" in words
    assert "critical difference 3.52 (Nemenyi, level 0.05)" in words
    bars = [line.get_xdata() for line in axes.get_lines() if line.get_linewidth() == 3]
    assert [(round(low), round(high)) for low, high in bars] == [(1, 4), (2, 5)]
    figure.savefig(tmp_path / "ranks.pdf")
    assert (tmp_path / "ranks.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.filterwarnings("ignore")
def test_ranks_are_those_of_autorank():
    autorank = pytest.importorskip("autorank", reason="autorank is not installed", exc_type=ImportError)
    means = frame(np.random.default_rng(2).normal([0.0, 0.2, 0.9, 1.5], size=(14, 4)))
    theirs, ours = autorank.autorank(means, force_mode="nonparametric"), rank_columns(means)
    assert (theirs.omnibus, theirs.posthoc) == ("friedman", "nemenyi")
    assert ours.p_value == pytest.approx(theirs.pvalue)
    assert ours.critical_difference == pytest.approx(theirs.cd, rel=1e-3)
    assert ours.average_ranks.to_dict() == pytest.approx(theirs.rankdf["meanrank"].to_dict())
