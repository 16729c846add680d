"""Means over all pairs of a function of the score difference: sAUC, Ferri's, softAUC, probAUC, any modifier."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.comparable import positive_part_sum, quadratic_window_sum
from auclab._core.ranking import concordance
from auclab._core.scores import sigmoid_sum
from auclab._core.validation import finite_vector
from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.roc import difference_scores, positive_number


def gauc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    modifier: Callable[[Array], ArrayLike],
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Mean of any function of the score difference, ``gAUC(w) = mean_ij w(p_i − n_j)``.

    Vanderlooy & Hüllermeier 2008, eq. 1. All pairs are visited in batches of millions: O(n_pos · n_neg) time, O(m)
    memory. The modifiers of the paper have functions of their own, which form no pairs.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Finite scores, larger means more positive.
    modifier : callable
        w, from an array of differences ``t = p − n`` to an array of the same shape.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both. Integer weights act as repeated rows.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Returns
    -------
    float
        In the range of the modifier.

    Raises
    ------
    AuclabError
        One class only, NaN or infinite scores, lengths that differ, a class without weight, a range of scores
        above the largest double, a modifier that changes the shape or returns NaN.

    See Also
    --------
    scored_auc : The modifier ``max(t, 0)``.
    soft_auc : A sigmoid.
    probabilistic_auc : The distribution function of a triangle.

    Examples
    --------
    Differences 2 and −1, the larger of them counts 1 and the other 0:

    >>> gauc_score([1, 0, 0], [2, 0, 3], lambda t: t > 0)
    0.5
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    if not callable(modifier):
        raise AuclabError(f"modifier must be a function of an array of differences, got {modifier!r}")
    # Pairs that `gauc_score` hands to the modifier at once: 32 MiB of differences.
    rows = max(1, 2**22 // scores.neg.size)
    sums = []
    for first in range(0, scores.pos.size, rows):
        differences = np.subtract.outer(scores.pos[first : first + rows], scores.neg)
        values = np.asarray(modifier(differences), dtype=np.float64)
        if values.shape != differences.shape:
            raise AuclabError(f"modifier turned differences of shape {differences.shape} into {values.shape}")
        if np.isnan(values).any():
            where = differences[np.isnan(values)][0]
            raise AuclabError(f"modifier is NaN at the difference {where}; it must be defined for all of them")
        if scores.weight_neg.size:
            values = values * np.outer(scores.weight_pos[first : first + rows], scores.weight_neg)
        sums.append(float(values.sum()))
    return math.fsum(sums) / scores.pair_weight


def scored_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    ties: Literal["zero", "half"] = "zero",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Scored AUC: a correct pair counts its score difference, ``sAUC = mean_ij (p_i − n_j)₊``, in O(m log m).

    Vanderlooy & Hüllermeier 2008, eq. 3, after Wu, Flach & Ferri; ``sAUC = ∫₀^∞ P(h⁺ − h⁻ > τ) dτ``. Norton &
    Uryasev 2018, Sect. 5.2 add ½ for a tied pair (``ties="half"``); that variant jumps: constant scores have
    ½, almost constant ones nearly 0.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `gauc_score`.
    ties : {"zero", "half"}
        Contribution of a tied pair.

    Returns
    -------
    float
        ≥ 0, in the units of the scores; at most 1 for scores in [0, 1]. All sums have terms ≥ 0, so the value is
        accurate to the last digits.

    Raises
    ------
    AuclabError
        As in `gauc_score`, and for an unknown `ties`.

    See Also
    --------
    gauc_score : Any modifier.
    ferri_auc : Wrong pairs count too.

    Examples
    --------
    Differences 2, −1, 3 and 0: the mean of 2, 0, 3, 0.

    >>> y_true, y_score = [1, 1, 0, 0], [2, 3, 0, 3]
    >>> scored_auc(y_true, y_score)
    1.25
    >>> scored_auc(y_true, y_score, ties="half")
    1.375
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    if not isinstance(ties, str) or ties not in ("zero", "half"):
        raise AuclabError(f"ties must be 'zero' or 'half', got {ties!r}")
    pos, neg, exponent = _in_range(scores.pos, scores.neg)
    total = positive_part_sum(pos, neg, scores.weight_pos, scores.weight_neg) / scores.pair_weight
    value = math.ldexp(total, exponent)
    if ties == "zero":
        return value
    _, tied, pairs = concordance(*scores.lists)
    return value + 0.5 * tied / pairs


def margin_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    margins: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> tuple[Array, Array]:
    """Share of the pairs whose score difference exceeds a margin, ``AUC(τ) = P(h⁺ − h⁻ > τ)``, O(m) for each margin.

    Vanderlooy & Hüllermeier 2008, Sect. 2.3. It falls in steps from the strict AUC at τ = 0, and the area below it is
    sAUC (`scored_auc`).

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `gauc_score`.
    margins : array of shape (n_margins,), optional
        τ, in the units of the scores; by default 101, equally spaced from 0 to the largest difference.

    Returns
    -------
    margins, shares : arrays of shape (n_margins,)

    Raises
    ------
    AuclabError
        As in `gauc_score`, and for margins that are not finite.

    See Also
    --------
    scored_auc : The area below it.
    gauc_score : The mean of any function of the difference.

    Examples
    --------
    Differences 2, −1, 3 and 0:

    >>> margins, shares = margin_curve([1, 1, 0, 0], [2, 3, 0, 3], [-1.0, 0.0, 1.0, 2.0])
    >>> shares.tolist()
    [0.75, 0.5, 0.5, 0.25]
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    # with the classes exchanged an error is the difference p − n
    differences = PairErrors.of(scores.neg, scores.pos, scores.weight_neg, scores.weight_pos)
    if margins is None:
        tau = np.linspace(0.0, max(differences.units.original(differences.top), 0.0), 101)
    else:
        tau = finite_vector("margins", margins)
    counts = [differences.count(differences.units.working(float(margin))) for margin in tau]
    return tau, np.array(counts) / differences.pairs[0]


