"""Displacement of rising curves, and simultaneous bands of a ROC curve.

A displacement ``(−a, +b)`` moves a rising curve up and to the left. In the coordinates

    s = x/a + y/b,       w = (y/b − x/a)/2,

it leaves s alone and adds 1 to w, and a rising curve, steps included, is the graph of a function w(s). So the distance
of two curves along the displacement is the largest difference of two piecewise linear functions, which is at a vertex
of either.

Both kinds of band consist of the curve moved up and left by ``(−dx, +dy)`` and down and right by ``(+dx, −dy)``, with

    dx = c/√m₋,       dy = c/√m₊.

They have the same width everywhere ("fixed-width bands", Campbell 1994, Statistics in Medicine 13, 499–508). A FPR has
an error of order 1/√m₋ and a TPR one of order 1/√m₊, hence the direction.

* ``"bootstrap"``: c is the quantile of the displacement from the curve to those of stratified resamples. For the
  buffered curve every resample has its own γ*. A resample without γ* has bAUC 0 or 1, and counts as the curve with this
  area.
* ``"ks"``: the distributions of positive and of negative scores lie within the Kolmogorov–Smirnov distances dy and dx
  of those of the sample, each with probability √level and independently of each other, and where both do, the true
  curve lies in the band. This holds for any m₊, m₋ and any distribution. For the ROC curve alone: γ* is a function of
  the sample, which these distances do not cover.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kstwo

from auclab._core.base import Array, AuclabError
from auclab._core.validation import check_choice
from auclab.inference.bootstrap import number_of_resamples
from auclab.inference.components import FLAT, Observations
from auclab.inference.estimation import check_level
from auclab.inference.intervals import few_observations
from auclab.metrics.bpoe import solve_bpoe
from auclab.metrics.buffered import broc_from_sorted
from auclab.metrics.registry import ScoredPart
from auclab.metrics.roc import ClassScores, checked_rates, finite_number, roc_from_sorted

Curve = tuple[Array, Array]

#: The curves of a scorer that ranks nothing right, and of one that ranks everything right.
WORST: Curve = (np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0]))
BEST: Curve = WORST[::-1]


def displacement_between(first: Curve, second: Curve, step: tuple[float, float]) -> float:
    """The smallest c so that `second` lies between `first` moved by ``c (−a, +b)`` and by ``c (+a, −b)``.

    `first`, `second` (n_vertices,): vertices x and y from (0, 0) to (1, 1), neither of which falls. `step` > 0: a and
    b.
    """
    (s, w), (t, v) = (_turned(curve, step) for curve in (first, second))
    ahead, behind = np.abs(v - np.interp(t, s, w)), np.abs(w - np.interp(s, t, v))
    return float(max(ahead.max(), behind.max()))


def displaced(curve: Curve, dx: float, dy: float) -> Curve:
    """The part of the curve, moved by ``(dx, dy)``, that lies in the unit square, from (0, 0) to (1, 1)."""
    x, y = curve[0] + dx, curve[1] + dy
    where = np.arange(x.size, dtype=float)
    # where the curve enters and leaves the square; on either side of these, clipping changes one coordinate alone
    crossings = [np.interp(end, values, where) for values in (x, y) for end in (0.0, 1.0)]
    place = np.unique(np.concatenate((where, crossings)))
    points = [np.clip(np.interp(place, where, values), 0.0, 1.0) for values in (x, y)]
    points = [np.concatenate(([0.0], values, [1.0])) for values in points]
    moved = (np.diff(points[0]) != 0.0) | (np.diff(points[1]) != 0.0)
    keep = np.concatenate(([True], moved))
    return points[0][keep], points[1][keep]


def height_at(curve: Curve, x: Array, *, top: bool = True) -> Array:
    """The curve at `x`; on a vertical edge its upper end, or its lower end."""
    xs, ys = curve
    if top:
        return _at(xs, ys, x)
    return 1.0 - _at(1.0 - xs[::-1], 1.0 - ys[::-1], 1.0 - x)


def _at(xs: Array, ys: Array, x: Array) -> Array:
    after = np.searchsorted(xs, x, side="right")
    low, high = np.maximum(after - 1, 0), np.minimum(after, xs.size - 1)
    run = xs[high] - xs[low]
    share = np.divide(x - xs[low], run, out=np.zeros_like(x), where=run > 0.0)
    return np.asarray(ys[low] + share * (ys[high] - ys[low]))


def _turned(curve: Curve, step: tuple[float, float]) -> Curve:
    x, y = curve[0] / step[0], curve[1] / step[1]
    return x + y, 0.5 * (y - x)


METHODS = ("auto", "bootstrap", "ks")


@dataclass(frozen=True, eq=False, repr=False)
class ROCBand:
    """A curve in ROC space with a band that contains the whole true curve at a confidence level.

    Attributes
    ----------
    fpr, tpr : arrays of shape (n_vertices,)
        Vertices of the curve of the sample.
    lower, upper : pairs of arrays
        FPR and TPR of the vertices of either end of the band, from (0, 0) to (1, 1).
    dx, dy : float
        The ends are the curve moved by ``(+dx, −dy)`` and ``(−dx, +dy)``.
    level : float
    method : str
        ``"bootstrap"`` or ``"ks"``.
    threshold : float or None
        z of a buffered curve, None for the ROC curve.
    notes : tuple of str
        Remarks on degenerate cases; usually empty.

    See Also
    --------
    roc_band : Computes it.
    auclab.displays.ROCBandDisplay : Draws it.

    Examples
    --------
    >>> from auclab.inference import roc_band
    >>> band = roc_band([1, 1, 0, 0], [4, 1, 2, 0], method="ks")
    >>> band.method, band.level
    ('ks', 0.95)
    """

    fpr: Array
    tpr: Array
    lower: Curve
    upper: Curve
    dx: float
    dy: float
    level: float
    method: str
    threshold: float | None = None
    notes: tuple[str, ...] = ()

    def limits(self, fpr: ArrayLike) -> tuple[Array, Array]:
        """Lower and upper limits of TPR at some FPR, which hold for all of them at once."""
        rates = np.asarray(checked_rates("fpr", fpr), dtype=float)
        return height_at(self.lower, rates, top=False), height_at(self.upper, rates)

    def contains(self, fpr: ArrayLike, tpr: ArrayLike) -> bool:
        """Whether a rising curve, given by its vertices from (0, 0) to (1, 1), lies in the band."""
        x, y = (np.asarray(checked_rates(name, rates), float) for name, rates in (("fpr", fpr), ("tpr", tpr)))
        if x.ndim != 1 or x.shape != y.shape or x.size < 2 or (np.diff(x) < 0).any() or (np.diff(y) < 0).any():
            raise AuclabError(
                f"a curve needs fpr and tpr of the same length, 2 or more, in non-decreasing order; the shapes are "
                f"{x.shape} and {y.shape}"
            )
        return displacement_between((self.fpr, self.tpr), (x, y), (self.dx, self.dy)) <= 1.0 + 1e-12


def roc_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float | None = None,
    level: float = 0.95,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    resamples: int | None = None,
    seed: int = 0,
) -> ROCBand:
    """Simultaneous band of the ROC curve, or of a buffered ROC curve, of a scorer that was fixed before the sample.

    The band is the curve moved by ``(∓c/√m₋, ±c/√m₊)``; see the module docstring for c.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `estimate`. Weights are for the bootstrap; m₊ and m₋ are then the effective numbers ``(Σw)²/Σw²``.
    threshold : float, optional
        z of the buffered ROC curve (`auclab.metrics.broc_curve`); by default the band is that of the ROC curve.
    level : float
        Probability in (0, 1) that the whole true curve lies in the band.
    method : {"auto", "bootstrap", "ks"}
        ``"ks"`` has at least its nominal coverage for all sample sizes, but is wide. ``"bootstrap"`` has it for large
        samples. ``"auto"`` is ``"bootstrap"``.
    resamples, seed : int
        Resamples of the bootstrap (1000 by default, at least 100), and its seed.

    Returns
    -------
    ROCBand
        If all resamples have the same curve, as for a perfect order, or if a class has one observation, the bootstrap
        is not informative: the ROC curve then has the band of ``"ks"`` and a note, a buffered curve the whole square.

    Raises
    ------
    AuclabError
        As `estimate`; ``"ks"`` for a buffered curve or with weights; a buffered curve that does not exist, where
        ``z ≤ E ξ`` or z exceeds all errors.

    See Also
    --------
    tpr_at_fpr : An interval at one point of the ROC curve, narrower than the band there.

    Examples
    --------
    With one observation per class, the Kolmogorov–Smirnov distance at √0.25 = ½ is ¾:

    >>> band = roc_band([1, 0], [2.0, 1.0], method="ks", level=0.25)
    >>> round(band.dx, 12), round(band.dy, 12), [end.tolist() for end in band.limits([0.5, 1.0])]
    (0.75, 0.75, [[0.0, 0.25], [1.0, 1.0]])
    """
    observations = Observations.of(y_true, y_score, sample_weight, pos_label)
    return _band(observations, threshold, level, method, resamples, seed)


def roc_band_part(
    part: ScoredPart,
    *,
    threshold: float | None = None,
    level: float = 0.95,
    method: str = "auto",
    resamples: int | None = None,
    seed: int = 0,
) -> ROCBand:
    """`roc_band` of a part of a split whose scores are sorted already.

    Parameters
    ----------
    part : ScoredPart
    threshold, level, method, resamples, seed
        As in `roc_band`.

    Raises
    ------
    AuclabError
        As `roc_band`.

    See Also
    --------
    roc_band : The same from labels and scores.

    Examples
    --------
    >>> part = ScoredPart(np.array([1, 0]), np.array([2.0, 1.0]))
    >>> round(roc_band_part(part, method="ks", level=0.25).dx, 12)
    0.75
    """
    return _band(Observations.of_part(part), threshold, level, method, resamples, seed)


def _band(
    observations: Observations, threshold: float | None, level: float, method: str, resamples: int | None, seed: int
) -> ROCBand:
    check_level(level)
    check_choice("method", method, METHODS)
    resamples = number_of_resamples(resamples, 100, 1000)
    threshold = None if threshold is None else finite_number("threshold", threshold)
    part = observations.part
    if threshold is None:
        curve = roc_from_sorted(part.classes)
    else:
        curve = broc_from_sorted(part.finite_classes, threshold=threshold)[:2]
    if method == "ks":
        if threshold is not None or observations.weight is not None:
            what = "a buffered curve, whose γ* it does not cover" if threshold is not None else "weighted observations"
            raise AuclabError(f"method='ks' has no level for {what}; use method='bootstrap'")
        return _kolmogorov_smirnov(observations, curve, level)
    if min(rows.size for rows in observations.class_rows) == 1:
        return _without_spread(observations, curve, level, threshold, "a class of one observation")
    step = (math.sqrt(float(np.sum(share**2))) for share in observations.shares[::-1])
    a, b = step
    distances = [
        displacement_between(curve, again, (a, b))
        for again in resampled_curves(observations, threshold, resamples, np.random.default_rng(seed))
    ]
    c = float(np.quantile(distances, level, method="higher"))
    if c <= FLAT:
        return _without_spread(observations, curve, level, threshold, "all resamples have the same curve")
    notes = few_observations(*observations.effective_sizes, unit=observations.unit)
    return _ends(curve, c * a, c * b, level, "bootstrap", threshold, notes)


def _ends(
    curve: Curve, dx: float, dy: float, level: float, method: str, threshold: float | None, notes: tuple[str, ...] = ()
) -> ROCBand:
    ends = displaced(curve, dx, -dy), displaced(curve, -dx, dy)
    return ROCBand(*curve, *ends, dx, dy, level, method, threshold, notes)


def _kolmogorov_smirnov(observations: Observations, curve: Curve, level: float, notes: tuple[str, ...] = ()) -> ROCBand:
    pos, neg = (_distance(level, rows.size) for rows in observations.class_rows)
    return _ends(curve, neg, pos, level, "ks", None, notes)


@lru_cache(maxsize=64)
def _distance(level: float, size: int) -> float:
    """The Kolmogorov–Smirnov distance that a sample does not exceed with probability √level; some ms of SciPy's."""
    return float(kstwo.ppf(math.sqrt(level), size))


