"""Runs of MLflow's store as a self-contained HTML page."""
