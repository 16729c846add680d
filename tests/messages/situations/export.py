# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of exported scorers may use: descriptions, and models that were fitted with scikit-learn."""

import sys
from typing import Any
from unittest.mock import MagicMock

from scipy.sparse import csr_array
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from auclab.estimators import AUCClassifier
from auclab.export.formula import FORMAT, VERSION, describe, scorer_of
from auclab.export.scorer import Scorer
from auclab.export.writers import export_scorer
from messages.situations import X2, Y, np, pd

TERM = {"column": "a", "shift": 0.0, "scale": 1.0, "weight": 1.0}
NUMBER = {"name": "a", "kind": "number", "fill": None}
DATE = {"name": "a", "kind": "date", "fill": "2024-01-01", "format": None}
BINS = {"name": "a", "kind": "bins", "fill": None}


def described(column: dict[str, Any] = NUMBER, term: dict[str, Any] = TERM, **changes: Any) -> Scorer:
    """A scorer of one column, with changes of its description; None leaves out what it says."""
    about = {"format": FORMAT, "version": VERSION, "about": {"formulation": "bauc", "dataset": "customers"}}
    formula = {"columns": [column], "terms": [term], "intercept": 0.0, "ball": None}
    decision = {"probability": None, "threshold": {"rule": "prior", "value": 0.5}, "labels": ["no", "yes"]}
    return Scorer({**about, **formula, **decision, **changes})


def ranks(**changes: Any) -> Scorer:
    """A scorer without classes."""
    return described(threshold=None, labels=None, **changes)


def fitted(*steps: Any) -> Any:
    """A pipeline that ends in bAUC."""
    return make_pipeline(*steps, AUCClassifier("bauc")).fit(X2, Y)
