"""Superquantile and buffered probability of exceedance (bPOE) of a plain sample."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from auclab.metrics.bpoe_equation import solve_bpoe
from auclab.metrics.class_scores import finite_number, plain_sample
from auclab.metrics.pair_errors import PairErrors
from auclab.types import AuclabError


def bpoe(
    x: ArrayLike,
    threshold: float,
    *,
    kind: Literal["upper", "lower"] = "upper",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Buffered probability of exceedance of a sample: the weight of the upper tail whose mean is `threshold`.

    ``bPOE_z(X) = min_{γ<z} E[X − γ]₊ / (z − γ) = min_{a≥0} E[a(X − z) + 1]₊`` (Norton & Uryasev 2018, Prop.
    1). It is 1 for ``z ≤ E X``, 0 for ``z > max X``, and never below ``P(X ≥ z)``.

    Parameters
    ----------
    x : array of shape (n_samples,)
        Finite values.
    threshold : float
        z, in the units of `x`.
    kind : {"upper", "lower"}
        They differ at ``z = max X`` only: the upper one is ``P(X = max X)`` there (and used for bAUC), the
        lower one is 0.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated values.

    Raises
    ------
    AuclabError
        An empty sample, NaN or infinite values, weights that are all 0, an unknown `kind`.

    See Also
    --------
    superquantile : Its inverse.
    bauc_score : One minus the bPOE of the ranking errors.

    Examples
    --------
    The tail {3, −1, and half of the second −1} has mean ``(3 − 1 − ½)/2.5 = 0.6``:

    >>> round(bpoe([-1, -1, -1, 3], 0.6), 12)
    0.625
    >>> bpoe([1, 2, 2], 2.0), bpoe([1, 2, 2], 2.0, kind="lower")
    (0.6666666666666666, 0.0)
    """
    if not isinstance(kind, str) or kind not in ("upper", "lower"):
        raise AuclabError(f"kind must be 'upper' or 'lower', got {kind!r}")
    errors = plain_sample(x, sample_weight).pair_errors
    z = finite_number("threshold", threshold)
    if kind == "lower" and errors.units.working(z) == errors.top:
        return 0.0
    return solve_bpoe(errors, z, exact_level=False).share


def superquantile(x: ArrayLike, level: float, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean of the largest ``1 − level`` of a sample, also called conditional value at risk (CVaR).

    ``q̄_α = min_γ { γ + E[X − γ]₊ / (1 − α) }`` (Norton & Uryasev 2018, eq. 3); an observation that the
    quantile cuts is counted in part. ``α = 0`` gives the mean, ``α = 1`` the maximum.

    Parameters
    ----------
    x : array of shape (n_samples,)
        Finite values.
    level : float
        α in [0, 1].
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated values.

    Raises
    ------
    AuclabError
        An empty sample, NaN or infinite values, weights that are all 0, a level outside [0, 1].

    See Also
    --------
    bpoe : Its inverse.
    ranking_superquantile : The same of the ranking errors of two classes.

    Examples
    --------
    The largest 1.5 of three values: ``(3 + ½ · 2)/1.5``.

    >>> round(superquantile([1, 2, 3], 0.5), 12)
    2.666666666667
    """
    return mean_of_tail(plain_sample(x, sample_weight).pair_errors, finite_number("level", level))


def mean_of_tail(errors: PairErrors, level: float) -> float:
    """Superquantile of pair errors at a level α in [0, 1], in the caller's units."""
    if not 0.0 <= level <= 1.0:
        raise AuclabError(f"level must lie in [0, 1], got {level}; it is the share that is left out of the mean")
    if level == 1.0:
        return errors.units.original(errors.top)
    if level == 0.0:
        return errors.units.original(errors.mean_excess(0.0))
    tail_weight = (1.0 - level) * errors.pairs[0]
    quantile = errors.quantile(tail_weight)
    # any minimiser γ serves, so a quantile that rounding moved across a flat piece gives the same value
    _, excess = errors.tail(quantile, quantile)
    return errors.units.original(min(quantile + excess[0] / tail_weight, errors.top))
