"""Runs of MLflow's store as a self-contained HTML page."""

from auclab.report.writer import write_report

__all__ = ["write_report"]
