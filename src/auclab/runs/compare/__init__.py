"""Comparison of tracked runs: read from the store, paired by split, tested, ranked, printed."""
