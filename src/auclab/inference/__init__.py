"""Standard errors, confidence intervals and paired tests of metrics, in O(m log m) if the metric is."""

from auclab.inference.calibration import CalibrationCheck, ScoreDrift, check_calibration, score_drift
from auclab.inference.comparison import JointComparison, ScorerPair, compare_scorers
from auclab.inference.components import Comparison, Components, Estimate
from auclab.inference.estimation import estimate, estimate_part
from auclab.inference.intervals import hanley_mcneil
from auclab.inference.measurement import Measurement, measure
from auclab.inference.optimism import ValidatedModel, validate
from auclab.inference.pairs import compare_pairs, estimate_pairs
from auclab.inference.power import DifferenceDesign, design_of_difference
from auclab.inference.roc_bands import ROCBand, roc_band, roc_band_part
from auclab.inference.roc_points import tpr_at_fpr, tpr_at_fpr_part
from auclab.inference.summaries import SummaryEstimate, estimate_summary
from auclab.inference.survival import estimate_concordance, estimate_time_dependent_auc

__all__ = [
    "CalibrationCheck",
    "Comparison",
    "Components",
    "DifferenceDesign",
    "Estimate",
    "JointComparison",
    "Measurement",
    "ROCBand",
    "ScoreDrift",
    "ScorerPair",
    "SummaryEstimate",
    "ValidatedModel",
    "check_calibration",
    "compare_pairs",
    "compare_scorers",
    "design_of_difference",
    "estimate",
    "estimate_concordance",
    "estimate_pairs",
    "estimate_part",
    "estimate_summary",
    "estimate_time_dependent_auc",
    "hanley_mcneil",
    "measure",
    "roc_band",
    "roc_band_part",
    "score_drift",
    "tpr_at_fpr",
    "tpr_at_fpr_part",
    "validate",
]
