"""
Data larger than memory
=======================

This page fits rows in a folder of parquet files without reading all of them at once. The solver needs scores, a
weighted sum of rows and a Gram matrix, each in one pass over the files. The data here are small, so that the page is
quick to build and the same program can also be solved in memory.
"""

# %%
# A folder of files
# -----------------
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())
direction = rng.normal(size=8)
for part in range(6):
    X = rng.normal(size=(20_000, 8))
    y = rng.random(20_000) < 1 / (1 + np.exp(3 - X @ direction / 2))
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(8)]).assign(bought=y.astype(int))
    frame.to_parquet(folder / f"part{part}.parquet", row_group_size=5_000)
size = sum(file.stat().st_size for file in folder.iterdir())
print(f"{len(list(folder.iterdir()))} files, {size / 1e6:.1f} MB")

# %%
# Opening the folder
# ------------------
# The table knows its shape. Only the labels are kept in memory.
import auclab
from auclab.samples.blocks import open_parquet

table, labels = open_parquet(str(folder), target="bought")
y = labels.to_numpy()
print(f"{len(y):,} rows, {y.mean():.1%} positive, {y.sum() * (1 - y).sum():.1e} pairs")

# %%
solution = auclab.solve(auclab.BufferedAUC(), table, y)
print(
    f"{solution.status}: objective {solution.objective:.9f}, gap {solution.gap:.1e}, {solution.iterations} iterations"
)

# %%
# The same in memory:
X = pd.concat(pd.read_parquet(file) for file in sorted(folder.glob("*.parquet"))).drop(columns="bought").to_numpy()
in_memory = auclab.solve(auclab.BufferedAUC(), X, y)
print(f"objectives differ by {abs(solution.objective - in_memory.objective) / in_memory.objective:.1e}, relatively")

# %%
# Metrics without all scores in memory
# ------------------------------------
# Every block gives a summary of its scores, and summaries are added. AUC and bAUC of all scores are certainly between
# the limits.
from auclab.metrics import auc_score, bauc_score, scored_table, summarise

blocks = scored_table(table, y, solution.coef)
summary = summarise(blocks)
print("AUC ", summary.auc(), auc_score(y, X @ solution.coef))
print("bAUC", summary.bauc(), bauc_score(y, X @ solution.coef))

# %%
# The width of the limits depends on the number of bins, not on the number of rows.
import matplotlib.pyplot as plt

bins = [2**k for k in range(4, 13)]
widths = [np.ptp(tuple(summarise(blocks, n_bins=count).auc())) for count in bins]
fig, ax = plt.subplots(figsize=(4.5, 2.8), layout="constrained")
ax.loglog(bins, widths, "o-")
ax.set(xlabel="bins", ylabel="width of the limits of AUC")

# %%
# Several processes or machines
# -----------------------------
# ``open_parquet(folder, target="bought", engine=DaskEngine(workers=4))`` makes the passes on Dask workers. Scores are
# sent between processes, rows are not. From the shell: ``auclab run dataset=blocks dataset.path=FOLDER
# dataset.target=bought engine=dask``. The page on data larger than memory of the user guide has the time and memory of
# a solve of 10⁹ rows.
import shutil

shutil.rmtree(folder)
