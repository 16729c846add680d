"""Table 2: the best of seven classifiers by each metric, and its AUC on the tenth that none of them has seen.

A seed is one split into 90 and 10 percent of each of the twelve sets. On the 90 percent every classifier goes through
5-fold cross-validation, the same folds for all; each metric takes the classifier with the best mean over folds (of
equal ones the first), which is then fitted on all 90 percent. Each classifier is fitted six times a set and all
metrics read the same scores.

Not named: preprocessing, parameters, which scores, how they come into [0, 1]. Here: standardised columns, nominal
ones one-hot, scikit-learn's defaults; the probability of the positive class, and for the SVM, which has none, the
distance from the plane, brought into [0, 1] on the scored rows. Two things are not the default: a hundredth of the
QDA's covariances is the identity, as they may be singular, and on more than 2,000 training rows the neural net takes
50 epochs, about as many steps as the smaller sets get from 200, and a third of the time.

The defaults are those of today; `table2_readings` has those of 2017 (`POOLS`).

pAUC is that of Ferri et al. and sAUC counts tied pairs ½, both as printed. Our own readings: ``ties zero``, the sAUC
of its authors; ``stretched``, every classifier's scores brought to [0, 1] by their extremes; VOROS (costs of 0 to 1),
softAUC (β = 10) and probAUC (h = 0.1), which the paper does not use.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Dataset, Labels
from auclab.datasets.splits import holdout, kfold
from auclab.metrics import auc_score, bauc_score, ferri_auc, probabilistic_auc, scored_auc, soft_auc, voros_score
from experiments.learners.real_adaboost import RealAdaBoost
from experiments.study import AGREE, VALUE, Row, main

Vector = NDArray[np.float64]
#: By metric and variant, the mean of every classifier.
Rated = dict[tuple[str, str], dict[str, float]]

SEEDS = {"smoke": 1, "default": 10, "full": 20}
#: Names of auclab by the names of Table 2.
SETS = {
    "german_credit_statlog": "german_credit", "spambase": "spambase", "pima": "pima", "yeast": "yeast_me2",
    "liver_disorders": "liver_disorders", "wpbc": "wpbc", "ionosphere": "ionosphere", "wine_red4": "wine_red4",
    "wine_white4": "wine_white4", "abalone19": "abalone19", "solarm": "solar_flare_m", "page_blocks": "page_blocks",
}  # fmt: skip
SMALL = ("liver_disorders",)
FOLDS = 5
MANY_ROWS = 2000
STRETCHED = "stretched"
#: By what is selected: metric and variant.
SELECTORS: dict[tuple[str, str], Callable[[Labels, Vector], float]] = {
    ("bauc", AGREE): bauc_score,
    ("auc", AGREE): auc_score,
    ("pauc", AGREE): ferri_auc,
    ("sauc", AGREE): lambda y, scores: scored_auc(y, scores, ties="half"),
    ("sauc", "ties zero"): scored_auc,
    ("pauc", STRETCHED): ferri_auc,
    ("sauc", STRETCHED): lambda y, scores: scored_auc(y, scores, ties="half"),
    ("voros", AGREE): voros_score,
    ("soft", AGREE): lambda y, scores: soft_auc(y, scores, beta=10),
    ("prob", AGREE): lambda y, scores: probabilistic_auc(y, scores, width=0.1),
}
#: The seven of a reading; the first is that of today. ``2017`` has the defaults of scikit-learn 0.19 (August 2017), as
#: far as they have changed: the forest has 10 trees (100 since 0.22), AdaBoost weighs by probabilities (SAMME.R,
#: removed in 1.6), the net ends after 2 epochs without progress (10 since 0.20). ``2017, full trees`` boosts
#: scikit-learn's default tree, which is fully grown, so that the first has no training error and is alone: hard scores.
POOLS = {
    AGREE: ("adaboost", "svm", "forest", "qda", "bayes", "neighbours", "net"),
    "2017": ("adaboost 2017", "svm", "forest 2017", "qda", "bayes", "neighbours", "net 2017"),
    "2017, full trees": ("full tree", "svm", "forest 2017", "qda", "bayes", "neighbours", "net 2017"),
}
#: Metrics of the print, which are the ones that the other readings have.
PRINTED = ("bauc", "auc", "pauc", "sauc")
MEASURES = {"bauc": "bAUC", "accuracy": "accuracy", "f": "F-measure", "mcc": "MCC"}


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Test AUC of what each metric selects on every set, and the statements of Sect. 5.2 on the selected."""
    names = SMALL if scale == "smoke" else tuple(SETS)
    selected: dict[str, dict[tuple[str, str], str]] = {}
    tested: dict[str, dict[str, dict[str, float]]] = {}
    for name in names:
        rated, tested[name] = one_set(load(SETS[name]), seed, POOLS[AGREE])
        selected[name] = {key: select(rated[key], POOLS[AGREE]) for key in SELECTORS}
        for (metric, variant), best in selected[name].items():
            yield Row(f"table2.{name}.{metric}", tested[name]["auc"][best], seed, variant)
        for key, value in tested[name]["auc"].items():
            yield Row(f"{VALUE}table2.{name}.{key}", round(value, 5), seed)
    yield from _text(selected, tested, seed)
    for metric, variant in SELECTORS:
        chosen = [selected[name][metric, variant] for name in names]
        for classifier in POOLS[AGREE]:
            yield Row(f"{VALUE}chosen.{metric}.{classifier}", float(chosen.count(classifier)), seed, variant)


