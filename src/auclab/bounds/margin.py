"""Margin bounds, and the diameters of the rows.

D is a property of the distribution. Preprocessing into a ball or a bounded kernel gives one that holds for every
observation to come; the largest distance of a sample does not, and a bound that uses it is conditional on the support
lying within the observed radius.

For ``a‖w‖ ≤ Λ`` the hinges ``[1 − a w·(x⁺ − x⁻)]₊`` form a class whose Rademacher complexity is that of a ball of
linear functions. The pairs are not independent, but a mean over all of them is an average of means over
``min(n_pos, n_neg)`` independent ones (Hoeffding 1963), and that is the sample size that counts.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError, Norm
from auclab._core.validation import check_choice, finite_array
from auclab.bounds.guarantee import (
    INDEPENDENT,
    Bound,
    check_nonnegative,
    check_probability,
    check_reach,
    check_sizes,
    class_scores,
    from_below,
)
from auclab.bounds.peeling import VACUOUS, Statement, level_share, levels_below, mean_hinge
from auclab.bounds.stability import deviation, hinge_range
from auclab.metrics.buffered import buffered_auc_from_sorted
from auclab.metrics.roc import ClassScores
from auclab.regularisers import norm_named
from auclab.samples.as_sample import as_sample

Kernel = Literal["rbf", "laplacian", "cosine", "linear", "polynomial"]


def kernel_diameter(
    kernel: Kernel,
    *,
    radius: float | None = None,
    degree: int = 3,
    gamma: float = 1.0,
    coef0: float = 1.0,
) -> float:
    """D for a kernel: ``sup ‖φ(x) − φ(y)‖ = sup √(K(x,x) + K(y,y) − 2K(x,y))``.

    ::

        "rbf", "laplacian"     √2         K(x,x) = 1 and K > 0; not 2
        "cosine"               2          K in [−1, 1]
        "linear"               2R         ‖x‖₂ ≤ R
        "polynomial"           √(2κ) if K ≥ 0 on the ball, else 2√κ;      K = (γ x·y + c)^p, κ = (γR² + c)^p

    Derivations 8.5. With a kernel, ``‖h‖² = βᵀKβ`` takes the place of ‖w‖²; the rows of a factor L of the kernel matrix
    ``K = L Lᵀ`` are features that give the same scores, with ``w = Lᵀβ``.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "cosine", "linear", "polynomial"}
    radius : float, optional
        R ≥ 0, essential bound of ‖x‖₂; needed for "linear" and "polynomial".
    degree, gamma, coef0
        p ≥ 1, γ > 0 and c ≥ 0 of the polynomial kernel.

    Raises
    ------
    AuclabError
        An unknown kernel, a missing radius, a value outside its range.

    See Also
    --------
    observed_radii : Radii computed from a sample.

    Examples
    --------
    (1 · 1 + 1)² = 4, and a square is never negative: √8.

    >>> round(kernel_diameter("rbf"), 6), round(kernel_diameter("polynomial", radius=1.0, degree=2), 6)
    (1.414214, 2.828427)
    """
    check_choice("kernel", kernel, get_args(Kernel))
    if kernel in ("rbf", "laplacian"):
        return math.sqrt(2.0)
    if kernel == "cosine":
        return 2.0
    if radius is None:
        raise AuclabError(f"the {kernel} kernel is unbounded: give the radius of the ball all observations lie in")
    check_nonnegative(radius=radius, coef0=coef0)
    if kernel == "linear":
        return 2.0 * radius
    if degree < 1 or degree != int(degree) or not (math.isfinite(gamma) and gamma > 0.0):
        raise AuclabError(f"degree must be a whole number ≥ 1 and gamma > 0, got degree={degree}, gamma={gamma}")
    size = (gamma * radius * radius + coef0) ** degree
    is_nonnegative = degree % 2 == 0 or coef0 >= gamma * radius * radius
    return math.sqrt(2.0 * size) if is_nonnegative else 2.0 * math.sqrt(size)


def observed_radii(X: Any, y: ArrayLike, norm: Norm = "l2") -> tuple[float, float]:
    """Largest distance of a positive, and of a negative, from the mean of the sample, in the norm dual to `norm`.

    ``R⁺ + R⁻`` is at least every ‖x⁺ − x⁻‖_* of the sample; new observations may exceed it.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans.
    norm : {"l2", "l1", "linf"}
        Norm of w.

    Raises
    ------
    AuclabError
        Bad labels or features, an unknown norm.

    See Also
    --------
    kernel_diameter : Diameters that hold for new observations.
    auclab.datasets.preprocess.UnitBall : A preprocessing with radius 1.

    Examples
    --------
    The mean is (1, 1):

    >>> observed_radii([[0.0, 0.0], [1.0, 3.0], [2.0, 0.0]], [0, 1, 0], norm="linf")
    (2.0, 2.0)
    """
    return as_sample(X, y).radii(norm_named(norm).dual_rows)


def margin_bound(
    empirical_loss: float,
    *,
    norm_bound: float,
    diameter: float,
    n_pos: int,
    n_neg: int,
    rho: float,
    norm: Norm = "l2",
    n_features: int | None = None,
    shift: float = 0.0,
) -> Bound:
    """Lower bound on bAUC that holds simultaneously for all w and a ≥ 0 with ``a‖w‖ ≤ Λ``, Λ fixed in advance.

    With probability at least 1 − ρ, for all of them::

        bAUC(w) ≥ 1 − R̂_a(w) − 2ΛC − (ΛD + min(1, ΛD)) √( (1/n_pos + 1/n_neg) ln(1/ρ) / 2 )

        C = D / √m̂                          l2, or the norm of a reproducing kernel Hilbert space
        C = D min{1, √(2 ln(2d) / m̂)}        l1, D the largest difference in one feature
        C = D min{1, √(d / m̂)}               linf, D the largest sum of differences

    with m̂ = min(n_pos, n_neg) and d features. Derived (derivations 8.4): bounded differences of the largest deviation,
    averaging over m̂ independent pairs, symmetrisation, contraction (the hinge is 1-Lipschitz), and ``C ≥
    E‖Σ σ_k d_k‖_* / m̂``: Jensen for l2 and linf, Massart's lemma for l1.

    With a shift c it bounds bAUC_z: ``1 − bAUC_z ≤ E[1 + c − a w·d]₊`` at ``a = −c/z``. The hinge is 1-Lipschitz for
    every c, and its range is ``ΛD + min(1 + c, ΛD)``; nothing else in the proof changes.

    Parameters
    ----------
    empirical_loss : float
        R̂_a(w) ≥ 0, mean of ``[1 + c − a w·(x_i⁺ − x_j⁻)]₊`` over all pairs of the sample.
    norm_bound : float
        Λ ≥ 0, chosen before the sample is seen.
    diameter : float
        D ≥ 0, essential bound of ‖x⁺ − x⁻‖_* in the dual norm: l2 for l2, linf for l1, l1 for linf.
    n_pos, n_neg : int
        Class sizes of the sample.
    rho : float
        1 − confidence, in (0, 1).
    norm : {"l2", "l1", "linf"}
        Norm of w.
    n_features : int, optional
        d, needed for l1 and linf.
    shift : float
        ``c = −a z ≥ −1``, fixed in advance like Λ; 0 for bAUC.

    Returns
    -------
    Bound
        `lower` (it may be negative), `slack`, `vacuous` if ``lower ≤ 0``.

    Raises
    ------
    AuclabError
        A value outside its range, an unknown norm, or a missing number of features.

    See Also
    --------
    peeled_margin_bound : The limit Λ may depend on the sample.
    pairwise_stability_bound : For solutions of the squared RankSVM.

    Examples
    --------
    C = 2/√400 = 0.1; 2 · ½ · 0.1 = 0.1, B = 1 + 1 = 2, √(2/400 · 2/2) = 0.0707, 2 · 0.0707 = 0.1414:

    >>> bound = margin_bound(0.3, norm_bound=0.5, diameter=2.0, n_pos=400, n_neg=400, rho=math.exp(-2))
    >>> round(bound.slack, 4), round(bound.lower, 4)
    (0.2414, 0.4586)
    """
    check_nonnegative(empirical_loss=empirical_loss, norm_bound=norm_bound, diameter=diameter)
    check_sizes(n_pos, n_neg)
    check_probability(rho=rho)
    if not -1.0 <= shift < math.inf:
        raise AuclabError(f"shift must be a number ≥ −1, got {shift}; it is −a z for the threshold z")
    slack = margin_slack(norm_bound, diameter, n_pos, n_neg, rho, norm, n_features, 1.0 + shift)
    fixed = f"the limit Λ = {norm_bound:.4g} of a{norm_named(norm).symbol} was chosen before the sample was seen"
    return from_below(1.0 - empirical_loss - slack, slack, (fixed, INDEPENDENT, _support(norm, diameter)))


def peeled_margin_bound(
    X: Any,
    y: ArrayLike,
    coef: ArrayLike,
    *,
    diameter: float,
    rho: float,
    norm: Norm = "l2",
) -> Bound:
    """Lower bound on the bAUC of any linear scorer, trained on this sample by any method.

    With ``Λ_k = 2^k/D`` and ``ρ_k = (2/3)ρ/((|k|+1)(|k|+2))``, with probability at least 1 − ρ, simultaneously for all
    w::

        bAUC(w) ≥ sup_k { 1 − min_{a‖w‖ ≤ Λ_k} R̂_a(w) − slack(Λ_k, ρ_k) } ≥ 0

    with the slack of `margin_bound` (derivations 8.4 and 8.3). No assumption is made about how w was computed: the
    bound also holds for maximisers of bAUC and bAUC_z, for unsquared penalties, l1 and linf.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans.
    coef : array of shape (n_features,)
        w; the bound does not change if it is multiplied by a positive number.
    diameter : float
        D ≥ 0 in the dual norm, as in `margin_bound`.
    rho : float
        1 − confidence, in (0, 1).
    norm : {"l2", "l1", "linf"}
        Norm of w.

    Returns
    -------
    Bound
        `lower`, `slack` of the best level, `vacuous` if ``lower ≤ 0``.

    Raises
    ------
    AuclabError
        Bad labels or features, a value outside its range, or a diameter that pairs of the sample exceed.

    See Also
    --------
    margin_bound : One limit Λ, fixed in advance.
    observed_radii : A diameter computed from the sample.

    Examples
    --------
    5000 positives at 1, 5000 negatives at 0, D = 1: every a ≤ Λ_0 = 1 gives R̂_a = 1 − a, so level 0 has loss 0,
    C = 1/√5000, B = 2 and ρ_0 = ρ/3: slack ``2 · 0.014142 + 2 √(ln(60)/5000) = 0.08552``.

    >>> bound = peeled_margin_bound([[1.0]] * 5000 + [[0.0]] * 5000, [1] * 5000 + [0] * 5000, [7.0],
    ...                             diameter=1.0, rho=0.05)
    >>> round(bound.slack, 5), round(bound.lower, 5)
    (0.08552, 0.91448)
    """
    check_nonnegative(diameter=diameter)
    check_probability(rho=rho)
    norm_named(norm)
    vector = _unit_scale(coef)
    pos, neg, w = class_scores(X, y, vector)
    return peeled_margin_from_scores(pos, neg, w, diameter=diameter, rho=rho, norm=norm)


def peeled_margin_from_scores(
    pos: Array, neg: Array, coef: Array, *, diameter: float, rho: float, norm: Norm = "l2"
) -> Bound:
    """`peeled_margin_bound` where the scores ``w·x`` of the positives and of the negatives are there already.

    Examples
    --------
    >>> pos, neg = np.full(5000, 7.0), np.zeros(5000)
    >>> round(peeled_margin_from_scores(pos, neg, np.array([7.0]), diameter=1.0, rho=0.05).lower, 5)
    0.91448
    """
    w = _unit_scale(coef)
    shift = int(np.frexp(abs(w).max(initial=0.0))[1]) - int(np.frexp(abs(coef).max(initial=0.0))[1])
    pos, neg, size = np.ldexp(pos, shift), np.ldexp(neg, shift), norm_named(norm)(w)
    check_reach(pos, neg, diameter, size)
    if diameter == 0.0 or size == 0.0:  # no pair has a margin: the hinge is 1 whatever a, and bAUC 0
        best = VACUOUS
    else:
        best = _best_level(pos / size, neg / size, diameter, rho, norm, w.size)
    size_of = f"a{norm_named(norm).symbol}"
    fixed = f"the grid 2^k/D of limits to {size_of} was fixed before the sample was seen; {size_of} = {best.a:.4g}"
    return from_below(best.lower, best.slack, (fixed, INDEPENDENT, _support(norm, diameter)))


def margin_slack(
    norm_bound: float,
    diameter: float,
    n_pos: int,
    n_neg: int,
    rho: float,
    norm: Norm,
    n_features: int | None,
    level: float = 1.0,
) -> float:
    """What `margin_bound` subtracts for hinges ``[level − t]₊``, with numbers that were checked before."""
    reach = norm_bound * diameter
    size = ball_complexity(norm, min(n_pos, n_neg), n_features)
    return 2.0 * reach * size + hinge_range(reach, level) * deviation(n_pos, n_neg, rho)


def ball_complexity(norm: Norm, n: int, n_features: int | None) -> float:
    """Bound of ``E‖Σ_{k≤n} σ_k d_k‖_* / n`` for ‖d_k‖_* ≤ 1 and independent signs σ_k."""
    of_w = norm_named(norm)
    if of_w.is_euclidean:  # in any number of dimensions
        return of_w.mean_sum(n, 1)
    if n_features is None or not 1 <= n_features < 2**53:
        raise AuclabError(f"norm={norm!r} needs n_features ≥ 1: its complexity grows with their number")
    return of_w.mean_sum(n, n_features)


def _unit_scale(coef: ArrayLike) -> Array:
    """`coef` times a power of two, so that no square of an entry is out of range; the bound does not depend on it."""
    vector = finite_array("coef", coef)
    largest = np.abs(vector).max(initial=0.0)
    return np.ldexp(vector, -np.frexp(largest)[1]) if largest > 0.0 else vector


def _best_level(pos: Array, neg: Array, diameter: float, rho: float, norm: Norm, n_features: int) -> Statement:
    """The best level for a w of norm 1."""
    best_scale = _best_scale(pos, neg)
    levels = [VACUOUS]
    # Λ = 1/growth is where the slack alone reaches 1
    growth = 2.0 * diameter * ball_complexity(norm, min(pos.size, neg.size), n_features)
    for k in levels_below(1.0 / growth, 1.0 / diameter):
        limit = math.ldexp(1.0, k) / diameter
        a = min(limit, best_scale)
        slack = margin_slack(limit, diameter, pos.size, neg.size, level_share(rho, k), norm, n_features)
        levels.append(Statement(k, a, mean_hinge(pos, neg, a), slack))
    return max(levels, key=lambda statement: statement.lower)


def _best_scale(pos: Array, neg: Array) -> float:
    """The smallest minimiser of R̂_a over a ≥ 0; infinite where R̂_a only falls (no pair has a margin below 0)."""
    unweighted = np.empty(0)
    buffered = buffered_auc_from_sorted(ClassScores(np.sort(pos), np.sort(neg), unweighted, unweighted))
    if math.isnan(buffered.gamma_left):
        return 0.0 if buffered.value == 0.0 else math.inf
    return -1.0 / buffered.gamma_left


def _support(norm: Norm, diameter: float) -> str:
    return f"no positive and negative that can occur are {norm_named(norm).dual_name} further apart than {diameter:.4g}"
