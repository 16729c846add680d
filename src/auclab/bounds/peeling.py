"""Bounds that hold for one value of a parameter, made to hold for the best of many: a grid, and a share of ρ each.

A scale a of the hinge that is picked after the sample was seen, say the minimiser of R̂_a, is not a scale fixed in
advance. The remedy is to fix a grid ``a_k = 2^k a₀`` in advance, k over all integers, to give the k-th statement the
failure probability ``ρ_k = (2/3) ρ / ((|k|+1)(|k|+2))``, which sums to ρ, and to use the best of all statements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.hinge import pair_hinge_value
from auclab.bounds.guarantee import (
    INDEPENDENT,
    Bound,
    check_nonnegative,
    check_positive,
    check_probability,
    check_reach,
    class_scores,
    from_below,
)
from auclab.bounds.stability import TRAINED, check_curvature, deviation, norm_limit, stability_slack

#: Levels looked at below the one from which on every statement is vacuous. Further down the bounds tend to 0, which is
#: the value of a last level, a = 0, where the hinge is 1 for sure.
_LEVELS = 30
#: Optimality gap up to which a solver's w counts as the minimiser.
_USUAL_GAP = 1e-5
#: No levels beyond: 2^k is a double.
_FARTHEST = 1000


def level_share(rho: float, k: int) -> float:
    """``ρ_k = (2/3) ρ / ((|k|+1)(|k|+2))``, which sums to ρ over all integers k."""
    return (2.0 / 3.0) * rho / ((abs(k) + 1.0) * (abs(k) + 2.0))


class Statement(NamedTuple):
    """One level of the grid: ``E[1 − a t]₊ ≤ loss + slack`` with probability at least ``1 − ρ_k``."""

    k: int
    a: float
    loss: float
    slack: float

    @property
    def lower(self) -> float:
        """The lower bound on bAUC that this level gives."""
        return 1.0 - self.loss - self.slack


#: a = 0: bAUC ≥ 0, and no probability is spent on it.
VACUOUS = Statement(0, 0.0, 1.0, 0.0)


def _scale(a0: float, k: int) -> float:
    """``2^k a0``, ∞ beyond the largest double."""
    try:
        return math.ldexp(a0, k)
    except OverflowError:
        return math.inf


def levels_below(useless: float, a0: float) -> range:
    """The levels worth a look where every scale from `useless` on gives a vacuous statement."""
    if not (0.0 < useless < math.inf):
        return range(-_LEVELS, _LEVELS + 1)
    top = math.ceil(math.log2(useless) - math.log2(a0))
    top = max(min(top, _FARTHEST), _LEVELS - _FARTHEST)
    return range(top - _LEVELS, top + 1)


def levels_around(a: float, a0: float) -> range:
    """Two levels with `a` between them."""
    k = math.floor(math.log2(a) - math.log2(a0))
    k -= _scale(a0, k) > a  # the logarithm is rounded
    return range(k, k + 2)


def statements(
    pos: Array, neg: Array, levels: Iterable[int], a0: float, slack: Callable[[float, int, float], float]
) -> list[Statement]:
    """The statement of every level; ``slack(a, k, loss)`` is what it charges."""
    result = []
    for k in levels:
        a = _scale(a0, k)
        if 0.0 < a < math.inf:
            loss = mean_hinge(pos, neg, a)
            result.append(Statement(k, a, loss, slack(a, k, loss)))
    return result


def mean_hinge(pos: Array, neg: Array, a: float) -> float:
    """R̂_a, mean of ``[1 − a (p_i − n_j)]₊`` over the pairs; infinite where a score overflows."""
    with np.errstate(over="ignore"):
        scaled_pos, scaled_neg = a * pos, a * neg
    if not (np.isfinite(scaled_pos).all() and np.isfinite(scaled_neg).all()):
        return math.inf
    return float(pair_hinge_value(scaled_pos, scaled_neg, 1.0))


def between(low: Statement, high: Statement, a: float) -> Statement:
    """What convexity of ``a ↦ E[1 − a t]₊`` makes of two levels for a scale between them."""
    share = (a - low.a) / (high.a - low.a)
    loss, slack = ((1.0 - share) * x + share * y for x, y in ((low.loss, high.loss), (low.slack, high.slack)))
    return Statement(low.k, a, loss, slack)


def peeled_stability_bound(
    X: Any,
    y: ArrayLike,
    coef: ArrayLike,
    *,
    diameter: float,
    penalty: float,
    rho: float,
    a0: float = 1.0,
    strong_convexity: float = 2.0,
    a: float | None = None,
    optimality_gap: float = 0.0,
) -> Bound:
    """Lower bound on the bAUC of a squared RankSVM solution, with a scale of the hinge that may depend on the sample.

    With ``a_k = 2^k a₀`` and ``ρ_k = (2/3)ρ/((|k|+1)(|k|+2))``, with probability at least 1 − ρ::

        bAUC(w_S) ≥ sup_k { 1 − R̂_{a_k} − U(a_k, ρ_k) } ≥ 0

    U is the slack of `pairwise_stability_bound` (sharp). Derived (derivations 8.3) by a union bound over the levels,
    which are fixed in advance. As ``a ↦ E[1 − a w·(X⁺ − X⁻)]₊`` is convex and 1 at 0, the statement also holds for
    every `a` in between, with loss and slack interpolated; this never beats the best level; it serves callers who need
    a given `a`.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
        The sample `coef` was trained on.
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans.
    coef : array of shape (n_features,)
        w_S.
    diameter : float
        D ≥ 0, essential bound of ‖x⁺ − x⁻‖_* on the support (dual norm); see `kernel_diameter`.
    penalty : float
        λ > 0 of the squared penalty.
    rho : float
        1 − confidence, in (0, 1).
    a0 : float
        Level 0 of the grid, > 0, chosen before the sample is seen; 1 is the hinge of the training.
    strong_convexity : float
        r as in `pairwise_stability_bound`.
    a : float, optional
        Evaluate at this scale > 0, which may depend on the sample, in place of the best level.
    optimality_gap : float
        ε ≥ 0, as in `pairwise_stability_bound`.

    Returns
    -------
    Bound
        `lower`, `slack` = U of the best level, `vacuous` if ``lower ≤ 0``. If `coef` is longer than a minimiser can be,
        the first of the assumptions states that it is violated.

    Raises
    ------
    AuclabError
        Bad labels or features, a value outside its range, or a diameter that pairs of the sample exceed.

    See Also
    --------
    pairwise_stability_bound : One scale, fixed in advance.
    peeled_margin_bound : For a w that is not a minimiser.

    Examples
    --------
    500 positives at 1 and 500 negatives at 0 with λ = 1: the objective ``(1 − w) + w²`` has its minimum at ½, so
    ``R̂_a = 1 − a/2``, and ``U(a, ρ_k) = a (4/1000 + (2·1 + 1) √(ln(1/ρ_k)/500))`` while ``aη = a/2 ≤ 1``. At a = 2,
    k = 1, ρ_1 = 0.05/9: ``U = 2 (0.004 + 3 · 0.10191) = 0.6195``.

    >>> X, y = [[1.0]] * 500 + [[0.0]] * 500, [1] * 500 + [0] * 500
    >>> bound = peeled_stability_bound(X, y, [0.5], diameter=1.0, penalty=1.0, rho=0.05)
    >>> round(bound.slack, 4), round(bound.lower, 4)
    (0.6195, 0.3805)
    """
    check_nonnegative(diameter=diameter, optimality_gap=optimality_gap)
    check_positive(a0=a0, **({} if a is None else {"a": a}))
    check_curvature(penalty, strong_convexity)
    check_probability(rho=rho)
    pos, neg, w = class_scores(X, y, coef)
    options: dict[str, Any] = {"a0": a0, "a": a, "strong_convexity": strong_convexity}
    options |= {"diameter": diameter, "penalty": penalty, "rho": rho, "optimality_gap": optimality_gap}
    return peeled_stability_from_scores(pos, neg, w, **options)


def peeled_stability_from_scores(
    pos: Array,
    neg: Array,
    w: Array,
    *,
    diameter: float,
    penalty: float,
    rho: float,
    a0: float = 1.0,
    a: float | None = None,
    strong_convexity: float = 2.0,
    optimality_gap: float = 0.0,
) -> Bound:
    """`peeled_stability_bound` where the scores ``w·x`` of the positives and of the negatives are there already.

    Examples
    --------
    >>> pos, neg = np.full(500, 0.5), np.zeros(500)
    >>> bound = peeled_stability_from_scores(pos, neg, np.array([0.5]), diameter=1.0, penalty=1.0, rho=0.05)
    >>> round(bound.lower, 4)
    0.3805
    """
    # the norm whose square has modulus r is that of lp with p = 1 + r/2
    largest = float(np.abs(w).max()) or 1.0
    size = largest * float(np.linalg.norm(w / largest, 1.0 + strong_convexity / 2.0))
    check_reach(pos, neg, diameter, size)
    fixed = {
        "diameter": diameter,
        "penalty": penalty,
        "n_pos": pos.size,
        "n_neg": neg.size,
        "strong_convexity": strong_convexity,
        "optimality_gap": optimality_gap,
    }

    def slack(scale: float, k: int, _: float) -> float:
        return stability_slack(scale, rho=level_share(rho, k), **fixed)  # type: ignore[arg-type]

    # U(a) ≥ a · growth, so that from a = 1/growth on nothing is left of 1
    growth = 4.0 * diameter / penalty * diameter / strong_convexity * deviation(pos.size, neg.size, rho)
    levels = levels_below(1.0 / growth if growth > 0.0 else 0.0, a0) if a is None else levels_around(a, a0)
    grid = statements(pos, neg, levels, a0, slack)
    if a is not None and len(grid) < 2:
        raise AuclabError(f"a={a:.4g} is outside the levels 2^k · {a0:.4g} that a double can hold; choose another a0")
    best = max([VACUOUS, *grid], key=lambda it: it.lower) if a is None else between(grid[0], grid[1], a)
    assumptions = (
        *_broken(size, diameter, penalty, strong_convexity, optimality_gap),
        f"the grid 2^k · {a0:.4g} of scales was fixed before the sample was seen; a = {best.a:.4g}",
        TRAINED,
        f"the squared norm is strongly convex with modulus r = {strong_convexity:.4g} (2 for l2)",
        INDEPENDENT,
        f"no positive and negative that can occur are further apart than {diameter:.4g}",
    )
    return from_below(best.lower, best.slack, assumptions)


def _broken(size: float, diameter: float, penalty: float, strong_convexity: float, gap: float) -> tuple[str, ...]:
    """The unmet assumption of a w that is longer than a minimiser can be, with room for a solver's inaccuracy."""
    limit = norm_limit(diameter, penalty, strong_convexity)
    if size <= 1.01 * limit + math.sqrt(2.0 * max(gap, _USUAL_GAP) / penalty / strong_convexity):
        return ()
    return (
        f"NOT MET: w is not a minimiser, as its norm is {size:.4g} and that of the minimiser at most {limit:.4g}; this "
        "bound does not apply, peeled_margin_bound does",
    )
