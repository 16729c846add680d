# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the estimators may use: baselines by name, and classes that are not public."""

from importlib.metadata import PackageNotFoundError

import pytest
from scipy.sparse import csr_array

from auclab.estimators.baselines import BASELINES
from auclab.estimators.block_baselines import fit_logistic
from auclab.estimators.discriminant_classifier import DiscriminantClassifier
from auclab.estimators.lightgbm_classifier import LightGBMClassifier


def baseline(name: str, **parameters: float) -> object:
    """A baseline with these parameters."""
    return BASELINES[name](**parameters)
