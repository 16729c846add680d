"""Compiled loops on sorted scores: arrays in, arrays out."""
