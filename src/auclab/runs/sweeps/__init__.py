"""Sweeps: many experiments, resumed where they were stopped."""