def _without_spread(
    observations: Observations, curve: Curve, level: float, threshold: float | None, reason: str
) -> ROCBand:
    """The band where the bootstrap says nothing."""
    if threshold is None and observations.weight is None:
        return _kolmogorov_smirnov(observations, curve, level, (f"{reason}: Kolmogorov–Smirnov band",))
    return _ends(curve, 1.0, 1.0, level, "bootstrap", threshold, (f"{reason}: the band is the whole square",))


def resampled_curves(
    observations: Observations, threshold: float | None, resamples: int, rng: np.random.Generator
) -> Iterator[Curve]:
    """Curves of stratified resamples: how often an observation was drawn multiplies its weight."""
    classes = observations.part.classes
    pos, neg = classes.pos, classes.neg
    weights = [
        w if w.size else np.ones(s.size)
        for w, s in zip((classes.weight_pos, classes.weight_neg), (pos, neg), strict=True)
    ]
    levels, group = np.unique(-np.concatenate((pos, neg)), return_inverse=True)
    groups = group[: pos.size], group[pos.size :]
    for _ in range(resamples):
        drawn = [
            weight * np.bincount(rng.integers(weight.size, size=weight.size), minlength=weight.size)
            for weight in weights
        ]
        if threshold is None:
            tpr, fpr = (
                np.concatenate(([0.0], np.cumsum(np.bincount(place, each, minlength=levels.size))))
                for place, each in zip(groups, drawn, strict=True)
            )
            yield fpr / fpr[-1], tpr / tpr[-1]
        else:
            kept = [each > 0.0 for each in drawn]
            chosen = ClassScores(pos[kept[0]], neg[kept[1]], *(d[k] for d, k in zip(drawn, kept, strict=True)))
            yield _buffered(chosen, threshold)


def _buffered(scores: ClassScores, threshold: float) -> Curve:
    """The buffered curve; without γ*, that of the same area, 0 or 1."""
    solution = solve_bpoe(scores.pair_errors, threshold)
    if math.isnan(solution.level):
        return BEST if solution.rest > 0.0 else WORST
    return broc_from_sorted(scores, threshold=threshold)[:2]
