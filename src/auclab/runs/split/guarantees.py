"""Which generalization bounds hold for one solved split, and the numbers that go into them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.pipeline import Pipeline

from auclab._core.base import Array, AuclabError, Norm
from auclab.bounds import (
    fixed_scorer_auc_bound,
    fixed_scorer_bauc_bound,
    fixed_scorer_pairs_bound,
    observed_radii,
    pairwise_stability_bound,
    published_stability_bound,
)
from auclab.bounds.fixed_scorer import peeled_fixed_scorer_bauc_from_sorted
from auclab.bounds.guarantee import OBSERVED, Bound
from auclab.bounds.margin import peeled_margin_from_scores
from auclab.bounds.peeling import peeled_stability_from_scores
from auclab.bounds.weighted import step_weight_from_sorted
from auclab.datasets.target import METRIC_NAMES, WORDS, Kind
from auclab.regularisers import norm_named
from auclab.runs.config.compose import build
from auclab.runs.config.settings import BoundsConfig
from auclab.runs.split.measured import Measured, Part
from auclab.solvers.solution import Fitted, InFeatures


@dataclass(frozen=True)
class Guarantee:
    """A bound and the quantity that it bounds.

    `quantity`: "AUC" or "bAUC". `estimate`: its value on `sample` ("train", "test"). `test_value`: its value on the
    held-out part, NaN without one. `own`: whether it is the user's, whose proof nothing here knows.
    """

    name: str
    quantity: str
    sample: str
    estimate: float
    bound: Bound
    test_value: float = math.nan
    own: bool = False

    @property
    def lower_end(self) -> float:
        """Lower end of the bound; vacuous below 0."""
        two_sided = not math.isnan(self.bound.half_width)
        return self.estimate - self.bound.half_width if two_sided else self.bound.lower

    @property
    def statement(self) -> str:
        """The bound as a formula, clipped to [0, 1]."""
        if math.isnan(self.bound.half_width):
            return f"{self.quantity} ≥ {self.bound.lower:{'.4f' if self.bound.lower > -10 else '.4g'}}"
        high = self.estimate + self.bound.half_width
        return f"{max(self.lower_end, 0.0):.4f} ≤ {self.quantity} ≤ {min(high, 1.0):.4f}"

    @property
    def numbers(self) -> dict[str, float]:
        """Values keyed ``bound/<name>``."""
        numbers = {f"bound/{self.name}": self.lower_end, f"bound/{self.name}_slack": self.bound.slack}
        if not math.isnan(self.bound.half_width):
            numbers[f"bound/{self.name}_upper"] = self.estimate + self.bound.half_width
        return numbers


class Context(NamedTuple):
    """A solved split: its linear scorer, both parts, and 1 − confidence of bounds on the training part."""

    solution: Fitted
    scorer: InFeatures
    train: Measured
    test: Measured | None
    config: BoundsConfig
    rho_train: float

    @property
    def fitted(self) -> str:
        """The assumption of every bound on the training part."""
        return "the preprocessing counts as given, though fitted on the same data"

    @property
    def training_scores(self) -> tuple[Array, Array, Array]:
        """Scores of positives and negatives, and coefficients, for bounds that need all scores."""
        assert self.train.held is not None  # summarised parts were refused earlier
        assert self.scorer.coef is not None
        scores = self.train.held.finite_classes
        return scores.pos, scores.neg, self.scorer.coef

    def radii(self, norm: Norm) -> tuple[float, float, tuple[str, ...]]:
        """Radii of the classes in the norm dual to `norm`, with the conditions under which they hold."""
        features, radius, ensured = self.scorer.features, self.scorer.radius, self.scorer.ensured
        if radius is not None:
            radius = radius * norm_named(norm).ball_radius(features.shape[1])  # of a Euclidean ball
            return radius, radius, (self.fitted, *([ensured] if ensured else []))
        return *observed_radii(features, self.train.labels, norm), (self.fitted, OBSERVED)

    def diameter(self, radius_pos: float, radius_neg: float) -> float:
        """Largest distance between a positive and a negative; below 2R for a non-negative kernel."""
        return radius_pos + radius_neg if self.scorer.diameter is None else self.scorer.diameter

    def bauc(self, name: str, bound: Bound, *conditions: str, sample: str = "train") -> Guarantee:
        """A guarantee of the bAUC, with its values."""
        test_value = math.nan if self.test is None else self.test.value("bauc")
        estimate = self.train.value("bauc") if sample == "train" else test_value
        bound = replace(bound, assumptions=(*bound.assumptions, *conditions))
        return Guarantee(name, "bAUC", sample, estimate, bound, test_value)


#: Guarantees that hold, and remarks on those that do not apply.
Outcome = tuple[list[Guarantee], list[str]]


def support_radius(preprocessing: Any) -> float | None:
    """Radius of the Euclidean ball that a fitted preprocessing maps every observation into; None if there is none.

    It is taken from the last step: the name of a preprocessing does not determine its steps.
    """
    last = preprocessing
    while isinstance(last, Pipeline) and last.steps:
        last = last[-1]
    return getattr(last, "longest", None)


def find_guarantees(
    solution: Fitted,
    train: Part,
    test: Part | None,
    *,
    features: Any,
    config: BoundsConfig,
    preprocessing: Any,
    choices: int = 1,
) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
    """The bounds that hold, and a remark for each kind that does not apply.

    `train`, `test`: `test` is None where nothing was held out. `features` (n_train, n_features): rows of the training
    part as the solver sees them. `config`: the kinds of bounds that are computed, each with its options.
    `preprocessing`: fitted; see `support_radius`. `choices`: number K of formulations among which the training part has
    chosen. A bound on that part assumes a formulation fixed in advance; by the union bound it holds for the chosen one
    at ρ/K.
    """
    guarantees: list[Guarantee] = []
    remarks: list[str] = []
    if train.ranked_by is not None:
        return _over_pairs(train.ranked_by.kind, test, config)
    scorer = solution.in_features(features, support_radius(preprocessing))
    of_classes = cast(Measured, train), cast("Measured | None", test)
    context = Context(solution, scorer, *of_classes, config, config.rho / choices)
    for kind, compute in _KINDS.items():
        if getattr(config, kind) is None:
            continue
        if kind in _NEED_ROWS and train.held is None:
            remarks.append(f"{kind} bounds need all scores in memory, but those of large samples are summarised")
            continue
        if kind in _NEED_ROWS and scorer.remark is not None:
            remarks += [scorer.remark.format(kind)] if scorer.remark else []
            continue
        more, reasons = compute(context)
        guarantees += more
        remarks += reasons
    return tuple(guarantees), tuple(dict.fromkeys(remarks))


def _over_pairs(kind: Kind, test: Part | None, config: BoundsConfig) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
    """McDiarmid's bound over groups or rows; all others assume independent rows of two classes."""
    others = [name for name in _KINDS if name != "fixed_scorer" and getattr(config, name) is not None]
    remarks = []
    if others:
        which = " and ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
        holds = "; bounds=fixed_scorer holds" if config.fixed_scorer is None else ""
        remarks = [f"{which} bounds suppose two classes of independent rows, and rows are compared by {kind}{holds}"]
    if config.fixed_scorer is None:
        return (), tuple(remarks)
    if test is None or test.ranked_by is None:
        return (), (*remarks, "fixed-scorer bounds need a held-out part: split=holdout, kfold or repeated")
    value = test.value("auc")
    bound = fixed_scorer_pairs_bound(test.ranked_by.pairs, value, rho=config.rho)
    name = METRIC_NAMES[kind]["auc"]
    return (Guarantee(f"mcdiarmid_{name}", WORDS[name], "test", value, bound, value),), tuple(remarks)


