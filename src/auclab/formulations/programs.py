"""The formulations by their names.

minimise over w (and b)    mean_k ℓ(1 − m_k(w, b) − z‖w‖)  +  R(w)

with margins m_k over pairs, ``w·(x_i⁺ − x_j⁻)``, or over points, ``y_k (w·x_k + b)`` (`auclab.margins`). A
formulation is a row of this table: which margins, which z, which loss, which R. `composed` puts one together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.base import Norm as NormName
from auclab._core.forms import row_scores
from auclab._core.ranking import concordance
from auclab._core.validation import check_choice, check_parameter_range, check_types
from auclab.formulations.base import FixedNull, Optimum, Program, parameter_names
from auclab.formulations.hinge_program import HingeProgram
from auclab.formulations.scorecard import Scorecard
from auclab.losses import Hinge, Loss
from auclab.margins import AllPairs, Comparison, HardestNegatives, Points, comparison_named
from auclab.regularisers import Norm, Regulariser
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample


@dataclass(frozen=True)
class BufferedAUC(HingeProgram):
    """Maximise buffered AUC of a linear scorer: a linear program.

        max_w bAUC(w) = 1 − min_w mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊

    Norton & Uryasev 2018, (21) with the missing "1 −" restored, and (22). The optimal value is the smallest
    buffered probability that a ranking error exceeds 0. `w` is fixed up to the buffer: ``1/‖w‖`` is how far the
    buffer reaches below 0. Value 1 means that every linear scorer has bAUC 0 (mean(x⁺) = mean(x⁻)); value 0,
    that the pairs are linearly separable, and then any longer `w` is optimal too.

    Examples
    --------
    Margins 3, 1, 1 and −1: three pairs have no hinge at w = 1, the wrong one has 2.

    >>> BufferedAUC().value([1.0], 0.0, [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    0.5

    See Also
    --------
    auclab.GeneralizedBufferedAUC : With a threshold z.
    auclab.ExactAUC : AUC itself, for small data.
    auclab.metrics.bauc_score : The buffered AUC of given scores.
    """

    name = "bauc"
    comparisons = AllPairs()
    threshold = 0.0


@dataclass(frozen=True)
class GeneralizedBufferedAUC(HingeProgram):
    """Maximise bAUC_z of a linear scorer with normalised error ξ(w)/‖w‖.

        min_w mean_ij [1 − w·(x_i⁺ − x_j⁻) − z‖w‖]₊,     max bAUC_z = 1 − min

    Norton & Uryasev 2018, (25), (26). Convex for z ≤ 0 (more conservative than bAUC, equivalent to RankSVM);
    not convex for z > 0, up to plain AUC at z₀ = E[ξ | ξ ≥ 0].

    Parameters
    ----------
    threshold : float
        z, in units of the score of a unit-norm scorer; 0 or of modulus in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}

    See Also
    --------
    auclab.RankSVM : The same optima with a penalty, for z ≤ 0.
    auclab.threshold_to_ranksvm : The map between them.
    auclab.metrics.auc_threshold : The z₀ at which bAUC_z is the AUC of given scores.

    Examples
    --------
    >>> import auclab
    >>> program = auclab.GeneralizedBufferedAUC(threshold=-0.5)
    >>> program.value([1.0], 0.0, [[0.0], [0.5]], [0, 1])  # [1 − 0.5 + 0.5]₊
    1.0
    """

    threshold: float = -0.1
    norm: NormName = "l2"

    name = "generalized_bauc"
    comparisons = AllPairs()

    def null_threshold(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """‖mean(x⁺) − mean(x⁻)‖_*: w = 0 is optimal iff ``−z`` is at least this (value 1, bAUC_z = 0)."""
        return self.regulariser.norm.dual(as_sample(X, y, sample_weight).mean_difference)


@dataclass(frozen=True)
class RankSVM(HingeProgram):
    """Pairwise hinge with a norm penalty.

        min_w mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + λ‖w‖     (or λ‖w‖²)

    Norton & Uryasev 2018, (27) and Prop. 8. It is bAUC_z at z = −λ/V, V the optimal value (Prop. 7 and
    `ranksvm_to_threshold`). The loss is a mean over pairs: the convention ``½‖w‖² + C Σ_ij hinge`` has
    ``λ = 1/(2 C n_pos n_neg)``.

    Parameters
    ----------
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Penalise ‖w‖² in place of ‖w‖.
    loss : str or Loss
        Cost of an error: a name of `auclab.losses.LOSSES`, ``"hinge"`` by default, or an object.

    See Also
    --------
    auclab.GeneralizedBufferedAUC : The same optima with a threshold.
    auclab.ranksvm_to_threshold : The map between them.
    auclab.CSVM : Points in place of pairs.

    Examples
    --------
    >>> import auclab
    >>> program = auclab.RankSVM(penalty=0.5)
    >>> program.value([1.0], 0.0, [[0.0], [0.5]], [0, 1])  # the hinge 0.5 of the one pair, and 0.5·|1|
    1.0
    """

    penalty: float = 0.01
    norm: NormName = "l2"
    squared: bool = False
    loss: Loss = "hinge"  # type: ignore[assignment]  # a name becomes an object

    name = "ranksvm"
    comparisons = AllPairs()
    threshold = 0.0

    def null_penalty(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """λ_max = ℓ'(1)·‖mean(x⁺) − mean(x⁻)‖_*: w = 0 is optimal iff λ ≥ λ_max; ℓ'(1) is 1 for the hinge.

        Infinite for the squared penalty, whose solution is never 0 (0 if the class means coincide).

        Examples
        --------
        >>> RankSVM(1.0).null_penalty([[0.0], [1.0], [2.0]], [0, 0, 1])     # 2 − ½
        1.5
        """
        return self.null.penalty(as_sample(X, y, sample_weight))


@dataclass(frozen=True)
class CSVM(HingeProgram):
    """The soft-margin support vector machine: the same program on points in place of pairs.

        min_{w,b} mean_k [1 − y_k (w·x_k + b)]₊ + λ‖w‖     (or λ‖w‖²)

    Norton & Uryasev 2018, (28). It is EC-SVM at z = −λ/V, V the optimal value (Prop. 6). ``w = 0`` has value
    2·min(class shares). The convention ``½‖w‖² + C Σ_k hinge`` has ``λ = 1/(2 C m)``.

    Parameters
    ----------
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Penalise ‖w‖² in place of ‖w‖.
    loss : str or Loss
        Cost of an error: a name of `auclab.losses.LOSSES`, ``"hinge"`` by default, or an object.

    See Also
    --------
    auclab.ECSVM : The same optima with a threshold.
    auclab.ranksvm_to_threshold : The map between them, for points too.
    auclab.RankSVM : Pairs in place of points.

    Examples
    --------
    >>> import auclab
    >>> program = auclab.CSVM(penalty=0.5)
    >>> program.value([1.0], 0.0, [[-1.0], [0.5]], [0, 1])  # mean of the hinges 0 and 0.5, and 0.5·|1|
    0.75
    """

    penalty: float = 0.01
    norm: NormName = "l2"
    squared: bool = False
    loss: Loss = "hinge"  # type: ignore[assignment]  # a name becomes an object

    name = "csvm"
    comparisons = Points()
    threshold = 0.0

    def null_penalty(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """λ_max at or above which w = 0 is optimal: for the hinge ``min ‖Σ q_k y_k x_k‖_*`` over full minority weights.

        Infinite for the squared penalty unless the minimum is 0.
        """
        return self.null.penalty(as_sample(X, y, sample_weight))


@dataclass(frozen=True)
class ECSVM(HingeProgram):
    """The extended C-SVM: minimise the buffered probability that a misclassification error exceeds z.

        min_{w,b} mean_k [1 − y_k (w·x_k + b) − z‖w‖]₊

    Norton & Uryasev 2018, (29). Convex for z ≤ 0 (equivalent to C-SVM), not convex for z > 0.

    Parameters
    ----------
    threshold : float
        z, in units of the distance to the hyperplane; 0 or of modulus in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}

    See Also
    --------
    auclab.CSVM : The same optima with a penalty, for z ≤ 0.
    auclab.threshold_to_ranksvm : The map between them, for points too.
    auclab.GeneralizedBufferedAUC : Pairs in place of points.

    Examples
    --------
    >>> import auclab
    >>> program = auclab.ECSVM(threshold=-0.5)
    >>> program.value([1.0], 0.0, [[-1.0], [0.5]], [0, 1])  # mean of [1 − 1 + 0.5]₊ and [1 − 0.5 + 0.5]₊
    0.75
    """

    threshold: float = -0.1
    norm: NormName = "l2"

    name = "ecsvm"
    comparisons = Points()

    def null_threshold(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The −z at or above which w = 0 is optimal: ``λ_max / (2·min(class shares))``."""
        sample = as_sample(X, y, sample_weight)
        return self.null.penalty(sample) / self.null.value(sample)


