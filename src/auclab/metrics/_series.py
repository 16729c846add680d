"""Polynomials on [−1, 1] that stand for the step or the sigmoid, and their means over pairs without forming pairs."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Chebyshev, Legendre, Polynomial
from scipy.fft import dct
from scipy.special import comb, expit

from auclab.kernels.chebyshev import chebyshev_sums
from auclab.types import Array

Series = Chebyshev | Legendre

#: Above this steepness on [−1, 1] the sigmoid is taken as the step and a correction near 0.
_STEEP = 500.0


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
    if steepness <= _STEEP:
        nodes = int(max(2 * (degree + 1), 16 * steepness + 64))  # coefficients fall by 1 + π/b: the rest is < 1e-17
        t = np.cos((np.arange(nodes) + 0.5) * (np.pi / nodes))
        coefficients = dct(expit(steepness * t), type=2)[: degree + 1] / nodes
        coefficients[0] *= 0.5
        coefficients[2::2] = 0.0
        return Chebyshev(coefficients)
    # (2/π) ∫ (σ(bt) − H(t)) T_k(t)/√(1 − t²) dt over both sides of 0, in z = bt
    z, share = np.polynomial.legendre.leggauss(100 + degree)
    z, share = 20.0 * (1.0 + z), 20.0 * share
    coefficients = step_series(degree, "chebyshev").coef.astype(np.float64)
    odd = np.arange(1, degree + 1, 2)
    angles = np.arccos(z / steepness)
    missing = share * expit(-z) / (steepness * np.sin(angles))
    coefficients[odd] -= (4.0 / np.pi) * np.cos(np.outer(odd, angles)) @ missing
    return Chebyshev(coefficients)


def chebyshev_mean(series: Series, pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, scale: float) -> float:
    """``mean_ij poly((p_i − n_j)/s)`` of centred scores in the bivariate Chebyshev form, stable for every degree.

    The polynomial is interpolated in both variables at ``degree + 1`` Chebyshev nodes, exactly, and the mean Lagrange
    polynomials of either class follow from its mean Chebyshev polynomials.
    """
    if pos[0] == pos[-1] == neg[0] == neg[-1]:
        return float(series(0.0))
    degree = series.degree()
    angles = (np.arange(degree + 1) + 0.5) * (np.pi / (degree + 1))
    nodes = np.cos(angles)
    lagrange = np.cos(np.outer(angles, np.arange(degree + 1))) * (2.0 / (degree + 1))
    lagrange[:, 0] *= 0.5
    reach, shares = [], []
    for scores, weight in ((pos, weight_pos), (neg, weight_neg)):
        largest = max(-scores[0], scores[-1])
        sums = chebyshev_sums(scores / largest if largest > 0.0 else scores, weight, degree)
        reach.append(largest / scale)
        shares.append(lagrange @ (sums / sums[0]))  # T_0 = 1: its sum is the weight
    values = series(np.subtract.outer(reach[0] * nodes, reach[1] * nodes))
    return float(shares[0] @ values @ shares[1])


def monomial_mean(series: Series, pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, scale: float) -> float:
    """The same by powers, ``Σ_k c_k Σ_l C(k, l) (−1)^(k−l) mean(x^l) mean(y^(k−l))``; the c_k grow like 2.4^degree."""
    degree = series.degree()
    coefficients = series.convert(kind=Polynomial).coef.astype(np.float64)
    coefficients = np.concatenate((coefficients, np.zeros(degree + 1 - coefficients.size)))
    moments_pos = _power_means(pos / scale, weight_pos, degree)
    moments_neg = _power_means(neg / scale, weight_neg, degree)
    value = 0.0
    for k, coefficient in enumerate(coefficients):
        lower = np.arange(k + 1)
        terms = comb(k, lower) * (-1.0) ** (k - lower) * moments_pos[lower] * moments_neg[k - lower]
        value += coefficient * float(np.sum(terms))
    return value


def _power_means(x: Array, weight: Array, degree: int) -> Array:
    """``mean(x^l)`` for l = 0 … degree."""
    means, power = np.empty(degree + 1), np.ones_like(x)
    total = np.sum(weight) if weight.size else x.size
    for exponent in range(degree + 1):
        means[exponent] = np.sum(power * weight if weight.size else power) / total
        power *= x
    return means
