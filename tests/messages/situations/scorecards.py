# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the scorecards may use."""

from scipy.sparse import csr_array

from auclab.scorecards.card import items
