"""Bounds in which every rounding is accounted for; docs/guarantees.md has the argument."""
