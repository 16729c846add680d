"""
Bounds of bAUC for new data
===========================

Four lower bounds of bAUC that hold with a probability of 95 %, against the size of the sample. The data are simulated
(two squares of side 1, one 0.8 above the other), so the true value is known.
"""

import matplotlib.pyplot as plt
import numpy as np

import auclab
from auclab.bounds import peeled_fixed_scorer_bauc_bound, peeled_margin_bound, peeled_stability_bound
from auclab.metrics import bauc_score


def sample(size, seed):
    """As many positives as negatives."""
    y = np.repeat([1, 0], size // 2)
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (size, 2)) + np.outer(y, [0.8, 0.0]), y


diameter = np.hypot(1.8, 1.0)
X_new, y_new = sample(200_000, 1)
sizes = [300, 1000, 3000, 10_000, 30_000, 100_000]
rows = []
for size in sizes:
    X, y = sample(size, 0)
    w = auclab.solve(auclab.RankSVM(1.0, squared=True), X, y).coef
    X_held, y_held = sample(size, 2)
    rows.append(
        (
            bauc_score(y_new, X_new @ w),
            peeled_fixed_scorer_bauc_bound(
                y_held, X_held @ w, rho=0.05, score_spread=diameter * np.linalg.norm(w)
            ).lower,
            peeled_margin_bound(X, y, w, diameter=diameter, rho=0.05).lower,
            peeled_stability_bound(X, y, w, diameter=diameter, penalty=1.0, rho=0.05).lower,
        )
    )

# %%
fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
names = ("true value", "held-out part", "training part, margin", "training part, stability")
for name, values, style in zip(names, np.transpose(rows), ("k-", "o-", "s--", "^:"), strict=True):
    ax.semilogx(sizes, np.where(values > 0, values, np.nan), style, label=name, markersize=4)
ax.set(xlabel="observations", ylabel="bAUC", ylim=(0, 1))
fig.legend(loc="outside upper center", ncols=2, frameon=False, fontsize="small")
