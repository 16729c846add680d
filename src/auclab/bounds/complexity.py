"""Rademacher complexities and deviations.

For ``H = {x ↦ w·x : ‖w‖ ≤ Λ}`` the supremum is a dual norm, ``sup_h Σ γ_i h(x_i) = Λ ‖Σ γ_i x_i‖_*``, and the
complexity its mean over independent standard normal γ_i, or over signs ±1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.optimize import brentq

from auclab.bounds.bound import check_nonnegative, check_probability
from auclab.forms import as_rows
from auclab.regularisers import VectorNorm, norm_named
from auclab.types import Array, AuclabError, Norm
from auclab.validation import check_choice

Method = Literal["mcdiarmid", "hoeffding", "kl"]


def deviation(n_pos: int, n_neg: int, rho: float) -> float:
    """``√( (1/n_pos + 1/n_neg) ln(1/ρ) / 2 )``, what McDiarmid gives for a mean over pairs of values in [0, 1]."""
    return math.sqrt((1.0 / n_pos + 1.0 / n_neg) * -math.log(rho) / 2.0)


def hinge_range(reach: float) -> float:
    """Length of the interval in which ``[1 − t]₊`` lies for ``|t| ≤ reach``: ``reach + min(1, reach)``."""
    return reach + min(1.0, reach)


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
    features: Array = rows.toarray() if hasattr(rows, "toarray") else rows
    if not np.isfinite(features).all():
        raise AuclabError("X must be a matrix of finite numbers")
    return features
