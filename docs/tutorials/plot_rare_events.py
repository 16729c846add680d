"""
Rare events: the left end of the curve
======================================

Of 11,183 spots in mammograms 260 (2.3 %) are calcifications. A radiologist can check only a few per cent of the spots,
so false positive rates above 0.1 do not matter. This page compares scorers at small rates, with intervals and a paired
test.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import auclab
from auclab.datasets import load

spots = load("mammography")
X, X_test, y, y_test = train_test_split(spots.X, spots.y, test_size=0.5, stratify=spots.y, random_state=0)
scaler = StandardScaler().fit(X)
X, X_test = scaler.transform(X), scaler.transform(X_test)
print(f"{y.sum()} of {len(y)} training spots are positive, {y_test.sum()} of {len(y_test)} test spots")

# %%
# Four programs
# -------------
# The page compares RankSVM over all 723,000 pairs, which are never formed; the program for partial AUC, which averages
# over the hardest tenth of the negatives; C-SVM over points; and RankSVM with an RBF kernel. Each solution is
# certified.
programs = {
    "ranksvm": (auclab.RankSVM(1e-3, squared=True), {}),
    "partial_auc": (auclab.PartialAUC(0.1, 1e-3, squared=True), {}),
    "csvm": (auclab.CSVM(1e-3, squared=True), {}),
    "ranksvm, rbf": (auclab.RankSVM(1e-3, squared=True), {"kernel": "rbf", "tolerance": 1e-2}),
}
scores = {}
for name, (formulation, options) in programs.items():
    solution = auclab.solve(formulation, X, y, **options)
    scores[name] = solution.decision_function(X_test)
    print(f"{name:<13} {solution.status}, gap {solution.gap:.1e}")

# %%
# What to measure
# ---------------
# AUC is an average over all false positive rates, most of which nobody will use. The radiologist needs the mean TPR
# over FPR up to 0.1 and the TPR at FPR 0.02. All have intervals; with 130 positives these are wide.
from auclab.inference import tpr_at_fpr

rows = []
for name, score in scores.items():
    for label, found in {
        "AUC": auclab.estimate(y_test, score, "auc"),
        "mean TPR to 0.1": auclab.estimate(y_test, score, "partial_auc", max_fpr=0.1, standardized="area"),
        "TPR at 0.02": tpr_at_fpr(y_test, score, 0.02),
    }.items():
        rows.append({"scorer": name, "metric": label, "value": found.value, "low": found.lower, "high": found.upper})
table = pd.DataFrame(rows)
print(table.pivot(index="scorer", columns="metric", values="value").round(4).to_string())

# %%
fig, axes = plt.subplots(1, 3, figsize=(7.5, 2.6), layout="constrained", sharey=True)
for ax, (label, part) in zip(axes, table.groupby("metric", sort=False), strict=True):
    for place, row in enumerate(part.itertuples()):
        ax.errorbar(row.value, place, xerr=[[row.value - row.low], [row.high - row.value]], fmt="o", color=f"C{place}")
    ax.set(title=label, yticks=range(len(part)), yticklabels=part["scorer"])
    ax.invert_yaxis()

# %%
# Curves with a logarithmic axis show the left end.
fig, ax = plt.subplots(figsize=(4.5, 3.4), layout="constrained")
for name, score in scores.items():
    fpr, tpr, _ = roc_curve(y_test, score)
    ax.plot(np.maximum(fpr, 1e-4), tpr, label=f"{name}, precision {average_precision_score(y_test, score):.2f}")
ax.set(xscale="log", xlim=(1e-3, 1), xlabel="false positive rate", ylabel="true positive rate")
ax.legend(frameon=False, title="average precision")

# %%
# Which differences are real?
# ---------------------------
# All intervals overlap, but this does not show that the scorers are equal: they err on the same spots. The paired test
# takes this into account.
rows = []
for name in ("partial_auc", "csvm", "ranksvm, rbf"):
    for label, metric, options in (
        ("AUC", "auc", {}),
        ("mean TPR to 0.1", "partial_auc", {"max_fpr": 0.1, "standardized": "area"}),
    ):
        result = auclab.compare_scorers(y_test, scores[name], scores["ranksvm"], metric, **options)
        low, high = result.interval
        rows.append((name, label, result.difference, low, high, result.p_value))
columns = ["less ranksvm", "metric", "difference", "low", "high", "p"]
print(pd.DataFrame(rows, columns=columns).round(4).to_string(index=False))

# %%
# Six tests were made, so p = 0.04 is not significant: by Holm's correction the smallest p must be below 0.05/6.
from auclab.runs import holm

print(np.round(holm([row[-1] for row in rows]), 4))

# %%
# A threshold for 2 % false alarms
# --------------------------------
# The threshold is chosen on one half of the test rows, so its false positive rate on the other half differs from 2 %.
# Both rates have intervals from the binomial distribution.
from scipy.stats import binomtest

from auclab.estimators import decision_threshold

best = auclab.solve(*[programs["ranksvm, rbf"][0], X, y], **programs["ranksvm, rbf"][1])
half = np.random.default_rng(0).permutation(len(y_test))
choose, check = half[: len(half) // 2], half[len(half) // 2 :]
score = best.decision_function(X_test)
cut = decision_threshold(y_test[choose], score[choose], ("fpr", 0.02))
for label, positive in (("false positive rate", 0), ("true positive rate", 1)):
    above = score[check][y_test[check] == positive] > cut
    limits = binomtest(int(above.sum()), len(above)).proportion_ci(method="wilson")
    print(f"{label} above {cut:.3f}: {above.mean():.4f}, 95 % interval {limits.low:.4f} to {limits.high:.4f}")