def _stability(context: Context) -> Outcome:
    solution, train, rho = context.solution, context.train, context.rho_train
    program, gap = solution.formulation, solution.certificate.absolute_gap
    of_squares = program.name == "ranksvm" and program.squared and program.regulariser.norm.is_euclidean
    if not (of_squares and program.loss.is_hinge and program.penalty > 0):
        only = "formulation=ranksvm formulation.squared=true formulation.norm=l2 formulation.loss=hinge"
        return [], [f"stability bounds hold for {only} only"]
    if not math.isfinite(gap):
        return [], ["stability bounds need a solution with a certified gap"]
    a = context.config.stability.a if context.config.stability else 1.0
    radius_pos, radius_neg, conditions = context.radii("l2")
    sizes: dict[str, Any] = {"penalty": program.penalty, "n_pos": train.n_pos, "n_neg": train.n_neg, "rho": rho}
    radii: dict[str, Any] = {"radius_pos": radius_pos, "radius_neg": radius_neg}
    # the remaining gap is charged: the bounds are about the exact minimiser
    stable: dict[str, Any] = {"diameter": context.diameter(radius_pos, radius_neg), "optimality_gap": max(gap, 0.0)}
    loss = train.hinge(a)
    published = published_stability_bound(loss, a, **radii, **sizes)
    pairwise = pairwise_stability_bound(loss, a, **stable, **sizes)
    peeled = peeled_stability_from_scores(*context.training_scores, penalty=program.penalty, rho=rho, **stable)
    bounds = {"published_stability": published, "pairwise_stability": pairwise, "peeled_stability": peeled}
    return [context.bauc(name, bound, *conditions) for name, bound in bounds.items()], []