def ferri_auc(
    y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> float:
    """AUC of Ferri et al., ``mean_ij ½(1 + p_i − n_j) = ½(1 + mean p − mean n)``.

    The "pAUC" of Norton & Uryasev 2018, Sect. 5.2. It is neither the partial AUC (`partial_auc`) nor the
    probAUC of Vanderlooy & Hüllermeier (`probabilistic_auc`).

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `gauc_score`.

    Returns
    -------
    float
        In [0, 1] for scores in [0, 1]; unbounded otherwise. The means are computed with 32 digits.

    Raises
    ------
    AuclabError
        As in `gauc_score`.

    See Also
    --------
    scored_auc : Right pairs alone.
    gauc_score : Any modifier.

    Examples
    --------
    Means ¾ and ¼:

    >>> ferri_auc([1, 1, 0, 0], [1.0, 0.5, 0.5, 0.0])
    0.75
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    errors = scores.pair_errors
    _, excess = errors.tail(-math.inf, 0.0)
    return 0.5 - 0.5 * errors.units.original(excess[0] / errors.pairs[0])


def soft_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    beta: float,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """AUC with a sigmoid for the step, ``softAUC_β = mean_ij 1/(1 + exp(−β(p_i − n_j)))``, without forming pairs.

    Vanderlooy & Hüllermeier 2008, eq. 4; Calders & Jaroszewicz 2007. Scores are gathered at Chebyshev nodes of
    cells of length 4/β, which costs O(m log m) at any β, with an error below 1e-14.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `gauc_score`.
    beta : float
        β > 0, per unit of the scores. β → ∞ gives AUC with ties counted ½.

    Returns
    -------
    float
        In (0, 1); exchanging the classes gives the complement. A perfect order need not give 1.

    Raises
    ------
    AuclabError
        As in `gauc_score`, and for β ≤ 0.

    See Also
    --------
    polynomial_soft_auc : A polynomial for the sigmoid.
    gauc_score : Any modifier.

    Examples
    --------
    One pair, ``βt = ln 3``, so ``1/(1 + ⅓)``:

    >>> round(soft_auc([1, 0], [np.log(3), 0.0], beta=1.0), 12)
    0.75
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    steepness = positive_number("beta", beta, "the steepness of the sigmoid, per unit of the scores")
    total = sigmoid_sum(*scores.lists, steepness)
    return min(max(float(total / scores.pair_weight), 0.0), 1.0)


def probabilistic_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    width: float,
    as_published: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Expected AUC of true scores that lie uniformly within ±h of the given ones, in O(m log m).

    ``probAUC_h = mean_ij w(p_i − n_j)``. With ``s = t/(2h)``, w is 0 for s ≤ −1, ``½(1 + s)²`` for s ≤ 0, ``1 −
    ½(1 − s)²`` for s ≤ 1, and 1 above: the distribution function of a difference of two uniform variables
    (Vanderlooy & Hüllermeier 2008, Sect. 2.5).

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `gauc_score`.
    width : float
        h > 0, in the units of the scores; h → 0 gives AUC with ties counted ½.
    as_published : bool
        Use eq. 5 of the paper as printed: ``max(0, s) + ½(1 − |s|)²`` for −h < t < h, 0 below and 1 above. It
        is not a probability of concordance: it jumps at ±h, and ``w(t) + w(−t) ≠ 1``.

    Returns
    -------
    float
        In [0, 1]; exchanging the classes gives the complement (not so as published).

    Raises
    ------
    AuclabError
        As in `gauc_score`, and for h ≤ 0.

    See Also
    --------
    soft_auc : A sigmoid in place of the triangle.
    gauc_score : Any modifier.

    Examples
    --------
    One pair at t = h, so s = ½: ``1 − ½ · ¼``; the printed formula has reached 1 there.

    >>> probabilistic_auc([1, 0], [1.0, 0.0], width=1.0)
    0.875
    >>> probabilistic_auc([1, 0], [1.0, 0.0], width=1.0, as_published=True)
    1.0
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    h = positive_number("width", width, "half the length of the interval a true score lies in")
    reach, linear, square = (h, 0.0, 0.5) if as_published else (2.0 * h, 1.0, -0.5)
    total = quadratic_window_sum(*scores.lists, h, reach, linear, square)
    return min(max(float(total / scores.pair_weight), 0.0), 1.0)


def _in_range(pos: Array, neg: Array) -> tuple[Array, Array, int]:
    """Scores divided by a power of two where sums over pairs could exceed the largest double."""
    exponent = 128 if max(-pos[0], pos[-1], -neg[0], neg[-1]) > 2.0**800 else 0
    return (np.ldexp(pos, -exponent), np.ldexp(neg, -exponent), exponent) if exponent else (pos, neg, 0)
