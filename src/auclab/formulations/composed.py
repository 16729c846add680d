"""Any composition of comparisons, loss and regulariser."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from auclab.comparisons import Comparison, comparison_named
from auclab.formulations.base import Program, parameter_names
from auclab.formulations.hinge import HingeProgram
from auclab.losses import Hinge, Loss
from auclab.regularisers import Norm, Regulariser


@dataclass(frozen=True)
class Composed(HingeProgram):
    """A program composed of its pieces: the margins, the loss and the regulariser.

        minimise over w (and b)    mean_k ℓ(1 − m_k − z‖w‖) + R(w)

    The formulations with a name are such compositions: ``RankSVM(0.1)`` is ``Composed("pairs", Hinge(), Norm("l2",
    0.1))``. A loss other than the hinge is solved by newton, cutting_plane, clarabel and scs, on rows in memory, and
    for z ≤ 0.

    Parameters
    ----------
    comparisons : {"pairs", "points"} or Comparison
    loss : str or Loss
        A name of `auclab.losses.LOSSES`, or an object.
    regulariser : Regulariser
        Its norm is also that of the buffer z‖w‖.
    threshold : float
        z, 0 or of modulus in [1e-150, 1e150].

    See Also
    --------
    auclab.losses.Loss : How to define a loss.
    auclab.regularisers.VectorNorm : How to define a norm.

    Examples
    --------
    >>> program = Composed("pairs", Hinge(), Norm("l1", 0.1))
    >>> program.equation()
    'min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + 0.1 ‖w‖₁'
    >>> program.with_params(penalty=0.2).regulariser.weight
    0.2
    """

    comparisons: Comparison = "pairs"  # type: ignore[assignment]  # a name becomes an object
    loss: Loss = field(default_factory=Hinge)
    regulariser: Regulariser = field(default_factory=lambda: Norm("l2", 0.01, squared=True))
    threshold: float = 0.0

    name = "composed"

    def __post_init__(self) -> None:
        object.__setattr__(self, "comparisons", comparison_named(self.comparisons))
        super().__post_init__()

    def with_params(self, **parameters: Any) -> Self:
        """The program with some parameters changed; `penalty` is the weight of the regulariser."""
        if "penalty" in parameters:
            regulariser: Regulariser = parameters.get("regulariser", self.regulariser)
            parameters["regulariser"] = regulariser.with_weight(float(parameters.pop("penalty")))
        return super().with_params(**parameters)


def without_squares(program: Program) -> tuple[float, Program]:
    """The ρ of the term ``ρ Σ w_k²`` of a program's regulariser, and the program without this term.

    `program`: a mean of losses.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> without_squares(RankSVM(0.1, squared=True))
    (0.1, RankSVM(penalty=0.0, norm='l2', squared=False, loss=Hinge()))
    """
    ridge, rest = program.regulariser.split()
    return ridge, row_with(program, regulariser=rest) if ridge else program


def row_with(program: Program, *, threshold: float | None = None, regulariser: Regulariser | None = None) -> Program:
    """The program over the same margins with another z or regulariser, as solvers need it.

    `program`: a mean of losses. The result has the program's class if these are parameters of it; otherwise it is a
    `Composed`.
    """
    names = set(parameter_names(type(program)))
    changed: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    if regulariser is not None and "regulariser" in names:
        changed["regulariser"] = regulariser
    elif regulariser is not None:
        before = program.regulariser.stored()
        changed |= {name: value for name, value in regulariser.stored().items() if value != before[name]}
    if set(changed) <= names:
        return replace(program, **changed)  # type: ignore[type-var]
    z = program.threshold if threshold is None else threshold
    return Composed(program.comparisons, program.loss, regulariser or program.regulariser, z)
