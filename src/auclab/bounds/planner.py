"""How much data a guarantee needs: every bound, solved for the class sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from auclab.bounds.bound import Bound
from auclab.bounds.checks import check_nonnegative, check_positive
from auclab.bounds.fixed_scorer import fixed_scorer_auc_bound, fixed_scorer_bauc_bound
from auclab.bounds.margin import margin_bound
from auclab.bounds.peeling import level_share
from auclab.bounds.stability import pairwise_stability_bound, published_stability_bound
from auclab.bounds.step_weight import planned_slack
from auclab.bounds.weighted import uniform_weighted_auc_bound, weighted_auc_bound
from auclab.types import AuclabError

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
        One of the names below, or a function of `n_pos`, `n_neg` and `arguments` that returns a `Bound`.
    epsilon : float
        ε > 0.
    class_ratio : float
        Negatives per positive, > 0.
    **arguments
        What the bound takes besides the class sizes and the value of the sample::

            "published_stability"        a, radius_pos, radius_neg, penalty, rho[, strong_convexity]
            "pairwise_stability"         a, diameter, penalty, rho[, strong_convexity, sharp, optimality_gap]
            "peeled_stability"           the same for a level a of the grid[, a0], with confidence share ρ_k
            "margin"                     norm_bound, diameter, rho[, norm, n_features]
            "peeled_margin"              the same, at the next level of the grid with its confidence share ρ_k
            "fixed_scorer_auc"           rho
            "fixed_scorer_bauc"          a, score_spread, rho[, method, empirical_loss: "kl" depends on it]
            "peeled_fixed_scorer_bauc"   the same for a level a of the grid[, a0]
            "weighted_auc"               method, weight_sup, weight_lipschitz, weight_integral, delta
            "uniform_weighted_auc"       weight_sup, weight_lipschitz, ell_lipschitz, norm_bound, radius, delta
                                         [, method]: the class {‖w‖₂ ≤ Λ} on the ball of radius R, G = Λ R √m
            "step_weight"                min_fpr, max_fpr, delta[, method]: the area lost to the ramps counts in full

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


def _of_loss(bound: Callable[..., Bound]) -> Callable[..., float]:
    """A bound whose slack depends on no empirical loss but a given one."""
    return _slack_of(bound, empirical_loss=0.0)


def _on_grid(bound: Callable[..., Bound]) -> Callable[..., float]:
    """A bound for one a, at a level of the grid 2^k · a0 (1/S where a bound has a spread S)."""

    def slack(n_pos: int, n_neg: int, *, a: float, rho: float, a0: float | None = None, **arguments: Any) -> float:
        if a0 is None:
            a0 = 1.0 / arguments["score_spread"] if arguments.get("score_spread") else 1.0
        check_positive(a=a, a0=a0)
        level = math.log2(a) - math.log2(a0)
        if abs(level - round(level)) > 1e-9:
            raise AuclabError(f"a = {a:g} is not on the grid 2^k · {a0:g}; use {math.ldexp(a0, round(level)):g}")
        share = level_share(rho, round(level))
        loss = arguments.pop("empirical_loss", 0.0)
        return bound(loss, a, n_pos=n_pos, n_neg=n_neg, rho=share, **arguments).slack

    return slack


def _margin_on_grid(
    n_pos: int, n_neg: int, *, norm_bound: float, diameter: float, rho: float, **arguments: Any
) -> float:
    check_positive(norm_bound=norm_bound, diameter=diameter)
    k = math.ceil(math.log2(norm_bound) + math.log2(diameter) - 1e-9)
    limit, share = math.ldexp(1.0, k) / diameter, level_share(rho, k)
    bound = margin_bound(0.0, norm_bound=limit, diameter=diameter, n_pos=n_pos, n_neg=n_neg, rho=share, **arguments)
    return bound.slack


def _uniform(n_pos: int, n_neg: int, *, norm_bound: float, radius: float, **arguments: Any) -> float:
    check_nonnegative(norm_bound=norm_bound, radius=radius)
    complexity = norm_bound * radius * math.sqrt(n_pos + n_neg)
    return uniform_weighted_auc_bound(n_pos=n_pos, n_neg=n_neg, gaussian_complexity=complexity, **arguments).slack


_MEASURES: dict[str, Callable[..., float]] = {
    "published_stability": _of_loss(published_stability_bound),
    "pairwise_stability": _of_loss(pairwise_stability_bound),
    "peeled_stability": _on_grid(pairwise_stability_bound),
    "margin": _of_loss(margin_bound),
    "peeled_margin": _margin_on_grid,
    "fixed_scorer_auc": _slack_of(fixed_scorer_auc_bound, auc=0.5),
    "fixed_scorer_bauc": _of_loss(fixed_scorer_bauc_bound),
    "peeled_fixed_scorer_bauc": _on_grid(fixed_scorer_bauc_bound),
    "weighted_auc": _slack_of(weighted_auc_bound),
    "uniform_weighted_auc": _uniform,
    "step_weight": planned_slack,
}
