"""The attributes and methods of every fitted scorer: a linear one, one of a kernel's space, one of another library.

Code that measures, shows or stores a scorer uses these attributes and does not test for its class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from auclab.types import Array, Status

if TYPE_CHECKING:
    from auclab.formulations.optimum import Optimum
    from auclab.models.timings import Timings

#: Largest number of coefficients shown in full; of more, the first and the last two are shown.
_SHOWN = 8


def coef_in_words(coef: Array) -> str:
    """The coefficients in a line; of many, the ends and the number of all."""
    shown = np.array2string(coef, precision=6, threshold=_SHOWN, edgeitems=2, separator=", ", max_line_width=500)
    return shown if coef.size <= _SHOWN else f"{shown} ({coef.size} features)"


@dataclass(frozen=True)
class InFeatures:
    """A scorer as generalization bounds see it: linear in some features of the training part.

    `coef` (n_features,), or None: None if the scorer is not linear in known features. `radius`: of a ball that contains
    every possible row; None if there is no such ball. `diameter`: largest distance of a positive and a negative, if it
    is less than twice the radius. `ensured`: what ensures both, if it is not the preprocessing. `remark`: why bounds
    that depend on the rows do not hold, with ``{}`` for their kind; empty for no remark, None if they hold.
    """

    features: Any
    coef: Array | None
    radius: float | None
    diameter: float | None = None
    ensured: str = ""
    remark: str | None = None


class Fitted(Protocol):
    """A fitted scorer and what is known about it.

    See Also
    --------
    auclab.solvers.solution.Solution : Of a formulation; what its attributes mean.
    auclab.estimators.baselines.BaselineFit : Of another library.
    """

    @property
    def formulation(self) -> Any:
        """What was fitted; it has a `name` and an `equation`."""

    @property
    def certificate(self) -> Any:
        """`Certificate`: numbers of the proof, NaN where there is none."""

    @property
    def status(self) -> Status:
        """How the fit ended."""

    @property
    def solver(self) -> str:
        """What fitted it."""

    @property
    def timings(self) -> Timings:
        """Seconds."""

    @property
    def iterations(self) -> int:
        """Number of iterations."""

    @property
    def history(self) -> tuple[tuple[float, float, float], ...]:
        """Seconds, objective and lower bound of every outer step."""

    @property
    def steps(self) -> tuple[Any, ...]:
        """What was done (`auclab.solvers.solution.Step`); empty for a scorer of another library."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""

    @property
    def coef(self) -> Any:
        """Coefficients of shape (n_features,); None of a scorer that is not linear."""

    @property
    def intercept(self) -> float:
        """What is added to every score."""

    @property
    def multipliers(self) -> Array | None:
        """The dual point of the bound, an entry per observation."""

    @property
    def shares_neg(self) -> Array | None:
        """Weights of the negatives that belong to it."""

    @property
    def bin_multipliers(self) -> Any:
        """The dual point by bins of the scores."""

    @property
    def constraints(self) -> Any:
        """`ColumnConstraints` that `coef` satisfies."""

    @property
    def constraint_multipliers(self) -> Array | None:
        """Their multipliers."""

    @property
    def spread(self) -> Array | None:
        """Units of the length up to which the bound holds, if the program has no norm."""

    @property
    def objective(self) -> float:
        """Value of the point."""

    @property
    def lower_bound(self) -> float:
        """Lower bound of the values of all scorers."""

    @property
    def gap(self) -> float:
        """Relative distance of objective and lower bound."""

    @property
    def has_objective(self) -> bool:
        """Whether the minimised objective is known."""

    @property
    def equation(self) -> str:
        """The program in one line."""

    @property
    def proved_for(self) -> str:
        """The scorers of which none is better, such as ``for every w``."""

    @property
    def radius_text(self) -> str:
        """The length up to which the bound holds, such as ``‖w‖ ≤ 3``; empty where it holds for any."""

    @property
    def on_landmarks(self) -> Any:
        """The scorer itself if it is a `KernelSolution`, with landmarks; else None."""

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,)."""

    def read_optimum(self) -> Optimum | None:
        """What the optimal value says about the ranking errors; None where nothing is proved about it."""

    def in_words(self, statement: str) -> str:
        """A statement about coefficients w as one about this kind of scorer."""

    def not_verified(self) -> str:
        """Why the certificate proves no optimality, where it never does."""

    def in_features(self, features: Any, radius: float | None) -> InFeatures:
        """What bounds need, from features of the training part and the radius that preprocessing ensures."""
