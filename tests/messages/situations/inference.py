# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the inference may use."""

from auclab.inference.catalogue import estimable
from auclab.inference.components import Observations
from messages.situations.metrics import UNLIKE, summary
