"""
Two scorers on the same rows
============================

Overlapping intervals do not show that two scorers are equal, because both scorers err on the same difficult rows. The
paired test takes this into account.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import auclab
from auclab.estimators import AUCClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
linear = make_pipeline(StandardScaler(), AUCClassifier("ranksvm")).fit(X, y).decision_function(X_test)
bayes = GaussianNB().fit(X, y).predict_log_proba(X_test) @ [-1, 1]
for metric in ("auc", "bauc"):
    result = auclab.compare_scorers(y_test, linear, bayes, metric)
    low, high = result.interval
    print(f"{metric}: difference {result.difference:.4f}, {low:.4f} to {high:.4f}, p = {result.p_value:.2g}")

# %%
fig, ax = plt.subplots(figsize=(5, 2.2), layout="constrained")
values = [auclab.estimate(y_test, scores, "auc") for scores in (linear, bayes)]
result = auclab.compare_scorers(y_test, linear, bayes, "auc")
for place, (middle, low, high) in enumerate(
    [(each.value, each.lower, each.upper) for each in values]
    + [(result.difference, result.interval[0], result.interval[1])]
):
    ax.errorbar(middle, place, xerr=[[middle - low], [high - middle]], fmt="o", color=f"C{place}")
ax.axvline(0, color="grey", linewidth=0.8)
ax.set(yticks=[0, 1, 2], yticklabels=["linear AUC", "Bayes AUC", "difference"], ylim=(2.6, -0.6))
