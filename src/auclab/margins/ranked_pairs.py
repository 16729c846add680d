"""Pairs of bicliques: within groups, of grades, of censored times, and those that a user gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab.losses import Loss
from auclab.samples.memory import Sample
from auclab.samples.ranked import ListedPairs, RankedSample
from auclab.samples.tables import in_memory

if TYPE_CHECKING:
    pass

from auclab.margins.pairs import AllPairs


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
    auclab.margins.AllPairs : Two classes, and all pairs of them.

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


@dataclass(frozen=True, eq=False)
class Bicliques(RankedPairs):
    """The pairs (i, j) of bicliques: i in ``upper[k]``, j in ``lower[k]``; row i should have the larger score.

        mean over k, i, j of ℓ(shift − w·(x_i − x_j)), each pair with the weight weights[k], scaled to sum 1

    Any set of pairs is one of bicliques, at worst of one pair each. Programs over it have no labels:
    ``auclab.solve(Composed(Bicliques(…), "hinge", Norm("l2", 0.1)), X, None)``. With sample weights s the weight of a
    pair is ``weights[k] s_i s_j``.

    Parameters
    ----------
    upper, lower : sequences of sequences of int
        The numbers of the rows of X on either side of each biclique, from 0 on; none is on both sides of one.
    weights : array of shape (n_bicliques,), optional
        ≥ 0; ones if not given.

    Raises
    ------
    AuclabError
        Numbers of sides or weights that differ, an empty side, a row that is compared with itself or does not exist, no
        weight above 0.

    See Also
    --------
    auclab.formulations.Composed : Puts them into a program.
    auclab.margins.RankedPairs : Pairs within groups, of grades and of censored times, which `auclab.solve` makes.

    Examples
    --------
    Row 3 should be above rows 0 and 1, and row 2 above row 1, which counts twice:

    >>> import auclab
    >>> from auclab.formulations import Composed
    >>> from auclab.regularisers import Norm
    >>> program = Composed(Bicliques([[3], [2]], [[0, 1], [1]], [1, 2]), "hinge", Norm("l2", 0.1))
    >>> program.value([0.5], 0.0, [[0.0], [2.0], [1.0], [3.0]], None)     # (0 + ½ + 2·(1 + ½))/4 + 0.1/2
    0.925
    >>> auclab.solve(program, [[0.0], [2.0], [1.0], [3.0]], None).status.value
    'optimal'
    """

    upper: Sequence[ArrayLike] = ()
    lower: Sequence[ArrayLike] = ()
    weights: ArrayLike | None = None
    kind: Literal["given"] = field(default="given", init=False)

    def __post_init__(self) -> None:
        ListedPairs.of(self.upper, self.lower, self.weights)  # checks them

    def __repr__(self) -> str:
        return f"Bicliques({len(self.upper)} of them)"

    def sample(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, pos_label: Any = None) -> Sample:
        """The checked rows with these pairs."""
        if y is not None or pos_label is not None:
            raise AuclabError(
                "the bicliques of the program say which rows are compared; give auclab.solve y=None and no pos_label "
                "(estimators need labels)"
            )
        if not in_memory(X):
            raise AuclabError("bicliques compare rows in memory, and X is a table in blocks; read a part of it")
        n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        return RankedSample.of_pairs(X, ListedPairs.of(self.upper, self.lower, self.weights, n_rows, sample_weight))
