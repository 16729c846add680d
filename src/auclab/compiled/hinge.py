"""The pairwise hinge and its active pairs in O(m log m), without forming pairs.

With ``p_i`` the positive and ``n_j`` the negative scores, a pair is active when its hinge argument
``shift − (p_i − n_j)`` is positive. Both functions decide that on the rounded difference,
``fl(n_j − p_i) > −shift``: rounding is monotone, so the number of active positives does not decrease from one sorted
negative to the next, as the sweeps require, and the value and its subgradient belong to the same pairs.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from auclab.compiled.loop import loop
from auclab.compiled.threads import LARGE, in_parallel
from auclab.types import Array


def pair_hinge_value(
    scores_pos: Array,
    scores_neg: Array,
    shift: float,
    weight_pos: Array | None = None,
    weight_neg: Array | None = None,
) -> float:
    """Mean pairwise hinge ``(1/(UV)) Σ_i Σ_j u_i v_j [shift − (p_i − n_j)]₊``; O(m log m).

    The identity ``Σ_ij (b_j − a_i)₊ = Σ_k (v_{k+1} − v_k) · #{a ≤ v_k} · #{b ≥ v_{k+1}}`` over the sorted
    union of ``a = p`` and ``b = n + shift`` has terms ≥ 0 only, so nothing cancels. The gap between a
    positive and a negative is taken as ``(n_j − p_i) + shift``: a common offset of the scores costs no
    digits.

    `shift`: 1 for the plain hinge, ``1 − z‖w‖`` for bAUC_z. `weight_pos`, `weight_neg`: weights u and v, ≥ 0 with
    positive sums; None stands for ones. ``U = Σ u``, ``V = Σ v``.
    """
    (pos, mass_pos), (neg, above) = in_parallel(
        lambda sort, scores, weight: sort(scores, weight),
        (_sorted_with_mass, scores_pos, weight_pos),
        (_sorted_with_mass_above, scores_neg, weight_neg),
        threads=min(scores_pos.size, scores_neg.size) >= LARGE,
    )
    # In two parts where the arrays are long, whatever the number of threads.
    large = min(pos.size, neg.size) >= LARGE
    ends = [0, neg.size // 2, neg.size] if large else [0, neg.size]
    parts = [(pos, neg, mass_pos, above, float(shift), begin, end) for begin, end in pairwise(ends)]
    return float(sum(in_parallel(_gap_sum, *parts, threads=large)) / (mass_pos[-1] * above[0]))


def pair_hinge_active(
    scores_pos: Array,
    scores_neg: Array,
    shift: float,
    weight_pos: Array | None = None,
    weight_neg: Array | None = None,
) -> tuple[Array, Array]:
    """The weight of the active pairs of every observation, the marginals of the hinge's subgradient; O(m log m).

    ``active_pos[i] = (u_i/(UV)) Σ_j v_j 1{shift − (p_i − n_j) > 0}`` and ``active_neg[j]`` likewise, so that
    ``−X_posᵀ active_pos + X_negᵀ active_neg`` is a subgradient of the mean hinge in w, and the derivative in
    `shift` is the common sum of either vector.

    `scores_pos`, `scores_neg`, `shift`, `weight_pos`, `weight_neg`: as in `pair_hinge_value`. Returned `active_pos`,
    `active_neg`: entries in ``[0, u_i/U]`` and ``[0, v_j/V]``; a pair exactly at the kink is not active.
    """
    order_pos, order_neg = np.argsort(scores_pos), np.argsort(scores_neg)
    mass_pos = _mass(scores_pos.size, weight_pos, order_pos)
    mass_neg = _mass(scores_neg.size, weight_neg, order_neg)
    opposite_pos, opposite_neg = _active_opposite(
        scores_pos[order_pos], scores_neg[order_neg], mass_pos, mass_neg, -float(shift)
    )
    pairs = mass_pos[-1] * mass_neg[-1]
    active_pos, active_neg = np.empty(scores_pos.size), np.empty(scores_neg.size)
    active_pos[order_pos] = opposite_pos / pairs
    active_neg[order_neg] = opposite_neg / pairs
    if weight_pos is not None:
        active_pos *= weight_pos
    if weight_neg is not None:
        active_neg *= weight_neg
    return active_pos, active_neg


def _sorted_with_mass(scores: Array, weight: Array | None) -> tuple[Array, Array]:
    """Scores in ascending order and their cumulative weights; no argsort without weights."""
    if weight is None:
        return np.sort(scores), _mass(scores.size)
    order = np.argsort(scores)
    return scores[order], _mass(scores.size, weight, order)


def _mass(size: int, weight: Array | None = None, order: np.ndarray | None = None) -> Array:
    """Total weight of the first k sorted scores, k = 0 … size, shape (size + 1,); counts without weights."""
    if weight is None:
        return np.arange(size + 1, dtype=np.float64)
    mass = np.zeros(size + 1)
    np.cumsum(weight[order], out=mass[1:])
    return mass


def _sorted_with_mass_above(scores: Array, weight: Array | None) -> tuple[Array, Array]:
    """Scores in ascending order and the weight from each on, summed from the end, so that small weights count."""
    if weight is None:
        return np.sort(scores), np.arange(scores.size, -1, -1, dtype=np.float64)
    order = np.argsort(scores)
    above = np.zeros(scores.size + 1)
    above[:-1] = np.cumsum(weight[order][::-1])[::-1]
    return scores[order], above


@loop(nogil=True)
def _gap_sum(pos: Array, neg: Array, mass_pos: Array, above_neg: Array, shift: float, begin: int, end: int) -> float:
    """``Σ_ij u_i v_j [n_j + shift − p_i]₊`` by one merge of `pos` with ``neg + shift``, both ascending; O(m).

    Of the merged values those from ``neg[begin − 1]`` to ``neg[end − 1]``. `mass_pos` and `above_neg`, of shapes (n_pos
    + 1,) and (n_neg + 1,), are the weights below and from an index on.
    """
    total = 0.0
    i, j = 0, begin
    if begin > 0:  # the positives before the negative where the part begins, by bisection
        high = pos.size
        while i < high:
            middle = (i + high) // 2
            if neg[begin - 1] - pos[middle] > -shift:
                i = middle + 1
            else:
                high = middle
    previous_is_pos = False  # which list the last merged value came from
    while j < end:
        take_pos = i < pos.size and neg[j] - pos[i] > -shift
        if i > 0:  # before the first positive there is nothing below the gap
            if take_pos:
                gap = pos[i] - pos[i - 1] if previous_is_pos else (pos[i] - neg[j - 1]) - shift
            else:
                gap = (neg[j] - pos[i - 1]) + shift if previous_is_pos else neg[j] - neg[j - 1]
            total += gap * mass_pos[i] * above_neg[j]
        if take_pos:
            i += 1
        else:
            j += 1
        previous_is_pos = take_pos
    return total


@loop()
def _active_opposite(pos: Array, neg: Array, mass_pos: Array, mass_neg: Array, cutoff: float) -> tuple[Array, Array]:
    """Weight of the opposite class with ``fl(n_j − p_i) > cutoff`` for every positive and negative, ascending; O(m).

    `mass_pos` and `mass_neg`, of shapes (n_pos + 1,) and (n_neg + 1,), are the cumulative weights.
    """
    total_neg = mass_neg[neg.size]
    opposite_pos, opposite_neg = np.empty(pos.size), np.empty(neg.size)
    j = 0
    for i in range(pos.size):
        while j < neg.size and not neg[j] - pos[i] > cutoff:
            j += 1
        opposite_pos[i] = total_neg - mass_neg[j]
    i = 0
    for j in range(neg.size):
        while i < pos.size and neg[j] - pos[i] > cutoff:
            i += 1
        opposite_neg[j] = mass_pos[i]
    return opposite_pos, opposite_neg
