"""Standard error of AUC from its value and the class sizes alone."""

from __future__ import annotations

import math

from auclab.types import AuclabError


def hanley_mcneil(auc: float, n_pos: int, n_neg: int) -> float:
    """Standard error of AUC after Hanley & McNeil 1982, for a published AUC without its scores.

    ::

        SE² = ( A(1 − A) + (m₊ − 1)(Q₁ − A²) + (m₋ − 1)(Q₂ − A²) ) / (m₊ m₋),     Q₁ = A/(2 − A),  Q₂ = 2A²/(1 + A)

    Q₁ and Q₂ are the chances that two positives outrank one negative and that one positive outranks two negatives if
    scores are exponential in both classes; `estimate` measures them instead (DeLong).

    Parameters
    ----------
    auc : float
        A in [0, 1], ties counted ½.
    n_pos, n_neg : int
        m₊, m₋ ≥ 1.

    Raises
    ------
    AuclabError
        An AUC outside [0, 1] or an empty class.

    See Also
    --------
    estimate : Standard error from the scores (DeLong).

    Examples
    --------
    A = ½ with two observations a class: Q₁ = Q₂ = 1/3, ``(1/4 + 1/12 + 1/12)/4 = 5/48``.

    >>> round(hanley_mcneil(0.5, 2, 2) ** 2 * 48, 12)
    5.0
    """
    if not 0.0 <= auc <= 1.0:
        raise AuclabError(f"auc must lie in [0, 1], got {auc}")
    if n_pos < 1 or n_neg < 1:
        raise AuclabError(f"both classes need an observation, got n_pos={n_pos} and n_neg={n_neg}")
    q1, q2 = auc / (2.0 - auc), 2.0 * auc * auc / (1.0 + auc)
    spread = auc * (1.0 - auc) + (n_pos - 1) * (q1 - auc * auc) + (n_neg - 1) * (q2 - auc * auc)
    return math.sqrt(max(spread, 0.0) / (n_pos * n_neg))
