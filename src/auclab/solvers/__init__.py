"""Solvers: `dispatch.solve` selects and runs one of the `registry`; `verification` certifies what it returns."""

from auclab.solvers.dispatch import solve

__all__ = ["solve"]
