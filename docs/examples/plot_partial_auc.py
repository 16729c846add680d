"""
A scorer for the left end of the ROC curve
==========================================

If only few negatives may be called positive, only the negatives with the largest scores matter. The program for partial
AUC improves the left end of the curve at the expense of the right.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_curve

import auclab
from auclab.metrics import auc_score, partial_auc

rng = np.random.default_rng(0)
negatives = np.r_[rng.normal((0, 0), (1, 1), (900, 2)), rng.normal((2.5, -2), (0.4, 0.4), (100, 2))]  # a hard group
positives = rng.normal((1.5, 1.0), (1, 1), (300, 2))
X, y = np.r_[negatives, positives], np.repeat([0, 1], [1000, 300])

fig, ax = plt.subplots(figsize=(4, 3.6), layout="constrained")
for formulation in (auclab.RankSVM(1e-3, squared=True), auclab.PartialAUC(0.1, 1e-3, squared=True)):
    scores = auclab.solve(formulation, X, y).decision_function(X)
    name, left = formulation.name, partial_auc(y, scores, max_fpr=0.1, standardized="area")
    ax.plot(*roc_curve(y, scores)[:2], label=f"{name}: AUC {auc_score(y, scores):.3f}, up to 0.1 {left:.3f}")
ax.axvspan(0, 0.1, color="0.9")
ax.set(xlabel="false positive rate", ylabel="true positive rate")
ax.legend(frameon=False, loc="lower right")
