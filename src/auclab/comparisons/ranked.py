"""The pairs of a ranked sample: within groups, of grades, or of censored times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from auclab.comparisons.pairs import AllPairs
from auclab.losses import Loss
from auclab.samples.memory import Sample
from auclab.types import Array


@dataclass(frozen=True)
class RankedPairs(AllPairs):
    """The pairs (i, j) of the bicliques of a `RankedSample`: row i should have the larger score.

    A row may be in several bicliques. The sum of its multipliers over all of them does not show whether they are
    feasible in each, so the certificate uses multipliers that are the slopes of the loss at some scorer.

    Parameters
    ----------
    kind : {"groups", "grades", "times"}
        Why rows are compared.

    See Also
    --------
    auclab.samples.ranked.RankedSample : The samples that it is evaluated on.
    auclab.comparisons.AllPairs : Two classes, and all pairs of them.

    Examples
    --------
    >>> RankedPairs("times").kind
    'times'
    """

    kind: Literal["groups", "grades", "times", "given"] = "groups"

    by_marginals = False
    encodings = ("dual",)
    margin_symbol = "w·(x_i − x_j)"
    null_level_names = ("‖mean(x_i − x_j)‖_*", "‖mean(x_i − x_j)‖_*")

    @property
    def mean_symbol(self) -> str:  # type: ignore[override]
        """The mean in an equation."""
        pairs = {
            "groups": "y_i > y_j, g_i = g_j",
            "grades": "y_i > y_j",
            "times": "t_i < t_j, event_i",
            "given": "the given pairs",
        }
        return f"mean over {pairs[self.kind]} of"

    def mean(self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample) -> float:
        """``Σ q_ij ℓ(shift − m_ij)`` over the pairs."""
        # Sums of squares cancel where every pair is ranked correctly: a value below 0 is a rounding error.
        return max(0.0, self.slopes(loss.table, scores, intercept, shift, sample)[1])
