"""
Intervals of several metrics
============================

Report a metric of held-out rows with an interval. If a metric has structural components, its standard error needs no
resampling. The same call works for any metric.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import auclab
from auclab.estimators import AUCClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
score = make_pipeline(StandardScaler(), AUCClassifier("ranksvm")).fit(X, y).decision_function(X_test)
asked = {
    "AUC": ("auc", {}),
    "bAUC": ("bauc", {}),
    "partial AUC, FPR up to 0.2": ("partial_auc", {"max_fpr": 0.2, "standardized": "area"}),
    "soft AUC, β = 1": ("soft_auc", {"beta": 1.0}),
    "VOROS": ("voros", {}),
}
found = {name: auclab.estimate(y_test, score, metric, **options) for name, (metric, options) in asked.items()}
for name, estimate in found.items():
    print(f"{name:<27} {estimate.value:.4f}  {estimate.lower:.4f} to {estimate.upper:.4f}  {estimate.method}")

# %%
fig, ax = plt.subplots(figsize=(5, 2.4), layout="constrained")
for place, estimate in enumerate(found.values()):
    ax.plot([estimate.lower, estimate.upper], [place, place], color="C0")
    ax.plot(estimate.value, place, "o", color="C0")
ax.set(yticks=range(len(found)), yticklabels=found, xlabel="value, 95 % interval")
ax.invert_yaxis()
