"""The largest factor at which row and column sums belong to a matrix with bounded entries, against all sets of rows."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from auclab.certificates.checker.constraints import transport_factor


def by_all_sets(pos, neg, u, v):
    """The definition: the largest τ ≤ 1 with ``τ α(I) ≤ Σ_j min(τ β_j, u(I) v_j)`` for every set I."""
    u, v = [Fraction(entry, sum(u)) for entry in u], [Fraction(entry, sum(v)) for entry in v]

    def fits(tau):
        sets = (rows for size in range(1, len(pos) + 1) for rows in combinations(range(len(pos)), size))
        return all(
            tau * sum(pos[i] for i in rows)
            <= sum(min(tau * b, sum(u[i] for i in rows) * c) for b, c in zip(neg, v, strict=True))
            for rows in sets
        )

    # τ/(1 − …) is piecewise rational; the largest admissible one is a ratio u(I)·v(J) / (α(I) − β(rest)).
    ratios = {Fraction(1)}
    for size in range(1, len(pos) + 1):
        for rows in combinations(range(len(pos)), size):
            for count in range(len(neg)):
                for full in combinations(range(len(neg)), count):
                    demand = sum(pos[i] for i in rows) - sum(neg[j] for j in full)
                    room = sum(u[i] for i in rows) * sum(v[j] for j in range(len(neg)) if j not in full)
                    if demand > 0 and room > 0:
                        ratios.add(Fraction(room) / demand)
    return max(ratio for ratio in ratios if ratio <= 1 and fits(ratio))


@given(st.data())
def test_it_is_the_largest_factor(data):
    pos = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3).filter(any))
    cuts = sorted(data.draw(st.lists(st.integers(0, sum(pos)), max_size=2)))
    neg = np.diff([0, *cuts, sum(pos)]).tolist()
    u = [data.draw(st.integers(1, 3)) for _ in pos]
    v = [data.draw(st.integers(1, 3)) for _ in neg]
    unit = data.draw(st.integers(1, 12))
    arrays = [np.array(part, dtype=object) for part in (pos, neg, u, v)]
    expected = by_all_sets([Fraction(a, unit) for a in pos], [Fraction(b, unit) for b in neg], u, v)
    assert transport_factor(*arrays, unit) == expected


def test_no_multipliers_need_no_transport():
    assert transport_factor(*(np.array([entry], dtype=object) for entry in (0, 0, 1, 1)), 1) == 1
