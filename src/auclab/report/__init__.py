"""Runs of MLflow's store as one page of HTML that needs neither server nor network."""

from auclab.report.writer import write_report

__all__ = ["write_report"]
