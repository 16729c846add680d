"""Cortes & Mohri 2003, AUC optimization vs. error rate minimization."""
