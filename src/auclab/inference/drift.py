"""Whether scores of new rows are distributed as those of a reference sample were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kstwo

from auclab.types import Array
from auclab.validation import finite_vector

#: Levels of the quantiles that are compared.
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Scores that stand for a larger sample: its distribution function is then known to 1/(2 · 501).
MOST = 501


@dataclass(frozen=True)
class ScoreDrift:
    """Comparison of two samples of scores.

    Attributes
    ----------
    statistic : float
        Kolmogorov–Smirnov statistic: the largest distance between the two distribution functions, in [0, 1].
    p_value : float
        Probability of a distance at least as large if both samples have the same continuous distribution; with ties it
        is too large (conservative).
    levels, reference, new : tuple of float
        Quantiles of either sample.
    positions : tuple of float
        The share of the reference sample at or below each quantile of the new one: the level itself without drift.
    n_reference, n_new : int

    See Also
    --------
    score_drift : Computes it.

    Examples
    --------
    >>> found = score_drift([1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0])
    >>> found.statistic, found.levels[2], found.reference[2], found.new[2], found.positions[2]
    (0.5, 0.5, 2.0, 4.0, 1.0)
    """

    statistic: float
    p_value: float
    levels: tuple[float, ...]
    reference: tuple[float, ...]
    new: tuple[float, ...]
    positions: tuple[float, ...]
    n_reference: int
    n_new: int


def score_drift(reference: ArrayLike, new: ArrayLike, *, n_reference: int | None = None) -> ScoreDrift:
    """Compare the distribution of scores with that of a reference sample.

    With F and G the distribution functions of the two samples, of n and m rows,

        D = max_t |F(t) − G(t)|,     p = P(D_N ≥ D),  N = round(n m/(n + m)),

    where D_N is Kolmogorov's one-sample statistic (Hodges 1958; SciPy's ``ks_2samp(…, method="asymp")``). Quantiles are
    the smallest score at which the distribution function reaches the level.

    Parameters
    ----------
    reference, new : arrays of shape (n,) and (m,)
        Finite scores.
    n_reference : int, optional
        Number of rows that `reference` represents, if it is a `condensed` sample.

    Returns
    -------
    ScoreDrift

    Raises
    ------
    AuclabError
        An empty sample, scores that are not finite.

    See Also
    --------
    check_calibration : Whether probabilities of new rows are right.

    Examples
    --------
    F jumps by ¼ at 1, 2, 3, 4 and G at 3, 4, 5, 6; at 2 they are ½ and 0:

    >>> score_drift([1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0]).statistic
    0.5
    >>> score_drift([1.0, 2.0], [1.0, 2.0]).p_value
    1.0
    """
    first, second = (np.sort(finite_vector(name, values)) for name, values in (("reference", reference), ("new", new)))
    n, m = first.size if n_reference is None else int(n_reference), second.size
    points = np.concatenate([first, second])
    below = [np.searchsorted(each, points, side="right") / each.size for each in (first, second)]
    distance = float(np.max(np.abs(below[0] - below[1])))
    p_value = float(np.clip(kstwo.sf(distance, max(1, round(n * m / (n + m)))), 0.0, 1.0))
    before, after = (np.quantile(each, LEVELS, method="inverted_cdf") for each in (first, second))
    positions = np.searchsorted(first, after, side="right") / first.size
    quantiles = [tuple(map(float, each)) for each in (before, after, positions)]
    return ScoreDrift(distance, p_value, LEVELS, quantiles[0], quantiles[1], quantiles[2], n, m)


def condensed(scores: ArrayLike) -> Array:
    """A sample as at most 501 of its scores, the quantiles at the levels ``(k + ½)/501``; small ones as they are."""
    values = np.sort(np.asarray(scores, dtype=float))
    if values.size <= MOST:
        return values
    return np.asarray(values[(2 * np.arange(MOST) + 1) * values.size // (2 * MOST)])
