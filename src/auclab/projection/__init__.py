"""Nearest points: small linear and quadratic programs on arrays, below the formulations."""
