"""
A scorecard of integer points
=============================

A scorecard gives points between −3 and 3 for a few questions and ranks by their sum. The hinge over all pairs is
minimised over integers, and the bound holds for every scorecard of the same items.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from auclab import ScorecardClassifier
from auclab.metrics import auc_score

data = load_breast_cancer(as_frame=True)
columns = ["mean radius", "mean texture", "mean concavity", "mean symmetry"]
card = ScorecardClassifier((-3, 3), max_items=4, max_candidates=8).fit(data.data[columns], data.target == 0)
print(card.card_)

# %%
solution = card.solution_
print(f"{solution.status}: objective {solution.objective:.4f}, gap {solution.gap:.1e}")
print(f"AUC {auc_score(data.target == 0, card.total(data.data[columns])):.4f}")

# %%
# The share of malignant tumours for each total, with its 95 % interval. Tumours to the right of the dashed line are
# predicted malignant.
import matplotlib.pyplot as plt

lines = card.card_.totals
totals, shares = [line.low for line in lines], [line.share for line in lines]
errors = [[line.share - line.lower for line in lines], [line.upper - line.share for line in lines]]
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.bar(totals, shares, color="0.8")
ax.errorbar(totals, shares, yerr=np.maximum(errors, 0), fmt="o", color="C0", capsize=3)
ax.axvline(card.card_.threshold - 0.5, color="0.4", linestyle="--", linewidth=0.8)
ax.set(xlabel="total points", ylabel="share of malignant tumours", ylim=(0, 1.02))
