"""The records that inference hands out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A metric with its standard error and a confidence interval.

    Attributes
    ----------
    value : float
        What the metric's own function returns.
    standard_error : float
        0 where every observation contributes the same; NaN where it cannot be estimated (a class of one observation).
    lower, upper : float
        Limits of the interval, within the range of the metric; the value is always between them.
    level : float
        Confidence level, such as 0.95, with equal tails.
    method : str
        ``"delong"``, ``"influence"``, ``"half_sample"``, ``"bootstrap"`` or ``"hanley_mcneil"``.
    notes : tuple of str
        Remarks on a degenerate case, or a class of fewer than 10 observations (VOROS: 50); empty otherwise.
    bias : float
        Estimated upward bias of the value; the limits are those of ``value − bias``, and the limit on the side of the
        value is the value itself where the bias exceeds the half-width. 0 except for ``"half_sample"``.

    See Also
    --------
    estimate : Computes it.

    Examples
    --------
    >>> from auclab.inference import estimate
    >>> found = estimate([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0], "auc")
    >>> found.value, found.lower <= 0.75 <= found.upper
    (0.75, True)
    """

    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    method: str
    notes: tuple[str, ...] = ()
    bias: float = 0.0


@dataclass(frozen=True)
class Comparison:
    """Two scorers on the same sample: the difference of a metric, first minus second.

    Attributes
    ----------
    difference, standard_error : float
    interval : pair of float
        Confidence limits of the difference, which lies between them.
    statistic : float
        ``difference / standard_error`` (by half-samples, the difference minus its bias), standard normal where the
        scorers are equally good; 0 where the difference is 0 and ±∞ where it is not but the standard error is 0.
    p_value : float
        Two-sided.
    values : pair of float
        The metric of either scorer.
    level : float
    method : str
    notes : tuple of str
        As in `Estimate`.

    See Also
    --------
    compare_scorers : Computes it.

    Examples
    --------
    >>> from auclab.inference import compare_scorers
    >>> found = compare_scorers([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0], [0.0, 1.0, 2.0, 3.0], "auc")
    >>> found.values, found.difference
    ((0.75, 1.0), -0.25)
    """

    difference: float
    standard_error: float
    interval: tuple[float, float]
    statistic: float
    p_value: float
    values: tuple[float, float]
    level: float
    method: str
    notes: tuple[str, ...] = ()
