"""
A threshold from costs, and how sure it is
==========================================

The best threshold depends on the costs of the two errors. It is chosen on cross-validated scores of the training part.
The costs of the test part, with the analysis repeated on resampled rows, show how certain the choice is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.estimators import AUCClassifier, decision_threshold

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm", squared=True))
held_out = cross_val_predict(model, X, y, cv=5, method="decision_function")
false_positive, false_negative = 1.0, 5.0
rng = np.random.default_rng(0)
positive, negative = np.flatnonzero(y), np.flatnonzero(~y)
cuts = []
for _ in range(200):
    rows = np.r_[rng.choice(positive, len(positive)), rng.choice(negative, len(negative))]
    cuts.append(decision_threshold(y.iloc[rows], held_out[rows], ("cost", false_positive, false_negative)))
cut = decision_threshold(y, held_out, ("cost", false_positive, false_negative))
print(
    f"threshold {cut:.3f}, 95 % of the resampled ones {np.quantile(cuts, 0.025):.3f} to {np.quantile(cuts, 0.975):.3f}"
)

# %%
score = model.fit(X, y).decision_function(X_test)
grid = np.linspace(-2, 2, 200)
cost = [np.mean(np.where(y_test, false_negative * (score <= at), false_positive * (score > at))) for at in grid]
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(grid, cost)
ax.axvspan(*np.quantile(cuts, (0.025, 0.975)), color="0.9", label="resampled thresholds")
ax.axvline(cut, color="black", linewidth=0.8, label="chosen")
ax.set(xlabel="threshold", ylabel="mean cost of a test row")
ax.legend(frameon=False)
