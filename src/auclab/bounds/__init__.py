"""Generalization bounds for the AUC and the buffered AUC; each returns a `Bound` with the text of its assumptions."""

from auclab.bounds.fixed_scorer import (
    fixed_scorer_auc_bound,
    fixed_scorer_bauc_bound,
    fixed_scorer_pairs_bound,
    peeled_fixed_scorer_bauc_bound,
    roc_value_bound,
)
from auclab.bounds.guarantee import Bound
from auclab.bounds.margin import kernel_diameter, margin_bound, observed_radii, peeled_margin_bound
from auclab.bounds.peeling import peeled_stability_bound
from auclab.bounds.planner import SampleSize, required_samples
from auclab.bounds.stability import Complexity, linear_complexity, pairwise_stability_bound, published_stability_bound
from auclab.bounds.weighted import (
    balance_event,
    step_weight_bound,
    step_weight_interval,
    uniform_weighted_auc_bound,
    weighted_auc_bound,
)

__all__ = [
    "Bound",
    "Complexity",
    "SampleSize",
    "balance_event",
    "fixed_scorer_auc_bound",
    "fixed_scorer_bauc_bound",
    "fixed_scorer_pairs_bound",
    "kernel_diameter",
    "linear_complexity",
    "margin_bound",
    "observed_radii",
    "pairwise_stability_bound",
    "peeled_fixed_scorer_bauc_bound",
    "peeled_margin_bound",
    "peeled_stability_bound",
    "published_stability_bound",
    "required_samples",
    "roc_value_bound",
    "step_weight_bound",
    "step_weight_interval",
    "uniform_weighted_auc_bound",
    "weighted_auc_bound",
]
