"""A stored run changed by hand, in twelve ways that leave its files in agreement as far as they can be."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from auclab.runs.checking.claims import Verdict
from auclab.runs.checking.command import check_folder


def small_table(place: Path) -> list[str]:
    """Sixty rows of three columns in a file, a third positive; the settings that read them."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    table = pd.DataFrame(rng.standard_normal((60, 3)) + 0.9 * y[:, None], columns=list("abc"))
    table.assign(y=y.astype(int)).to_csv(place / "data.csv", index=False)
    fast = ["bounds=none", "metrics=auc", "decision.probability=none"]
    return ["dataset=file", f"dataset.path={place / 'data.csv'}", "dataset.target=y", *fast]


def copied_runs(made: Path, copy: Path) -> Path:
    """A copy of runs that may be changed, the data they name included."""
    shutil.copytree(made, copy)
    for path in copy.rglob("config.yaml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(str(made), str(copy)), encoding="utf-8")
    return copy


def verdicts(folder: Path) -> dict[str, Verdict]:
    """The verdict of every claim about the runs of a folder, by the name of the claim; the last of equal names."""
    return {claim.name: claim.verdict for check in check_folder(folder) for claim in check.claims}


def refuted(folder: Path) -> set[str]:
    """Names of the claims that are refuted or not proved."""
    wrong = (Verdict.REFUTED, Verdict.UNPROVED)
    return {claim.name for check in check_folder(folder) for claim in check.claims if claim.verdict in wrong}


def edit_certificate(folder: Path, **changes):
    """Change numbers of the certificate; gap, absolute gap and metrics.json follow, so that all of them agree."""
    path, numbers = folder / "certificate.json", folder / "metrics.json"
    certificate, metrics = (json.loads(file.read_text(encoding="utf-8")) for file in (path, numbers))
    certificate |= changes
    if {"objective", "lower_bound"} & changes.keys():
        certificate["absolute_gap"] = certificate["objective"] - certificate["lower_bound"]
        certificate["gap"] = certificate["absolute_gap"] / max(abs(certificate["objective"]), 1e-3)
    metrics |= {name: certificate[name] for name in ("objective", "lower_bound", "absolute_gap", "gap")}
    path.write_text(json.dumps(certificate), encoding="utf-8")
    numbers.write_text(json.dumps(metrics), encoding="utf-8")


def read_certificate(folder: Path):
    return json.loads((folder / "certificate.json").read_text(encoding="utf-8"))


def change_coef(folder: Path):
    path = folder / "coefficients.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    rows[1][1] = repr(float(rows[1][1]) + 1e-4)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def change_objective(folder: Path):
    edit_certificate(folder, objective=read_certificate(folder)["objective"] * (1 - 1e-7))


def raise_bound(folder: Path):
    """To the objective: the gap becomes 0."""
    edit_certificate(folder, lower_bound=read_certificate(folder)["objective"])


def change_multipliers(folder: Path):
    path = folder / "multipliers.parquet"
    table = pd.read_parquet(path)
    table.loc[table["multiplier"].idxmax(), "multiplier"] *= 0.5
    table.to_parquet(path, index=False)


def claim_optimality(folder: Path):
    edit_certificate(folder, status="optimal")


def claim_every_w(folder: Path):
    edit_certificate(folder, norm_bound="inf")


def change_penalty(folder: Path):
    """In the certificate and in the configuration."""
    certificate = read_certificate(folder)
    then = certificate["program"]["penalty"]
    edit_certificate(folder, program=certificate["program"] | {"penalty": then * 0.999})
    path = folder / "config.yaml"
    text = path.read_text(encoding="utf-8")
    assert f"  penalty: {then}\n" in text
    path.write_text(text.replace(f"  penalty: {then}\n", f"  penalty: {then * 0.999}\n"), encoding="utf-8")


def lower_gap(folder: Path):
    """The gap alone, also in metrics.json."""
    path, numbers = folder / "certificate.json", folder / "metrics.json"
    for file in (path, numbers):
        content = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps(content | {"gap": content["gap"] / 2 + 1e-8}), encoding="utf-8")


