"""Linear scorers as scikit-learn estimators: any formulation, and the gradient method on a polynomial."""

from auclab.estimators.auc_classifier import AUCClassifier
from auclab.estimators.auc_classifier_cv import AUCClassifierCV
from auclab.estimators.calibration import decision_threshold, fit_calibration, held_out_scores
from auclab.estimators.linear_ranker import AUCRanker, SurvivalRanker
from auclab.estimators.polynomial_classifier import PolynomialAUCClassifier
from auclab.estimators.scorecard_classifier import ScorecardClassifier
from auclab.formulations import formulation_named
from auclab.metrics.scorers import bauc_scorer, soft_auc_scorer, voros_scorer

__all__ = [
    "AUCClassifier",
    "AUCClassifierCV",
    "AUCRanker",
    "PolynomialAUCClassifier",
    "ScorecardClassifier",
    "SurvivalRanker",
    "bauc_scorer",
    "decision_threshold",
    "fit_calibration",
    "formulation_named",
    "held_out_scores",
    "soft_auc_scorer",
    "voros_scorer",
]
