"""Paired two-sided tests of two columns on the same splits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from auclab.types import AuclabError
from auclab.validation import check_choice

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
    >>> from auclab.comparison import paired_test
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
    from scipy.stats import t

    x = np.asarray(values, dtype=float)
    check_level("level", level)
    if x.size < 2 or not np.isfinite(x).all() or math.isnan(test_train_ratio):
        return math.nan, math.nan
    width = float(t.isf(0.5 * (1 - level), x.size - 1)) * math.sqrt((1 / x.size + test_train_ratio) * x.var(ddof=1))
    return float(x.mean()) - width, float(x.mean()) + width


def smallest_p(n_pairs: int, test: Test) -> float:
    """The smallest possible p-value of n pairs: 2^(1−n) for signed ranks, as there are 2ⁿ signs."""
    if test == "wilcoxon":
        return min(1.0, 2.0 ** (1 - n_pairs))
    return 0.0 if n_pairs > 1 else 1.0


def _t(difference: np.ndarray, shared: float) -> PairedTest:
    from scipy.stats import t

    n = len(difference)
    if n < 2:
        return PairedTest(math.nan, math.nan, n)
    if np.ptp(difference) == 0:  # no variance to divide by
        mean = float(difference[0])
        return PairedTest(math.copysign(math.inf, mean), 0.0, n) if mean else PairedTest(0.0, 1.0, n)
    error = math.sqrt((1 / n + shared) * difference.var(ddof=1))
    statistic = float(difference.mean() / error)
    return PairedTest(statistic, float(2 * t.sf(abs(statistic), n - 1)), n)


def _wilcoxon(difference: np.ndarray) -> PairedTest:
    from scipy.stats import wilcoxon

    if len(difference) < 1:
        return PairedTest(math.nan, math.nan, 0)
    if not difference.any():
        return PairedTest(0.0, 1.0, len(difference))
    found = wilcoxon(difference)
    return PairedTest(float(found.statistic), float(found.pvalue), len(difference))
