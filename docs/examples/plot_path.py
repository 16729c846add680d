"""
A path over the penalty
=======================

RankSVM from a large penalty to a small one. Each solve starts from the previous one and has its own certificate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from auclab import RankSVM
from auclab.metrics import auc_score, bauc_score
from auclab.solvers.path import solve_path

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y == 0, train_size=80, stratify=y, random_state=0)
scaler = StandardScaler().fit(X)
penalties = np.geomspace(1, 1e-5, 11)
path = solve_path(RankSVM(1.0, squared=True), scaler.transform(X), y, penalties)
print(f"largest certified gap {max(solution.gap for solution in path):.1e}")

# %%
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for name, score in {"AUC": auc_score, "bAUC": bauc_score}.items():
    for part, style, table, labels in (("test", "-", X_test, y_test), ("train", ":", X, y)):
        values = [score(labels, solution.decision_function(scaler.transform(table))) for solution in path]
        ax.semilogx(penalties, values, style, color={"AUC": "C0", "bAUC": "C1"}[name], label=f"{name}, {part}")
ax.set(xlabel="λ", ylabel="value", ylim=(0.85, 1.01))
ax.legend(frameon=False)
