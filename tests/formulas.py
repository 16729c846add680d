"""Preprocessing that was fitted, and a scorer behind it whose weights were drawn, as a formula over the columns."""

import json

import numpy as np

from auclab.datasets import preprocess
from auclab.datasets.records import Dataset
from auclab.export.formula import describe
from auclab.export.scorer import Scorer
from auclab.runs.split.formula import column_names

KINDS = ("standard", "minmax", "unit_ball", "none")


INTERCEPT = 0.5


def fitted(X, y, kind, **encoding):
    """Preprocessing, weights that were drawn, and the scorer, which went through a file."""
    steps = getattr(preprocess, kind)(Dataset("toy", X, y), **encoding)
    coef = np.random.default_rng(0).normal(size=steps.fit_transform(X, y).shape[1])
    described = describe(
        steps, coef=coef, intercept=INTERCEPT, columns=column_names(X),
        threshold={"rule": "zero", "value": 0.0}, labels=("other", "default"),
    )  # fmt: skip
    return steps, coef, Scorer(json.loads(json.dumps(described)))
