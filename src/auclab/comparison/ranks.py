"""Several columns over several data sets: Friedman's test, Nemenyi's critical difference (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from auclab.comparison.paired import check_level
from auclab.types import AuclabError


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
    >>> from auclab.comparison import rank_columns
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
        """Maximal groups of two or more columns of consecutive rank that Nemenyi's test does not separate."""
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
