"""The base class of programs: value, equation, and what a solver needs to know.

    minimise over w (and b)    loss(w, b) + λ Ω(w),      Ω = ‖w‖ or ‖w‖²

The formulations of `hinge` are means of hinges; `partial_auc` is the mean over the negatives with
the highest scores, and `exact_auc` counts pairs. All differences are in the methods of this class, so that no solver
tests for the type of a program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, ClassVar, Literal, Self

from numpy.typing import ArrayLike

from auclab.formulations.accurate import accurate_objective
from auclab.formulations.null import FixedNull, NullPoint
from auclab.formulations.optimum import Optimum
from auclab.losses import Hinge, Loss
from auclab.margins import AllPairs, Comparison
from auclab.regularisers import Norm, Regulariser
from auclab.samples.memory import Sample, moved_intercept_parts
from auclab.types import Array, AuclabError
from auclab.validation import finite_array
from auclab.wording import did_you_mean

#: What a solver must be able to minimise: a mean of hinges, of another loss, of hinges over the hardest negatives, a
#: count of pairs, or a mean of hinges over whole coefficients.
Kind = Literal["hinge", "piecewise", "cvar", "mip", "integer"]


class Program(ABC):
    """Base class of the objectives over linear scorers; subclasses are frozen dataclasses of their parameters.

    Attributes
    ----------
    name : str
        As in the configuration.
    kind : {"hinge", "piecewise", "cvar", "mip", "integer"}
        What a solver must be able to minimise.
    comparisons : Comparison
        Which margins: ``w·(x_i⁺ − x_j⁻)`` or ``y_k (w·x_k + b)``.
    loss : Loss
        Cost of the shortfall of a margin.
    regulariser : Regulariser
        Cost of w; its norm is also the norm of the buffer z‖w‖.
    threshold : float
        z, in units of the score of a scorer with ‖w‖ = 1.

    See Also
    --------
    auclab.formulations.problem.Problem : A program together with a sample.
    auclab.solve : Minimise it.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> program = RankSVM(0.1)
    >>> program.name, program.is_convex, program.with_params(penalty=0.2).penalty
    ('ranksvm', True, 0.2)
    """

    name: ClassVar[str]
    kind: ClassVar[Kind]
    # No values here: a dataclass would use them as defaults of its own fields.
    comparisons: Comparison = AllPairs()
    loss: Loss = Hinge()
    regulariser: Regulariser = Norm()
    threshold: float

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn reads them: `sklearn.base.clone` makes an equal formulation.

        Parameters
        ----------
        deep : bool
            For scikit-learn; the parameters are not nested.

        See Also
        --------
        auclab.formulations.base.Program.with_params : Changes them.

        Examples
        --------
        >>> from auclab.formulations import ECSVM
        >>> ECSVM(-0.5).get_params()
        {'threshold': -0.5, 'norm': 'l2'}
        """
        return {name: getattr(self, name) for name in parameter_names(type(self))}

    def with_params(self, **parameters: Any) -> Self:
        """The formulation with some parameters changed; formulations themselves do not change.

        There is no `set_params`: an object that holds a formulation replaces it, as
        ``AUCClassifier.set_params(formulation__penalty=0.1)`` does.

        Raises
        ------
        AuclabError
            A parameter that the formulation does not have, or a value outside its range.

        See Also
        --------
        auclab.formulations.base.Program.get_params : The parameters by name.

        Examples
        --------
        >>> from auclab.formulations import RankSVM
        >>> RankSVM(0.01, "l1").with_params(penalty=0.1)
        RankSVM(penalty=0.1, norm='l1', squared=False, loss=Hinge())
        """
        names = parameter_names(type(self))
        if unknown := [name for name in parameters if name not in names]:
            has = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
            raise AuclabError(f"formulation {self.name} has no {unknown[0]}{did_you_mean(unknown[0], names)}; {has}")
        return replace(self, **parameters)  # type: ignore[type-var]

    @property
    @abstractmethod
    def is_convex(self) -> bool:
        """Whether the program is convex."""

    @property
    def uses_norm(self) -> bool:
        """Whether ‖w‖ appears at all; without it the norm makes no difference."""
        return self.threshold != 0 or self.regulariser.weight > 0

    @abstractmethod
    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """`value` on a sample that was checked before."""

    @abstractmethod
    def equation(self) -> str:
        """The program in one line."""

    @abstractmethod
    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """What an optimal value says about the errors of the scorer (Norton & Uryasev 2018, Prop. 5).

        Parameters
        ----------
        objective, lower_bound : float
            The value at the optimum and its best proved lower bound.
        coef : array of shape (n_features,)

        See Also
        --------
        auclab.formulations.read_optimum : The same for a solution.
        """

    @property
    def null(self) -> FixedNull:
        """The solution w = 0: its value, when it is optimal, and the proof."""
        return NullPoint(self)

    def value(
        self, coef: ArrayLike, intercept: float, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Objective at (`coef`, `intercept`), in O(m log m) without forming pairs.

        Parameters
        ----------
        coef : array of shape (n_features,)
        intercept : float
            Ignored by pair formulations, where it cancels.
        X : array, table or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            0/1, −1/+1 or booleans; None over `auclab.margins.Bicliques`.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; equal to repeating observations.

        Raises
        ------
        AuclabError
            Bad shapes, NaN, one class only, weights below 0.

        See Also
        --------
        auclab.solve : The w with the least value.
        """
        sample = self.comparisons.sample(X, y, sample_weight)
        vector = finite_array("coef", coef, (sample.n_features,))
        centred, low = moved_intercept_parts(float(intercept), vector, sample.offset, 1.0)
        return accurate_objective(self, vector, centred, sample, low)


def parameter_names(program: type[Program]) -> tuple[str, ...]:
    """Names of the parameters of a formulation that may be set.

    Examples
    --------
    >>> from auclab.formulations import BufferedAUC, RankSVM
    >>> parameter_names(RankSVM), parameter_names(BufferedAUC)
    (('penalty', 'norm', 'squared', 'loss'), ())
    """
    return tuple(field.name for field in fields(program))  # type: ignore[arg-type]
