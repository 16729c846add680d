"""Sum of the sigmoid of all score differences, near-linear in the number of scores, to 14 digits.

Each class is divided into cells of length ``LENGTH/β``. Where a cell holds more scores than `NODES`, their
weights are moved to the Chebyshev nodes of the cell: ``Σ_i u_i ℓ_k(x_i)`` at node k. The sigmoid has its poles
at ±iπ, so interpolation in either variable errs by ``1.5 ρ^{−NODES}`` with ``ρ = π/2 + √(π²/4 + 1) = 3.4``, which
is 2·10⁻¹⁵. Pairs of cells that are far apart count 1 or 0, the others through the products of their nodes.
"""

from __future__ import annotations

import numpy as np

from auclab.compiled.chebyshev import chebyshev_sums
from auclab.compiled.doubledouble import two_sum
from auclab.compiled.loop import loop
from auclab.types import Array

LENGTH = 4.0
NODES = 28
#: 1/(1 + e^38) = 3·10⁻¹⁷
SATURATED = 38.0

_ANGLES = (np.arange(NODES) + 0.5) * (np.pi / NODES)
NODE_POSITIONS = 0.5 * LENGTH * (1.0 + np.cos(_ANGLES))
# Lagrange weights from Chebyshev sums: ℓ_k(x) = (1/q) (1 + 2 Σ_n T_n(x_k) T_n(x))
LAGRANGE = np.cos(np.outer(_ANGLES, np.arange(NODES))) * np.where(np.arange(NODES) == 0, 1.0, 2.0) / NODES


@loop(error_model="numpy")
def sigmoid_sum(pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, beta: float) -> float:
    """``Σ_ij u_i v_j / (1 + exp(−β (p_i − n_j)))``; O(m) and, for pairs of near cells, at most NODES² each.

    `pos`, `neg` (n_pos,) and (n_neg,), ascending. `weight_pos`, `weight_neg`: u and v. `beta` > 0: β.
    """
    start_pos, first_pos, factor_pos, share_pos = score_cells(pos, weight_pos, beta, -1.0)
    start_neg, first_neg, factor_neg, share_neg = score_cells(neg, weight_neg, beta, 1.0)
    total = lost = below = lost_below = 0.0
    potential = np.empty(NODES)
    low = high = 0  # cells before `low` lie so far below that their pairs count 1, from `high` on they count 0
    for a in range(start_pos.size):
        while low < start_neg.size and beta * (start_pos[a] - start_neg[low]) >= SATURATED + LENGTH:
            for j in range(first_neg[low], first_neg[low + 1]):
                below, rounding = two_sum(below, share_neg[j])
                lost_below += rounding
            low += 1
        while high < start_neg.size and beta * (start_pos[a] - start_neg[high]) > -SATURATED - LENGTH:
            high += 1
        factor, share = factor_pos[first_pos[a] : first_pos[a + 1]], share_pos[first_pos[a] : first_pos[a + 1]]
        near = potential[: factor.size]
        near[:] = 0.0
        for b in range(low, high):
            shift = np.exp(-beta * (start_pos[a] - start_neg[b]))
            for j in range(first_neg[b], first_neg[b + 1]):
                scale, weight = shift * factor_neg[j], share_neg[j]
                for i in range(near.size):
                    near[i] += weight / (1.0 + scale * factor[i])
        value = 0.0
        for i in range(near.size):
            value += share[i] * (near[i] + (below + lost_below))
        total, rounding = two_sum(total, value)
        lost += rounding
    return total + lost


@loop(error_model="numpy")
def score_cells(scores: Array, weight: Array, beta: float, sign: float) -> tuple[Array, np.ndarray, Array, Array]:
    """Divide the ascending scores of one class into cells of length ``LENGTH/β``; O(m · NODES).

    Returned `start`: the smallest score of every cell. `first`: cell c has the nodes ``first[c] ≤ k < first[c + 1]``:
    its scores, or `NODES` Chebyshev nodes if these are fewer. `factor`, `share`: ``exp(sign·β·(node − start))`` and the
    weight of every node.
    """
    start, first = np.empty(scores.size), np.zeros(scores.size + 1, np.int64)
    factor, share = np.empty(scores.size), np.empty(scores.size)
    at_nodes = np.exp(sign * NODE_POSITIONS)
    cells = nodes = low = 0
    while low < scores.size:
        high = low + 1
        while high < scores.size and beta * (scores[high] - scores[low]) <= LENGTH:
            high += 1
        if high - low <= NODES:
            for i in range(low, high):
                factor[nodes] = np.exp(sign * (beta * (scores[i] - scores[low])))
                share[nodes] = weight[i] if weight.size else 1.0
                nodes += 1
        else:
            x = (beta * (scores[low:high] - scores[low])) * (2.0 / LENGTH) - 1.0
            sums = chebyshev_sums(x, weight[low:high] if weight.size else weight, NODES - 1)
            for k in range(NODES):
                factor[nodes] = at_nodes[k]
                value = 0.0
                for n in range(NODES):
                    value += LAGRANGE[k, n] * sums[n]
                share[nodes] = value
                nodes += 1
        start[cells] = scores[low]
        cells += 1
        first[cells] = nodes
        low = high
    return start[:cells], first[: cells + 1], factor[:nodes], share[:nodes]
