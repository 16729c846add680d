"""Validity and tightness of the bounds: a simulation on distributions that are known exactly.

Four distributions with finitely many points, so that AUC, bAUC and weighted AUC of any linear scorer are exact sums;
three class balances; three penalties. A training set is drawn and RankSVM solved on it; a held-out set of the same
size is drawn for the bounds on a fixed scorer. Counted is how often the true value lies outside the bound.

    OMP_NUM_THREADS=1 python benchmarks/bound_validity.py           # measure, docs/bounds/validity.csv, five minutes
    OMP_NUM_THREADS=1 python benchmarks/bound_validity.py --page    # the table of its page, from that file
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import measured
import numpy as np

from auclab import RankSVM, Solution, solve
from auclab._core.base import Array, Norm
from auclab._core.hinge import pair_hinge_value
from auclab.bounds import (
    fixed_scorer_auc_bound,
    fixed_scorer_bauc_bound,
    margin_bound,
    pairwise_stability_bound,
    peeled_fixed_scorer_bauc_bound,
    peeled_margin_bound,
    peeled_stability_bound,
    published_stability_bound,
    roc_value_bound,
    step_weight_bound,
    uniform_weighted_auc_bound,
    weighted_auc_bound,
)
from auclab.bounds.guarantee import Bound
from auclab.bounds.weighted import Method as WeightedMethod
from auclab.bounds.weighted import Ramp
from auclab.metrics import auc_score, bauc_score, weighted_auc

PAGE = measured.ROOT / "docs" / "bound_validity.md"
RESULTS = PAGE.with_name("bounds") / "validity.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/bound_validity.py", "benchmarks/bound_validity.py --page"
FIELDS = (
    "population",
    "balance",
    "penalty",
    "size",
    "samples",
    "bound",
    "rho",
    "violated",
    "distance",
    "vacuous",
    "used",
)
#: Training sets in each cell.
REPEAT = 200
#: Share of positives in a sample.
BALANCES = (0.5, 0.2, 0.05)
PENALTIES = (0.03, 0.3, 3.0)
RHOS = (0.05, 0.5)
SIZE = 1000
#: Fixed in advance: the scale of the hinge of the stability bounds, and the limit of the margin bound in units of 1/D.
SCALE, REACH = 1.0, 1.0
#: Weight of the weighted AUC: FPR up to 0.3 with a ramp, so that all bounds apply; and the FPR of one ROC value.
WEIGHT, ROC_AT = Ramp(0.7, 1.0, 0.2), 0.2
#: Width of the ramp ℓ for scorers of norm 1, in units of the diameter.
WIDTH = 0.25

#: Norms of w, with the order of the dual norm, in which distances are measured.
DUAL_ORDERS: tuple[tuple[Norm, float], ...] = (("l2", 2), ("l1", np.inf), ("linf", 1))
#: Methods of the bounds on a fixed scorer, on weighted AUC (with the convention of the estimate) and on a ROC value.
BAUC_METHODS: tuple[Literal["mcdiarmid", "kl"], ...] = ("mcdiarmid", "kl")
AUC_METHODS: tuple[Literal["mcdiarmid", "hoeffding"], ...] = ("mcdiarmid", "hoeffding")
WEIGHTED_METHODS: tuple[tuple[WeightedMethod, str], ...] = (
    ("dkw", "average"),
    ("mcdiarmid", "average"),
    ("max_rank", "max_rank"),
    ("published", "max_rank"),
    ("corrected", "max_rank"),
)
ROC_METHODS: tuple[Literal["weight", "band"], ...] = ("weight", "band")


@dataclass(frozen=True)
class Population:
    """Points of the two classes with their probabilities; the diameter is that of the support."""

    name: str
    pos: Array
    neg: Array
    share_pos: Array
    share_neg: Array

    def diameter(self, order: float = 2) -> float:
        """Largest distance of a positive from a negative."""
        return self.diameters[order]

    @cached_property
    def diameters(self) -> dict[float, float]:
        """By the order of the norm."""
        apart = self.pos[:, None] - self.neg[None, :]
        return {order: float(np.linalg.norm(apart, order, axis=2).max()) for order in (1, 2, np.inf)}

    @cached_property
    def radius(self) -> float:
        """Largest norm of an observation."""
        return float(max(np.linalg.norm(self.pos, axis=1).max(), np.linalg.norm(self.neg, axis=1).max()))

    def sample(self, rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Array, Array]:
        """Features (n, 2), positives first, and labels."""
        rows_pos = rng.choice(len(self.pos), n_pos, p=self.share_pos)
        rows_neg = rng.choice(len(self.neg), n_neg, p=self.share_neg)
        return np.concatenate([self.pos[rows_pos], self.neg[rows_neg]]), np.repeat([1, 0], [n_pos, n_neg])

    def truth(self, coef: Array) -> Truth:
        """Exact values of the scorer ``x ↦ coef · x``."""
        scores = np.concatenate([self.pos @ coef, self.neg @ coef]).round(12)  # ties of the lattice stay ties
        y, shares = np.repeat([1, 0], [len(self.pos), len(self.neg)]), np.concatenate([self.share_pos, self.share_neg])
        ramp: dict[str, Any] = {"weight": WEIGHT.at, "breakpoints": WEIGHT.breakpoints, "ties": "strict"}
        ramp["sample_weight"] = shares
        order = np.argsort(-scores[y == 0], kind="stable")
        above = np.cumsum(self.share_neg[order]) <= ROC_AT + 1e-12
        threshold = scores[y == 0][order][int(above.sum())]
        return Truth(
            auc=auc_score(y, scores, sample_weight=shares),
            bauc=bauc_score(y, scores, sample_weight=shares),
            averaged=weighted_auc(y, scores, convention="average", **ramp),
            max_rank=weighted_auc(y, scores, convention="max_rank", **ramp),
            band=weighted_auc(
                y, scores, weight=STEP.at, breakpoints=STEP.breakpoints, ties="strict", sample_weight=shares
            ),
            roc=float(self.share_pos[scores[y == 1] > threshold].sum()),
            smooth=smooth_weighted_auc(scores[y == 1], scores[y == 0], self.share_pos, self.share_neg, self, coef),
        )


#: The step of the one-sided bound on a partial AUC.
STEP = Ramp(0.7, 1.0, 0.0)


@dataclass(frozen=True)
class Truth:
    """Exact values of the quantities that are bounded."""

    auc: float
    bauc: float
    averaged: float
    max_rank: float
    band: float
    roc: float
    smooth: float


def smooth_weighted_auc(
    pos: Array, neg: Array, share_pos: Array, share_neg: Array, population: Population, coef: Array
) -> float:
    """Weighted AUC, W averaged over tied blocks, of pairs that count ``ℓ(p − n)``, ℓ the ramp of `ell_width`."""
    values, place = np.unique(neg.round(12), return_inverse=True)
    level = np.concatenate([[0.0], np.cumsum(np.bincount(place, share_neg))])
    heights = np.clip((pos[:, None] - values) / ell_width(population, coef), 0.0, 1.0).T @ share_pos
    # W is piecewise linear with its bends on the grid: its integral is exact there
    grid = np.linspace(0.0, 1.0, 20_001)
    integral = np.concatenate([[0.0], np.cumsum(0.5 * (WEIGHT.at(grid)[1:] + WEIGHT.at(grid)[:-1])) * grid[1]])
    return float(heights @ np.diff(np.interp(level, grid, integral)))


def ell_width(population: Population, coef: Array) -> float:
    """Width of the ramp ℓ in units of the scores of `coef`, which stands for ``coef/‖coef‖``."""
    return WIDTH * population.diameter() * float(np.linalg.norm(coef))


def populations() -> tuple[Population, ...]:
    """Squares that overlap; normal classes cut to a disc; three points a class with ties; a few far outliers."""
    side = np.linspace(-0.5, 0.5, 9)
    square = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    even, shift = np.full(len(square), 1.0 / len(square)), np.array([0.4, 0.2])
    lattice = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 17)]), axis=-1).reshape(-1, 2)
    disc = lattice[np.linalg.norm(lattice, axis=1) <= 1.0 + 1e-12]

    def normal(x: float, spread: float) -> Array:
        density = np.exp(-0.5 * ((disc - [x, 0.0]) ** 2).sum(axis=1) / spread**2)
        return density / density.sum()

    return (
        Population("squares", square + shift, square - shift, even, even),
        Population("discs", disc, disc, normal(0.35, 0.3), normal(-0.35, 0.3)),
        Population(
            "atoms",
            np.array([[0.5, 0.0], [0.4, 0.2], [0.0, 0.0]]),
            np.array([[-0.5, 0.0], [-0.4, -0.2], [0.0, 0.0]]),
            np.array([0.6, 0.3, 0.1]),
            np.array([0.6, 0.3, 0.1]),
        ),
        Population(
            "outliers",
            np.array([[0.3, 0.1], [0.3, -0.1], [-1.0, 0.0]]),
            np.array([[-0.3, 0.1], [-0.3, -0.1], [1.0, 0.0]]),
            np.array([0.48, 0.49, 0.03]),
            np.array([0.49, 0.5, 0.01]),
        ),
    )


@dataclass(frozen=True)
class Draw:
    """One training set with its solution, and one held-out set."""

    population: Population
    penalty: float
    solution: Solution
    X: Array
    y: Array
    test_scores: Array

    @classmethod
    def of(cls, population: Population, penalty: float, n_pos: int, n_neg: int, rng: np.random.Generator) -> Draw:
        """Draw, and solve to a relative gap of 1e-4; the remaining gap is part of the bounds."""
        X, y = population.sample(rng, n_pos, n_neg)
        solution = solve(RankSVM(penalty, squared=True), X, y, solver="newton", tolerance=1e-4)
        return cls(population, penalty, solution, X, y, population.sample(rng, n_pos, n_neg)[0] @ solution.coef)

    def hinge(self, scores: Array, a: float) -> float:
        """R̂_a."""
        return pair_hinge_value(a * scores[self.y == 1], a * scores[self.y == 0], 1.0)


#: Quantity that each bound is about, and whether it is proved.
BOUNDS = {
    "published stability (8.1), a = 1": ("bauc", False),
    "pairwise stability, simple B, a = 1": ("bauc", True),
    "pairwise stability (8.2), a = 1": ("bauc", True),
    "peeled stability (8.3)": ("bauc", True),
    "margin, Λ = 1/D (8.4)": ("bauc", True),
    "peeled margin, l2": ("bauc", True),
    "peeled margin, l1": ("bauc", True),
    "peeled margin, linf": ("bauc", True),
    "held out, bAUC, a from training": ("bauc", True),
    "held out, bAUC, peeled": ("bauc", True),
    "held out, bAUC, kl, a from training": ("bauc", True),
    "held out, bAUC, kl, peeled": ("bauc", True),
    "held out, AUC (8.5)": ("auc", True),
    "held out, AUC, hoeffding": ("auc", True),
    "weighted AUC, dkw (9.1)": ("averaged", True),
    "weighted AUC, mcdiarmid": ("averaged", True),
    "weighted AUC, max_rank": ("max_rank", True),
    "weighted AUC, published (Thm 2)": ("max_rank", False),
    "weighted AUC, corrected": ("max_rank", True),
    "partial AUC, ramp": ("band", True),
    "one ROC value, narrow weight": ("roc", True),
    "one ROC value, band": ("roc", True),
    "weighted AUC, uniform (9.1)": ("smooth", True),
}


class Outcome(NamedTuple):
    """A bound and the values that it does not exclude."""

    name: str
    bound: Bound
    low: float
    high: float

    def holds(self, truth: float) -> bool:
        """Whether the truth is not excluded; 1e-9 is rounding, as a bound may be met with equality."""
        return self.low - 1e-9 <= truth <= self.high + 1e-9

    def used(self, truth: float) -> float:
        """Share of the slack needed not to exclude the truth; above 1 the bound is violated."""
        slack = self.bound.slack
        missing = self.low + slack - truth
        if not math.isnan(self.bound.half_width):
            missing = abs(missing)
        return missing / slack if 0.0 < slack < math.inf else 0.0


def outcomes(draw: Draw, rho: float) -> Iterator[Outcome]:
    """Every bound on one draw."""
    w, y, population, penalty = draw.solution.coef, draw.y, draw.population, draw.penalty
    train, test = draw.X @ w, draw.test_scores
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    sizes: dict[str, Any] = {"n_pos": n_pos, "n_neg": n_neg, "rho": rho}
    diameter, loss = population.diameter(), draw.hinge(train, SCALE)
    gap = max(draw.solution.certificate.absolute_gap, 0.0)
    names = iter(BOUNDS)

    def one_sided(bound: Bound) -> Outcome:
        return Outcome(next(names), bound, bound.lower, math.inf)

    def two_sided(value: float, bound: Bound) -> Outcome:
        return Outcome(next(names), bound, value - bound.half_width, value + bound.half_width)

    half: dict[str, Any] = {"radius_pos": diameter / 2, "radius_neg": diameter / 2}
    yield one_sided(published_stability_bound(loss, SCALE, penalty=penalty, **half, **sizes))
    stable: dict[str, Any] = {"diameter": diameter, "penalty": penalty, "optimality_gap": gap}
    for sharp in (False, True):
        yield one_sided(pairwise_stability_bound(loss, SCALE, sharp=sharp, **stable, **sizes))
    yield one_sided(peeled_stability_bound(draw.X, y, w, rho=rho, **stable))
    limit = REACH / diameter
    at_limit = draw.hinge(train, limit / float(np.linalg.norm(w)))
    yield one_sided(margin_bound(at_limit, norm_bound=limit, diameter=diameter, **sizes))
    for norm, dual in DUAL_ORDERS:
        wide = population.diameter(dual)
        yield one_sided(peeled_margin_bound(draw.X, y, w, diameter=wide, rho=rho, norm=norm))

    support = np.concatenate([population.pos, population.neg]) @ w
    spread = float(np.ptp(support))
    scales = np.geomspace(0.1, 100.0, 31) / spread
    held: dict[str, Any] = {"score_spread": spread, **sizes}
    losses = [(a, draw.hinge(train, a)) for a in scales]
    for method in BAUC_METHODS:
        held["method"] = method
        a = max(losses, key=lambda each: fixed_scorer_bauc_bound(each[1], each[0], **held).lower)[0]
        yield one_sided(fixed_scorer_bauc_bound(draw.hinge(test, a), a, **held))
        yield one_sided(peeled_fixed_scorer_bauc_bound(y, test, score_spread=spread, rho=rho, method=method))
    auc = auc_score(y, test)
    for auc_method in AUC_METHODS:
        yield two_sided(auc, fixed_scorer_auc_bound(auc, **sizes, method=auc_method))

    tidy = test.round(12)
    ramp: dict[str, Any] = {"weight": WEIGHT.at, "breakpoints": WEIGHT.breakpoints, "ties": "strict"}
    averaged = weighted_auc(y, tidy, convention="average", **ramp)
    max_rank = weighted_auc(y, tidy, convention="max_rank", **ramp)
    about: dict[str, Any] = {
        "weight_sup": 1.0,
        "weight_lipschitz": WEIGHT.lipschitz,
        "n_pos": n_pos,
        "n_neg": n_neg,
        "delta": rho,
    }
    for weighted_method, convention in WEIGHTED_METHODS:
        value = averaged if convention == "average" else max_rank
        yield two_sided(value, weighted_auc_bound(weighted_method, weight_integral=WEIGHT.integral, **about))
    yield one_sided(step_weight_bound(y, tidy, max_fpr=0.3, delta=rho, ties="strict"))
    for kind in ROC_METHODS:
        yield one_sided(roc_value_bound(y, tidy, ROC_AT, delta=rho, method=kind))

    # the class of all w of norm 1, of which w/‖w‖ is one
    uniform = uniform_weighted_auc_bound(
        ell_lipschitz=1.0 / (WIDTH * diameter),
        gaussian_complexity=population.radius * math.sqrt(n_pos + n_neg),
        **about,
    )
    even_pos, even_neg = np.full(n_pos, 1.0 / n_pos), np.full(n_neg, 1.0 / n_neg)
    smooth = smooth_weighted_auc(train[y == 1], train[y == 0], even_pos, even_neg, population, w)
    yield two_sided(smooth, uniform)


@dataclass(frozen=True)
class Row:
    """One bound at one ρ.

    Share violated in the worst cell; mean distance of the truth from the lower end, or from 0 where that is higher;
    share whose lower end is not above 0; share of the slack that suffices for 1 − ρ of the draws in the worst cell.
    """

    name: str
    rho: float
    violated: float
    distance: float
    vacuous: float
    used: float


#: Population, share of positives, penalty.
Cell = tuple[int, float, float]


def all_cells() -> list[Cell]:
    """Every combination."""
    return list(itertools.product(range(len(populations())), BALANCES, PENALTIES))


def simulate(repeat: int, size: int, cells: Sequence[Cell] | None = None) -> list[Row]:
    """One row per bound and ρ; all cells unless some are named."""
    return summarised([row for cell in cells or all_cells() for row in simulate_cell(cell, repeat, size)])


def summarised(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """One row per bound and ρ, of the rows of all cells."""
    found = []
    for name, rho in itertools.product(BOUNDS, RHOS):
        mine = [row for row in rows if row["bound"] == name and float(row["rho"]) == rho]
        values = {key: [float(row[key]) for row in mine] for key in ("violated", "distance", "vacuous", "used")}
        distance, vacuous = (float(np.mean(values[key])) for key in ("distance", "vacuous"))
        found.append(Row(name, rho, max(values["violated"]), distance, vacuous, max(values["used"])))
    return found


def simulate_cell(cell: Cell, repeat: int, size: int) -> list[dict[str, Any]]:
    """A row per bound and ρ: shares missed and vacuous, mean distance, slack that suffices for 1 − ρ of the draws."""
    number, balance, penalty = cell
    population, n_pos = populations()[number], round(balance * size)
    rng = np.random.default_rng([number, n_pos, size, round(1000 * penalty)])
    found = np.empty((repeat, len(RHOS), len(BOUNDS), 4))
    for k in range(repeat):
        draw = Draw.of(population, penalty, n_pos, size - n_pos, rng)
        truth = population.truth(draw.solution.coef)
        for r, rho in enumerate(RHOS):
            for b, outcome in enumerate(outcomes(draw, rho)):
                value = getattr(truth, BOUNDS[outcome.name][0])
                found[k, r, b] = (
                    not outcome.holds(value),
                    value - max(outcome.low, 0.0),
                    outcome.low <= 0.0,
                    outcome.used(value),
                )
    of_cell = {"population": population.name, "balance": balance, "penalty": penalty, "size": size, "samples": repeat}
    missed, distance, vacuous, used = np.moveaxis(found, -1, 0)  # by draw, ρ, bound
    return [
        {
            **of_cell,
            "bound": name,
            "rho": rho,
            "violated": float(missed[:, r, b].mean()),
            "distance": float(distance[:, r, b].mean()),
            "vacuous": float(vacuous[:, r, b].mean()),
            "used": float(np.quantile(used[:, r, b], 1.0 - rho)),
        }
        for b, name in enumerate(BOUNDS)
        for r, rho in enumerate(RHOS)
    ]


def table(rows: list[Row]) -> str:
    """Markdown: a line for each bound, the two ρ side by side."""
    first = RHOS[0]
    head = ["bound", "proved", *(f"violated, ρ = {rho:g}" for rho in RHOS)]
    head += ["slack used", "truth − lower end", "lower end ≤ 0"]
    lines = []
    for name, (_, proved) in BOUNDS.items():
        mine = {row.rho: row for row in rows if row.name == name}
        shares = [f"{100 * mine[rho].violated:.1f} %" for rho in RHOS]
        used = f"{100 * max(mine[first].used, 0.0):.0f} %"
        rest = [f"{mine[first].distance:.3f}", f"{100 * mine[first].vacuous:.0f} %"]
        lines.append([name, "yes" if proved else "no", *shares, used, *rest])
    return measured.table(head, lines)


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    cells = {(row["population"], row["balance"], row["penalty"]) for row in rows}
    head = f"{rows[0]['samples']} training sets of {rows[0]['size']} observations in each of {len(cells)} cells:"
    return {"validity": f"{head}\n\n{table(summarised(rows))}"}


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    counts = []
    for rho in RHOS:
        violated = {row.name: row.violated for row in summarised(rows) if row.rho == rho and row.violated > 0.0}
        count = {0: "no bound was ever violated", 1: "one was"}.get(len(violated), f"{len(violated)} were")
        most = f", in at most {100 * max(violated.values()):.1f} % of the draws of a cell" if violated else ""
        counts.append(f"for ρ = {rho:g} {count}{most}")
    return [f"F{each[1:]}" for each in counts]


def main() -> None:
    """Simulate, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/bound_validity.md")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(arguments.results)))
        return
    with measured.writer(arguments.results, COMMAND, FIELDS) as keep:
        for cell in all_cells():
            rows = simulate_cell(cell, REPEAT, SIZE)
            for row in rows:
                keep(row)
            worst = max(rows, key=lambda row: row["violated"] / row["rho"])
            print(cell, f"most violated: {worst['bound']}, ρ = {worst['rho']}: {worst['violated']:.3f}", flush=True)


if __name__ == "__main__":
    main()
