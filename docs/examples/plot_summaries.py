"""
AUC of scores in many blocks
============================

A summary of a block of scores is a histogram with error limits. Summaries can be added. The sum gives limits for the
AUC and bAUC of all scores, which contain the exact value for any number of bins.
"""

import matplotlib.pyplot as plt
import numpy as np

from auclab.metrics import auc_score, summarise

rng = np.random.default_rng(0)
blocks = []
for _ in range(20):
    y = rng.random(50_000) < 0.1
    blocks.append((y, rng.normal(y * 1.5)))
exact = auc_score(np.concatenate([y for y, _ in blocks]), np.concatenate([s for _, s in blocks]))
bins = [2**k for k in range(3, 13)]
limits = [summarise(blocks, n_bins=n).auc() for n in bins]
print(f"AUC {exact:.6f}; with {bins[-1]} bins between {limits[-1].low:.6f} and {limits[-1].high:.6f}")

# %%
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.fill_between(bins, [limit.low - exact for limit in limits], [limit.high - exact for limit in limits], alpha=0.4)
ax.axhline(0, color="black", linewidth=0.8)
ax.set(xscale="log", yscale="symlog", xlabel="bins", ylabel="limits less the exact AUC")
ax.set_yscale("symlog", linthresh=1e-6)

# %%
# The limits of bAUC are of second order in the width of the bins.
summary = summarise(blocks, n_bins=256)
print(f"width of the limits with 256 bins: AUC {summary.auc().width:.1e}, bAUC {summary.bauc().width:.1e}")
