"""The data sets of the comparison: the catalogue's binary sets and KEEL's imbalanced ones, their order, their splits.

Left out, with the reason as a row of the results: sets with fewer than `LEAST_MINORITY` rows of the smaller class, and
those with the rows of another one. The sets of one source (yeast, ecoli, …) share rows, so that the evaluation counts
sources.

First come all of the catalogue and from every other source the set with the largest smaller class, then the rest, each
part from few rows to many; where the time ends, the sets before are complete.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np

from auclab._core.base import Array, AuclabError
from auclab.datasets import load
from auclab.datasets.catalogue import find_file
from auclab.datasets.file import load_file
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Dataset, Labels
from auclab.datasets.splits import holdout

#: Of the catalogue: every binary problem once, with its source where other sets share it.
CATALOGUE = {
    **{"abalone": "abalone", "adult": "adult", "breast_cancer_ljubljana": "ljubljana"},
    **{"breast_wisconsin_original": "wisconsin", "covertype_sample": "covertype", "credit_approval": "credit_approval"},
    **{"german_credit": "german_credit", "heart_statlog": "heart", "horse_colic": "horse_colic"},
    **{"house_votes": "house_votes", "ijcnn1": "ijcnn1", "ionosphere": "ionosphere", "liver_disorders": "liver"},
    **{"mammography": "mammography", "monks1": "monks", "monks2": "monks", "monks3": "monks"},
    **{"page_blocks": "page_blocks", "phoneme": "phoneme", "pima": "pima", "satimage": "satimage"},
    **{"solar_flare_m": "flare", "sonar": "sonar", "spambase": "spambase", "spect": "spect"},
    **{"tic_tac_toe": "tic_tac_toe", "w8a": "w8a", "wdbc": "wdbc", "wine_quality_red": "wine"},
    **{"wine_quality_white": "wine", "wpbc": "wpbc", "yeast": "yeast"},
}
#: Prefix of a KEEL name to its source.
KEEL = {
    **{name: name for name in ("abalone", "car", "cleveland", "dermatology", "ecoli", "flare", "glass", "haberman")},
    **{name: name for name in ("iris", "kddcup", "kr_vs_k", "led7digit", "lymphography", "new_thyroid", "page_blocks")},
    **{name: name for name in ("pima", "poker", "segment", "shuttle", "vehicle", "vowel", "wisconsin", "yeast", "zoo")},
    "winequality": "wine",
}
#: The rows of another set, all or nearly.
SAME = {
    "keel_abalone19": "abalone", "keel_pima": "pima", "keel_wisconsin": "breast_wisconsin_original",
    "keel_page_blocks0": "page_blocks", "keel_yeast4": "yeast", "keel_winequality_red_4": "wine_quality_red",
}  # fmt: skip
LEAST_MINORITY = 20
TEST_SIZE = 1 / 3
#: Rows of a training part, of its smaller class, and of a test part, at most.
MOST_TRAIN, MOST_MINORITY, MOST_TEST = 600, 200, 5_000
SMALL = ("liver_disorders", "heart_statlog")


@dataclass(frozen=True)
class Entry:
    """A data set: where it comes from, how large it is, and why it is left out, if it is."""

    name: str
    source: str
    rows: int
    minority: int
    left_out: str = ""


@dataclass(frozen=True)
class Parts:
    """Standardised training and test part of a split."""

    X: Array
    y: Labels
    X_test: Array
    y_test: Labels


def entries() -> list[Entry]:
    """All sets in the order in which they are run; those left out at the end."""
    found = _entries_of_catalogue() + _entries_of_keel()
    used = [entry for entry in found if not entry.left_out]
    largest: dict[str, Entry] = {}
    for entry in sorted(used, key=lambda entry: -entry.minority):
        largest.setdefault(entry.source, entry)
    first = [entry for entry in used if entry.name in CATALOGUE]
    sources = {entry.source for entry in first}
    first += [entry for source, entry in largest.items() if source not in sources]
    rest = [entry for entry in used if entry not in first]
    out = [entry for entry in found if entry.left_out]
    return [*sorted(first, key=_size), *sorted(rest, key=_size), *sorted(out, key=lambda entry: entry.name)]


def _size(entry: Entry) -> tuple[int, str]:
    return entry.rows, entry.name


def _entries_of_catalogue() -> list[Entry]:
    found = []
    for name, source in CATALOGUE.items():
        y = load(name).y
        found.append(Entry(name, source, len(y), int(min(y.sum(), len(y) - y.sum()))))
    return found


def _entries_of_keel() -> list[Entry]:
    found = []
    for row in _manifest():
        name = row["name"]
        minority = min(int(count.rpartition(":")[2]) for count in row["target_values_with_counts"].split(";"))
        source = next(value for prefix, value in KEEL.items() if name.removeprefix("keel_").startswith(prefix))
        reason = f"the rows of {SAME[name]}" if name in SAME else ""
        if not reason and minority < LEAST_MINORITY:
            reason = f"{minority} rows of the smaller class, fewer than {LEAST_MINORITY}"
        found.append(Entry(name, source, int(row["rows"]), minority, reason))
    return found


def _manifest() -> list[dict[str, str]]:
    """The descriptions of KEEL's sets."""
    path = find_file("manifest.csv")
    if path is None:
        raise AuclabError("manifest.csv with the descriptions of the KEEL sets is on no folder of AUCLAB_DATA")
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["name"].startswith("keel_")]


def load_set(name: str) -> Dataset:
    """A set of the catalogue or of KEEL by its name."""
    if not name.startswith("keel_"):
        return load(name)
    row = next((row for row in _manifest() if row["name"] == name), None)
    if row is None:
        raise AuclabError(f"no set {name!r}; results/splits.csv has the names")
    path = find_file(row["file"])
    if path is None:
        raise AuclabError(f"{row['file']} is on no folder of AUCLAB_DATA")
    nominal = "ALL" if row["categorical_features"] == "ALL" else row["categorical_features"].split()
    return load_file(path, target="target", positive="positive", nominal=nominal, name=name, sha256=row["sha256"])


def split(data: Dataset, seed: int) -> Parts:
    """Two thirds and one third, each at most as many rows as stated above; the smaller class is drawn first."""
    (whole,) = holdout(data.y, test_size=TEST_SIZE, seed=seed)
    random = np.random.default_rng(seed)
    train = whole.train
    if len(train) > MOST_TRAIN:
        y = data.y[train]
        rare = int(y.mean() < 0.5)
        few = random.permutation(train[y == rare])[:MOST_MINORITY]
        many = random.permutation(train[y != rare])[: MOST_TRAIN - len(few)]
        train = np.sort(np.concatenate([few, many]))
    test = np.sort(random.permutation(whole.test)[:MOST_TEST])
    prepare = standard(data, missing_category=None)
    X, X_test = prepare.fit_transform(data.frame.iloc[train]), prepare.transform(data.frame.iloc[test])
    return Parts(_dense(X), data.y[train], _dense(X_test), data.y[test])


def _dense(X: Array) -> Array:
    return np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
