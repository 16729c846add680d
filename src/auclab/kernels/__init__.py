"""Compiled loops on sorted scores: arrays in, arrays out, no classes, no checks, O(m) each."""
