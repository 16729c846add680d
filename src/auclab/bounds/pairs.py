"""Bounds for a fixed scorer over comparable pairs: within groups, of grades, of censored times."""

from __future__ import annotations

import math

from auclab.bounds.bound import Bound, check_numbers, check_probability
from auclab.bounds.fixed_scorer import HELD_OUT
from auclab.metrics.comparable import ComparablePairs
from auclab.samples.bicliques import LevelPairs
from auclab.types import AuclabError


def fixed_scorer_pairs_bound(pairs: LevelPairs, auc: float, *, rho: float) -> Bound:
    """Two-sided bound on the concordance, or the AUC within groups, of a fixed scorer.

    With probability at least 1 − ρ, conditional on the pairs that are compared::

        |Ĉ − E Ĉ| ≤ √( ln(2/ρ)/2 · Σ_u c_u² ),       c_u = (weight of the pairs of u) / (weight of all pairs)

    McDiarmid 1989: the independent units u are whole groups or single rows, and redrawing the scores of u changes Ĉ by
    at most c_u. For G groups of equal weight Σ c_u² is 1/G. For two classes it is ``1/n_pos + 1/n_neg``, which gives
    `fixed_scorer_auc_bound`.

    Parameters
    ----------
    pairs : LevelPairs
        Pairs of the held-out part: ``ordered_pairs(y, groups)`` or ``censored_pairs(time, event)`` of `auclab.metrics`.
    auc : float
        Share of these pairs that are ranked correctly, in [0, 1].
    rho : float
        1 − confidence, in (0, 1).

    Returns
    -------
    Bound
        `half_width`; `lower` is NaN, as the statement has two sides. Vacuous if the interval covers [0, 1].

    Raises
    ------
    AuclabError
        A value outside its range.

    See Also
    --------
    fixed_scorer_auc_bound : Two classes of independent rows.
    auclab.inference.estimate_pairs : Asymptotic confidence intervals, which are narrower.

    Examples
    --------
    Fifty queries with a pair each:

    >>> from auclab.metrics import ordered_pairs
    >>> pairs = ordered_pairs([0, 1] * 50, groups=[k // 2 for k in range(100)])
    >>> bound = fixed_scorer_pairs_bound(pairs, 0.9, rho=0.05)
    >>> round(bound.half_width, 6), bound.vacuous          # √(ln 40/100)
    (0.192065, False)
    """
    check_probability(rho=rho)
    check_numbers(auc=auc)
    if not 0.0 <= auc <= 1.0:
        raise AuclabError(f"auc must lie in [0, 1], got {auc}")
    comparable = ComparablePairs(pairs)
    share = comparable.unit_totals / comparable.total
    half_width = math.sqrt(-math.log(rho / 2.0) / 2.0 * float(share @ share))
    units = {
        "groups": "groups are independent draws; for groups with grades as in the held-out part",
        "grades": "rows are independent draws; for grades as in the held-out part",
        "times": "rows are independent draws; for times and events as in the held-out part",
    }[pairs.kind]
    vacuous = bool(auc - half_width <= 0.0 and auc + half_width >= 1.0)
    return Bound(math.nan, half_width, vacuous, (HELD_OUT, units), half_width)
