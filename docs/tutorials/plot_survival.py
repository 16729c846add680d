"""
Survival: a risk from censored times
====================================

For some patients the event was observed. For the others we only know that it had not happened until some day. This page
fits a risk score to the comparable pairs, certifies it, and measures its concordance with intervals. The data are
simulated, so the true risk is known.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.displays import ConcordanceDisplay
from auclab.estimators import SurvivalRanker
from auclab.inference import compare_pairs, estimate_pairs
from auclab.metrics import buffered_concordance, censored_pairs, concordance_index

rng = np.random.default_rng(1)
patients = pd.DataFrame(
    {
        "age": rng.uniform(40, 85, 600),
        "marker": rng.lognormal(0.0, 0.6, 600),
        "treated": rng.random(600) < 0.5,
        "noise": rng.normal(size=600),
    }
).astype(float)
rate = np.exp(0.05 * patients["age"] + np.log(patients["marker"]) - 1.2 * patients["treated"])
days = np.ceil(20_000 * rng.exponential(1.0 / rate))
until = rng.integers(100, 2000, 600)
outcome = np.array(list(zip(days <= until, np.minimum(days, until), strict=True)), [("died", bool), ("days", float)])
print(pd.concat([patients, pd.DataFrame(outcome)], axis=1).head(3).round(2).to_string(index=False))
print(f"{outcome['died'].mean():.0%} died, the others are censored")

# %%
# Which pairs can be compared
# ---------------------------
# A patient who died is compared with every patient who was still under observation after that day. Two censored
# patients cannot be compared.
X, X_test, y, y_test = train_test_split(patients, outcome, test_size=0.5, random_state=0)
pairs = censored_pairs(y_test["days"], y_test["died"])
print(f"{pairs.n_pairs:,} of {len(y_test) * (len(y_test) - 1) // 2:,} pairs of test patients can be compared")

# %%
# A scorer, certified
# -------------------
# This is RankSVM over these pairs. Its λ is chosen by cross-validation of the concordance, which ``score`` returns.
search = GridSearchCV(
    make_pipeline(StandardScaler(), SurvivalRanker("ranksvm")),
    {"survivalranker__penalty": [0.001, 0.01, 0.1]},
    cv=KFold(5, shuffle=True, random_state=0),
).fit(X, y)
model = search.best_estimator_
solution = model[-1].solution_
print(f"λ = {model[-1].penalty}: {solution.status}, relative gap {solution.gap:.1e}")
print(pd.Series(model[-1].coef_, patients.columns).round(3).to_string())

# %%
# A buffered scorer maximises the buffered concordance itself, without a λ.
buffered = make_pipeline(StandardScaler(), SurvivalRanker("bauc")).fit(X, y)
risks = {
    "ranksvm": model.predict(X_test),
    "bauc": buffered.predict(X_test),
    "age alone": X_test["age"].to_numpy(),
}
for name, risk in risks.items():
    concordance = concordance_index(y_test["days"], y_test["died"], risk)
    share = buffered_concordance(y_test["days"], y_test["died"], risk)
    print(f"{name:<10} concordance {concordance:.4f}, buffered {share:.4f}")

# %%
# How sure is that?
# -----------------
# Patients are independent, pairs are not. The intervals come from leaving out one patient at a time. The paired test
# compares two risk scores on the same patients.
found = {name: estimate_pairs(pairs, risk) for name, risk in risks.items()}
fig, ax = plt.subplots(figsize=(4.5, 2.0), layout="constrained")
for place, each in enumerate(found.values()):
    ax.errorbar(each.value, place, xerr=[[each.value - each.lower], [each.upper - each.value]], fmt="o")
ax.set(yticks=range(len(found)), yticklabels=found, xlabel="concordance, 95 % interval")
ax.invert_yaxis()

for other in ("bauc", "age alone"):
    result = compare_pairs(pairs, risks["ranksvm"], risks[other])
    low, high = result.interval
    print(f"ranksvm less {other}: {result.difference:+.4f} ({low:+.4f} to {high:+.4f}), p = {result.p_value:.2g}")

# %%
# Which patients are ranked well?
# -------------------------------
# There is no ROC curve, because a patient is not positive or negative at all times. Instead, the figure orders patients
# by the share of their pairs that is ranked correctly. The area below this curve is the concordance.
figure = ConcordanceDisplay.from_pairs(pairs, risks["ranksvm"], name="ranksvm")
ConcordanceDisplay.from_pairs(pairs, risks["age alone"], name="age alone", ax=figure.ax_)

# %%
# Ties of times
# -------------
# Days are whole numbers, so times can be equal. A patient who is censored on the day on which another one dies is not
# compared with that patient. scikit-survival and lifelines count the censored patient as later.
for tied_times in ("excluded", "censored_later"):
    value = concordance_index(y_test["days"], y_test["died"], risks["ranksvm"], tied_times=tied_times)
    print(f"{tied_times:<15} {value:.6f}")
