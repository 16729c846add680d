"""Bounds that include all rounding errors; docs/guarantees.md explains why they hold."""
