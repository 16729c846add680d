"""Ratigan, Heuton, Wang, Cowen & Hughes 2026, Partial VOROS."""
