# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the estimators may use: baselines by name, and classes that are not public."""

from scipy.sparse import csr_array

from auclab.estimators.baselines import BASELINES


def baseline(name: str, **parameters: float) -> object:
    """A baseline with these parameters."""
    return BASELINES[name](**parameters)
