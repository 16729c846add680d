"""Draw the pictures of docs/bounds.md: bounds and true values of a known distribution.

    OMP_NUM_THREADS=1 python docs/bounds.py

Positives and negatives are uniform on lattices of two squares of side 1 whose centres are 0.8 apart, so that AUC and
bAUC of any linear scorer are exact sums.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from auclab.bounds import (
    fixed_scorer_auc_bound,
    fixed_scorer_bauc_bound,
    margin_bound,
    pairwise_stability_bound,
    peeled_fixed_scorer_bauc_bound,
    peeled_margin_bound,
    peeled_stability_bound,
    published_stability_bound,
    required_samples,
)
from auclab.displays.canvas import GREY, INK, SERIES, canvas, despine
from auclab.metrics import auc_score

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "benchmarks"))
from bound_validity import SCALE, Draw, Population  # noqa: E402

RHO = 0.05
REPEAT = 3
#: What stays fixed while another one moves.
SIZE, BALANCE, PENALTY = 100_000, 0.5, 1.0
SIZES = (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 300_000, 1_000_000)
SHARES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

TRUTH = ("true bAUC", "true AUC")
NAMES = (
    "held out: AUC",
    "held out: bAUC, a from training",
    "held out: bAUC, peeled",
    "training: peeled margin",
    "training: peeled stability",
    "training: stability, a = 1",
    "as published, a = 1",
)


def two_squares() -> Population:
    """Two lattices of 9 × 9 points, their centres 0.8 apart."""
    side = np.linspace(-0.5, 0.5, 9)
    square = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    even = np.full(len(square), 1.0 / len(square))
    shift = np.array([0.4, 0.0])
    return Population("two squares", square + shift, square - shift, even, even)


def measure(size: int, balance: float, penalty: float) -> dict[str, float]:
    """Truth and lower ends, means over a few training sets."""
    population, n_pos = two_squares(), round(balance * size)
    rng = np.random.default_rng([size, n_pos, round(1000 * penalty)])
    rows = [_one(Draw.of(population, penalty, n_pos, size - n_pos, rng)) for _ in range(REPEAT)]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def _one(draw: Draw) -> dict[str, float]:
    w, y, population = draw.solution.coef, draw.y, draw.population
    train, diameter = draw.X @ w, population.diameter()
    gap = max(draw.solution.certificate.absolute_gap, 0.0)
    sizes = {"n_pos": int(y.sum()), "n_neg": int((1 - y).sum()), "rho": RHO}
    stable = {"diameter": diameter, "penalty": draw.penalty, "optimality_gap": gap}
    halves = {"radius_pos": diameter / 2, "radius_neg": diameter / 2, "penalty": draw.penalty}
    spread = float(np.ptp(np.concatenate([population.pos, population.neg]) @ w))
    held = {"score_spread": spread, "method": "kl", **sizes}
    scales = np.geomspace(0.1, 100.0, 61) / spread
    a = max(scales, key=lambda s: fixed_scorer_bauc_bound(draw.hinge(train, s), s, **held).lower)
    truth, loss = population.truth(w), draw.hinge(train, SCALE)
    auc = auc_score(y, draw.test_scores)
    bounds = (
        auc - fixed_scorer_auc_bound(auc, **sizes, method="hoeffding").half_width,
        fixed_scorer_bauc_bound(draw.hinge(draw.test_scores, a), a, **held).lower,
        peeled_fixed_scorer_bauc_bound(y, draw.test_scores, score_spread=spread, rho=RHO, method="kl").lower,
        peeled_margin_bound(draw.X, y, w, diameter=diameter, rho=RHO).lower,
        peeled_stability_bound(draw.X, y, w, rho=RHO, **stable).lower,
        pairwise_stability_bound(loss, SCALE, **stable, **sizes).lower,
        published_stability_bound(loss, SCALE, **halves, **sizes).lower,
    )
    return dict(zip(TRUTH, (truth.bauc, truth.auc), strict=True)) | dict(zip(NAMES, bounds, strict=True))


def draw_against(
    label: str, values: Sequence[float], setting: Callable[[float], tuple[int, float, float]], path: Path
) -> None:
    """A picture of all bounds against one setting."""
    rows = [measure(*setting(value)) for value in values]
    with canvas(None, (4.6, 3.3)) as ax:
        for name, colour in zip(TRUTH, (INK, GREY), strict=True):
            ax.plot(values, [row[name] for row in rows], color=colour, linewidth=2, label=name)
        for name, style in zip(NAMES, (*SERIES, {"color": GREY, "linestyle": ":"}), strict=True):
            heights = np.array([row[name] for row in rows])
            # below 0 the bound is empty: the line ends where it leaves the picture
            ax.plot(values, heights, **style, marker="o", markersize=2.5, label=name)
        ax.set(xscale="log", xlabel=label, ylabel="AUC, bAUC and lower bounds", ylim=(-0.02, 1.02))
        if label.startswith("share"):
            ax.set_xticks(values, [f"{value:.0%}" for value in values])
            ax.set_xticks([], minor=True)
            ax.invert_xaxis()
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
        despine(ax)
        save(ax.figure, path)


def draw_plan(path: Path) -> None:
    """Positives needed for a promise up to ε, one negative and forty for each."""
    epsilons = np.geomspace(0.02, 0.5, 40)
    # a scorer of spread 1 with the hinge at a = 1; a class in the unit ball with λ = 1
    plans = {
        "held out: AUC": ("fixed_scorer_auc", {"rho": RHO, "method": "hoeffding"}),
        "held out: bAUC": ("fixed_scorer_bauc", {"a": 1.0, "score_spread": 1.0, "rho": RHO, "method": "hoeffding"}),
        "training: margin, Λ = 1/D": (partial(margin_bound, 0.0), {"norm_bound": 1.0, "diameter": 1.0, "rho": RHO}),
        "training: stability, λ = D²": (
            partial(pairwise_stability_bound, 0.0),
            {"a": 1.0, "diameter": 1.0, "penalty": 1.0, "rho": RHO},
        ),
        "as published, λ = D²": (
            partial(published_stability_bound, 0.0),
            {"a": 1.0, "radius_pos": 0.5, "radius_neg": 0.5, "penalty": 1.0, "rho": RHO},
        ),
    }
    with canvas(None, (4.6, 3.0)) as ax:
        for (name, (bound, arguments)), style in zip(plans.items(), SERIES, strict=False):
            for ratio, width in ((1.0, 1.3), (40.0, 0.6)):
                needed = [required_samples(bound, e, class_ratio=ratio, **arguments).n_pos for e in epsilons]
                ax.plot(epsilons, needed, **style, linewidth=width, label=name if ratio == 1.0 else None)
        ax.set(xscale="log", yscale="log", xlabel="ε", ylabel="positives needed")
        ticks = (0.02, 0.05, 0.1, 0.2, 0.5)
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_xticks([], minor=True)
        ax.legend(loc="upper right")
        despine(ax)
        save(ax.figure, path)


def save(figure: object, path: Path) -> None:
    """A small file: 256 colours."""
    from save_figure import save_figure

    save_figure(figure, path)
    print(f"{path}  {path.stat().st_size / 1000:.0f} kB", flush=True)


def comparison(draws: int = 400_000) -> tuple[float, float]:
    """Largest ratio of the slack of 8.2 to that of 8.1 where m ln(1/ρ) ≥ 3.2: minority share ≤ ¼, and balanced."""
    rng = np.random.default_rng(8)
    largest = [0.0, 0.0]
    for draw in range(draws):
        is_balanced = draw % 2
        n_pos = int(10 ** rng.uniform(0, 5))
        # half of the rare ones exactly at a share of a quarter, where the ratio is largest
        n_neg = n_pos if is_balanced else math.ceil(n_pos * 3 * 10 ** max(0.0, rng.uniform(-3, 3)))
        total = 3.2 * 10 ** rng.uniform(0, 4)  # m ln(1/ρ)
        rho = math.exp(-total / (n_pos + n_neg))
        if not 0.0 < rho < 1.0:
            continue
        a, radius, penalty = 10 ** rng.uniform(-3, 3, size=3)
        sizes = {"penalty": penalty, "n_pos": n_pos, "n_neg": n_neg, "rho": rho}
        ratio = pairwise_stability_bound(0.0, a, diameter=radius, **sizes).slack
        ratio /= published_stability_bound(0.0, a, radius_pos=radius, radius_neg=0.0, **sizes).slack
        largest[is_balanced] = max(largest[is_balanced], ratio)
    return largest[0], largest[1]


def main() -> None:
    """All pictures, and the numbers that the page quotes."""
    folder = HERE / "bounds"
    folder.mkdir(exist_ok=True)
    draw_against("observations m", SIZES, lambda m: (int(m), BALANCE, PENALTY), folder / "size.png")
    draw_against("share of positives", SHARES, lambda share: (SIZE, share, PENALTY), folder / "imbalance.png")
    draw_against("penalty λ", PENALTIES, lambda penalty: (SIZE, BALANCE, penalty), folder / "penalty.png")
    draw_plan(folder / "plan.png")
    print("largest ratio of slacks, 8.2 to 8.1: rare {:.3f}, balanced {:.3f}".format(*comparison()))


if __name__ == "__main__":
    main()