def _margin(context: Context) -> Outcome:
    program = context.solution.formulation
    norm: Norm = program.regulariser.stored()["norm"] if program.uses_norm else "l2"
    radius_pos, radius_neg, conditions = context.radii(norm)
    diameter = context.diameter(radius_pos, radius_neg)
    bound = peeled_margin_from_scores(*context.training_scores, diameter=diameter, rho=context.rho_train, norm=norm)
    return [context.bauc("peeled_margin", bound, *conditions)], []


def _fixed_scorer(context: Context) -> Outcome:
    train, test, rho = context.train, context.test, context.config.rho
    if test is None:
        return [], ["fixed-scorer bounds need a held-out part: split=holdout, kfold or repeated"]
    radius, coef = context.scorer.radius, context.scorer.coef
    observed = radius is None or coef is None
    if radius is None or coef is None:
        ends = [part.score_range for part in (train, test)]
        reach = max(high for _, high in ends) - min(low for low, _ in ends)
        expected = ends[0][1] - ends[0][0]
    else:
        reach = expected = context.diameter(radius, radius) * float(np.linalg.norm(coef))
    sizes: dict[str, Any] = {"n_pos": test.n_pos, "n_neg": test.n_neg, "rho": rho}

    def bauc_bound(part: Measured, a: float, spread: float) -> Bound:
        loss = part.hinge(a)
        return fixed_scorer_bauc_bound(loss, a, score_spread=spread, spread_is_observed=observed, method="kl", **sizes)

    # The scale with the best bound if the held-out part were like the training part. It may depend on the training part
    # in any way, but not on the held-out scores. At a = 0 the bound is bAUC ≥ 0.
    scales = [0.0, *np.geomspace(0.1, 1000.0, 49) / expected] if expected > 0 else [0.0]
    a = float(max(scales, key=lambda scale: bauc_bound(train, scale, expected).lower))
    auc = test.value("auc")
    fixed = bauc_bound(test, a, reach)
    auc_bound = fixed_scorer_auc_bound(auc, method="hoeffding", **sizes)
    found = [
        Guarantee("fixed_scorer_auc", "AUC", "test", auc, auc_bound, auc),
        context.bauc("fixed_scorer_bauc", fixed, sample="test"),
    ]
    if test.held is not None:
        peeled = peeled_fixed_scorer_bauc_from_sorted(
            test.held.finite_classes, score_spread=reach, rho=rho, spread_is_observed=observed, method="kl"
        )
        found.append(context.bauc("peeled_fixed_scorer_bauc", peeled, sample="test"))
    vacuous = f"held-out parts of {len(test.labels)} observations promise no bAUC above 0 at this spread"
    return found, [vacuous] if fixed.lower == 0.0 else []


def _weighted(context: Context) -> Outcome:
    selected = context.config.weighted.max_fpr if context.config.weighted else None
    max_fpr = selected or getattr(context.solution.formulation, "max_fpr", None)
    test = context.test
    if max_fpr is None:
        return [], []
    if test is None:
        return [], ["the bound on the partial AUC needs a held-out part: split=holdout, kfold or repeated"]
    if test.held is None:
        return [], ["bounds on the partial AUC need all scores in memory, but those of large samples are summarised"]
    bound = step_weight_from_sorted(test.held.classes, max_fpr=float(max_fpr), delta=context.config.rho)
    area = bound.lower + bound.slack
    return [Guarantee("partial_auc", f"area at FPR ≤ {max_fpr:g}", "test", area, bound, area)], []


def _own(context: Context) -> Outcome:
    test = context.test
    if test is None or test.held is None:
        return [], ["bounds of your own need a held-out part in memory: split=holdout, kfold or repeated"]
    auc, found = test.value("auc"), []
    for name, function in context.config.own.items():
        bound = build({**function, "_partial_": True})(test.labels, test.held.scores, rho=context.config.rho)
        if not isinstance(bound, Bound) or (math.isnan(bound.lower) and math.isnan(bound.half_width)):
            raise AuclabError(
                f"bounds.own.{name} returned {bound!r}; return auclab.bounds.Bound with lower or half_width"
            )
        found.append(Guarantee(name, "AUC", "test", auc, bound, auc, own=True))
    return found, []


_KINDS: dict[str, Callable[[Context], Outcome]] = {
    "stability": _stability,
    "margin": _margin,
    "fixed_scorer": _fixed_scorer,
    "weighted": _weighted,
    "own": _own,
}
#: Kinds that use the rows themselves, not only their scores.
_NEED_ROWS = ("stability", "margin")
