"""
Queries: pairs within groups
============================

A search engine ranks the documents of one query. Documents of different queries are never shown together, so
pairs across queries are irrelevant and may mislead. The data are simulated: queries differ in the relevance of their
documents, and one column distinguishes queries, but not the documents of one query.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, cross_val_score

from auclab.bounds import fixed_scorer_pairs_bound
from auclab.estimators import AUCRanker
from auclab.inference import compare_pairs, estimate_pairs
from auclab.metrics import grouped_auc, ordered_pairs

rng = np.random.default_rng(2)
query = np.repeat(np.arange(120), rng.integers(5, 15, 120))
popular = rng.normal(size=120)[query]  # how relevant all documents of a query are
matches, links, quality = rng.normal(size=(3, query.size))
X = np.column_stack((matches, links, popular + 0.7 * quality))
grade = np.digitize(matches + 0.5 * links + 3 * popular + rng.normal(size=query.size), [-1.5, 2.0])
print(f"{query.size} documents of 120 queries, with the grades 0, 1, 2: {np.bincount(grade)}")

train, test = next(GroupShuffleSplit(1, test_size=0.4, random_state=0).split(X, grade, query))

# %%
# All pairs, or those within queries
# ----------------------------------
# Both are RankSVM with the same λ, and both are certified. Over all pairs the third column, which tells popular queries
# from others, gets a large coefficient, although it is noise within a query.
models = {
    "all pairs": AUCRanker("ranksvm", penalty=0.01).fit(X[train], grade[train]),
    "within queries": AUCRanker("ranksvm", penalty=0.01).fit(X[train], grade[train], groups=query[train]),
}
for name, model in models.items():
    print(f"{name:<15} gap {model.solution_.gap:.0e}, coefficients {model.coef_.round(2)}")

# %%
# Users see the second number, the share of correctly ranked pairs within queries.
scores = {name: model.predict(X[test]) for name, model in models.items()}
for name, score in scores.items():
    over_all, within = grouped_auc(grade[test], score), grouped_auc(grade[test], score, query[test])
    print(f"{name:<15} over all pairs {over_all:.4f}, within queries {within:.4f}")

# %%
# How sure is that?
# -----------------
# Whole queries are independent, pairs are not. The intervals come from leaving out one query at a time. McDiarmid's
# bound holds for any number of queries.
pairs = ordered_pairs(grade[test], query[test])
fig, ax = plt.subplots(figsize=(4.5, 1.8), layout="constrained")
for place, (name, score) in enumerate(scores.items()):
    found = estimate_pairs(pairs, score)
    bound = fixed_scorer_pairs_bound(pairs, found.value, rho=0.05)
    print(f"{name:<15} {found.value:.3f}, {found.lower:.3f} to {found.upper:.3f}, bound ± {bound.half_width:.3f}")
    ax.errorbar(found.value, place, xerr=[[found.value - found.lower], [found.upper - found.value]], fmt="o")
ax.set(yticks=range(len(scores)), yticklabels=scores, xlabel="AUC within queries, 95 % interval", ylim=(1.5, -0.5))

result = compare_pairs(pairs, scores["within queries"], scores["all pairs"])
print(f"difference {result.difference:.3f}, p = {result.p_value:.1g}")

# %%
# Equal weights for queries
# -------------------------
# A query with twice as many documents has about four times as many pairs. With ``group_weights="groups"`` every query
# that has a pair counts the same, in the program and in ``score``.
alike = AUCRanker("ranksvm", penalty=0.01, group_weights="groups").fit(X[train], grade[train], groups=query[train])
print(f"mean of the AUCs of the queries: {alike.score(X[test], grade[test], groups=query[test]):.4f}")

# %%
# Cross-validation
# ----------------
# Folds keep queries together. scikit-learn passes the queries to ``fit`` and ``score`` if this is requested.
with sklearn.config_context(enable_metadata_routing=True):
    ranker = AUCRanker("ranksvm").set_fit_request(groups=True).set_score_request(groups=True)
    for penalty in (0.001, 0.01, 0.1):
        found = cross_val_score(
            ranker.set_params(penalty=penalty),
            X[train],
            grade[train],
            cv=GroupKFold(5),
            params={"groups": query[train]},
        )
        print(f"λ = {penalty}: {found.mean():.4f}")
