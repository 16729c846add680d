"""Polynomials on [−1, 1] that stand for the step or the sigmoid, and their means over pairs without forming pairs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import Chebyshev, Legendre, Polynomial
from numpy.polynomial.chebyshev import chebval
from numpy.polynomial.legendre import leggauss
from scipy.fft import dct
from scipy.special import comb, expit

from auclab.compiled.chebyshev import chebyshev_sums
from auclab.types import Array

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
