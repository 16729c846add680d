"""Data of the figures of one split, computed from the files of its run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from auclab.datasets.target import METRIC_NAMES, WORDS
from auclab.displays.concordance import ascending_concordance
from auclab.displays.costs import BestPoints
from auclab.displays.ranking_error import binned_pairs
from auclab.displays.score_histogram import default_bins
from auclab.displays.style import SMALLEST_GAP, STRIPS
from auclab.inference import roc_band_part
from auclab.metrics import ScoredPart, roc_hull, voros_from_points
from auclab.metrics.buffered import buffered_auc_from_sorted
from auclab.metrics.buffered_roc import broc_from_sorted
from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.roc import roc_from_sorted
from auclab.pipeline.split.measured import RankedPart
from auclab.pipeline.stored.stored_files import damaged, read_rows, read_scores
from auclab.report.decisions import decisions
from auclab.report.thinning import short, steps, thinned
from auclab.report.worst_rows import worst_rows
from auclab.types import Array


def ranked_curves(folder: Path) -> dict[str, Any] | None:
    """The concordance of one split over groups, grades or times, for JSON; None without stored scores of such rows.

    Returns: ``part``; ``names`` and ``values`` of AUC and bAUC over its pairs; ``units``, what the curve goes over;
    ``concordance`` as [share of the pairs, ranked right], steps in units of 1/10,000 in ascending order.
    """
    stored = read_scores(folder)
    if stored is None or stored.target is None:
        return None
    part = RankedPart(stored.target, stored.y_score)
    totals, right = part.pairs.unit_totals, part.pairs.auc_sums(part.scores)
    shares, concordance = ascending_concordance(totals, right)
    return {
        "part": stored.part,
        "names": [WORDS[name] for name in METRIC_NAMES[stored.target.kind].values()],
        "values": [part.value("auc"), part.value("bauc")],
        "units": "group" if part.pairs.units_are_groups else "row",
        "concordance": _curve(np.r_[0.0, shares], np.r_[concordance[0], concordance]),
    }


def split_curves(folder: Path) -> dict[str, Any] | None:
    """Curves and histograms of one split, ready for JSON; None without stored scores of two classes.

    `folder`: files of the split, as `auclab.pipeline.record.artifacts.write_fold` leaves them. Returns: ``part``,
    ``n_pos``, ``n_neg``, ``auc``, ``bauc``, ``voros``; ``roc`` and ``broc`` as [fpr, tpr] in steps of 1/10,000,
    ``broc`` None where there is no γ*; ``scores``: edges, densities of negatives and positives; ``errors``: edges,
    densities of pairs, γ*; ``surface``: cost shares and the ends of their lines, the hull; ``history``: seconds and
    relative gaps; ``band``: distances of a 95 % band from the ROC curve, None for scores of the training part;
    ``worst`` (`auclab.report.worst_rows`), and what `auclab.report.decisions` finds.
    """
    stored = read_scores(folder)
    if stored is None or not stored.is_of_classes:
        return None
    y, scores = stored.y_true, stored.y_score
    part = ScoredPart(y, scores)
    polygon, buffered = roc_from_sorted(part.classes), buffered_auc_from_sorted(part.finite_classes)
    has_level = not math.isnan(buffered.gamma_left)
    return {
        "part": stored.part,
        "n_pos": int((y == 1).sum()),
        "n_neg": int((y != 1).sum()),
        "auc": part.value("auc"),
        "bauc": buffered.value,
        "voros": voros_from_points(*polygon),
        "roc": _curve(*polygon),
        "broc": _curve(*broc_from_sorted(part.finite_classes)[:2]) if has_level else None,
        "scores": _score_bars(part.classes.pos, part.classes.neg),
        "errors": _error_bars(part.pair_errors, buffered.gamma_left),
        "surface": _surface(*polygon),
        "history": _history(folder),
        "band": _band(part) if stored.part == "test" else None,
        "worst": worst_rows(stored),
        **decisions(folder, stored, polygon),
    }


def _curve(fpr: Array, tpr: Array) -> list[list[int]]:
    fpr, tpr = thinned(fpr, tpr)
    return [steps(fpr), steps(tpr)]


def _band(part: ScoredPart) -> list[float]:
    """How far the 95 % band of the ROC curve is from it, in both directions."""
    band = roc_band_part(part, level=0.95, method="ks")
    return short([band.dx, band.dy], 3)


def _score_bars(pos: Array, neg: Array) -> dict[str, Any]:
    both = np.concatenate([pos, neg])
    edges = np.histogram_bin_edges(both, min(default_bins(both), STRIPS))
    densities = [short(np.histogram(values, edges, density=True)[0], 3) for values in (neg, pos)]
    return {"edges": short(edges, 6), "neg": densities[0], "pos": densities[1]}


def _error_bars(errors: PairErrors, gamma: float) -> dict[str, Any]:
    edges, counts = binned_pairs(errors, 0.0, gamma, bins=STRIPS)
    density = counts / counts.sum() / np.diff(edges)
    level = None if math.isnan(gamma) else gamma
    # the page compares edges with γ*, so they are not rounded
    return {"edges": edges.tolist(), "density": short(density, 3), "gamma": level}


def _surface(fpr: Array, tpr: Array) -> dict[str, Any]:
    best = BestPoints.of(fpr, tpr)
    few = np.unique(np.searchsorted(best.cost_shares, np.linspace(0.0, 1.0, STRIPS + 1)))
    left, top = best.line_ends
    hull = roc_hull(fpr, tpr)
    ends = {"t": best.cost_shares[few], "left": left[few], "top": top[few]}
    return {key: steps(values) for key, values in ends.items()} | {"hull": _curve(*hull)}


def _history(folder: Path) -> list[list[float]]:
    """Seconds and the relative gap between the best objective and the best bound so far."""
    lines = read_rows(folder, "history.csv")
    if lines is None:
        return [[], []]
    with damaged(folder / "history.csv"):
        rows = [[float(line[key] or "nan") for key in ("seconds", "objective", "lower_bound")] for line in lines]
    seconds, gaps = [], []
    best, bound = math.inf, -math.inf
    for at, objective, lower in rows:
        # NaN, an unknown bound, loses either comparison
        best, bound = min(best, objective), lower if lower > bound else bound
        gap = (best - bound) / (abs(best) if abs(best) > 1e-12 else 1.0)
        if math.isfinite(gap):
            seconds.append(at)
            gaps.append(max(gap, SMALLEST_GAP))
    return [short(seconds), short(gaps, 3)]
