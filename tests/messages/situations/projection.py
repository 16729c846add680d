# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the projections may use."""

from types import SimpleNamespace
