"""How the curves are sampled: one solve for each of some tolerances."""

from __future__ import annotations

from typing import Any

from benchopt.stopping_criterion import StoppingCriterion


class Ladder(StoppingCriterion):
    """Solve at each of the tolerances `steps`, the largest first, and stop."""

    def __init__(
        self,
        steps: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
        strategy: str | None = "tolerance",
        **options: Any,
    ) -> None:
        self.steps = steps
        super().__init__(strategy=strategy, steps=steps, **options)

    def check_convergence(self, curve: list[dict[str, Any]]) -> tuple[bool, float]:
        """Whether the last point is that of the last tolerance; the progress is not told."""
        return curve[-1]["stop_val"] <= self.steps[-1], 0.0

    def get_next_stop_val(self, stop_val: float) -> float:
        """The next smaller tolerance."""
        return next(step for step in self.steps if step < stop_val)
