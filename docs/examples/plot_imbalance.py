"""
The same AUC, and very different costs
======================================

ROC curves do not show how rare the positives are. With one positive to a hundred negatives, a false positive rate of
0.1 means ten false alarms for each positive. VOROS over a range of costs takes this into account. Here a false positive
costs as much as ½ to 2 false negatives.
"""

import matplotlib.pyplot as plt
import numpy as np

from auclab.metrics import auc_score, cost_range, voros_score

rng = np.random.default_rng(0)
y = np.repeat([1, 0], [2000, 2000])
steep = np.r_[
    np.where(rng.random(2000) < 0.6, rng.normal(3, 0.5, 2000), rng.normal(0, 1, 2000)), rng.normal(0, 1, 2000)
]
late = -np.r_[steep[2000:], steep[:2000]]  # the same curve, mirrored
ratios = np.geomspace(0.01, 100, 21)
fig, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
for name, score in {"steep at the left": steep, "complete at the right": late}.items():
    values = [voros_score(y, score, cost_range=cost_range((ratio, ratio), (0.5, 2.0))) for ratio in ratios]
    ax.semilogx(ratios, values, label=f"{name}: AUC {auc_score(y, score):.3f}")
ax.set(xlabel="negatives to a positive", ylabel="VOROS")
fig.legend(loc="outside upper center", frameon=False)
