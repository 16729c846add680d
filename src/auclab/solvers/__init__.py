"""Solvers: each module named in the configuration is one; `referee.solve` lets them play and scores them."""

from auclab.solvers.dispatch import solve

__all__ = ["solve"]
