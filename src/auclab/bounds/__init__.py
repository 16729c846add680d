"""Guarantees for the AUC and the buffered AUC on new data; each returns a `Bound` with its assumptions in words."""

from auclab.bounds.fixed_scorer import fixed_scorer_auc_bound, fixed_scorer_bauc_bound
from auclab.bounds.margin import margin_bound, peeled_margin_bound
from auclab.bounds.peeling import peeled_stability_bound
from auclab.bounds.stability import pairwise_stability_bound, published_stability_bound
from auclab.bounds.weighted import balance_event, uniform_weighted_auc_bound, weighted_auc_bound

__all__ = [
    "balance_event",
    "fixed_scorer_auc_bound",
    "fixed_scorer_bauc_bound",
    "margin_bound",
    "pairwise_stability_bound",
    "peeled_margin_bound",
    "peeled_stability_bound",
    "published_stability_bound",
    "uniform_weighted_auc_bound",
    "weighted_auc_bound",
]
