"""Labelled samples, split by class: in memory, or in blocks that are read from files."""
