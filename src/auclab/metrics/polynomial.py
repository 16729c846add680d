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
from auclab._core.validation import finite_array, finite_vector, positive_mask, weight_vector
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


def chebyshev_gradient(
    series: Series, X_pos: Any, X_neg: Any, pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, scale: float
) -> Array:
    """The derivative of `chebyshev_mean` in the weights w of linear scores ``w·x``, up to a centre; s held fixed."""
    slopes_pos, slopes_neg = chebyshev_slopes(series, pos, neg, weight_pos, weight_neg, scale)
    return np.asarray(X_pos.T @ slopes_pos + X_neg.T @ slopes_neg, dtype=float)


def power_gradient(
    series: Series, X_pos: Any, X_neg: Any, pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, scale: float
) -> Array:
    """The same by powers, ``Σ α_kl (l s(x f^(l−1), D¹) s(f^(k−l), D⁰) + (k−l) s(f^l, D¹) s(x f^(k−l−1), D⁰))``.

    Eq. 5, over the weights of the classes. Terms whose factor l or k − l is 0 are 0.
    """
    degree, means, moments = series.degree(), [], []
    for X, scores, weight in ((X_pos, pos / scale, weight_pos), (X_neg, neg / scale, weight_neg)):
        sums, of_rows = _power_sums(scores, weight, degree), _power_sums(scores, weight, degree, X)
        means.append(sums / sums[0])
        derivatives = np.arange(1, degree + 1)[:, None] * of_rows[:-1] / (sums[0] * scale)  # eq. 4
        moments.append(np.vstack([np.zeros(X.shape[1]), derivatives]))
    gradient = np.zeros(X_pos.shape[1])
    for k, row in enumerate(power_table(series)):
        alpha = row[: k + 1]
        gradient += (alpha * means[1][k::-1]) @ moments[0][: k + 1] + (alpha * means[0][: k + 1]) @ moments[1][k::-1]
    return gradient


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
    sums_pos, sums_neg = _power_sums(pos / scale, weight_pos, degree), _power_sums(neg / scale, weight_neg, degree)
    value = 0.0
    for k, row in enumerate(power_table(series)):
        value += float(np.sum(row[: k + 1] * sums_pos[: k + 1] * sums_neg[k::-1]))
    return value / float(sums_pos[0] * sums_neg[0])


def power_table(series: Series) -> Array:
    """The α of the paper: ``poly(x − y) = Σ_k Σ_{l ≤ k} α_kl x^l y^(k−l)``, shape (degree + 1, degree + 1)."""
    degree = series.degree()
    coefficients = series.convert(kind=Polynomial).coef.astype(np.float64)
    table = np.zeros((degree + 1, degree + 1))
    for k, coefficient in enumerate(coefficients):
        lower = np.arange(k + 1)
        table[k, : k + 1] = coefficient * comb(k, lower) * (-1.0) ** (k - lower)
    return table


