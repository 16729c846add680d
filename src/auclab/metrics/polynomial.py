"""AUC by polynomials: Chebyshev series and their values."""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.polynomial import Chebyshev, Legendre, Polynomial
from numpy.polynomial.chebyshev import chebval
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike
from scipy.fft import dct
from scipy.special import comb, expit

from auclab._core.accurate import chebyshev_sums
from auclab._core.base import Array, AuclabError
from auclab.metrics.pair_errors import exact_centre
from auclab.metrics.roc import ClassScores, difference_scores, positive_number

Series = Chebyshev | Legendre


def step_series(degree: int, kind: str) -> Series:
    """Series of the unit step with value ½ at 0, up to a degree; even degrees above 0 contribute nothing.

    ``"chebyshev"``: ``½ + Σ (2/π) (−1)^((k−1)/2)/k T_k``, least squares in the weight ``1/√(1 − t²)``;
    ``"legendre"``: ``½ + Σ ½ (P_{k−1}(0) − P_{k+1}(0)) P_k``, ordinary least squares; sums over odd k.
    """
    coefficients = np.zeros(degree + 1)
    coefficients[0] = 0.5
    odd = np.arange(1, degree + 1, 2)
    if kind == "chebyshev":
        coefficients[odd] = (2.0 / np.pi) * (-1.0) ** (odd // 2) / odd
        return Chebyshev(coefficients)
    even = np.arange(1, odd.size + 1)
    at_zero = np.concatenate(([1.0], np.cumprod((1.0 - 2.0 * even) / (2.0 * even))))  # P_0(0), P_2(0), …
    coefficients[odd] = 0.5 * (at_zero[:-1] - at_zero[1:])
    return Legendre(coefficients)


def sigmoid_series(steepness: float, degree: int) -> Chebyshev:
    """Chebyshev series of ``1/(1 + e^(−bt))`` on [−1, 1] up to a degree, b > 0."""
    # Above this steepness on [−1, 1] the sigmoid is taken as the step and a correction near 0.
    if steepness <= 500.0:
        nodes = int(max(2 * (degree + 1), 16 * steepness + 64))  # coefficients fall by 1 + π/b: the rest is < 1e-17
        t = np.cos((np.arange(nodes) + 0.5) * (np.pi / nodes))
        coefficients = dct(expit(steepness * t), type=2)[: degree + 1] / nodes
        coefficients[0] *= 0.5
        coefficients[2::2] = 0.0
        return Chebyshev(coefficients)
    # (2/π) ∫ (σ(bt) − H(t)) T_k(t)/√(1 − t²) dt over both sides of 0, in z = bt
    z, share = _gauss_legendre(100 + degree)
    z, share = 20.0 * (1.0 + z), 20.0 * share
    coefficients = step_series(degree, "chebyshev").coef.astype(np.float64)
    odd = np.arange(1, degree + 1, 2)
    angles = np.arccos(z / steepness)
    missing = share * expit(-z) / (steepness * np.sin(angles))
    coefficients[odd] -= (4.0 / np.pi) * np.cos(np.outer(odd, angles)) @ missing
    return Chebyshev(coefficients)


@lru_cache(maxsize=8)
def _gauss_legendre(nodes: int) -> tuple[Array, Array]:
    """Nodes and weights on [−1, 1]; their eigenvalues take longer than the sums of a resample."""
    return leggauss(nodes)


def chebyshev_mean(series: Series, pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, scale: float) -> float:
    """``mean_ij poly((p_i − n_j)/s)`` of centred scores in the bivariate Chebyshev form, stable for every degree.

    The polynomial is interpolated in both variables at ``degree + 1`` Chebyshev nodes, exactly, and the mean Lagrange
    polynomials of either class follow from its mean Chebyshev polynomials. Weights as in `chebyshev_sums`; the scores
    need no order.
    """
    if pos.min() == pos.max() == neg.min() == neg.max():
        return float(series(0.0))
    nodes, lagrange = _interpolation(series.degree())
    reach_pos, shares_pos = _node_shares(pos, weight_pos, lagrange)
    reach_neg, shares_neg = _node_shares(neg, weight_neg, lagrange)
    values = series(np.subtract.outer(reach_pos / scale * nodes, reach_neg / scale * nodes))
    return float(shares_pos @ values @ shares_neg)


def chebyshev_slopes(
    series: Series, pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, scale: float
) -> tuple[Array, Array]:
    """The derivative of `chebyshev_mean` in every score of either class, s held fixed; they add up to 0.

    ``Σ_j v_j poly'((p_i − n_j)/s)`` is a polynomial in p_i: its values at the nodes give its Chebyshev series.
    """
    slope = series.deriv()
    nodes, lagrange = _interpolation(max(slope.degree(), 0))
    reach_pos, shares_pos = _node_shares(pos, weight_pos, lagrange)
    reach_neg, shares_neg = _node_shares(neg, weight_neg, lagrange)
    values = slope(np.subtract.outer(reach_pos / scale * nodes, reach_neg / scale * nodes))
    slopes = []
    for scores, weight, reach, at_nodes in (
        (pos, weight_pos, reach_pos, values @ shares_neg),
        (neg, weight_neg, reach_neg, -(shares_pos @ values)),
    ):
        mean = chebval(scores / (reach or 1.0), lagrange.T @ at_nodes)
        slopes.append(mean * (weight / weight.sum() if weight.size else 1.0 / scores.size) / scale)
    return slopes[0], slopes[1]


def _interpolation(degree: int) -> tuple[Array, Array]:
    """Chebyshev nodes and the coefficients of their Lagrange polynomials, one in a row."""
    angles = (np.arange(degree + 1) + 0.5) * (np.pi / (degree + 1))
    lagrange = np.cos(np.outer(angles, np.arange(degree + 1))) * (2.0 / (degree + 1))
    lagrange[:, 0] *= 0.5
    return np.cos(angles), lagrange


def _node_shares(scores: Array, weight: Array, lagrange: Array) -> tuple[float, Array]:
    """The largest |score|, and the mean Lagrange polynomials of the scores divided by it."""
    largest = float(max(-scores.min(), scores.max()))
    sums = chebyshev_sums(scores / largest if largest > 0.0 else scores, weight, len(lagrange) - 1)
    return largest, lagrange @ (sums / sums[0])  # T_0 = 1: its sum is the weight


def monomial_mean(series: Series, pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, scale: float) -> float:
    """The same by powers, ``Σ_k c_k Σ_l C(k, l) (−1)^(k−l) mean(x^l) mean(y^(k−l))``; the c_k grow like 2.4^degree."""
    degree = series.degree()
    moments_pos = _power_means(pos / scale, weight_pos, degree)
    moments_neg = _power_means(neg / scale, weight_neg, degree)
    value = 0.0
    for k, row in enumerate(power_table(series)):
        value += float(np.sum(row[: k + 1] * moments_pos[: k + 1] * moments_neg[k::-1]))
    return value


def power_table(series: Series) -> Array:
    """The α of the paper: ``poly(x − y) = Σ_k Σ_{l ≤ k} α_kl x^l y^(k−l)``, shape (degree + 1, degree + 1)."""
    degree = series.degree()
    coefficients = series.convert(kind=Polynomial).coef.astype(np.float64)
    table = np.zeros((degree + 1, degree + 1))
    for k, coefficient in enumerate(coefficients):
        lower = np.arange(k + 1)
        table[k, : k + 1] = coefficient * comb(k, lower) * (-1.0) ** (k - lower)
    return table


def _power_means(x: Array, weight: Array, degree: int) -> Array:
    """``mean(x^l)`` for l = 0 … degree."""
    means, power = np.empty(degree + 1), np.ones_like(x)
    total = np.sum(weight) if weight.size else x.size
    for exponent in range(degree + 1):
        means[exponent] = np.sum(power * weight if weight.size else power) / total
        power *= x
    return means


Basis = Literal["chebyshev2d", "monomial"]
_MEANS = {"chebyshev2d": chebyshev_mean, "monomial": monomial_mean}
#: Binomial coefficients and powers of 2.4 stay within doubles up to here; the digits are gone long before.
MOST_MONOMIAL = 500
#: A table of this size has 128 MiB; the error falls with 1/degree only.
_MOST_CHEBYSHEV = 4000


def polynomial_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    degree: int = 29,
    series: Literal["chebyshev", "legendre"] = "chebyshev",
    scale: float | None = None,
    basis: Basis = "chebyshev2d",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """AUC with a polynomial for the step, ``mean_ij poly((p_i − n_j)/s)``, in O(m (degree + log m)).

    Calders & Jaroszewicz 2007, Sect. 3. The polynomial is the truncated Chebyshev or Legendre series of the step on
    [−1, 1] with value ½ at 0, so the limit of high degrees is AUC with ties counted ½ (not the strict count written in
    the paper). Pairs with ``|p − n| ≲ s/degree`` dominate the error, about 1e-3 at degree 29.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Finite scores, larger means more positive.
    degree : int
        ≥ 1. An even degree is the same as the odd one below it.
    series : {"chebyshev", "legendre"}
        Least squares in the Chebyshev weight, or ordinary least squares.
    scale : float, optional
        s > 0, at least the largest ``|p_i − n_j|``, which is the default. The value depends on it: fix it to compare or
        differentiate values of different scores.
    basis : {"chebyshev2d", "monomial"}
        How the mean is evaluated. Bivariate Chebyshev polynomials are accurate to 1e-15 at any degree; powers of
        centred scores, the paper's eqs. 1 and 2, lose all digits between degree 35 and 60.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both. Integer weights act as repeated rows.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Returns
    -------
    float
        Near [0, 1]; ½ if all scores are equal. Exchanging the classes gives the complement.

    Raises
    ------
    AuclabError
        One class only, NaN or infinite scores, lengths that differ, a degree below 1 or above 4000 (in powers: 500),
        an unknown series or basis, a scale below the largest difference.

    See Also
    --------
    auc_score : The limit of high degrees.
    auclab.estimators.PolynomialAUCClassifier : Maximises it.

    Examples
    --------
    Degree 1 is ``½ + (2/π) t/s``; one pair has t = s:

    >>> round(polynomial_auc([1, 0], [3.0, 1.0], degree=1), 12)  # ½ + 2/π
    1.136619772368
    >>> round(polynomial_auc([1, 0], [3.0, 1.0], degree=1, series="legendre"), 12)  # ½ + ¾ t/s
    1.25
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    if not isinstance(series, str) or series not in ("chebyshev", "legendre"):
        raise AuclabError(f"series must be 'chebyshev' or 'legendre', got {series!r}")
    highest = _degree(degree, basis)
    scores, size, unit = _scaled(scores, scale)
    return _mean(step_series(highest, series), scores, size * unit, basis)


def polynomial_soft_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    beta: float,
    degree: int = 29,
    scale: float | None = None,
    basis: Basis = "chebyshev2d",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """SoftAUC with a polynomial for the sigmoid: Chebyshev series of ``1/(1 + e^(−βs·t))`` on [−1, 1] at ``(p − n)/s``.

    Calders & Jaroszewicz 2007. With ``b = βs`` the largest error of the polynomial falls like ``ρ^(−degree)``, ``ρ =
    π/b + √(1 + π²/b²)``: at degree 29 it is 8e-13 for b = 3, 6e-5 for b = 10. `soft_auc` has no such error.

    Parameters
    ----------
    y_true, y_score, degree, scale, basis, sample_weight, pos_label
        As in `polynomial_auc`.
    beta : float
        β > 0, per unit of the scores.

    Returns
    -------
    float
        Near `soft_auc`; ½ if all scores are equal.

    Raises
    ------
    AuclabError
        As in `polynomial_auc`, and for β ≤ 0.

    See Also
    --------
    soft_auc : Without an error of approximation.
    polynomial_auc : The step in place of the sigmoid.

    Examples
    --------
    One pair, ``βt = ln 3``, so ``1/(1 + ⅓)``:

    >>> round(polynomial_soft_auc([1, 0], [1.0986122886681098, 0.0], beta=1.0), 12)
    0.75
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    steepness = positive_number("beta", beta, "the steepness of the sigmoid, per unit of the scores")
    highest = _degree(degree, basis)
    scores, size, unit = _scaled(scores, scale)
    return _mean(sigmoid_series(steepness * size, highest), scores, size * unit, basis)


def _mean(series: Series, scores: ClassScores, scale: float, basis: Basis) -> float:
    """Mean of the polynomial over pairs, in a basis."""
    return _MEANS[basis](series, *scores.lists, scale)


def _degree(degree: int, basis: str) -> int:
    """The degree as an int, checked together with the basis."""
    if not isinstance(basis, str) or basis not in _MEANS:
        raise AuclabError(f"basis must be 'chebyshev2d' or 'monomial', got {basis!r}")
    try:
        number = operator.index(degree)
    except TypeError as error:
        raise AuclabError(f"degree must be a whole number, got {degree!r}") from error
    if number < 1:
        raise AuclabError(f"degree must be at least 1, got {number}")
    if number > _MOST_CHEBYSHEV:
        raise AuclabError(f"degree must be at most {_MOST_CHEBYSHEV}: it takes (degree + 1)² numbers, got {number}")
    if basis == "monomial" and number > MOST_MONOMIAL:
        raise AuclabError(f"powers overflow above degree {MOST_MONOMIAL}, got {number}; use basis='chebyshev2d'")
    return number


def _scaled(scores: ClassScores, scale: float | None) -> tuple[ClassScores, float, float]:
    """Centred scores times a unit, the scale, at least the largest difference of a positive and a negative, the unit.

    The unit is a power of two that lets small differences keep their digits.
    With the mean of the four ends as the centre, ``max |p − c| + max |n − c|`` is at most the largest difference.
    """
    pos, neg = scores.pos, scores.neg
    largest = float(max(neg[-1] - pos[0], pos[-1] - neg[0]))
    size = (
        positive_number("scale", scale, "what differences of scores are divided by") if scale is not None else largest
    )
    if size < largest * (1.0 - 1e-12):
        raise AuclabError(
            f"the largest difference of a positive and a negative score is {largest}, above scale={size}; "
            "the polynomial stands for the step on [−1, 1] only: raise scale, or leave it out"
        )
    unit = math.ldexp(1.0, min(-math.frexp(largest)[1], 1000)) if largest > 0.0 and size < 2.0**-400 else 1.0
    # a centre that is rounded in units of an offset would let differences leave [−1, 1]
    offset = exact_centre(float(min(pos[0], neg[0])), float(max(pos[-1], neg[-1])))
    pos, neg = (pos - offset) * unit, (neg - offset) * unit
    centre = 0.25 * pos[0] + 0.25 * pos[-1] + 0.25 * neg[0] + 0.25 * neg[-1]
    return ClassScores(pos - centre, neg - centre, scores.weight_pos, scores.weight_neg), size or 1.0, unit
