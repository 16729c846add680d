"""Which generalisation bounds hold for one solved split, and the numbers that go into them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from auclab.bounds import (
    fixed_scorer_auc_bound,
    fixed_scorer_bauc_bound,
    observed_radii,
    pairwise_stability_bound,
    peeled_fixed_scorer_bauc_bound,
    peeled_margin_bound,
    peeled_stability_bound,
    published_stability_bound,
    step_weight_bound,
)
from auclab.bounds.bound import Bound
from auclab.bounds.checks import OBSERVED
from auclab.compiled.hinge import pair_hinge_value
from auclab.datasets.preprocess import UnitBall
from auclab.metrics import auc_score, bauc_score
from auclab.pipeline.settings import BoundsConfig
from auclab.samples.blocks.table import BlockTable
from auclab.solvers.solution import Solution
from auclab.types import Array, Norm

#: Radius of the ball `preprocess=unit_ball` maps every observation into, seen or unseen.
UNIT_RADIUS = 1.0


@dataclass(frozen=True)
class Guarantee:
    """A bound with what it is about.

    `quantity` is what is bounded ("AUC", "bAUC"), `estimate` its value on `sample` ("train", "test"), and `test_value`
    its value on the held-out part, NaN if there is none.
    """

    name: str
    quantity: str
    sample: str
    estimate: float
    bound: Bound
    test_value: float = math.nan

    @property
    def lower_end(self) -> float:
        """The least value the bound leaves possible; below 0 it excludes nothing."""
        two_sided = not math.isnan(self.bound.half_width)
        return self.estimate - self.bound.half_width if two_sided else self.bound.lower

    @property
    def statement(self) -> str:
        """The bound as a formula, cut to the range [0, 1] of what it bounds."""
        if math.isnan(self.bound.half_width):
            return f"{self.quantity} ≥ {self.bound.lower:{'.4f' if self.bound.lower > -10 else '.4g'}}"
        high = self.estimate + self.bound.half_width
        return f"{max(self.lower_end, 0.0):.4f} ≤ {self.quantity} ≤ {min(high, 1.0):.4f}"

    @property
    def numbers(self) -> dict[str, float]:
        """Flat numbers under ``bound/<name>``."""
        numbers = {f"bound/{self.name}": self.lower_end, f"bound/{self.name}_slack": self.bound.slack}
        if not math.isnan(self.bound.half_width):
            numbers[f"bound/{self.name}_upper"] = self.estimate + self.bound.half_width
        return numbers


@dataclass(frozen=True)
class Sample:
    """Features as the solver sees them, labels 0/1, and their scores."""

    X: Any
    y: NDArray[np.int64]
    scores: Array

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return int(np.count_nonzero(self.y))

    @property
    def n_neg(self) -> int:
        """Number of negatives."""
        return len(self.y) - self.n_pos

    def pair_hinge(self, a: float) -> float:
        """Mean of ``[1 − a (h(x⁺) − h(x⁻))]₊`` over the pairs."""
        return float(pair_hinge_value(a * self.scores[self.y == 1], a * self.scores[self.y == 0], 1.0))


class Context(NamedTuple):
    """A solved split, and what may be assumed of it. `unit_ball`: every observation, seen or not, has ‖x‖₂ ≤ 1."""

    solution: Solution
    train: Sample
    test: Sample | None
    unit_ball: bool
    rho: float
    config: BoundsConfig

    @property
    def fitted(self) -> str:
        """What every bound on the training part takes for granted."""
        return "the preprocessing counts as given, though fitted on the same data"

    def radii(self, norm: Norm) -> tuple[float, float, tuple[str, ...]]:
        """Radii of the classes in the norm dual to `norm`, with the conditions under which they hold."""
        if self.unit_ball:
            # a Euclidean ball: ‖x‖₁ ≤ √d ‖x‖₂
            radius = UNIT_RADIUS * (math.sqrt(self.train.X.shape[1]) if norm == "linf" else 1.0)
            return radius, radius, (self.fitted,)
        return *observed_radii(self.train.X, self.train.y, norm), (self.fitted, OBSERVED)

    def bauc(self, name: str, bound: Bound, *conditions: str, sample: str = "train") -> Guarantee:
        """A guarantee of the bAUC, with its values beside it."""
        test_value = math.nan if self.test is None else bauc_score(self.test.y, self.test.scores)
        estimate = bauc_score(self.train.y, self.train.scores) if sample == "train" else test_value
        bound = replace(bound, assumptions=(*bound.assumptions, *conditions))
        return Guarantee(name, "bAUC", sample, estimate, bound, test_value)


#: Guarantees that hold, and remarks on those that do not apply.
Found = tuple[list[Guarantee], list[str]]


def find_guarantees(
    solution: Solution, train: Sample, test: Sample | None, *, config: BoundsConfig, preprocessing: Pipeline
) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
    """The bounds that hold, and a remark for each kind that does not apply.

    Parameters
    ----------
    solution : Solution
    train, test : Sample
        `test` is None where nothing was held out.
    config : BoundsConfig
        The kinds of bounds that are computed, each with its options.
    preprocessing : Pipeline
        Fitted. One that ends in `UnitBall` makes the radius 1 valid by construction, for new observations too.

    Raises
    ------
    AuclabError
        Options out of range.
    """
    found: list[Guarantee] = []
    remarks: list[str] = []
    unit_ball = bool(preprocessing.steps) and isinstance(preprocessing[-1], UnitBall)
    context = Context(solution, train, test, unit_ball, config.rho, config)
    for kind, compute in _KINDS.items():
        if getattr(config, kind) is None:
            continue
        if kind in _NEED_ROWS and isinstance(train.X, BlockTable):
            remarks.append(f"{kind} bounds need all training rows in memory; blocks have those of the held-out part")
            continue
        guarantees, remark = compute(context)
        found += guarantees
        remarks += remark
    return tuple(found), tuple(dict.fromkeys(remarks))


def _stability(context: Context) -> Found:
    solution, train, rho = context.solution, context.train, context.rho
    program, gap = solution.formulation, solution.certificate.absolute_gap
    if not (program.name == "ranksvm" and program.squared and program.norm == "l2" and program.penalty > 0):
        return [], ["stability bounds hold for formulation=ranksvm formulation.squared=true formulation.norm=l2 only"]
    if not math.isfinite(gap):
        return [], ["stability bounds need a solution with a certified gap"]
    a = context.config.stability.a if context.config.stability else 1.0
    radius_pos, radius_neg, conditions = context.radii("l2")
    sizes: dict[str, Any] = {"penalty": solution.penalty, "n_pos": train.n_pos, "n_neg": train.n_neg, "rho": rho}
    radii: dict[str, Any] = {"radius_pos": radius_pos, "radius_neg": radius_neg}
    # what the solver left of the gap is charged: the bounds are about the exact minimiser
    stable: dict[str, Any] = {"diameter": radius_pos + radius_neg, "optimality_gap": max(gap, 0.0)}
    published = published_stability_bound(train.pair_hinge(a), a, **radii, **sizes)
    pairwise = pairwise_stability_bound(train.pair_hinge(a), a, **stable, **sizes)
    peeled = peeled_stability_bound(train.X, train.y, solution.coef, penalty=solution.penalty, rho=rho, **stable)
    bounds = {"published_stability": published, "pairwise_stability": pairwise, "peeled_stability": peeled}
    return [context.bauc(name, bound, *conditions) for name, bound in bounds.items()], []


def _margin(context: Context) -> Found:
    program, train = context.solution.formulation, context.train
    norm: Norm = program.norm if program.uses_norm else "l2"
    radius_pos, radius_neg, conditions = context.radii(norm)
    diameter = radius_pos + radius_neg
    bound = peeled_margin_bound(train.X, train.y, context.solution.coef, diameter=diameter, rho=context.rho, norm=norm)
    return [context.bauc("peeled_margin", bound, *conditions)], []


def _fixed_scorer(context: Context) -> Found:
    solution, train, test, rho = context.solution, context.train, context.test, context.rho
    if test is None:
        return [], ["fixed-scorer bounds need a held-out part: split=holdout, kfold or repeated"]
    observed = not context.unit_ball
    if observed:
        reach = float(np.ptp(np.concatenate([train.scores, test.scores])))
        expected = float(np.ptp(train.scores))
    else:
        reach = expected = 2 * UNIT_RADIUS * float(np.linalg.norm(solution.coef))

    def bauc_bound(sample: Sample, a: float, spread: float) -> Bound:
        sizes: dict[str, Any] = {"n_pos": test.n_pos, "n_neg": test.n_neg, "rho": rho}
        loss = sample.pair_hinge(a)
        return fixed_scorer_bauc_bound(loss, a, score_spread=spread, spread_is_observed=observed, method="kl", **sizes)

    # The scale for which the bound would be best if the held-out part were like the training part. It may depend
    # on the training part in any way, but not on the held-out scores. At a = 0 the bound is bAUC ≥ 0.
    scales = [0.0, *np.geomspace(0.1, 1000.0, 49) / expected] if expected > 0 else [0.0]
    a = float(max(scales, key=lambda scale: bauc_bound(train, scale, expected).lower))
    auc = auc_score(test.y, test.scores)
    auc_bound = fixed_scorer_auc_bound(auc, n_pos=test.n_pos, n_neg=test.n_neg, rho=rho, method="hoeffding")
    chosen = bauc_bound(test, a, reach)
    peeled = peeled_fixed_scorer_bauc_bound(
        test.y, test.scores, score_spread=reach, rho=rho, spread_is_observed=observed, method="kl"
    )
    hopeless = f"held-out parts of {len(test.y)} observations promise no bAUC above 0 at this spread"
    return [
        Guarantee("fixed_scorer_auc", "AUC", "test", auc, auc_bound, auc),
        context.bauc("fixed_scorer_bauc", chosen, sample="test"),
        context.bauc("peeled_fixed_scorer_bauc", peeled, sample="test"),
    ], [hopeless] if chosen.lower == 0.0 else []


def _weighted(context: Context) -> Found:
    asked = context.config.weighted.max_fpr if context.config.weighted else None
    max_fpr = asked or getattr(context.solution.formulation, "max_fpr", None)
    test = context.test
    if max_fpr is None:
        return [], []
    if test is None:
        return [], ["the bound on the partial AUC needs a held-out part: split=holdout, kfold or repeated"]
    bound = step_weight_bound(test.y, test.scores, max_fpr=float(max_fpr), delta=context.rho)
    area = bound.lower + bound.slack
    return [Guarantee("partial_auc", f"area at FPR ≤ {max_fpr:g}", "test", area, bound, area)], []


_KINDS: dict[str, Callable[[Context], Found]] = {
    "stability": _stability,
    "margin": _margin,
    "fixed_scorer": _fixed_scorer,
    "weighted": _weighted,
}
#: Kinds that look at the rows themselves, not at their scores alone.
_NEED_ROWS = ("stability", "margin")
