"""How much data a guarantee needs: a bound, solved for the class sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from auclab._core.base import AuclabError
from auclab.bounds.fixed_scorer import fixed_scorer_auc_bound, fixed_scorer_bauc_bound
from auclab.bounds.guarantee import Bound, check_positive

#: Largest number of observations of the rarer class that is tried.
_MOST = 2**50


@dataclass(frozen=True)
class SampleSize:
    """Sufficient class sizes, with the resulting slack (or half-width), which is at most the requested one.

    See Also
    --------
    required_samples : Computes it.

    Examples
    --------
    >>> SampleSize(n_pos=200, n_neg=800, slack=0.05).total
    1000
    """

    n_pos: int
    n_neg: int
    slack: float

    @property
    def total(self) -> int:
        """All observations."""
        return self.n_pos + self.n_neg


def required_samples(
    bound: str | Callable[..., Bound], epsilon: float, *, class_ratio: float = 1.0, **arguments: Any
) -> SampleSize:
    """The smallest class sizes for which a bound guarantees the value on the sample up to ε.

    For a lower bound on bAUC: with these sizes, ``1 − R̂_a = target`` on the sample guarantees ``bAUC ≥ target − ε``;
    for a two-sided one, the half-width is at most ε. Found by bisection: with one observation fewer of the rarer class
    (and the other class in the same ratio, rounded up) the slack exceeds ε.

    Parameters
    ----------
    bound : str or callable
        One of the names below, or a function of `n_pos`, `n_neg` and `arguments` that returns a `Bound`, such as
        ``partial(margin_bound, 0.0)``.
    epsilon : float
        ε > 0.
    class_ratio : float
        Negatives per positive, > 0.
    **arguments
        What the bound takes besides the class sizes and the value of the sample::

            "fixed_scorer_auc"           rho
            "fixed_scorer_bauc"          a, score_spread, rho[, method, empirical_loss: "kl" depends on it]

    Returns
    -------
    SampleSize

    Raises
    ------
    AuclabError
        An unknown name, ε or the ratio out of range, arguments the bound refuses, or a bound that no number of
        observations brings below ε.

    See Also
    --------
    fixed_scorer_auc_bound, margin_bound, weighted_auc_bound : Some of the bounds it inverts.

    Examples
    --------
    A half-width of 0.05 for the AUC with equal classes: √(ln(40)/m) ≤ 0.05 for m ≥ 400 ln 40 = 1475.55.

    >>> required_samples("fixed_scorer_auc", 0.05, rho=0.05).total
    2952

    Any other bound, here of scorers that are fitted to the sample:

    >>> from functools import partial
    >>> from auclab.bounds import margin_bound
    >>> required_samples(partial(margin_bound, 0.0), 0.05, norm_bound=1.0, diameter=1.0, rho=0.05).total
    23864
    """
    check_positive(epsilon=epsilon, class_ratio=class_ratio)
    measure = _MEASURES.get(bound) if isinstance(bound, str) else _slack_of(bound)
    if measure is None:
        raise AuclabError(f"bound={bound!r} is unknown; choose one of {', '.join(_MEASURES)}, or give a function")

    def slack(rarer: int) -> float:
        try:
            return measure(*_sizes(rarer, class_ratio), **arguments)
        except TypeError as error:
            raise AuclabError(f"the arguments do not fit the bound {bound!r}: {error}") from error

    enough = 1
    while not (reached := slack(enough)) <= epsilon:
        if enough >= _MOST:
            raise AuclabError(
                f"no number of observations suffices: with {enough:.2g} of the rarer class the slack is still "
                f"{reached:.3g} > ε = {epsilon:g}; give a larger ε, or a bound whose slack vanishes"
            )
        enough *= 2
    short = enough // 2  # 0 stands for no data, which never suffices
    while enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (short, middle) if slack(middle) <= epsilon else (middle, enough)
    return SampleSize(*_sizes(enough, class_ratio), slack(enough))


def _sizes(rarer: int, class_ratio: float) -> tuple[int, int]:
    """Class sizes (n_pos, n_neg) with this many of the rarer class; the other one is rounded up."""
    if class_ratio >= 1.0:
        return rarer, math.ceil(rarer * class_ratio)
    return math.ceil(rarer / class_ratio), rarer


def _slack_of(bound: Callable[..., Bound], **fixed: Any) -> Callable[..., float]:
    def slack(n_pos: int, n_neg: int, **arguments: Any) -> float:
        return bound(n_pos=n_pos, n_neg=n_neg, **{**fixed, **arguments}).slack

    return slack


_MEASURES: dict[str, Callable[..., float]] = {
    "fixed_scorer_auc": _slack_of(fixed_scorer_auc_bound, auc=0.5),
    "fixed_scorer_bauc": _slack_of(fixed_scorer_bauc_bound, empirical_loss=0.0),
}