def select(means: dict[str, float], pool: tuple[str, ...]) -> str:
    """The classifier of a pool with the largest mean, of equal ones the first."""
    return max(pool, key=means.__getitem__)


def pool_rows(
    name: str, pool: tuple[str, ...], rated: Rated, tested: dict[str, float], seed: int, variant: str
) -> Iterator[Row]:
    """Test AUC of what the four metrics of the print select out of a pool."""
    for metric in PRINTED:
        yield Row(f"table2.{name}.{metric}", tested[select(rated[metric, AGREE], pool)], seed, variant)


def _text(
    selected: dict[str, dict[tuple[str, str], str]], tested: dict[str, dict[str, dict[str, float]]], seed: int
) -> Iterator[Row]:
    """How often bAUC's choice is beaten by another's less how often it beats it; how often the choices are the same."""
    for other in ("sauc", "pauc"):
        for measure in MEASURES:
            values = [tested[name][measure] for name in selected]
            pairs = [(picks[other, AGREE], picks["bauc", AGREE]) for picks in selected.values()]
            lost = [np.sign(value[theirs] - value[ours]) for value, (theirs, ours) in zip(values, pairs, strict=True)]
            yield Row(f"s5.2.lost_less_won.{measure}.{other}", float(np.mean(lost)), seed)
    same = {
        metric: np.mean([picks[metric, AGREE] == picks["auc", AGREE] for picks in selected.values()])
        for metric in ("bauc", "pauc", "sauc")
    }
    for metric, share in same.items():
        yield Row(f"s5.2.same_as_auc.{metric}", float(share), seed)
    yield Row("s5.2.closest_to_auc", float(max(same["pauc"], same["sauc"]) - same["bauc"]), seed)


def classifiers(rows: int, seed: int) -> dict[str, Any]:
    """Those of all pools, unfitted."""
    epochs = 50 if rows > MANY_ROWS else 200
    return {
        "adaboost": AdaBoostClassifier(random_state=seed),
        "svm": LinearSVC(random_state=seed),
        "forest": RandomForestClassifier(random_state=seed),
        "qda": QuadraticDiscriminantAnalysis(reg_param=0.01),
        "bayes": GaussianNB(),
        "neighbours": KNeighborsClassifier(),
        "net": MLPClassifier(max_iter=epochs, random_state=seed),
        "adaboost 2017": RealAdaBoost(random_state=seed),
        "forest 2017": RandomForestClassifier(10, random_state=seed),
        "net 2017": MLPClassifier(max_iter=epochs, n_iter_no_change=2, random_state=seed),
        "full tree": RealAdaBoost(DecisionTreeClassifier(), random_state=seed),
    }


def one_set(data: Dataset, seed: int, names: tuple[str, ...]) -> tuple[Rated, dict[str, dict[str, float]]]:
    """Mean over folds of every metric, and every measure on the test part, by classifier of those named."""
    (split,) = holdout(data.y, test_size=0.1, seed=seed)
    found = []
    for fold in kfold(data.y[split.train], n_folds=FOLDS, seed=seed):
        scored = _scored(data, split.train[fold.train], split.train[fold.test], seed, names)
        y = data.y[split.train[fold.test]]
        found.append([[_select(key, y, scores) for scores, _ in scored] for key in SELECTORS])
    means = np.mean(found, axis=0).round(12)
    y, scored = data.y[split.test], _scored(data, split.train, split.test, seed, names)
    tested = {
        "auc": [auc_score(y, scores) for scores, _ in scored],
        "bauc": [bauc_score(y, scores) for scores, _ in scored],
        "accuracy": [accuracy_score(y, labels) for _, labels in scored],
        "f": [f1_score(y, labels, zero_division=0) for _, labels in scored],
        "mcc": [matthews_corrcoef(y, labels) for _, labels in scored],
    }
    rated = {key: dict(zip(names, map(float, row), strict=True)) for key, row in zip(SELECTORS, means, strict=True)}
    return rated, {measure: dict(zip(names, values, strict=True)) for measure, values in tested.items()}


def _select(key: tuple[str, str], y: Labels, scores: Vector) -> float:
    return SELECTORS[key](y, _stretched(scores) if key[1] == STRETCHED else scores)


def _scored(
    data: Dataset, train: NDArray[np.intp], test: NDArray[np.intp], seed: int, names: tuple[str, ...]
) -> list[tuple[Vector, Labels]]:
    """Scores in [0, 1] and labels that each classifier gives the rows `test`."""
    prepare = standard(data)
    X_train, X_test = prepare.fit_transform(data.frame.iloc[train]), prepare.transform(data.frame.iloc[test])
    scored = []
    pool = classifiers(len(train), seed)
    for model in (pool[name] for name in names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the default number of steps is the point
            model.fit(X_train, data.y[train])
        if hasattr(model, "predict_proba"):
            scores = model.predict_proba(X_test)[:, 1]
        else:
            scores = _stretched(model.decision_function(X_test))
        scored.append((scores, model.predict(X_test)))
    return scored


def _stretched(scores: Vector) -> Vector:
    """To [0, 1]; constant ones to 0."""
    width = float(np.ptp(scores))
    return (scores - scores.min()) / width if width else np.zeros_like(scores)


if __name__ == "__main__":
    main(run_seed, SEEDS)
