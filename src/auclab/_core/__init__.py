"""What the packages share, and nobody outside: Numba loops on sorted scores, validation, tolerances, errors, words."""
