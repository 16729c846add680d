"""Gao, Jin, Zhu & Zhou 2013, One-pass AUC optimization."""
