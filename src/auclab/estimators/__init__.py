"""Linear scorers as scikit-learn estimators: any formulation, and the gradient method on a polynomial."""

from auclab.estimators.auc_classifier import AUCClassifier, formulation_named
from auclab.estimators.polynomial_classifier import PolynomialAUCClassifier
from auclab.metrics.scorers import bauc_scorer, soft_auc_scorer, voros_scorer

__all__ = [
    "AUCClassifier",
    "PolynomialAUCClassifier",
    "bauc_scorer",
    "formulation_named",
    "soft_auc_scorer",
    "voros_scorer",
]
