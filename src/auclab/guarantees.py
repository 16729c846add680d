"""Which generalisation bounds hold for one solved split, and the numbers that go into them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.bounds import pairwise_stability_bound, published_stability_bound
from auclab.bounds.fixed_scorer import fixed_scorer_auc_bound, fixed_scorer_bauc_bound
from auclab.kernels.hinge import pair_hinge_value
from auclab.metrics import auc_score, bauc_score
from auclab.types import Array, Bound, Solution

#: Radius of the ball `preprocess=unit_ball` maps every observation into, seen or unseen.
UNIT_RADIUS = 1.0


@dataclass(frozen=True)
class Guarantee:
    """A bound with what it is about.

    `quantity` is what is bounded ("AUC", "bAUC"), `estimate` its value on `sample` ("train", "test").
    """

    name: str
    quantity: str
    sample: str
    estimate: float
    bound: Bound

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


def find_guarantees(
    solution: Solution, train: Sample, test: Sample | None, *, settings: Mapping[str, Any], preprocess: str
) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
    """The bounds that hold, and a remark for each kind that does not apply.

    Parameters
    ----------
    solution : Solution
    train, test : Sample
        `test` is None where nothing was held out.
    settings : mapping
        ``kinds`` ("stability", "fixed_scorer"), ``rho`` in (0, 1), and ``a`` ≥ 0, the scale of the hinge that
        the stability bounds want fixed in advance.
    preprocess : str
        Name of the preprocessing; "unit_ball" makes the radius valid by construction.
    """
    found: list[Guarantee] = []
    remarks: list[str] = []
    rho = float(settings["rho"])
    if "stability" in settings["kinds"]:
        if obstacle := _stability_obstacle(solution):
            remarks.append(obstacle)
        else:
            found += _stability(solution, train, preprocess, a=float(settings["a"]), rho=rho)
    if "fixed_scorer" in settings["kinds"]:
        if test is None:
            remarks.append("fixed-scorer bounds need a held-out part: split=holdout, kfold or repeated")
        else:
            found += _fixed_scorer(solution, train, test, preprocess, rho=rho)
            if found[-1].bound.lower == 0.0:
                remarks.append(f"held-out parts of {len(test.y)} observations promise no bAUC above 0 at this spread")
    return tuple(found), tuple(remarks)


def _stability_obstacle(solution: Solution) -> str:
    program = solution.formulation
    if program.name == "ranksvm" and program.squared and program.norm == "l2" and program.penalty > 0:
        return ""
    return "stability bounds hold for formulation=ranksvm formulation.squared=true formulation.norm=l2 only"


def _stability(solution: Solution, train: Sample, preprocess: str, *, a: float, rho: float) -> list[Guarantee]:
    loss, penalty, n_pos, n_neg = train.pair_hinge(a), solution.penalty, train.n_pos, train.n_neg
    radius_pos, radius_neg = (UNIT_RADIUS, UNIT_RADIUS) if preprocess == "unit_ball" else _radii(train)
    published = published_stability_bound(
        loss, a, radius_pos=radius_pos, radius_neg=radius_neg, penalty=penalty, n_pos=n_pos, n_neg=n_neg, rho=rho
    )
    diameter = radius_pos + radius_neg
    pairwise = pairwise_stability_bound(loss, a, diameter=diameter, penalty=penalty, n_pos=n_pos, n_neg=n_neg, rho=rho)
    conditions = ["the preprocessing counts as given, although it was fitted on the same observations"]
    if preprocess != "unit_ball":
        conditions.append("the radii are those of the training part; the support lies within them too")
    estimate = bauc_score(train.y, train.scores)
    bounds = {"published_stability": published, "pairwise_stability": pairwise}
    return [
        Guarantee(name, "bAUC", "train", estimate, replace(it, assumptions=(*it.assumptions, *conditions)))
        for name, it in bounds.items()
    ]


def _fixed_scorer(solution: Solution, train: Sample, test: Sample, preprocess: str, *, rho: float) -> list[Guarantee]:
    observed = preprocess != "unit_ball"
    if observed:
        reach = float(np.ptp(np.concatenate([train.scores, test.scores])))
        expected = float(np.ptp(train.scores))
    else:
        reach = expected = 2 * UNIT_RADIUS * float(np.linalg.norm(solution.coef))

    def bauc_bound(sample: Sample, a: float, spread: float) -> Bound:
        loss = sample.pair_hinge(a)
        return fixed_scorer_bauc_bound(
            loss, a, score_spread=spread, n_pos=test.n_pos, n_neg=test.n_neg, rho=rho, spread_is_observed=observed
        )

    # The scale for which the bound would be best if the held-out part were like the training part. It may depend
    # on the training part in any way, but not on the held-out scores. At a = 0 the bound is bAUC ≥ 0.
    scales = [0.0, *np.geomspace(0.1, 1000.0, 49) / expected] if expected > 0 else [0.0]
    a = float(max(scales, key=lambda scale: bauc_bound(train, scale, expected).lower))
    auc = auc_score(test.y, test.scores)
    auc_bound = fixed_scorer_auc_bound(auc, n_pos=test.n_pos, n_neg=test.n_neg, rho=rho)
    return [
        Guarantee("fixed_scorer_auc", "AUC", "test", auc, auc_bound),
        Guarantee("fixed_scorer_bauc", "bAUC", "test", bauc_score(test.y, test.scores), bauc_bound(test, a, reach)),
    ]


def _radii(train: Sample) -> tuple[float, float]:
    """Largest distance of a positive, and of a negative, from the mean of the training part."""
    X = train.X.toarray() if hasattr(train.X, "toarray") else np.asarray(train.X, dtype=float)
    distance = np.linalg.norm(X - X.mean(axis=0), axis=1)
    return float(distance[train.y == 1].max()), float(distance[train.y == 0].max())