def negate_model(folder: Path):
    """Every weight of the model changes its sign: it ranks the rows the other way round."""
    path = folder / "model" / "scorer.json"
    scorer = json.loads(path.read_text(encoding="utf-8"))
    terms = [term | {"weight": -term["weight"]} for term in scorer["terms"]]
    path.write_text(json.dumps(scorer | {"terms": terms}), encoding="utf-8")


def raise_auc(folder: Path):
    """That of the training rows, by a ten-thousandth."""
    path = folder / "metrics.json"
    numbers = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(numbers | {"train/auc": numbers["train/auc"] + 1e-4}), encoding="utf-8")


def change_data(data: Path):
    """One number of a csv file with a head and the label in the last column."""
    lines = data.read_text(encoding="utf-8").splitlines()
    cells = lines[3].split(",")
    cells[0] = repr(float(cells[0]) * (1 + 1e-9))
    data.write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:]]) + "\n", encoding="utf-8")


def change_label(data: Path):
    lines = data.read_text(encoding="utf-8").splitlines()
    cells = lines[3].split(",")
    cells[-1] = str(1 - int(cells[-1]))
    data.write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:]]) + "\n", encoding="utf-8")


def forge_checksums(folder: Path, training):
    """Checksums and labels of the run as its changed data now have them."""
    stored = read_certificate(folder)["data"]
    edit_certificate(
        folder, data=stored | {"dataset_sha256": training.dataset_sha256, "training_sha256": training.sha256}
    )
    path = folder / "multipliers.parquet"
    pd.read_parquet(path).assign(row=training.rows, y_true=training.y.astype("int8")).to_parquet(path, index=False)


def write_limited(place: Path, make: Callable[[list[str]], object]):
    """A run whose bound holds up to a length of w only: pairs 1e-9 apart, which w = 1 cannot tell from ties.

    `make` runs the overrides with ``place/limited`` as the folder.
    """
    lines = ["a,y", f"{1 + 1e-9!r},1", "1.0,0", "1.0,0", "1e-9,0"]
    (place / "narrow.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = ["dataset=file", f"dataset.path={place / 'narrow.csv'}", "dataset.target=y", "bounds=none", "metrics=auc"]
    make([*data, "formulation=bauc", "preprocess=none", "split=none"])
    # What w = 1 is worth, and two thirds of the pairs with their full weights: Σ q d = 2/3 · 1e-9.
    folder, rest, multipliers = place / "limited", 2 / 3 * 1e-9, [2 / 3, 1 / 3, 1 / 3, 0.0]
    (folder / "coefficients.csv").write_text("feature,coefficient\na,1.0\n(intercept),0.0\n", encoding="utf-8")
    limits = {"status": "optimal_within", "norm_bound": 10.0, "spread": [1.0]}
    edit_certificate(folder, objective=2 / 3 - rest, lower_bound=2 / 3 - 10 * rest, **limits)
    shutil.rmtree(folder / "model")  # of the point that the solver found
    table = {"row": range(4), "y_true": np.array([1, 0, 0, 0], dtype="int8"), "multiplier": multipliers}
    pd.DataFrame(table).to_parquet(folder / "multipliers.parquet", index=False)


#: Changes of the files of a run, by what they change; then those of the file of its data.
OF_RUNS = {
    "coef": change_coef,
    "objective": change_objective,
    "lower bound": raise_bound,
    "multipliers": change_multipliers,
    "status": claim_optimality,
    "norm_bound": claim_every_w,
    "penalty": change_penalty,
    "gap": lower_gap,
    "model": negate_model,
    "train/auc": raise_auc,
}
OF_DATA = {"data": change_data, "labels": change_label}
