"""Any composition of comparisons, loss and regulariser."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from auclab.comparisons import Comparison, comparison_named
from auclab.formulations.base import Program, parameter_names
from auclab.formulations.hinge import HingeProgram
from auclab.losses import Hinge, Loss
from auclab.regularisers import Norm


@dataclass(frozen=True)
class Composed(HingeProgram):
    """A program put together from its pieces: which margins, how an error is charged, what w costs.

        minimise over w (and b)    mean_k ℓ(1 − m_k − z‖w‖) + R(w)

    The formulations with a name are such compositions: ``RankSVM(0.1)`` is ``Composed("pairs", Hinge(), Norm("l2",
    0.1))``. A loss other than the hinge is solved by newton, cutting_plane, clarabel and scs, without constraints on w,
    on rows in memory, and for z ≤ 0.

    Parameters
    ----------
    comparisons : {"pairs", "points"} or Comparison
    loss : str or Loss
        A name of `auclab.losses.LOSSES`, or an object.
    regulariser : Norm
        Its norm is also that of the buffer z‖w‖.
    threshold : float
        z, 0 or of modulus in [1e-150, 1e150].

    See Also
    --------
    auclab.losses.Loss : How to state a loss of one's own.
    auclab.regularisers.VectorNorm : How to state a norm of one's own.

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
    regulariser: Norm = field(default_factory=lambda: Norm("l2", 0.01, squared=True))
    threshold: float = 0.0

    name = "composed"

    def __post_init__(self) -> None:
        object.__setattr__(self, "comparisons", comparison_named(self.comparisons))
        super().__post_init__()

    def with_params(self, **parameters: Any) -> Self:
        """The program with some parameters changed; `penalty` is the weight of the regulariser."""
        if "penalty" in parameters:
            weighted = replace(parameters.get("regulariser", self.regulariser), weight=float(parameters.pop("penalty")))
            parameters["regulariser"] = weighted
        return super().with_params(**parameters)


def row_with(program: Program, **parameters: Any) -> Program:
    """The program over the same margins with other values of z, λ, norm and square, as solvers need it.

    Parameters
    ----------
    program : Program
        A mean of losses.
    **parameters
        Any of `threshold`, `penalty`, `norm` and `squared`.

    Returns
    -------
    Program
        Of the program's own class where they are its own parameters, else a `Composed`.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> row_with(RankSVM(0.1), penalty=0.2), row_with(RankSVM(0.1), threshold=-0.5).threshold
    (RankSVM(penalty=0.2, norm='l2', squared=False, loss=Hinge()), -0.5)
    """
    if set(parameters) <= set(parameter_names(type(program))):
        return replace(program, **parameters)  # type: ignore[type-var]
    fields = {"penalty": "weight", "norm": "name", "squared": "squared"}
    regulariser = replace(program.regulariser, **{fields[k]: v for k, v in parameters.items() if k in fields})
    return Composed(program.comparisons, program.loss, regulariser, parameters.get("threshold", program.threshold))
