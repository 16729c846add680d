"""Tables 3 and 4: three classifiers of scikit-learn on features of the ultrasound images (BUSI).

Printed: PyTorch's default vision transformer on cropped and scaled images; logistic regression, C = 1000, 25
iterations, naive Bayes and random forest by scikit-learn's defaults; a split of unnamed size and seed. Ours: the
default quarter for the test part, stratified, a split per seed. Malignant is positive.

Needs a file: the data set ``busi``, the features as busi_features.csv (README.md says how to make it).
"""

from __future__ import annotations

from collections.abc import Iterator

from pandas.api.types import is_numeric_dtype
from sklearn.base import ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from auclab._core.base import Array, AuclabError
from auclab.datasets import load
from auclab.datasets.records import Labels
from auclab.metrics import auc_score, voros_score
from experiments.ratigan_cowen.breast_cancer import held_out_scores
from experiments.study import Row, holds, main

SEEDS = {"smoke": 1, "default": 20, "full": 100}
THIRDS = {"0_1/3": (0.0, 1 / 3), "1/3_2/3": (1 / 3, 2 / 3), "2/3_1": (2 / 3, 1.0)}
COLUMNS = (
    "busi_features.csv needs a header and a row per image: a column 'label' (normal, benign or malignant), all other "
    "columns numbers, the features that the vision transformer gives (768 of torchvision's vit_b_16)"
)


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """AUROC and VOROS of the test part, on [0, 1] and on thirds."""
    X, y = features()
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=seed)
    thirds = {}
    for name, model in classifiers(seed).items():
        scores = held_out_scores(model, X_train, y_train, X_test)
        yield Row(f"table3.{name}.auroc", 100 * auc_score(y_test, scores), seed)
        yield Row(f"table3.{name}.voros", 100 * voros_score(y_test, scores), seed)
        for third, ends in THIRDS.items():
            thirds[name, third] = voros_score(y_test, scores, cost_range=ends)
            yield Row(f"table4.{name}.{third}", 100 * thirds[name, third], seed)
    yield holds("table4.log_wins_high", thirds["log", "2/3_1"] > thirds["forest", "2/3_1"], seed)


def features() -> tuple[Array, Labels]:
    """The table, checked.

    Raises
    ------
    AuclabError
        No file, or a column that is not a number; both messages name the columns needed.
    """
    try:
        data = load("busi")
    except AuclabError as error:
        raise AuclabError(f"{error}. {COLUMNS}") from error
    columns = [str(name) for name, kind in data.frame.dtypes.items() if not is_numeric_dtype(kind)]
    if columns or data.frame.isna().to_numpy().any():
        raise AuclabError(f"{columns[0] if columns else 'a feature'} has cells that are not numbers. {COLUMNS}")
    return data.frame.to_numpy(float), data.y


def classifiers(seed: int) -> dict[str, ClassifierMixin]:
    """As printed."""
    return {
        "log": LogisticRegression(C=1000, max_iter=25),
        "forest": RandomForestClassifier(random_state=seed),
        "naive": GaussianNB(),
    }


if __name__ == "__main__":
    main(run_seed, SEEDS)
