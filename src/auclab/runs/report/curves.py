"""Data of the figures of one split, computed from the files of its run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from auclab._core.base import Array
from auclab.datasets.target import METRIC_NAMES, WORDS
from auclab.displays.canvas import SMALLEST_GAP, STRIPS
from auclab.displays.scores import ascending_concordance, binned_pairs, default_bins
from auclab.displays.volumes import BestPoints
from auclab.export.scorer import Scorer
from auclab.inference import roc_band_part
from auclab.metrics import ScoredPart, roc_hull, voros_from_points
from auclab.metrics.buffered import broc_from_sorted, buffered_auc_from_sorted
from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.roc import roc_from_sorted
from auclab.runs.split.measured import RankedPart
from auclab.runs.stored.stored_files import StoredScores, damaged, inner_folder, read_json, read_rows, read_scores

#: Less than a pixel in a figure of 400 pixels.
UNSEEN = 0.002

#: Coordinates in [0, 1] are written as multiples of 1 over this number.
STEPS = 10_000


def thinned(x: Array, y: Array, tolerance: float = UNSEEN) -> tuple[Array, Array]:
    """Vertices of a polyline without those that move it by at most `tolerance` (Ramer 1972, Douglas & Peucker 1973).

    `tolerance` ≥ 0: distance in the units of `x` and `y`.
    """
    keep = np.zeros(x.size, dtype=bool)
    keep[[0, -1]] = True
    pieces = [(0, x.size - 1)]
    while pieces:
        first, last = pieces.pop()
        if last - first < 2:
            continue
        away = _distances(x[first : last + 1], y[first : last + 1])
        farthest = int(away.argmax())
        if away[farthest] > tolerance:
            keep[first + farthest] = True
            pieces += [(first, first + farthest), (first + farthest, last)]
    return x[keep], y[keep]


def _distances(x: Array, y: Array) -> Array:
    """Distances of vertices from the segment between the first and the last."""
    along_x, along_y = x[-1] - x[0], y[-1] - y[0]
    length = along_x**2 + along_y**2
    share = ((x - x[0]) * along_x + (y - y[0]) * along_y) / length if length > 0.0 else np.zeros_like(x)
    share = np.clip(share, 0.0, 1.0)
    return np.asarray(np.hypot(x - x[0] - share * along_x, y - y[0] - share * along_y))


def steps(values: ArrayLike) -> list[int]:
    """Numbers of [0, 1] in units of 1/10,000.

    Examples
    --------
    >>> steps([0.0, 0.12345, 1.0])
    [0, 1234, 10000]
    """
    return [int(value) for value in np.rint(np.asarray(values, dtype=float) * STEPS)]


def short(values: ArrayLike, digits: int = 4) -> list[float]:
    """Numbers with `digits` significant digits.

    Examples
    --------
    >>> short([0.123456, 123456.0, 0.0])
    [0.1235, 123500.0, 0.0]
    """
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=float)]


#: Number of observations of each class that are listed.
MOST_ROWS = 6


def worst_rows(scores: StoredScores) -> list[dict[str, Any]] | None:
    """Observations of both classes with the largest mean ranking error, positives first.

    The error of a pair is ``max(0, h(x⁻) − h(x⁺))``; the mean is over all observations of the other class.

    `scores`: of one split. Returns: ``row`` (of the data set, from 0; null where the run did not keep it),
    ``positive``, ``score``, ``error``, and ``wrong``: the share of the other class on the wrong side of it, ties
    counting one half. Observations without an error are left out. None if a score is infinite, as errors then
    have no mean.
    """
    if not np.isfinite(scores.y_score).all():
        return None
    is_positive = scores.y_true == 1
    found: list[dict[str, Any]] = []
    for positive in (True, False):
        own = np.flatnonzero(is_positive == positive)
        sign = 1.0 if positive else -1.0
        others = np.sort(sign * scores.y_score[is_positive != positive])
        errors, wrong = _errors_below(sign * scores.y_score[own], others)
        worst = np.argsort(-errors, kind="stable")[:MOST_ROWS]
        found += [
            {
                "row": None if scores.row is None else int(scores.row[own[k]]),
                "positive": positive,
                "score": short([scores.y_score[own[k]]], 5)[0],
                "error": short([errors[k]], 3)[0],
                "wrong": round(float(wrong[k]), 4),
            }
            for k in worst
            if errors[k] > 0.0
        ]
    return found


def _errors_below(values: Array, others: Array) -> tuple[Array, NDArray[np.float64]]:
    """Mean of ``max(0, other − value)`` over sorted `others`, and the share of larger ones, ties counting one half.

    Examples
    --------
    >>> [part.tolist() for part in _errors_below(np.array([1.0]), np.array([0.0, 1.0, 3.0, 4.0]))]
    [[1.25], [0.625]]
    """
    above = np.concatenate([np.cumsum(others[::-1])[::-1], [0.0]])
    after = np.searchsorted(others, values, side="right")
    before = np.searchsorted(others, values, side="left")
    count = others.size
    errors = np.maximum(above[after] - (count - after) * values, 0.0) / count
    return errors, (count - 0.5 * (after + before)) / count


#: Number of groups of observations with similar probabilities.
GROUPS = 10


def decisions(folder: Path, scores: StoredScores, polygon: tuple[Array, Array]) -> dict[str, Any]:
    """The model's decisions on the stored scores of a split, ready for JSON.

    `folder`: files of the split. `scores`: its scores. `polygon`: vertices of their ROC curve. Returns: ``cheapest``:
    the vertices [fpr, tpr, score] of the hull; an observation is called positive from the score on, null for none.
    ``threshold``: value, rule, and the rates of the kept model, None where the run kept none. ``calibration``:
    ``brier`` and per group of observations the mean probability, the share of positives, its 95 % interval (Wilson
    1927) and their number; None without probabilities.
    """
    description = read_json(inner_folder(folder, "model"), "scorer.json")
    found: dict[str, Any] = {"cheapest": _cheapest(scores, polygon), "threshold": None, "calibration": None}
    if description is None:
        return found
    with damaged(folder / "model" / "scorer.json"):
        threshold = description["threshold"]
        value = float(threshold["value"])
        called = scores.y_score > value
        rates = [float(called[scores.y_true == label].mean()) for label in (0, 1)]
        found["threshold"] = {"value": value, "rule": str(threshold["rule"]), "rates": steps(rates)}
        probability = Scorer(description).probability(scores.y_score)
        if probability is not None:
            found["calibration"] = _calibration(probability, scores.y_true == 1)
    return found


def _cheapest(scores: StoredScores, polygon: tuple[Array, Array]) -> list[list[Any]]:
    """Vertices of the hull, each with the smallest score that is predicted positive there."""
    fpr, tpr = roc_hull(*polygon)
    descending = np.sort(scores.y_score)[::-1]
    positives = int((scores.y_true == 1).sum())
    called = np.rint(fpr * (descending.size - positives) + tpr * positives).astype(int)
    levels = [None if count == 0 else _between(descending, int(count)) for count in called]
    return [list(each) for each in zip(steps(fpr), steps(tpr), levels, strict=True)]


def _between(descending: Array, count: int) -> float:
    """A short number at or above which `count` scores lie: above the next score, at most the last of these.

    Examples
    --------
    >>> scores = np.array([0.123456, 0.123454, 0.1])
    >>> [_between(scores, count) for count in (1, 2, 3)]
    [0.123456, 0.12, 0.1]
    """
    level = float(descending[count - 1])
    below = float(descending[count]) if count < descending.size else -math.inf
    for digits in range(2, 17):
        for rounded in (float(f"{level:.{digits}g}"), float(f"{0.5 * level + 0.5 * below:.{digits}g}")):
            if below < rounded <= level:
                return rounded
    return level


def _calibration(probability: Array, positive: Array) -> dict[str, Any]:
    order = np.argsort(probability, kind="stable")
    groups = []
    for part in np.array_split(order, GROUPS):
        if count := part.size:
            hits = int(positive[part].sum())
            ends = binomtest(hits, count).proportion_ci(0.95, method="wilson")
            groups.append([*steps([probability[part].mean(), hits / count, ends.low, ends.high]), count])
    return {"brier": short([float(np.mean((probability - positive) ** 2))])[0], "groups": groups}


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

    `folder`: files of the split, as `auclab.runs.record.artifacts.write_fold` leaves them. Returns: ``part``,
    ``n_pos``, ``n_neg``, ``auc``, ``bauc``, ``voros``; ``roc`` and ``broc`` as [fpr, tpr] in steps of 1/10,000,
    ``broc`` None where there is no γ*; ``scores``: edges, densities of negatives and positives; ``errors``: edges,
    densities of pairs, γ*; ``surface``: cost shares and the ends of their lines, the hull; ``history``: seconds and
    relative gaps; ``band``: distances of a 95 % band from the ROC curve, None for scores of the training part;
    ``worst`` (`auclab.runs.report.curves`), and what `auclab.runs.report.curves` finds.
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
        "broc": _curve(*broc_from_sorted(part.finite_classes, threshold=0.0)[:2]) if has_level else None,
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
