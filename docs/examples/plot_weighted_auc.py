"""
Weighted AUC
============

Darker areas have a larger weight. Here the weight on the specificity favours low false positive rates (Maurer & Pontil
2020, Sect. 2).
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.displays import WeightedAUCDisplay
from auclab.estimators import AUCClassifier
from auclab.metrics import auc_score, partial_auc, weighted_auc

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm")).fit(X, y)
score = model.decision_function(X_test)
display = WeightedAUCDisplay.from_predictions(y_test, score, weight=lambda specificity: specificity**3)

# %%
# Three ways to give the left end of the curve more weight than the right:
print(f"AUC                        {auc_score(y_test, score):.4f}")
print(f"weighted by specificity³   {weighted_auc(y_test, score, weight=lambda s: 4 * s**3):.4f}")
print(f"mean TPR for FPR up to 0.2 {partial_auc(y_test, score, max_fpr=0.2, standardized='area'):.4f}")
