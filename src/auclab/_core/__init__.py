"""What every package shares, for nobody outside: Numba loops on sorted scores, validation, tolerances, errors, words."""
