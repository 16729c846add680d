"""
Are the probabilities right?
============================

Scores only rank. Probabilities are fitted on rows that the scorer was not fitted to. The reliability diagram compares
them with the labels: of the rows with a probability near 0.3, a share of 0.3 should be positive.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.estimators import AUCClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
fig, ax = plt.subplots(figsize=(4, 3.8), layout="constrained")
ax.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
for k, method in enumerate(("sigmoid", "isotonic")):
    model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm", squared=True, calibration=method)).fit(X, y)
    probability = model.predict_proba(X_test)[:, 1]
    order = np.array_split(np.argsort(probability), 6)
    for rows in order:
        happened = binomtest(int(y_test.iloc[rows].sum()), len(rows)).proportion_ci(method="wilson")
        at = probability[rows].mean() + 0.008 * (k - 0.5)
        ax.plot([at, at], happened, color=f"C{k}", linewidth=1)
    shares = [(probability[rows].mean(), y_test.iloc[rows].mean()) for rows in order]
    brier = np.mean((probability - y_test) ** 2)
    ax.plot(*np.transpose(shares), "o-", color=f"C{k}", label=f"{method}: Brier score {brier:.4f}")
ax.set(xlabel="probability", ylabel="share of positives, 95 % interval", xlim=(0, 1), ylim=(0, 1))
ax.legend(frameon=False)
