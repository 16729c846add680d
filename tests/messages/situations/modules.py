# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the modules beside the packages may use."""

from auclab.deprecation import deprecated, renamed_parameters