def power_supports(
    scores: ArrayLike, degree: int, *, features: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> Array:
    """Sums of powers of the scores of one class, ``s(f^l, D) = Σ_x f(x)^l``, or with features ``s(x_i f^l, D)``.

    Calders & Jaroszewicz 2007, Sect. 3 and (4): all that `polynomial_auc` and `polynomial_auc_gradient` need of the
    rows in ``basis="monomial"``. The derivative of ``s(f^l, D)`` in the weight i is ``l s(x_i f^(l−1), D)``. Supports
    of parts of the rows add up; centre the scores first, or they lose their digits (erratum C4).

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Finite scores f(x) of one class.
    degree : int
        The highest power, from 1 to 500.
    features : array of shape (n_samples, n_features), optional
        The rows x.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated rows.

    Returns
    -------
    array of shape (degree + 1,) or (degree + 1, n_features)
        For l = 0, 1, … degree; the first is the number of rows, or the sum of the features.

    Raises
    ------
    AuclabError
        NaN or infinite values, lengths that differ, a degree below 1 or above 500.

    See Also
    --------
    polynomial_auc : Its value from the supports of either class.

    Examples
    --------
    Scores 1 and 2 of the rows (1, 0) and (0, 1):

    >>> power_supports([1.0, 2.0], 2).tolist()
    [2.0, 3.0, 5.0]
    >>> power_supports([1.0, 2.0], 2, features=[[1, 0], [0, 1]]).tolist()
    [[1.0, 1.0], [1.0, 2.0], [1.0, 4.0]]
    """
    values = finite_vector("scores", scores)
    weight, rows = weight_vector(sample_weight, values.size), None if features is None else _rows(features, values.size)
    return _power_sums(values, np.empty(0) if weight is None else weight, _degree(degree, "monomial"), rows)


def _power_sums(scores: Array, weight: Array, degree: int, X: Any = None) -> Array:
    """`power_supports`; no weights are ones."""
    sums, power = [], weight if weight.size else np.ones_like(scores)
    for _ in range(degree + 1):
        sums.append(power.sum() if X is None else X.T @ power)
        power = power * scores
    return np.array(sums)


def _rows(features: ArrayLike, n_samples: int) -> Array:
    X = finite_array("features", features)
    if X.ndim != 2 or len(X) != n_samples:
        raise AuclabError(f"features must have a row for each of {n_samples} observations, got the shape {X.shape}")
    return X


Basis = Literal["chebyshev2d", "monomial"]
_MEANS = {"chebyshev2d": chebyshev_mean, "monomial": monomial_mean}
_GRADIENTS = {"chebyshev2d": chebyshev_gradient, "monomial": power_gradient}
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
    polynomial_auc_gradient : Its derivative in the weights of a linear scorer.
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


def polynomial_auc_gradient(
    y_true: ArrayLike,
    X: ArrayLike,
    coef: ArrayLike,
    *,
    beta: float | None = None,
    degree: int = 29,
    scale: float | None = None,
    basis: Basis = "chebyshev2d",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Array:
    """Derivative of polynomial AUC, or of polynomial soft AUC, in the weights w of linear scores ``w·x``.

    ``mean_ij poly'(w·d_ij/s) d_ij/s`` with ``d_ij = x_i⁺ − x_j⁻``, s held fixed, without pairs: Calders & Jaroszewicz
    2007, (3) to (5).

    Parameters
    ----------
    y_true, degree, scale, sample_weight, pos_label
        As in `polynomial_auc`, whose Chebyshev series is taken.
    X : array of shape (n_samples, n_features)
    coef : array of shape (n_features,)
        w.
    beta : float, optional
        β > 0, per unit of the scores: the derivative of `polynomial_soft_auc`.
    basis : {"chebyshev2d", "monomial"}
        As in `polynomial_auc`. Powers are (5) from the supports of centred scores.

    Returns
    -------
    array of shape (n_features,)
        0 in the direction of a feature that is constant.

    Raises
    ------
    AuclabError
        As in `polynomial_auc` of the scores, and for rows or weights of another shape.

    See Also
    --------
    power_supports : The sums in (4).
    auclab.estimators.PolynomialAUCClassifier : Climbs it.

    Examples
    --------
    Degree 1 is ``½ + (2/π) w·d/s`` with d = (1, 2) and s = 4, so the derivative is d/(2π):

    >>> polynomial_auc_gradient([1, 0], [[1.0, 3.0], [0.0, 1.0]], [0.0, 1.0], degree=1, scale=4.0).round(6).tolist()
    [0.159155, 0.31831]
    """
    rows, w = finite_array("X", X), finite_vector("coef", coef)
    if rows.ndim != 2 or rows.shape[1] != w.size:
        raise AuclabError(f"X must have a column for each of {w.size} weights, got the shape {rows.shape}")
    difference_scores(y_true, rows @ w, sample_weight, pos_label)  # checks both
    positive, weight = positive_mask(y_true, pos_label), weight_vector(sample_weight, len(rows))
    used = np.ones(len(rows), bool) if weight is None else weight > 0.0
    sides = used & positive, used & ~positive
    weights = [np.empty(0) if weight is None else weight[side] for side in sides]
    highest = _degree(degree, basis)
    scores, size, unit = _scaled(ClassScores(*(rows[side] @ w for side in sides), *weights), scale)
    series = (
        step_series(highest, "chebyshev")
        if beta is None
        else sigmoid_series(positive_number("beta", beta, "the steepness of the sigmoid") * size, highest)
    )
    return unit * _GRADIENTS[basis](series, rows[sides[0]], rows[sides[1]], *scores.lists, size * unit)


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
    ends = pos.min(), pos.max(), neg.min(), neg.max()
    largest = float(max(ends[3] - ends[0], ends[1] - ends[2]))
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
    offset = exact_centre(float(min(ends)), float(max(ends)))
    pos, neg = (pos - offset) * unit, (neg - offset) * unit
    centre = 0.25 * pos.min() + 0.25 * pos.max() + 0.25 * neg.min() + 0.25 * neg.max()
    return ClassScores(pos - centre, neg - centre, scores.weight_pos, scores.weight_neg), size or 1.0, unit
