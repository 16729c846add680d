"""Runs of MLflow's store side by side: read, paired by split, tested, ranked, printed."""

from auclab.comparison.runs import read_runs

__all__ = ["read_runs"]
