"""The squared hinge, ``max(0, a)²``."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from auclab.losses.loss import Loss


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """``ℓ(a) = max(0, a)²``, with ``ℓ*(α) = α²/4`` for α ≥ 0.

    Its slope is continuous, so Newton's method reaches the exact minimum. Large errors count more than with the hinge,
    and its mean is not a buffered probability.

    See Also
    --------
    auclab.losses.Hinge : ``max(0, a)``.
    auclab.RankSVM : Takes it as ``loss="squared_hinge"``.

    References
    ----------
    Chapelle & Keerthi (2010), "Efficient algorithms for ranking with SVMs"; Lee & Lin (2014), "Large-scale linear
    RankSVM".

    Examples
    --------
    >>> SquaredHinge().value([-1.0, 2.0]).tolist(), SquaredHinge().slope([-1.0, 2.0]).tolist()
    ([0.0, 4.0], [0.0, 4.0])
    >>> SquaredHinge().conjugate([0.0, 1.0, 4.0]).tolist()
    [0.0, 0.25, 4.0]
    """

    name = "squared_hinge"
    symbol = "[{}]₊²"

    def pieces(self) -> tuple[ArrayLike, ArrayLike]:
        """``a²`` from 0 on."""
        return [0.0], [[0.0, 0.0, 1.0]]
