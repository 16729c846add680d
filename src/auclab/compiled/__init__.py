"""Numba loops on sorted scores: arrays in, arrays out, each in time linear in the number of scores."""
