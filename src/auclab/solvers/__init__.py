"""Solvers: `solve` selects and runs one of them, and `verification` certifies its result."""

from auclab.solvers.dispatch import solve
from auclab.solvers.least_bpoe import LeastExceedance, minimise_bpoe
from auclab.solvers.required_bauc import Frontier, ShortestScorer, frontier, least_norm

__all__ = ["Frontier", "LeastExceedance", "ShortestScorer", "frontier", "least_norm", "minimise_bpoe", "solve"]
