"""Brute-force twins of the bounds: all pairs, all levels, straight from the formulas."""

from __future__ import annotations

import itertools
import math

import numpy as np


def hinge(pos, neg, a):
    """Mean of [1 − a(p − n)]₊ over all pairs."""
    return float(np.maximum(1.0 - a * np.subtract.outer(pos, neg), 0.0).mean())


def best_hinge(pos, neg, most):
    """Least mean hinge over 0 ≤ a ≤ most: convex and linear between the 1/t, so one of these or an end has it."""
    margins = np.sort(np.subtract.outer(pos, neg).ravel())
    knots = 1.0 / margins[margins > 0]
    scales = np.concatenate([[0.0, most], knots[knots < most]])
    active = np.searchsorted(margins, np.divide(1.0, scales, out=np.full_like(scales, np.inf), where=scales > 0))
    below = np.concatenate([[0.0], np.cumsum(margins)])[active]
    return float(((active - scales * below) / margins.size).min())


def share(rho, k):
    """ρ_k."""
    return 2.0 / 3.0 * rho / ((abs(k) + 1) * (abs(k) + 2))


def mcdiarmid(n_pos, n_neg, rho):
    """√((1/m₊ + 1/m₋) ln(1/ρ)/2)."""
    return math.sqrt((1 / n_pos + 1 / n_neg) * math.log(1 / rho) / 2)


def stability_slack(a, diameter, penalty, n_pos, n_neg, rho, r=2.0):
    """U(a, ρ) in the first of its two forms, with α₊ and α₋."""
    alpha_pos, alpha_neg = (2 * a * diameter**2 / (r * penalty * n) for n in (n_pos, n_neg))
    eta = min(1 / math.sqrt(penalty * (1 + r / 2)), diameter / (penalty * (1 + r / 2)))
    width = a * diameter * eta + min(1, a * diameter * eta)
    total = (2 * n_pos * alpha_pos + width) ** 2 / n_pos + (2 * n_neg * alpha_neg + width) ** 2 / n_neg
    return alpha_pos + alpha_neg + math.sqrt(total * math.log(1 / rho) / 2)


def peeled_stability(pos, neg, diameter, penalty, rho, a0=1.0, r=2.0, levels=range(-40, 21)):
    """sup_k { 1 − R̂ − U }, 0 for k → −∞."""
    return max(
        0.0,
        *(
            1
            - hinge(pos, neg, a0 * 2.0**k)
            - stability_slack(a0 * 2.0**k, diameter, penalty, len(pos), len(neg), share(rho, k), r)
            for k in levels
        ),
    )


def peeled_margin(pos, neg, size, diameter, rho, complexity, levels=range(-40, 21)):
    """sup_k over Λ_k = 2^k/D of the best a with a‖w‖ ≤ Λ_k."""
    return max(
        0.0,
        *(
            1
            - best_hinge(pos, neg, 2.0**k / diameter / size)
            - 2 * 2.0**k * complexity
            - (2.0**k + min(1, 2.0**k)) * mcdiarmid(len(pos), len(neg), share(rho, k))
            for k in levels
        ),
    )


def sign_complexity(points, order):
    """E‖Σ σ_k d_k‖/n over all 2ⁿ signs."""
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(points))))
    return float(np.linalg.norm(signs @ points, order, axis=1).mean()) / len(points)


def averaged_auc(pos, neg, share_pos, share_neg, integral, ell):
    """f_S = Σ_t G(t) [Φ(F₀(t)) − Φ(F₀(t−))], Φ = `integral`, G(t) = E ℓ(h⁺ − t)."""
    total = 0.0
    for t in np.unique(neg):
        height = sum(s * ell(p - t) for p, s in zip(pos, share_pos, strict=True))
        below, upto = share_neg[neg < t].sum(), share_neg[neg <= t].sum()
        total += height * (integral(upto) - integral(below))
    return total


def max_rank_auc(pos, neg, share_pos, share_neg, weight, ell):
    """f_R = ∫ G(t) W(F₀(t)) dF₀(t)."""
    total = 0.0
    for t, mass in zip(neg, share_neg, strict=True):
        height = sum(s * ell(p - t) for p, s in zip(pos, share_pos, strict=True))
        total += mass * height * weight(share_neg[neg <= t].sum())
    return total
