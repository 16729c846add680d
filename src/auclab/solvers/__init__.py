"""Solvers: `solve` selects and runs one of them, and `verification` certifies its result."""

from auclab.solvers.dispatch import solve

__all__ = ["solve"]
