"""The types every package shares: arrays, norms, the status of a solve, and the error a user can correct."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Norm = Literal["l1", "l2", "linf"]
NORMS: tuple[Norm, ...] = ("l1", "l2", "linf")

#: What counts the same: every pair, or every group that has a pair.
GroupWeights = Literal["pairs", "groups"]


def __getattr__(name: str) -> Any:
    """`Array`, made at its first use: messages and pages of help do not need NumPy."""
    if name != "Array":
        raise AttributeError(f"module 'auclab._core.base' has no attribute {name!r}")
    import numpy as np
    from numpy.typing import NDArray

    return globals().setdefault(name, NDArray[np.float64])


class AuclabError(ValueError):
    """Invalid input or an unsupported combination of choices; the message says what to try."""

    __module__ = "auclab"  # as a user imports it, and reads it in a traceback


class Status(StrEnum):
    """How a solve ended: only `OPTIMAL`, `OPTIMAL_WITHIN`, `LOCAL`, `UNCERTIFIED`, `BASELINE` have a converged point.

    `OPTIMAL` is for all w (with a kernel, all scorers of its space), `OPTIMAL_WITHIN` for those up to the norm bound of
    the certificate (in the span of the landmarks); a solve that a limit stopped is neither.

    See Also
    --------
    auclab.Solution : Has one as `status`.
    auclab.Certificate : The numbers behind it.

    Examples
    --------
    >>> Status("uncertified").advice
    'the solver finished, but its lower bound does not hold for this point'
    """

    OPTIMAL = "optimal"
    OPTIMAL_WITHIN = "optimal_within"
    LOCAL = "local"
    UNCERTIFIED = "uncertified"
    BASELINE = "baseline"
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    INTERRUPTED = "interrupted"
    FAILED = "failed"

    @property
    def advice(self) -> str:
        """What the status means for the person who reads it."""
        return {
            Status.OPTIMAL: "the gap is within the tolerance",
            Status.OPTIMAL_WITHIN: "the gap is within the tolerance for the scorers named there; others may do better",
            Status.LOCAL: "a local optimum of a problem that is not convex; other starts may be better",
            Status.UNCERTIFIED: "the solver finished, but its lower bound does not hold for this point",
            Status.BASELINE: "which has no certificate",
            Status.TIME_LIMIT: "the best point within the time limit; raise time_limit or loosen tolerance",
            Status.ITERATION_LIMIT: "the solver ran out of iterations or stalled; loosen tolerance or change solver",
            Status.INTERRUPTED: "the best point until Ctrl-C",
            Status.FAILED: "no usable point; try another solver or preprocess=standard",
        }[self]


#: Of these the point is one the method converged to.
CONVERGED = (Status.OPTIMAL, Status.OPTIMAL_WITHIN, Status.LOCAL, Status.UNCERTIFIED, Status.BASELINE)
