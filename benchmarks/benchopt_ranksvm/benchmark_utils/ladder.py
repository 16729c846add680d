"""How the curves are sampled: one solve for each tolerance 0.1, 0.01, … down to the last."""

from __future__ import annotations

from typing import Any

from benchopt.stopping_criterion import StoppingCriterion


class Ladder(StoppingCriterion):
    """Stop after the solve at tolerance `last`."""

    def __init__(self, last: float = 1e-6, strategy: str | None = "tolerance", **options: Any) -> None:
        self.last = last
        super().__init__(strategy=strategy, last=last, **options)

    def check_convergence(self, curve: list[dict[str, Any]]) -> tuple[bool, float]:
        """Whether the last point is that of the last tolerance; the progress is not told."""
        return curve[-1]["stop_val"] <= 1.1 * self.last, 0.0

    def get_next_stop_val(self, stop_val: float) -> float:
        """A tenth."""
        return min(0.1, stop_val / 10.0)
