"""Seconds spent on a model and its solve."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timings:
    """Seconds spent, each kind apart: building the model, loading it, compiling code, solving."""

    build: float = 0.0
    load: float = 0.0
    compile: float = 0.0
    solve: float = 0.0

    @property
    def total(self) -> float:
        """Sum of the four."""
        return self.build + self.load + self.compile + self.solve
