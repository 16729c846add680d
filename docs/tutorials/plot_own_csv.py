"""
Your own csv, from Python
=========================

This page takes a table with text, numbers, missing values and an identifier to a tuned, certified, explained and
recorded scorer, and to predictions for new rows in another process. :doc:`/tutorials/own_csv` does the same in the
shell.
"""

# %%
# The file
# --------
# The rows are customers of a shop, and ``left`` says who has left. The data are simulated, so that you can try
# everything. Use your own file in place of ``customers.csv``.
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
n = 900
table = pd.DataFrame(
    {
        "customer": [f"C{number:04}" for number in range(n)],
        "plan": rng.choice(["free", "basic", "pro"], n, p=[0.5, 0.35, 0.15]),
        "region": rng.choice(["north", "south", "east", "west"], n),
        "visits": rng.poisson(6, n),
        "spent": rng.lognormal(3, 1, n).round(2),
    }
)
chance = 1 / (1 + np.exp(0.5 * table["visits"] - 1.5 * (table["plan"] == "free") - 0.3))
table["left"] = np.where(rng.random(n) < chance, "yes", "no")
table.loc[rng.random(n) < 0.05, ["spent", "region"]] = np.nan
table[:800].to_csv(folder / "customers.csv", index=False)
table[800:].drop(columns="left").to_csv(folder / "new.csv", index=False)

# %%
# Read
# ----
# The type of a column (number or category) is detected from its values. A positive label or a column that does not
# exist, and a column of mixed types, are errors that show what was found.
from auclab.datasets import load

data = load("file", path=folder / "customers.csv", target="left", positive="yes", drop=["customer"])
print(data.frame.head(3).to_string())
print(f"{len(data.y)} customers, {data.y.mean():.0%} have left, {data.frame.isna().any(axis=1).sum()} rows with gaps")

# %%
# Encode and tune
# ---------------
# ``standard`` imputes, encodes categories as indicators and scales. In each fold it is fitted to the training rows of
# the fold. λ is chosen by AUC on five inner folds of the training part.
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from auclab.datasets.preprocess import standard
from auclab.estimators import AUCClassifier
from auclab.metrics import get_scorer

train, test = train_test_split(np.arange(len(data.y)), test_size=0.3, stratify=data.y, random_state=0)
X, y = data.frame.iloc[train], data.y[train]
model = make_pipeline(standard(data), AUCClassifier("ranksvm", squared=True))
grid = {"aucclassifier__penalty": [0.001, 0.01, 0.1, 1.0, 10.0]}
search = GridSearchCV(model, grid, scoring=get_scorer("auc"), cv=5).fit(X, y)

# %%
# The best configuration was fitted to the whole training part. Its certificate says that no scorer has an objective
# below the lower bound.
best = search.best_estimator_
solution = best[-1].solution_
print(f"λ = {search.best_params_['aucclassifier__penalty']}: {solution.status}")
print(f"objective {solution.objective:.8f}, lower bound {solution.lower_bound:.8f}, gap {solution.gap:.0e}")

# %%
# How good is it?
# ---------------
# These are metrics of the 240 test customers, with 95 % intervals.
import auclab

X_test, y_test = data.frame.iloc[test], data.y[test]
scores = solution.decision_function(best[:-1].transform(X_test))
metrics = {name: auclab.estimate(y_test, scores, name) for name in ("auc", "bauc")}
for name, found in metrics.items():
    print(f"{name:<5} {found.value:.4f}, {found.lower:.4f} to {found.upper:.4f}")

# %%
from auclab.displays import ROCBandDisplay

display = ROCBandDisplay.from_predictions(y_test, scores, at=(0.2,))

# %%
# Which columns matter?
# ---------------------
# ``scorer_of`` writes the pipeline as a formula over the columns of the file. ``effects`` lists how much one unit of a
# number, or a category compared with the mean of its column, adds to the score. It also lists the share of the spread
# of the scores that each column explains.
#
# Suppose that a letter to a customer who stays costs 1, and that a customer who leaves without a letter costs 5. The
# threshold for these costs, and the probabilities, come from cross-validated scores of the training part.
from sklearn.base import clone

from auclab.export.formula import effects, scorer_of

rule = ("cost", 1, 5)
final = clone(best).set_params(aucclassifier__decision_threshold=rule, aucclassifier__calibration="sigmoid").fit(X, y)
scorer = scorer_of(final, labels=("no", "yes"), about={"formulation": repr(solution.formulation), "gap": solution.gap})
found = effects(scorer, X)
print(found.table.round(3).to_string(index=False))

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5, 2), layout="constrained")
ax.barh(found.shares.index[::-1], found.shares[::-1])
ax.set(xlabel="share of the spread of the scores")

# %%
# Which customers are ranked worst? The error of a customer who left is the mean of how much higher the customers who
# stayed score.
losses = [np.maximum(0, scores[y_test == 0] - score).mean() for score in scores[y_test == 1]]
worst = X_test[y_test == 1].assign(error=losses).nlargest(3, "error")
print(worst.round(3).to_string())

# %%
# The effect of the threshold on the test part:
letter = final.predict(X_test) == 1
shares = letter[y_test == 1].mean(), letter[y_test == 0].mean()
print(f"letters to {shares[0]:.0%} of those who leave, to {shares[1]:.0%} of those who stay")

# %%
# Record and save
# ---------------
# MLflow stores settings, metrics and the file of the scorer; ``mlflow ui --backend-store-uri sqlite:///mlflow.db``
# shows them. (``auclab run`` also stores scores, splits, certificate and versions.)
import logging

import mlflow

from auclab.export.writers import export_scorer

logging.getLogger("mlflow").setLevel(logging.ERROR)
logging.getLogger("alembic").setLevel(logging.ERROR)
mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
mlflow.set_experiment(experiment_id=mlflow.create_experiment("customers", artifact_location=(folder / "runs").as_uri()))
with mlflow.start_run(run_name="ranksvm") as run:
    mlflow.log_params({"formulation": "ranksvm", **search.best_params_, "data": data.sha256[:12]})
    mlflow.log_metrics({f"test/{name}": found.value for name, found in metrics.items()} | {"gap": solution.gap})
    mlflow.log_dict(scorer.description, "scorer.json")
(folder / "scorer.json").write_text(export_scorer(scorer, "json"), encoding="utf-8")
print(mlflow.get_run(run.info.run_id).info.status, sorted(path.name for path in folder.iterdir()))

# %%
# New rows
# --------
# Scores can be computed in another process. The file of the scorer is text, so reading it executes no code. Columns are
# found by name, unused columns are ignored, and missing values and new categories are treated as in training.
import subprocess
import sys

program = """
import pandas as pd
from auclab.export.scorer import Scorer

new = pd.read_csv("new.csv")
predicted = Scorer.read("scorer.json").predict(new)
predicted.insert(0, "customer", new["customer"])
predicted.to_csv("scores.csv", index=False)
print(predicted.head(4).round(4).to_string(index=False))
"""
done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
print(done.stdout)

# %%
# The pipeline gives the same scores:
new = pd.read_csv(folder / "new.csv")[list(X)]
kept = pd.read_csv(folder / "scores.csv")
print(np.abs(kept["probability"] - final.predict_proba(new)[:, 1]).max() < 1e-9)
print((kept["label"].eq("yes") == (final.predict(new) == 1)).all())
