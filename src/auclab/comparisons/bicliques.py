"""Custom pairs: every row of some with every row of others, in as many bicliques as needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import ArrayLike

from auclab.comparisons.ranked import RankedPairs
from auclab.samples.listed_pairs import ListedPairs
from auclab.samples.memory import Sample
from auclab.samples.ranked import RankedSample
from auclab.samples.tables import in_memory
from auclab.types import AuclabError


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
    auclab.comparisons.RankedPairs : Pairs within groups, of grades and of censored times, which `auclab.solve` makes.

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
            raise AuclabError("the bicliques of the program say which rows are compared; give y=None and no pos_label")
        if not in_memory(X):
            raise AuclabError("bicliques compare rows in memory, and X is a table in blocks; read a part of it")
        n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        return RankedSample.of_pairs(X, ListedPairs.of(self.upper, self.lower, self.weights, n_rows, sample_weight))
