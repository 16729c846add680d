"""Guarantees for the AUC and the buffered AUC on new data; each returns a `Bound` with its assumptions in words."""

from auclab.bounds.fixed_scorer import fixed_scorer_auc_bound, fixed_scorer_bauc_bound
from auclab.bounds.stability import pairwise_stability_bound, published_stability_bound

__all__ = [
    "fixed_scorer_auc_bound",
    "fixed_scorer_bauc_bound",
    "pairwise_stability_bound",
    "published_stability_bound",
]
