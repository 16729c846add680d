"""Which multipliers belong to admissible weights of the margins, and those near others that do.

Over pairs, marginals ``α_i = Σ_j q_ij`` and ``β_j = Σ_i q_ij`` belong to some ``0 ≤ q_ij ≤ cap_ij`` iff they pass the
transport (Gale–Ryser) condition, so a certificate over 10¹² pairs costs O(m log m). Derived. Over points a multiplier
is at most the weight of its point.
"""

from __future__ import annotations

import numpy as np

from auclab.compiled.threads import LARGE, in_parallel
from auclab.compiled.transport import largest_excess, least_capacity_ratio
from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample
from auclab.solvers.verified.value import UP
from auclab.types import Array


def feasible_multipliers(problem: Problem, pos: Array, neg: Array) -> tuple[Array, Array]:
    """The nearest multipliers of the same shape that belong to a feasible dual point.

    Negative entries become 0, both classes get the same sum (``Σ q y = 0`` over points), and excess over the
    capacities is removed: entry by entry over points, by the largest admissible common factor over pairs.
    """
    sample = problem.sample
    pos, neg = np.maximum(pos, 0.0), np.maximum(neg, 0.0)
    if problem.over_pairs and sample.weighted:
        # Observations without weight have pairs without capacity.
        pos, neg = pos * (sample.share_pos > 0), neg * (sample.share_neg > 0)
    elif not problem.over_pairs:
        capacity_pos, capacity_neg = sample.point_weights
        pos, neg = np.minimum(pos, capacity_pos), np.minimum(neg, capacity_neg)
    sum_pos, sum_neg = float(pos.sum()), float(neg.sum())
    if sum_pos == 0 or sum_neg == 0:
        return np.zeros_like(pos), np.zeros_like(neg)
    smaller = min(sum_pos, sum_neg)
    pos *= smaller / sum_pos
    neg *= smaller / sum_neg
    if problem.over_pairs:
        factor = transport_factor(pos, neg, sample.share_pos, sample.share_neg)
        pos *= factor
        neg *= factor
    return pos, neg


def transport_factor(pos: Array, neg: Array, share_pos: Array, share_neg: Array) -> float:
    """The largest τ ≤ 1 for which τ·(pos, neg) are the marginals of some ``0 ≤ q_ij ≤ share_pos_i share_neg_j``.

    By max-flow/min-cut it suffices that every set I of positives fits: ``τ Σ_I pos ≤ Σ_j min(τ neg_j, share_neg_j
    share_pos(I))``; with φ(c) = Σ_j min(neg_j, c·share_neg_j), which is concave, the binding sets are those of
    the largest ratios pos_i/share_pos_i, and the condition is ``τ ≤ share_pos(I)/φ⁻¹(Σ_I pos)``.
    """
    threads = min(pos.size, neg.size) >= LARGE
    (levels, values), (capacity, demand) = in_parallel(
        lambda sums, *marginals: sums(*_by_density(*marginals)),
        (_kinks, neg, share_neg),
        (_largest_sums, pos, share_pos),
        threads=threads,
    )

    def least_ratio(part: slice) -> float:
        wanted = demand[part]
        first = int(np.searchsorted(values, wanted[0], side="right")) - 1 if wanted.size else 0
        return float(least_capacity_ratio(wanted, capacity[part], levels, values, max(first, 0)))

    half = demand.size // 2
    return min(in_parallel(least_ratio, (slice(half),), (slice(half, None),), threads=threads))


def _kinks(levels: Array, share: Array, marginals: Array) -> tuple[Array, Array]:
    """The kinks c of φ, and its values there: full sums below, c times the remaining share above."""
    values = np.zeros(levels.size + 1)
    np.cumsum(marginals[:-1], out=values[2:])
    above = np.cumsum(share[::-1])[::-1]
    above *= levels  # in place, as the arrays are long
    values[1:] += above
    return np.concatenate(([0.0], levels)), values


def _largest_sums(_: Array, share: Array, marginals: Array) -> tuple[Array, Array]:
    """The shares and marginals of the sets of the largest densities."""
    return np.cumsum(share[::-1]), np.cumsum(marginals[::-1])


def _by_density(multipliers: Array, share: Array) -> tuple[Array, Array, Array]:
    """``multipliers / share``, ascending, with share and multipliers in the same order; shares of 0 left out."""
    if share[0] > 0 and (share == share[0]).all():
        # Equal shares need no permutation, and a plain sort is several times faster.
        ascending = np.sort(multipliers)
        return ascending / share[0], share, ascending
    multipliers, share = multipliers[share > 0], share[share > 0]
    density = multipliers / share
    order = np.argsort(density)
    return density[order], share[order], multipliers[order]


def within_capacities(problem: Problem, pos: Array, neg: Array, others: Array) -> tuple[Array, Array, Array]:
    """Multipliers scaled into their capacities by a common factor ≤ 1, which keeps ``Σ q d − Aᵀμ`` at 0."""
    sample = problem.sample
    if problem.over_pairs:
        factor = transport_factor(pos, neg, sample.share_pos, sample.share_neg)
    else:
        q, capacity = np.r_[pos, neg], np.concatenate(sample.point_weights)
        factor = min(1.0, float((capacity[q > 0] / q[q > 0]).min(initial=1.0)))
    return (pos, neg, others) if factor == 1.0 else (pos * factor, neg * factor, others * factor)


def excess(problem: Problem, pos: Array, neg: Array) -> float:
    """The largest excess of multipliers over their capacities."""
    sample = problem.sample
    if problem.over_pairs:
        return max(0.0, largest_excess(pos, neg, sample.share_pos, sample.share_neg, 1.0))
    capacities = sample.point_weights
    return float(sum(np.maximum(q - c, 0.0).sum() for q, c in zip((pos, neg), capacities, strict=True))) * UP


def rounding_of_sums(sample: Sample) -> float:
    """Relative error of running sums over the observations."""
    return 2.0**-50 * (sample.n_pos + sample.n_neg)
