"""Which row and column sums belong to a matrix with bounded entries: the condition of Gale and Ryser."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from auclab.check.exact import Integers


def transport_factor(pos: Integers, neg: Integers, share_pos: Integers, share_neg: Integers, unit: int) -> Fraction:
    """The largest τ ≤ 1 for which τ(α, β) are row and column sums of some ``0 ≤ q_ij ≤ u_i v_j``.

    A flow from the rows over the entries to the columns carries all of τα iff no set I of rows asks for more than the
    columns can take from it (max-flow/min-cut):

        τ α(I) ≤ Σ_j min(τ β_j, u(I) v_j),     that is     α(I) ≤ φ(u(I)/τ),     φ(c) = Σ_j min(β_j, c v_j).

    Of all sets with one u(I) the largest α(I) is that of the rows with the largest α_i/u_i, a concave function of u(I)
    that is linear between two such sets; minus φ it is convex there, so that these sets are all that count. With
    ``c = φ⁻¹(α(I))`` the condition is ``τ ≤ u(I)/c``.

    `pos`, `neg`: ``unit·α`` and ``unit·β``, ≥ 0, with equal sums. `share_pos`, `share_neg` ≥ 0: proportional to u and
    v, which both sum to 1.
    """
    if not pos.any():
        return Fraction(1)
    whole_pos, whole_neg = int(share_pos.sum()), int(share_neg.sum())
    columns = _by_density(neg, share_neg)
    best = Fraction(1)
    # φ is linear between the levels β_j/v_j: what lies below a level gives β_j, the rest c·v_j.
    at, below, rest = 0, 0, whole_neg
    demand = room = 0
    for row in reversed(_by_density(pos, share_pos)):
        demand += int(pos[row])
        room += int(share_pos[row])
        if pos[row] == 0:
            break
        while at < len(columns):
            j = columns[at]
            if (demand - below) * share_neg[j] <= neg[j] * rest:
                break
            below += int(neg[j])
            rest -= int(share_neg[j])
            at += 1
        if rest <= 0 or demand <= below:
            raise ArithmeticError("the sums of the two classes differ")
        # c = (demand − below)/unit · whole_neg/rest,  τ ≤ (room/whole_pos)/c
        if room * rest * unit * best.denominator < best.numerator * whole_pos * whole_neg * (demand - below):
            best = Fraction(room * rest * unit, whole_pos * whole_neg * (demand - below))
    return best


def _by_density(values: Integers, share: Integers) -> list[int]:
    """Numbers of the rows with a share, in ascending order of values/share."""
    used = np.flatnonzero(share != 0)
    values, share = values[used], share[used]
    if (share == share[0]).all():
        order = np.argsort(values, kind="stable")
    else:
        # Two different quotients differ by at least 1/(share·share'): the floor of a finer multiple tells them apart.
        fine = 2 * max(int(entry) for entry in share).bit_length() + 1
        order = np.argsort((values << fine) // share, kind="stable")
    return [int(row) for row in used[order]]
