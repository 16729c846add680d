"""Bounds by stability.

For ``H = {x ↦ w·x : ‖w‖ ≤ Λ}`` the supremum is a dual norm, ``sup_h Σ γ_i h(x_i) = Λ ‖Σ γ_i x_i‖_*``, and the
complexity its mean over independent standard normal γ_i, or over signs ±1.

Both statements are about ``w_S = argmin mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + λ‖w‖²`` on the sample S of n_pos positives
and n_neg negatives, and bound its bAUC on new data from below by the hinge it has on S itself. A strongly convex
penalty makes w_S insensitive to the change of one observation; that insensitivity is the price of having no
held-out part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.optimize import brentq

from auclab._core.base import Array, AuclabError, Norm
from auclab._core.forms import as_rows, dense
from auclab._core.validation import check_choice
from auclab.bounds.guarantee import (
    INDEPENDENT,
    Bound,
    check_nonnegative,
    check_numbers,
    check_probability,
    check_sizes,
    from_below,
)
from auclab.regularisers import VectorNorm, norm_named

Method = Literal["mcdiarmid", "hoeffding", "kl"]


def deviation(n_pos: int, n_neg: int, rho: float) -> float:
    """``√( (1/n_pos + 1/n_neg) ln(1/ρ) / 2 )``, what McDiarmid gives for a mean over pairs of values in [0, 1]."""
    return math.sqrt((1.0 / n_pos + 1.0 / n_neg) * -math.log(rho) / 2.0)


def hinge_range(reach: float, level: float = 1.0) -> float:
    """Length of the interval in which ``[level − t]₊`` lies for ``|t| ≤ reach``: ``reach + min(level, reach)``."""
    return reach + min(level, reach)


def hoeffding(n_pos: int, n_neg: int, rho: float) -> float:
    """``√( ln(1/ρ) / (2 min(n_pos, n_neg)) )``."""
    return math.sqrt(-math.log(rho) / (2.0 * min(n_pos, n_neg)))


def hinge_slack(loss: float, reach: float, n_pos: int, n_neg: int, rho: float, method: Method) -> float:
    """U for a hinge with margins up to `reach` = aS."""
    check_choice("method", method, get_args(Method))
    width = hinge_range(reach)
    if method == "mcdiarmid":
        return width * deviation(n_pos, n_neg, rho)
    if method == "hoeffding" or not math.isfinite(loss):
        return width * hoeffding(n_pos, n_neg, rho)
    least = max(0.0, 1.0 - reach)
    if not least - 1e-9 <= loss <= least + width + 1e-9 * (1.0 + width):
        raise AuclabError(
            f"empirical_loss={loss:.6g} is not a mean of hinges with margins up to a · score_spread = {reach:.6g}, "
            f"which lie in [{least:.6g}, {least + width:.6g}]; raise score_spread"
        )
    if width == 0.0:
        return 0.0
    share = min(max((loss - least) / width, 0.0), 1.0)
    return width * (kl_upper(share, -math.log(rho) / min(n_pos, n_neg)) - share)


def kl_upper(share: float, budget: float) -> float:
    """The largest q with ``kl(p‖q) ≤ budget``, for p = `share` in [0, 1]."""
    if share >= 1.0:
        return 1.0
    if share == 0.0:
        return -math.expm1(-budget)

    def excess(q: float) -> float:
        return share * math.log(share / q) + (1.0 - share) * (math.log1p(-share) - math.log1p(-q)) - budget

    # two points where the divergence exceeds the budget: Pinsker's, and one near 1
    pinsker = share + math.sqrt(budget / 2.0)
    near_one = 1.0 - 0.5 * (1.0 - share) * math.exp(-(budget + 1.0) / (1.0 - share))
    high = min(pinsker, near_one, math.nextafter(1.0, 0.0))
    if high <= share or excess(high) <= 0.0:  # closer than doubles can tell
        return min(pinsker, 1.0)
    # rounded up, which is the safe side
    return min(float(brentq(excess, share, high, xtol=1e-300, rtol=1e-14)) * (1.0 + 1e-13), 1.0)


Kind = Literal["gaussian", "rademacher"]


@dataclass(frozen=True)
class Complexity:
    """A complexity in units of the score, summed over the m observations (not divided by m).

    `value` is a closed form or a mean over draws; the truth is at most ``upper = value + error`` with probability at
    least 1 − ρ. `error` is 0 for a closed form that is itself an upper bound. `method` describes the computation.

    See Also
    --------
    linear_complexity : Computes it.

    Examples
    --------
    >>> Complexity(value=3.0, error=0.5, method="mean of 100 draws").upper
    3.5
    """

    value: float
    error: float
    method: str

    @property
    def upper(self) -> float:
        """``value + error``, the complexity to pass to `uniform_weighted_auc_bound`."""
        return self.value + self.error


def linear_complexity(
    X: Any,
    *,
    norm_bound: float,
    norm: Norm = "l2",
    kind: Kind = "gaussian",
    radius: float | None = None,
    draws: int | None = None,
    rho: float = 0.01,
    seed: int | None = 0,
) -> Complexity:
    """``E sup_{‖w‖≤Λ} Σ_i γ_i w·x_i`` of a sample, or of its distribution where a radius is given.

    Closed forms, used unless `draws` is given::

        l2     Λ √(Σ ‖x_i‖₂²)                an upper bound (Jensen), for both kinds
        linf   Λ √(2/π) Σ_k ‖X_k‖₂           exact for "gaussian"; without √(2/π) an upper bound for "rademacher"
        l1     none: 1000 draws

    X_k is the k-th column. With probability at least 1 − ρ, a mean over B draws differs from the truth by at most the
    error below, by the concentration of Gaussian suprema (σ the largest ‖Xw‖₂ with ‖w‖ ≤ 1, replaced for linf by Σ_k
    ‖X_k‖₂), or by McDiarmid for signs::

        Λ σ √(2 ln(1/ρ)/B)                   "gaussian"
        Λ √(2 Σ ‖x_i‖_*² ln(1/ρ)/B)          "rademacher"

    With `radius` R, an essential bound of ‖x‖_*, the result holds for the distribution instead of the sample: one
    observation changes it by at most 2ΛR E|γ|, which adds ``2ΛR E|γ| √(m ln(1/ρ)/2)``; for l2 it is replaced by
    ``ΛR√m`` if that is smaller.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
    norm_bound : float
        Λ ≥ 0.
    norm : {"l2", "l1", "linf"}
        Norm of w.
    kind : {"gaussian", "rademacher"}
    radius : float, optional
        R in the dual norm. Without it the result is about this sample of X alone.
    draws : int, optional
        Monte-Carlo draws B ≥ 1.
    rho : float
        Probability that the truth exceeds `upper`, in (0, 1), split evenly if both errors occur.
    seed : int, optional
        Seed of the draws.

    Raises
    ------
    AuclabError
        X not two-dimensional or not finite, an unknown norm or kind, a value outside its range.

    See Also
    --------
    uniform_weighted_auc_bound : The bound that needs it.

    Examples
    --------
    ‖(3, 4)‖² + ‖(0, 0)‖² = 25; columns have norms 3 and 4:

    >>> X = [[3.0, 4.0], [0.0, 0.0]]
    >>> linear_complexity(X, norm_bound=2.0).upper
    10.0
    >>> round(linear_complexity(X, norm_bound=1.0, norm="linf").value, 6)   # 7 √(2/π)
    5.585192
    """
    features = _matrix(X)
    of_w = norm_named(norm)
    check_nonnegative(norm_bound=norm_bound)
    check_probability(rho=rho)
    check_choice("kind", kind, get_args(Kind))
    if draws is not None and (draws < 1 or draws != int(draws)):
        raise AuclabError(f"draws must be a whole number ≥ 1, got {draws}")
    lengths = np.linalg.norm(features, axis=0)
    closed = None if draws is not None else of_w.mean_of_columns(lengths, gaussian=kind == "gaussian")
    share = rho / 2.0 if closed is None and radius is not None else rho
    if closed is None:
        complexity = _sampled(features, norm_bound, of_w, kind, draws or 1000, share, seed)
    else:
        how = "exact" if closed[1] else "an upper bound"
        complexity = Complexity(norm_bound * closed[0], 0.0, f"closed form, {how}")
    if radius is None:
        return complexity
    return _of_distribution(complexity, len(features), norm_bound, of_w, kind, radius, share)


def _sampled(
    X: Array, norm_bound: float, norm: VectorNorm, kind: Kind, draws: int, rho: float, seed: int | None
) -> Complexity:
    rng = np.random.default_rng(seed)
    suprema = np.empty(draws)
    block = max(1, 10**7 // max(len(X), 1))
    for start in range(0, draws, block):
        shape = (min(block, draws - start), len(X))
        signs = rng.standard_normal(shape) if kind == "gaussian" else rng.choice((-1.0, 1.0), shape)
        suprema[start : start + block] = norm.dual_rows(signs @ X)
    scale = norm.largest_image(X) if kind == "gaussian" else float(np.linalg.norm(norm.dual_rows(X)))
    error = norm_bound * scale * math.sqrt(2.0 * math.log(1.0 / rho) / draws)
    return Complexity(norm_bound * float(suprema.mean()), error, f"mean of {draws} draws")


def _of_distribution(
    of_sample: Complexity, m: int, norm_bound: float, norm: VectorNorm, kind: Kind, radius: float, rho: float
) -> Complexity:
    check_nonnegative(radius=radius)
    size = math.sqrt(2.0 / math.pi) if kind == "gaussian" else 1.0
    error = of_sample.error + 2.0 * norm_bound * radius * size * math.sqrt(m * math.log(1.0 / rho) / 2.0)
    simple = norm_bound * radius * math.sqrt(m)
    if norm.is_euclidean and simple <= of_sample.value + error:
        return Complexity(simple, 0.0, "closed form for all laws within the radius, an upper bound")
    return Complexity(of_sample.value, error, f"{of_sample.method}; the law of X within the radius")


def _matrix(X: Any) -> Array:
    rows = as_rows(X)
    features = dense(rows)
    if not np.isfinite(features).all():
        raise AuclabError("X must be a matrix of finite numbers")
    return features


TRAINED = "w minimises the pairwise hinge plus λ‖w‖² on the same sample that gives the empirical loss"


def published_stability_bound(
    empirical_loss: float,
    a: float,
    *,
    radius_pos: float,
    radius_neg: float,
    penalty: float,
    n_pos: int,
    n_neg: int,
    rho: float,
    strong_convexity: float = 2.0,
) -> Bound:
    """Lower bound on bAUC as Norton & Uryasev state it, with the mean taken over the n_pos · n_neg pairs.

    For one a ≥ 0 fixed in advance, claimed with probability at least 1 − ρ::

        bAUC(w_S) ≥ 1 − R̂_a − { 2θ + (4mθ + 1 + aR/√λ) √(ln(1/ρ)/(2m)) }
        θ = aR²/(rλ min(n_pos, n_neg)),   R = R⁺ + R⁻,   m = n_pos + n_neg

    Norton & Uryasev 2018, Prop. 8, whose sums over pairs must be divided by n_pos · n_neg, not by their sum. The
    proof there uses a theorem on the mean of m independent losses, but the pairs of m observations are not
    independent. `pairwise_stability_bound` is proved for pairs; where the rarer class has at most a quarter of the
    observations and m ln(1/ρ) ≥ 3.2 it is at least as strong at diameter R, so the published bound holds there too.

    Parameters
    ----------
    empirical_loss : float
        R̂_a ≥ 0, mean of ``[1 − a w_S·(x_i⁺ − x_j⁻)]₊`` over all pairs of the sample.
    a : float
        Scale of the hinge, ≥ 0, chosen before the sample is seen.
    radius_pos, radius_neg : float
        R⁺, R⁻ ≥ 0: essential bounds of ‖x‖_* (dual norm) for positives and negatives, about a common centre.
    penalty : float
        λ > 0 of the squared penalty.
    n_pos, n_neg : int
        Class sizes of the sample.
    rho : float
        1 − confidence, in (0, 1).
    strong_convexity : float
        r > 0 with ``‖·‖²`` strongly convex with modulus r with respect to ``‖·‖``: 2 for l2, 2(p − 1) for lp with
        1 < p ≤ 2. l1 and linf have none.

    Returns
    -------
    Bound
        `lower` (it may be negative), `slack` = the braces, `vacuous` if ``lower ≤ 0``.

    Raises
    ------
    AuclabError
        A value outside its range.

    See Also
    --------
    pairwise_stability_bound : Proved for pairs.

    Examples
    --------
    θ = ½ · 2.25/(2 · ¼ · 2000) = 0.001125; the braces are 0.00225 + 371.5 · 0.0052994 = 1.97.

    >>> bound = published_stability_bound(0.35, 0.5, radius_pos=0.75, radius_neg=0.75, penalty=0.25,
    ...                                   n_pos=2000, n_neg=80000, rho=0.01)
    >>> round(bound.lower, 2), bound.vacuous
    (-1.32, True)
    """
    radii = {"radius_pos": radius_pos, "radius_neg": radius_neg}
    _check(empirical_loss, a, radii, penalty, n_pos, n_neg, rho, strong_convexity)
    radius = radius_pos + radius_neg
    m = n_pos + n_neg
    theta = a * radius / penalty * radius / strong_convexity / min(n_pos, n_neg)
    spread = math.sqrt(math.log(1.0 / rho) / (2.0 * m))
    slack = 2.0 * theta + (4.0 * m * theta + 1.0 + a * radius / math.sqrt(penalty)) * spread
    doubt = (
        "as published: the proof covers the mean of independent losses, while one observation enters many pairs; "
        "compare it with the pairwise bound"
    )
    support = f"all positives lie within {radius_pos:.4g} and all negatives within {radius_neg:.4g} of one centre"
    return _bound(empirical_loss, slack, (_scale(a), TRAINED, _norm(strong_convexity), INDEPENDENT, support, doubt))


def pairwise_stability_bound(
    empirical_loss: float,
    a: float,
    *,
    diameter: float,
    penalty: float,
    n_pos: int,
    n_neg: int,
    rho: float,
    strong_convexity: float = 2.0,
    sharp: bool = True,
    optimality_gap: float = 0.0,
) -> Bound:
    """Lower bound on bAUC that is proved for means over pairs.

    For one a ≥ 0 fixed in advance, with probability at least 1 − ρ::

        bAUC(w_S) ≥ 1 − R̂_a − U
        U = (2aD²/(rλ)) s + (4aD²/(rλ) + B) √(s ln(1/ρ)/2),     s = 1/n_pos + 1/n_neg
        B = aDη + min(1, aDη),    η = min{ 1/√(λ(1 + r/2)), D/(λ(1 + r/2)) } ≥ ‖w_S‖

    or the simpler ``B = 1 + aD/√λ`` unless `sharp`. After the stability argument of Agarwal & Niyogi 2009 (JMLR 10)
    for bipartite ranking: replacing one positive moves every hinge by at most ``2aD²/(rλ n_pos)``, one negative by
    ``2aD²/(rλ n_neg)``; the bound follows from McDiarmid's inequality.

    Parameters
    ----------
    empirical_loss, a, penalty, n_pos, n_neg, rho, strong_convexity
        As in `published_stability_bound`.
    diameter : float
        D ≥ 0, essential bound of ‖x⁺ − x⁻‖_* (dual norm); R⁺ + R⁻ is sufficient.
    sharp : bool
        Use the norm bound η and the range of the hinge that goes with it.
    optimality_gap : float
        ε ≥ 0: bound on the suboptimality of the w in use, such as a solver's absolute gap. By strong convexity such a w
        is within ``√(2ε/(λr))`` of w_S, which adds ``2aD √(2ε/(λr))`` to U.

    Returns
    -------
    Bound
        `lower` (it may be negative), `slack` = U, `vacuous` if ``lower ≤ 0``.

    Raises
    ------
    AuclabError
        A value outside its range.

    See Also
    --------
    peeled_stability_bound : The scale may depend on the sample.
    published_stability_bound : As published.
    kernel_diameter : Diameters that hold for new observations.

    Examples
    --------
    η = min{1/√½, 1.5/½} = √2, aDη = 1.0607, B = 2.0607, s = 0.0005125, √(s ln(100)/2) = 0.034352;
    U = 4.5 · s + (9 + B) · 0.034352 = 0.3823.

    >>> bound = pairwise_stability_bound(0.35, 0.5, diameter=1.5, penalty=0.25, n_pos=2000, n_neg=80000, rho=0.01)
    >>> round(bound.lower, 3), bound.vacuous
    (0.268, False)
    """
    _check(empirical_loss, a, {"diameter": diameter}, penalty, n_pos, n_neg, rho, strong_convexity)
    check_nonnegative(optimality_gap=optimality_gap)
    slack = stability_slack(
        a,
        diameter=diameter,
        penalty=penalty,
        n_pos=n_pos,
        n_neg=n_neg,
        rho=rho,
        strong_convexity=strong_convexity,
        sharp=sharp,
        optimality_gap=optimality_gap,
    )
    support = f"no positive and negative that can occur are further apart than {diameter:.4g}"
    return _bound(empirical_loss, slack, (_scale(a), TRAINED, _norm(strong_convexity), INDEPENDENT, support))


def stability_slack(
    a: float,
    *,
    diameter: float,
    penalty: float,
    n_pos: int,
    n_neg: int,
    rho: float,
    strong_convexity: float,
    sharp: bool = True,
    optimality_gap: float = 0.0,
) -> float:
    """U of `pairwise_stability_bound`, with numbers that were checked before."""
    move = 2.0 * a * diameter / penalty * diameter / strong_convexity
    if sharp:
        values = hinge_range(a * diameter * norm_limit(diameter, penalty, strong_convexity))
    else:
        values = 1.0 + a * diameter / math.sqrt(penalty)
    inexact = 2.0 * a * diameter * math.sqrt(2.0 * optimality_gap / penalty / strong_convexity)
    return move * (1.0 / n_pos + 1.0 / n_neg) + (2.0 * move + values) * deviation(n_pos, n_neg, rho) + inexact


def norm_limit(diameter: float, penalty: float, strong_convexity: float) -> float:
    """``η = min{ 1/√(λ(1 + r/2)), D/(λ(1 + r/2)) }``, which ‖w_S‖ never exceeds."""
    curvature = penalty * (1.0 + strong_convexity / 2.0)
    return min(1.0 / math.sqrt(curvature), diameter / curvature)


def _bound(empirical_loss: float, slack: float, assumptions: tuple[str, ...]) -> Bound:
    return from_below(1.0 - empirical_loss - slack, slack, assumptions)


def _scale(a: float) -> str:
    return f"the scale a = {a:.4g} of the hinge was chosen before the sample was seen"


def _norm(strong_convexity: float) -> str:
    return f"the squared norm is strongly convex with modulus r = {strong_convexity:.4g} (2 for l2)"


def _check(
    empirical_loss: float,
    a: float,
    lengths: dict[str, float],
    penalty: float,
    n_pos: int,
    n_neg: int,
    rho: float,
    strong_convexity: float,
) -> None:
    """Ranges of the arguments that both bounds share; distances in the data come as `lengths`."""
    check_nonnegative(empirical_loss=empirical_loss, a=a, **lengths)
    check_curvature(penalty, strong_convexity)
    check_sizes(n_pos, n_neg)
    check_probability(rho=rho)


def check_curvature(penalty: float, strong_convexity: float) -> None:
    """λ > 0 and r > 0, without which one observation can flip the solution."""
    check_numbers(penalty=penalty, strong_convexity=strong_convexity)
    if not (math.isfinite(penalty) and penalty > 0.0):
        raise AuclabError(f"penalty must be finite and > 0, got {penalty}: without a penalty w is not stable")
    if not (math.isfinite(strong_convexity) and strong_convexity > 0.0):
        raise AuclabError(
            f"strong_convexity must be finite and > 0, got {strong_convexity}: the squares of l1, linf and of lp with "
            "p > 2 are not strongly convex, and one observation can then flip the solution; use l2 (r = 2), a margin "
            "bound, or a bound for a held-out part"
        )
    if strong_convexity > 2.0:
        raise AuclabError(f"no squared norm has a modulus above 2, got strong_convexity={strong_convexity}")
