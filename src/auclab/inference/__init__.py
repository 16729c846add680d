"""How sure a metric is: standard errors, confidence intervals, paired tests. O(m log m) where the metric is."""

from auclab.inference.comparison import compare_scorers
from auclab.inference.components import Components
from auclab.inference.estimation import estimate, estimate_part
from auclab.inference.hanley_mcneil import hanley_mcneil
from auclab.inference.results import Comparison, Estimate
from auclab.inference.summaries import SummaryEstimate, estimate_summary

__all__ = [
    "Comparison",
    "Components",
    "Estimate",
    "SummaryEstimate",
    "compare_scorers",
    "estimate",
    "estimate_part",
    "estimate_summary",
    "hanley_mcneil",
]
