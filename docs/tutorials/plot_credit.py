"""
Credit: a scorer, its costs, and a threshold
============================================

A bank has 1,000 old loans, 300 of which went bad (German credit, 20 columns, 13 of them nominal). It wants a score
that ranks applicants by risk. It does not know exactly what a bad loan costs, but it needs a threshold. This page goes
from the table to a threshold, with an interval for every number.
"""

# %%
# The table
# ---------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline

import auclab
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.estimators import AUCClassifier, decision_threshold
from auclab.metrics import get_scorer

credit = load("german_credit")
table, bad = credit.frame, credit.y
print(table.iloc[:3, :6].to_string())
print(f"{len(table)} loans, {bad.mean():.0%} bad")

# %%
# ``standard`` imputes, encodes nominal columns as indicators, and scales. It is fitted to the training part only. A
# category that first occurs in new rows gets only zeros.
train, test = train_test_split(np.arange(len(table)), test_size=0.4, stratify=bad, random_state=0)
model = make_pipeline(standard(credit), AUCClassifier("ranksvm", squared=True))
grid = {"aucclassifier__penalty": [0.01, 0.1, 0.3, 1.0, 3.0, 10.0]}
search = GridSearchCV(model, grid, scoring=get_scorer("auc"), cv=5).fit(table.iloc[train], bad[train])
solution = search.best_estimator_[-1].solution_
print(f"λ = {search.best_params_['aucclassifier__penalty']}, {solution.status}, certified gap {solution.gap:.0e}")

# %%
# How good is it?
# ---------------
# These are metrics on 400 test loans. bAUC also counts the size of the ranking errors.
score, y = search.decision_function(table.iloc[test]), bad[test]
for metric in ("auc", "bauc"):
    found = auclab.estimate(y, score, metric)
    print(f"{metric:<5} {found.value:.4f}, 95 % interval {found.lower:.4f} to {found.upper:.4f}")

# %%
from auclab.displays import ROCBandDisplay

display = ROCBandDisplay.from_predictions(y, score, at=(0.1, 0.3))

# %%
# The band contains the whole true curve with a confidence of 95 %. With 120 bad loans it is wide: this sample is too
# small to promise "60 % of the bad loans at 20 % false alarms".
#
# Which columns matter?
# ---------------------
# Coefficients are in units of scaled indicators. It is more useful to know how much each *column* changes the score.
encoded = search.best_estimator_[:-1].transform(table.iloc[train])
names = search.best_estimator_[:-1].get_feature_names_out()
encoded = encoded.toarray() if hasattr(encoded, "toarray") else np.asarray(encoded)
columns = [max((c for c in table if str(name).split("__")[-1].startswith(c)), key=len) for name in names]
parts = pd.DataFrame(encoded * solution.coef, columns=columns).T.groupby(level=0).sum().T
spread = parts.std().sort_values()
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.barh(spread.index, spread / spread.sum())
ax.set(xlabel="share of the spread of the scores")

# %%
# Costs
# -----
# The data set has a cost matrix: granting a bad loan costs 5, refusing a good one costs 1. The 5 is not known exactly.
# Suppose that it is between 3 and 10, and that 10 % to 30 % of future applicants are bad risks. This gives a range of
# t, the share of false alarms in the cost (Ratigan & Cowen 2025).
from auclab.displays import LesserAreaDisplay
from auclab.metrics import cost_range

low, high = cost_range((70 / 30, 90 / 10), (1 / 10, 1 / 3))
print(f"t between {low:.3f} and {high:.3f}")
value = auclab.estimate(y, score, "voros", cost_range=(low, high))
print(f"VOROS over this range {value.value:.4f}, {value.lower:.4f} to {value.upper:.4f}")

# %%
# The dashed curve predicts good for all loans, or bad for all loans. Where the two curves are close, the score saves
# little.
display = LesserAreaDisplay.from_predictions(y, score)
display.ax_.axvspan(low, high, color="0.9", zorder=0)

# %%
# The threshold
# -------------
# For three costs of a bad loan, the threshold is chosen on cross-validated scores of the *training* part and then
# applied to the test part. A threshold chosen on the test part, or on scores of rows that the model was fitted to,
# would look better than it is.
held_out = cross_val_predict(search.best_estimator_, table.iloc[train], bad[train], cv=5, method="decision_function")
rows = []
for cost in (3, 5, 10):
    cut = decision_threshold(bad[train], held_out, ("cost", 1, cost))
    refused = score > cut
    rows.append(
        {
            "a bad loan costs": cost,
            "threshold": cut,
            "refused": refused.mean(),
            "bad loans found": refused[y == 1].mean(),
            "good loans refused": refused[y == 0].mean(),
            "mean cost": np.mean(np.where(y == 1, cost * ~refused, refused)),
            "all granted": cost * y.mean(),
            "all refused": 1 - y.mean(),
        }
    )
print(pd.DataFrame(rows).round(3).T.to_string(header=False))

# %%
# What if the assumed cost is wrong? Each curve is the mean cost of a test loan for one cost of a bad loan, and the dots
# are the thresholds above.
fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
cuts = np.quantile(score, np.linspace(0.01, 0.99, 99))
for row in rows:
    cost = row["a bad loan costs"]
    curve = [np.mean(np.where(y == 1, cost * (score <= cut), score > cut)) for cut in cuts]
    (line,) = ax.plot(cuts, curve, label=f"a bad loan costs {cost}")
    ax.plot(row["threshold"], row["mean cost"], "o", color=line.get_color())
ax.set(xlabel="threshold", ylabel="mean cost of a loan", ylim=(0, 1.5))
ax.legend(frameon=False)

# %%
# Expert knowledge
# ----------------
# A longer loan, a larger amount or one more loan elsewhere must not lower the risk score. The certificate takes the
# constraint into account. Columns have the names of the table, also after encoding.
rules = auclab.Constraints(nonnegative=["duration_months", "credit_amount", "existing_credits"])
numbers = credit.frame.select_dtypes("number")
scaled = (numbers - numbers.iloc[train].mean()) / numbers.iloc[train].std()
free = auclab.solve(auclab.RankSVM(0.1, squared=True), scaled.iloc[train], bad[train])
signed = auclab.solve(auclab.RankSVM(0.1, squared=True), scaled.iloc[train], bad[train], constraints=rules)
print(pd.DataFrame({"free": free.coef, "signs": signed.coef}, index=numbers.columns).round(3).to_string())
result = auclab.compare_scorers(
    y, signed.decision_function(scaled.iloc[test]), free.decision_function(scaled.iloc[test])
)
print(f"test AUC, signs less free: {result.difference:+.4f}, p = {result.p_value:.2f}")

# %%
# The same from the shell, with a stored run, a certificate, and the threshold for a cost of 5:
# ``auclab run dataset=german_credit 'decision.threshold=[cost,1,5]'``.
