"""Errors in the five papers: a counterexample of each, and the page docs/errata.md from ``experiments/errata.csv``."""
