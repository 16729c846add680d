# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the formulations may use: constraints on columns, and rows in blocks."""

from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.programs import as_formulation
from auclab.formulations.scorecard import Scorecard
from messages.situations import X2, Y, auclab, f, new_folder, pd


def solved(formulation: str, **options: object) -> object:
    """The solution on four rows."""
    return auclab.solve(formulation, X2, Y, **options)
