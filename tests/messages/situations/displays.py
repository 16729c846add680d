# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of tables/displays.csv may use besides: figures are drawn to nowhere, and closed."""

import matplotlib as mpl
from matplotlib import pyplot as plt
from sklearn.linear_model import LogisticRegression

from auclab.solvers.kernel.solution import Stage

mpl.use("agg")


def drawn(display: object) -> None:
    """Close the figure of a display that has just been drawn."""
    plt.close("all")
