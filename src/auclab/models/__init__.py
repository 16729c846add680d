"""Algebraic models of a `Problem`, one modelling language a file; only solvers import them."""
