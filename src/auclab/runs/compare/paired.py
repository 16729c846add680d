"""Tests of two columns of a comparison, and ranks of many.

Nemenyi's test compares average ranks, so whether it separates two columns depends on the others. These tests use the
two columns alone (Benavoli, Corani & Mangili 2016, Journal of Machine Learning Research 17).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from auclab._core.base import AuclabError
from auclab._core.validation import check_choice
from auclab._core.words import counted
from auclab.inference.comparison import holm

Test = Literal["corrected-t", "t", "wilcoxon"]
TESTS: tuple[Test, ...] = get_args(Test)
#: What runs are compared with: splits of one data set share observations.
DEFAULT_TEST: Test = "corrected-t"


@dataclass(frozen=True)
class PairedTest:
    """`statistic` and two-sided `p_value` over `n_pairs`; both are NaN if there were too few pairs.

    See Also
    --------
    paired_test : Computes it.

    Examples
    --------
    >>> from auclab.runs import paired_test
    >>> test = paired_test([3.0, 4.0, 5.0], [2.0, 2.0, 2.0])  # differences 1, 2, 3: mean 2, standard error 1/√3
    >>> round(test.statistic, 4), test.n_pairs
    (3.4641, 3)
    """

    statistic: float
    p_value: float
    n_pairs: int


def paired_test(
    first: ArrayLike, second: ArrayLike, *, test: Test = "t", test_train_ratio: float | None = None
) -> PairedTest:
    """Two-sided test of ``mean(first − second) = 0`` over values that are paired by split.

    With d the differences, n their number, s² their sample variance (n − 1):

    * ``corrected-t``: ``t = mean d / √((1/n + n_test/n_train) s²)``, n − 1 degrees of freedom (Nadeau & Bengio 2003,
      Machine Learning 52, eq. 9). The second term accounts for the observations that training parts share.
    * ``t``: ``t = mean d / √(s²/n)``. Norton & Uryasev (2018), Table 2, print its significant results in bold. Splits
      of the same data share observations, so it rejects too often.
    * ``wilcoxon``: signed ranks of d, zeros left out, exact where SciPy can (`scipy.stats.wilcoxon`).

    Parameters
    ----------
    first, second : array of shape (n_pairs,)
        Finite.
    test : {"corrected-t", "t", "wilcoxon"}
    test_train_ratio : float ≥ 0
        n_test/n_train, for ``corrected-t``: 1/9 for splits of 90 to 10, 1/(k − 1) for k folds, 0 for independent
        samples.

    Returns
    -------
    PairedTest
        Differences that are all zero have p = 1, differences that are all the same p = 0 (t tests).

    Raises
    ------
    AuclabError
        Other shapes, values that are not finite, an unknown test, or no ratio where one is needed.

    See Also
    --------
    mean_interval : The matching interval.
    compare_runs : All pairs of columns.

    Examples
    --------
    d = 1, 2, 3 has mean 2 and s = 1, so t = 2√3:

    >>> round(paired_test([2, 4, 6], [1, 2, 3]).statistic, 4)
    3.4641
    >>> round(paired_test([2, 4, 6], [1, 2, 3], test="corrected-t", test_train_ratio=2 / 3).statistic, 4)
    2.0
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise AuclabError(f"pairs need two lists of the same length; these have shapes {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise AuclabError("pairs need finite values; leave out those that are missing")
    check_choice("test", test, TESTS)
    if test == "wilcoxon":
        return _wilcoxon(a - b)
    if test == "t":
        return _t(a - b, 0.0)
    if test_train_ratio is None or not test_train_ratio >= 0:
        raise AuclabError(f"corrected-t needs n_test/n_train, a number ≥ 0; it is {test_train_ratio}")
    return _t(a - b, test_train_ratio)


def check_level(name: str, level: float) -> None:
    """Refuse an invalid level of confidence or significance."""
    if not 0 < level < 1:
        raise AuclabError(f"{name} is {level}; it lies between 0 and 1")


def mean_interval(values: ArrayLike, *, level: float = 0.95, test_train_ratio: float = 0.0) -> tuple[float, float]:
    """Confidence interval of a mean over splits, ``mean ± c √((1/n + n_test/n_train) s²)``.

    c is the quantile of Student's distribution with n − 1 degrees of freedom. The second term is that of
    ``corrected-t``: splits share training observations, so an interval from the standard deviation alone is too short.

    Parameters
    ----------
    values : array of shape (n,)
    level : float in (0, 1)
    test_train_ratio : float ≥ 0
        As in `paired_test`; 0 for values of independent samples.

    Returns
    -------
    low, high : float
        NaN for fewer than two values, for values that are not finite, and for a ratio that is NaN. Not clipped to the
        range of a metric.

    See Also
    --------
    paired_test : The matching test.

    Examples
    --------
    1, 2, 3 have s²/n = 1/3; Student's quantile of 2 degrees is 4.303 and 4.303/√3 = 2.484:

    >>> [round(end, 3) for end in mean_interval([1, 2, 3])]
    [-0.484, 4.484]
    """
    from scipy.special import stdtrit  # Student's quantile; scipy.stats takes a second to import

    x = np.asarray(values, dtype=float)
    check_level("level", level)
    if x.size < 2 or not np.isfinite(x).all() or math.isnan(test_train_ratio):
        return math.nan, math.nan
    width = -float(stdtrit(x.size - 1, 0.5 * (1 - level))) * math.sqrt((1 / x.size + test_train_ratio) * x.var(ddof=1))
    return float(x.mean()) - width, float(x.mean()) + width


def smallest_p(n_pairs: int, test: Test) -> float:
    """The smallest possible p-value of n pairs: 2^(1−n) for signed ranks, as there are 2ⁿ signs."""
    if test == "wilcoxon":
        return min(1.0, 2.0 ** (1 - n_pairs))
    return 0.0 if n_pairs > 1 else 1.0


def _t(difference: np.ndarray, shared: float) -> PairedTest:
    from scipy.special import stdtr

    n = len(difference)
    if n < 2:
        return PairedTest(math.nan, math.nan, n)
    if np.ptp(difference) == 0:  # no variance to divide by
        mean = float(difference[0])
        return PairedTest(math.copysign(math.inf, mean), 0.0, n) if mean else PairedTest(0.0, 1.0, n)
    error = math.sqrt((1 / n + shared) * difference.var(ddof=1))
    statistic = float(difference.mean() / error)
    return PairedTest(statistic, float(2 * stdtr(n - 1, -abs(statistic))), n)


def _wilcoxon(difference: np.ndarray) -> PairedTest:
    from scipy.stats import wilcoxon

    if len(difference) < 1:
        return PairedTest(math.nan, math.nan, 0)
    if not difference.any():
        return PairedTest(0.0, 1.0, len(difference))
    found = wilcoxon(difference)
    return PairedTest(float(found.statistic), float(found.pvalue), len(difference))


#: Default half-width of the region of practical equivalence: 0.01 of AUC.
ROPE = 0.01


@dataclass(frozen=True)
class ColumnPair:
    """Comparison of two columns over the `n_rows` rows that have both.

    `difference` is the mean of first − second; `wins` and `losses` count the rows where the first is better and worse.
    `p_value` is that of Wilcoxon's signed-rank test, `p_holm` the same corrected for all pairs. `first_better`, `equal`
    and `second_better` are posterior probabilities (`signed_rank_probabilities`), which sum to 1.

    See Also
    --------
    signed_rank_probabilities : The three probabilities.
    auclab.runs.Ranking : All columns at once.

    Examples
    --------
    >>> pair = ColumnPair("bauc", "csvm", 3, 0.02, 2, 1, 0.5, 1.0, 0.5, 0.25, 0.25)
    >>> pair.wins, pair.losses, pair.first_better + pair.equal + pair.second_better
    (2, 1, 1.0)
    """

    first: str
    second: str
    n_rows: int
    difference: float
    wins: int
    losses: int
    p_value: float
    p_holm: float
    first_better: float
    equal: float
    second_better: float


def compare_columns(
    means: pd.DataFrame, *, lower_is_better: bool = False, rope: float = ROPE, seed: int = 0
) -> tuple[ColumnPair, ...]:
    """Test every two columns of a table of means over its rows.

    Parameters
    ----------
    means : DataFrame of shape (n_rows, n_columns)
        A row per data set, a column per method; NaN where a method was not run.
    lower_is_better : bool
    rope : float ≥ 0
        Differences within ±rope count as equal (region of practical equivalence).
    seed : int
        Seed of the posterior samples.

    Returns
    -------
    tuple of ColumnPair
        In the order of the columns. Pairs with fewer than two common rows are left out and do not count in Holm's
        correction.

    Raises
    ------
    AuclabError
        No two columns with two common rows.

    See Also
    --------
    rank_columns : Friedman's test and Nemenyi's critical difference.

    Examples
    --------
    `a` leads by 0.1 on six rows: the smallest p of six signs, 2/2⁶.

    >>> means = pd.DataFrame({"a": [0.91, 0.82, 0.73, 0.64, 0.95, 0.86], "b": [0.8, 0.7, 0.6, 0.5, 0.8, 0.7]})
    >>> (pair,) = compare_columns(means)
    >>> pair.wins, pair.p_value, pair.p_holm, round(pair.first_better, 1)
    (6, 0.03125, 0.03125, 1.0)
    """
    found = []
    for first, second in combinations(means, 2):
        both = means[[first, second]].replace([math.inf, -math.inf], math.nan).dropna()
        if len(both) > 1:
            found.append((str(first), str(second), both[first].to_numpy(float), both[second].to_numpy(float)))
    if not found:
        raise AuclabError(
            f"pairs of columns are tested over data sets: at least 2 columns on 2 data sets are needed, got "
            f"{counted(means.shape[1], 'column')} and {counted(means.shape[0], 'data set')}"
        )
    p_values = [paired_test(a, b, test="wilcoxon").p_value for _, _, a, b in found]
    pairs = []
    for (first, second, a, b), p, p_holm in zip(found, p_values, holm(p_values), strict=True):
        lead = b - a if lower_is_better else a - b
        better, equal, worse = signed_rank_probabilities(lead, rope=rope, seed=seed)
        tally = int((lead > 0).sum()), int((lead < 0).sum())
        pairs.append(
            ColumnPair(first, second, a.size, float(np.mean(a - b)), *tally, p, float(p_holm), better, equal, worse)
        )
    return tuple(pairs)


def signed_rank_probabilities(
    difference: ArrayLike, *, rope: float = ROPE, prior: float = 0.5, samples: int = 20_000, seed: int = 0
) -> tuple[float, float, float]:
    """Posterior probabilities that differences lie above, within and below ±rope.

    The differences d_1 … d_n and a pseudo-observation d_0 = 0 of weight `prior` have Dirichlet weights w ~ Dir(prior,
    1, …, 1). Each sample of w gives the shares of the pairs ``(i, j)`` with ``(d_i + d_j)/2`` above, within and below,

        θ_above = Σ_ij w_i w_j 1{d_i + d_j > 2 rope},

    and a probability is how often its share is the largest (Benavoli, Mangili, Corani, Zaffalon & Ruggeri 2014;
    Benavoli et al. 2017, Journal of Machine Learning Research 18, section 4.2). Pairs at ±rope count half; equal shares
    split the count.

    Parameters
    ----------
    difference : array of shape (n,)
        One difference per data set.
    rope : float ≥ 0
        With 0, no difference counts as equal.
    prior : float > 0
    samples, seed : int

    Returns
    -------
    above, within, below : float

    Raises
    ------
    AuclabError
        No or infinite differences, a negative rope, a prior or a number of samples that is not positive.

    See Also
    --------
    rank_columns : Many columns at once.
    holm : Corrects p-values of many pairs.

    Examples
    --------
    Without a difference both sides are equally likely:

    >>> above, within, below = signed_rank_probabilities([0.02, -0.02], rope=0.0)
    >>> within, abs(above - below) < 0.02
    (0.0, True)
    >>> signed_rank_probabilities([0.0, 0.0, 0.0], rope=0.0)
    (0.5, 0.0, 0.5)
    """
    d = np.asarray(difference, dtype=float)
    if d.ndim != 1 or not d.size or not np.isfinite(d).all():
        raise AuclabError(f"differences must be a list of finite numbers, got shape {d.shape}")
    if not (0.0 <= rope < math.inf and prior > 0.0 and samples > 0):
        raise AuclabError(f"rope ≥ 0, prior > 0 and samples > 0 are needed, got {rope}, {prior} and {samples}")
    d = np.concatenate(([0.0], d))
    sums = d[:, None] + d[None, :]
    above, below = ((side > 2 * rope).astype(float) + 0.5 * (side == 2 * rope).astype(float) for side in (sums, -sums))
    alpha = np.concatenate(([prior], np.ones(d.size - 1)))
    weights = np.random.default_rng(seed).dirichlet(alpha, samples)
    shares_above, shares_below = (np.einsum("bi,bi->b", weights @ side, weights) for side in (above, below))
    shares = np.stack((shares_above, 1.0 - shares_above - shares_below, shares_below))
    if rope == 0.0:
        shares[1] = -1.0
    largest = shares == shares.max(axis=0)
    above, within, below = (largest / largest.sum(axis=0)).mean(axis=1)
    return float(above), float(within), float(below)


@dataclass(frozen=True)
class Ranking:
    """Average ranks (1 is best) and the tests on them.

    `average_ranks` is sorted, indexed by column. `chi_square` with `p_value` is Friedman's test; `f_statistic` with
    `f_p_value` is Iman and Davenport's, which is less conservative. Two columns differ at level `alpha` if their
    average ranks differ by `critical_difference` or more. `n_rows` data sets were ranked.

    See Also
    --------
    rank_columns : Computes it.

    Examples
    --------
    >>> import pandas as pd
    >>> from auclab.runs import rank_columns
    >>> means = pd.DataFrame({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.7, 0.6], "c": [0.7, 0.6, 0.5]})
    >>> rank_columns(means).average_ranks.to_dict()
    {'a': 1.0, 'b': 2.0, 'c': 3.0}
    """

    average_ranks: pd.Series
    n_rows: int
    chi_square: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float
    alpha: float

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal groups of two or more columns of consecutive rank that Nemenyi's test does not separate.

        >>> import pandas as pd
        >>> ranks = pd.Series({"a": 1.0, "b": 1.6, "c": 2.2, "d": 3.9, "e": 4.4})
        >>> Ranking(ranks, 9, 1.0, 0.6, 1.0, 0.6, critical_difference=1.0, alpha=0.05).groups
        (('a', 'b'), ('b', 'c'), ('d', 'e'))
        """
        return tuple(tuple(self.average_ranks.index[low : high + 1]) for low, high in self._spans())

    def _spans(self) -> Iterator[tuple[int, int]]:
        ranks = self.average_ranks.to_numpy()
        reached = 0
        for low in range(len(ranks)):
            high = int(np.flatnonzero(ranks - ranks[low] < self.critical_difference)[-1])
            if high > max(low, reached):
                yield low, high
            reached = max(reached, high)


def rank_columns(means: pd.DataFrame, *, lower_is_better: bool = False, alpha: float = 0.05) -> Ranking:
    """Friedman's test over rows, with Nemenyi's critical difference.

    With R_j the average rank of column j over N rows and k columns, where ties get their average rank,

        χ² = 12 N / (k (k + 1)) · [ Σ_j R_j² − k (k + 1)² / 4 ]        (corrected for ties, k − 1 degrees of freedom)
        F  = (N − 1) χ² / (N (k − 1) − χ²)                             (k − 1 and (k − 1)(N − 1) degrees)
        CD = q_α √( k (k + 1) / (6 N) ),     q_α: studentised range of k groups, ∞ degrees, divided by √2

    (Demšar 2006, Journal of Machine Learning Research 7, section 3.2.2.)

    Parameters
    ----------
    means : DataFrame of shape (N, k)
        A row per data set, a column per method; no value missing.
    lower_is_better : bool
        Whether rank 1 goes to the smallest value.
    alpha : float in (0, 1)

    Returns
    -------
    Ranking
        If all values of every row are tied, χ² is 0 with p = 1.

    Raises
    ------
    AuclabError
        Fewer than three columns or two rows, a missing value, alpha out of range.

    See Also
    --------
    critical_difference : Nemenyi's difference.
    signed_rank_probabilities : Two columns by themselves.

    Examples
    --------
    Two rows that agree on a, b, c have ranks 1, 2, 3 and χ² = N (k − 1):

    >>> ranking = rank_columns(pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.6], "c": [0.5, 0.4]}))
    >>> ranking.average_ranks.to_dict(), round(ranking.chi_square, 6)
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 4.0)
    """
    n_rows, k = means.shape
    if k < 3 or n_rows < 2:
        raise AuclabError(f"Friedman's test needs 3 columns and 2 rows or more, got {k} and {n_rows}")
    if means.isna().to_numpy().any():
        raise AuclabError("Friedman's test needs complete rows; leave out those with missing values")
    check_level("alpha", alpha)
    from scipy.stats import f, friedmanchisquare

    ranks = means.rank(axis=1, ascending=lower_is_better)
    averages = ranks.mean().sort_values(kind="stable")
    if (ranks.nunique(axis=1) == 1).all():
        chi_square, p_value = 0.0, 1.0  # SciPy divides by the zero variance of ranks
    else:
        found = friedmanchisquare(*(ranks[column] for column in ranks))
        chi_square, p_value = float(found.statistic), float(found.pvalue)
    left = n_rows * (k - 1) - chi_square
    f_statistic = (n_rows - 1) * chi_square / left if left > 1e-9 * n_rows else math.inf
    f_p_value = float(f.sf(f_statistic, k - 1, (k - 1) * (n_rows - 1)))
    distance = critical_difference(k, n_rows, alpha=alpha)
    return Ranking(averages, n_rows, chi_square, p_value, f_statistic, f_p_value, distance, alpha)


def critical_difference(n_columns: int, n_rows: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of average ranks, ``q_α √(k (k + 1) / (6 N))``.

    See Also
    --------
    rank_columns : The ranks that it applies to.

    Examples
    --------
    Demšar (2006), section 3.2.3: four classifiers on 14 data sets, 1.25 with q_0.05 = 2.569.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - alpha, n_columns, math.inf)) / math.sqrt(2)
    return q * math.sqrt(n_columns * (n_columns + 1) / (6 * n_rows))