@dataclass(frozen=True)
class PartialAUC(HingeProgram):
    """Maximise the area under the ROC curve up to a false positive rate: a CVaR over the negatives.

        min_w  max_{r ∈ R} Σ_j r_j mean_i [1 − w·(x_i⁺ − x_j⁻)]₊ + λ‖w‖     (or λ‖w‖²),
        R = {0 ≤ r_j ≤ 1/(α n_neg), Σ r_j = 1},     α = max_fpr

    The loss of a negative, ``mean_i [1 − w·(x_i⁺ − x_j⁻)]₊``, rises with its score, so the worst r averages over the
    share α of the negatives with the highest scores (one of them in part, unless ``α n_neg`` is whole), which is the
    superquantile of the losses at level 1 − α (derivations 2). As a maximum of convex functions the objective is
    convex; for λ = 0 or the norms l1 and linf it is a linear program. Derived; Narasimhan & Agarwal 2013 (KDD) derive a
    structural SVM from the same sets of negatives.

    The pairs with the hardest negatives, those with the highest scores, are those of the ROC curve up to FPR α, so for
    every w ``∫₀^α roc / α ≥ 1 − value(w)``, tied pairs counted 0. ``max_fpr=1`` is bAUC maximisation (λ = 0) or
    RankSVM.

    Without a penalty, w = 0 (value 1) is often optimal, namely if the mean of the positives equals ``Σ r_j x_j⁻`` for
    some r in R: then no direction ranks the hardest negatives below the positives on average.

    Parameters
    ----------
    max_fpr : float
        α in (0, 1].
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Penalise ‖w‖² in place of ‖w‖.

    Examples
    --------
    Positive 2; the harder of the negatives 0 and 1.5 has margin ½, so at ``w = 1`` its hinge is ½, and the mean of both
    is ¼:

    >>> X, y = [[2.0], [0.0], [1.5]], [1, 0, 0]
    >>> PartialAUC(0.5).value([1.0], 0.0, X, y), PartialAUC(1.0).value([1.0], 0.0, X, y)
    (0.5, 0.25)

    See Also
    --------
    auclab.RankSVM : The mean over all negatives.
    auclab.metrics.partial_auc : The partial AUC of given scores.
    """

    max_fpr: float = 0.3
    penalty: float = 0.0
    norm: NormName = "l2"
    squared: bool = False

    name = "partial_auc"
    threshold = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.max_fpr <= 1.0:
            raise AuclabError(f"max_fpr is a false positive rate in (0, 1], got {self.max_fpr}")

    @property
    def comparisons(self) -> HardestNegatives:  # type: ignore[override]
        """The pairs with the hardest negatives."""
        return HardestNegatives(self.max_fpr)

    def null_penalty(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """λ_max = min over R of ‖mean(x⁺) − Σ r_j x_j⁻‖_*: w = 0 is optimal iff λ ≥ λ_max.

        Infinite for the squared penalty unless the minimum is 0.

        Examples
        --------
        >>> round(PartialAUC(0.5).null_penalty([[0.0], [1.0], [3.0]], [0, 0, 1]), 9)  # to the upper of the negatives
        2.0
        """
        return self.null.penalty(as_sample(X, y, sample_weight))

    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """The hinge as a lower bound of the partial AUC."""
        loss, band = objective - self.regulariser.value(coef), f"up to FPR {self.max_fpr:g}"
        sentence = f"the partial AUC {band}, divided by {self.max_fpr:g}, is at least {1 - loss:.4f} (a hinge bound)"
        if not coef.any():
            share = f"{100 * self.max_fpr:g}%"
            sentence = f"w = 0: the hinge over the hardest {share} of the negatives proves no partial AUC {band}"
        return Optimum(0.0, loss, 1.0 - loss, math.nan, math.nan, sentence)

    def equation(self) -> str:
        """The program in one line.

        Examples
        --------
        >>> PartialAUC(0.1).equation()
        'min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ over the hardest 10% of j'
        """
        hinge, *penalty = super().equation().partition("]₊")
        return f"{hinge}]₊ over the hardest {100 * self.max_fpr:g}% of j{penalty[1]}"


@dataclass(frozen=True)
class ExactAUC(Program):
    """Maximise AUC itself: count the wrong pairs, whatever the size of their errors.

        min_w P(ξ(w) ≥ 0) = 1 − AUC_strict(w),     ξ_ij = −w·(x_i⁺ − x_j⁻)

    Norton & Uryasev 2018, (19): neither continuous nor convex. A tied pair counts 0, so w = 0 has value 1
    (derivations 1). It is a mixed-integer program with one binary variable per pair, for small data only. It shows how
    much AUC is lost by maximising bAUC: ``1 − value ≥ max bAUC`` always.

    AUC does not depend on the length of w, so a bound on the length excludes no direction. The mixed-integer program
    needs one for its constants, and the solution attains it.

    Parameters
    ----------
    norm_bound : float
        ``max_k |w_k|`` of the solution, in [1e-150, 1e150].

    Examples
    --------
    Of two pairs one is ranked correctly and one is tied:

    >>> ExactAUC().value([1.0], 0.0, [[0.0], [1.0], [1.0]], [0, 0, 1])
    0.5

    See Also
    --------
    auclab.BufferedAUC : The lower bound of AUC that is a linear program.
    auclab.metrics.auc_score : The AUC of given scores.
    """

    norm_bound: float = 1.0

    name = "exact_auc"
    kind = "mip"
    regulariser = Norm("linf")
    threshold = 0.0

    def __post_init__(self) -> None:
        check_types(self)
        if not (math.isfinite(self.norm_bound) and self.norm_bound > 0):
            raise AuclabError(f"norm_bound must be finite and > 0, got {self.norm_bound}")
        check_parameter_range("norm_bound", self.norm_bound)

    @property
    def is_convex(self) -> bool:
        """Whether the program is convex: it is not."""
        return False

    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """``1 − AUC_strict`` on a sample that was checked before."""
        ranked = []
        for X, weight in zip((sample.X_pos, sample.X_neg), sample.weights, strict=True):
            scores = row_scores(X, coef)
            order = np.argsort(scores)
            ranked.append((scores[order], np.empty(0) if weight is None else weight[order]))
        (pos, weight_pos), (neg, weight_neg) = ranked
        right, _, pairs = concordance(pos, neg, weight_pos, weight_neg)
        return float((pairs - right) / pairs)

    def of_length(self, coef: Array) -> Array:
        """The w of a direction with ``max_k |w_k| = norm_bound``; 0 stays 0."""
        largest = float(np.abs(coef).max())
        return coef * (self.norm_bound / largest) if largest > 0 else coef

    @property
    def null(self) -> FixedNull:
        """The solution w = 0."""
        return FixedNull("no w has any pair right: all observations are equal")

    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """The AUC, 1 − value, and the largest that any linear scorer may have."""
        auc, best = 1.0 - objective, 1.0 - lower_bound
        sentence = f"AUC is {auc:.4f} with tied pairs counted 0; no linear scorer has more than {best:.4f}"
        return Optimum(0.0, math.nan, auc, math.nan, math.nan, sentence)

    def equation(self) -> str:
        """The program in one line."""
        return "min  mean_ij 1{w·(x_i⁺ − x_j⁻) ≤ 0} = 1 − AUC"


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


#: Programs by the name they have in the configuration. Their defaults are those of ``conf/formulation``.
FORMULATIONS: dict[str, type[Program]] = {
    program.name: program
    for program in (
        BufferedAUC,
        GeneralizedBufferedAUC,
        RankSVM,
        CSVM,
        ECSVM,
        PartialAUC,
        ExactAUC,
        Scorecard,
        Composed,
    )
}


def formulation_named(name: str, **parameters: Any) -> Program:
    """Return a formulation by its name in `FORMULATIONS`; other parameters have the defaults of the command line.

    Parameters
    ----------
    name : str
        Such as ``"bauc"`` or ``"ranksvm"``.
    **parameters
        Parameters of the formulation, such as `penalty`.

    Returns
    -------
    Program

    Raises
    ------
    AuclabError
        No such formulation, a parameter that it does not have, or a value outside its range.

    See Also
    --------
    as_formulation : Takes an object as well.

    Examples
    --------
    >>> formulation_named("ranksvm", penalty=0.1)
    RankSVM(penalty=0.1, norm='l2', squared=False, loss=Hinge())
    """
    check_choice("formulation", name, sorted(FORMULATIONS))
    return FORMULATIONS[name]().with_params(**parameters)


def as_formulation(formulation: str | Program) -> Program:
    """Return a formulation, or make one from its name with default parameters.

    Raises
    ------
    AuclabError
        An unknown name, or neither a name nor a formulation.

    See Also
    --------
    formulation_named : With parameters.

    Examples
    --------
    >>> as_formulation("csvm"), as_formulation(BufferedAUC())
    (CSVM(penalty=0.01, norm='l2', squared=False, loss=Hinge()), BufferedAUC())
    """
    if isinstance(formulation, str):
        return formulation_named(formulation)
    if isinstance(formulation, Program):
        return formulation
    if isinstance(formulation, type) and issubclass(formulation, Program):
        raise AuclabError(f"{formulation.__name__} is a class; pass an object of it, {formulation.__name__}()")
    raise AuclabError(
        f"formulation must be a name ({', '.join(FORMULATIONS)}) or an object such as RankSVM(0.01), got "
        f"{type(formulation).__name__}"
    )
