"""Bins of the moved scores, and where to put them.

Scores are moved so that a hinge has its kink where a positive and a negative agree (pairs, ``[t_j − t_i]₊``), or at 0
(points, ``[−t_i]₊`` and ``[t_j]₊``): see `moves_of`. Over pairs a bin weakens the bound by the third power of its width
times the densities of both classes, so widths are inversely proportional to the cube root of the product of the
densities; over points the bins are finest near the kink.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.formulations.base import Program
from auclab.samples.memory import Sample
from auclab.types import Array

#: Equal parts of a bin, for the value of the objective alone.
N_PARTS = 64


@dataclass(frozen=True)
class Grid:
    """Bins ``edges[b − 1] ≤ t < edges[b]``, each in `N_PARTS` equal parts; the outer bins have no end.

    `edges` (n_bins − 1,), ascending. `low`, `high`: where the outer bins are expected to end.
    """

    edges: Array
    low: float
    high: float

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return self.edges.size + 1

    @property
    def ends(self) -> Array:
        """The ends of the bins, shape (n_bins + 1,).

        The last bin has a positive width; otherwise scores above the expected range would count in its lowest part.
        """
        edge = float(self.edges[-1])
        first = min(self.low, float(self.edges[0]) - 1e-300)
        last = max(self.high, edge + max(1e-12 * abs(edge), 1e-280))
        return np.r_[first, self.edges, last]

    @property
    def rate(self) -> Array:
        """Parts per unit of the score, shape (n_bins,); 0 for a bin without width."""
        width = np.diff(self.ends)
        return np.divide(float(N_PARTS), width, out=np.zeros_like(width), where=width > 1e-290)

    def part_ends(self, least: float, largest: float) -> tuple[Array, Array]:
        """Lower and upper ends of all parts, shape (n_bins · N_PARTS,); the outer ones extend to the extreme scores."""
        low, width = self.ends[:-1], np.diff(self.ends)
        left = (low[:, None] + width[:, None] * (np.arange(N_PARTS) / N_PARTS)).ravel()
        right = np.r_[left[1:], self.ends[-1]]
        left[0], right[-1] = min(left[0], least), max(right[-1], largest)
        return left, right


def moves_of(program: Program, theta: Array) -> tuple[float, float]:
    """The numbers added to the scores of the negatives and of the positives at ``θ = (w, b, ‖w‖)``."""
    shift = 1.0 - program.threshold * float(theta[-1])
    if program.comparisons.name == "pairs":
        return shift, 0.0
    return float(theta[-2]) + shift, float(theta[-2]) - shift


def grid_for(program: Program, sample: Sample, theta: Array, n_bins: int) -> Grid:
    """Bins for the scores at θ, from those of a sample.

    `sample`: a part of the observations, in memory. `theta` (n_features + 2,). `n_bins`: at most; fewer where scores
    are tied.
    """
    moves = moves_of(program, theta)
    pos, neg = sample.scores(theta[:-2])
    pos, neg = pos + moves[1], neg + moves[0]
    low, high = float(min(pos.min(), neg.min())), float(max(pos.max(), neg.max()))
    values = np.unique(np.r_[pos, neg]) if n_bins >= 4 else np.r_[low, high]
    if values.size <= n_bins // 2:
        edges = 0.5 * values[1:] + 0.5 * values[:-1]
    elif program.comparisons.name == "pairs":
        edges = _between_classes(pos, neg, low, high, n_bins)
    else:
        edges = _near_kink(np.r_[pos, neg], n_bins)
    edges = np.unique(np.r_[edges, 0.0] if program.comparisons.name == "points" or not edges.size else edges)
    return Grid(edges, low, high)


def _between_classes(pos: Array, neg: Array, low: float, high: float, n_bins: int) -> Array:
    """Edges whose density is the cube root of the product of the densities of the classes."""
    n_cells, averaged = 1024, 9  # of the histograms from which densities are taken
    cells = np.linspace(low, high, n_cells + 1)
    counts = [np.histogram(scores, cells)[0] / scores.size for scores in (pos, neg)]
    kernel = np.full(averaged, 1.0 / averaged)
    smooth = [np.convolve(count, kernel, "same") for count in counts]
    density = np.cbrt(smooth[0] * smooth[1])
    density /= max(float(density.sum()), 1e-300)
    # A part of the bins is spread evenly over scores and over observations, whatever the densities are.
    density = density + 0.05 / n_cells + 0.05 * 0.5 * (counts[0] + counts[1])
    below = np.r_[0.0, np.cumsum(density)]
    return np.interp(np.linspace(0.0, below[-1], n_bins + 1)[1:-1], below, cells)


def _near_kink(scores: Array, n_bins: int) -> Array:
    """Quantiles of all scores and, in equal number, of the scores nearest to 0."""
    # Over points: the share of the observations, nearest to the kink, that gets half of the bins.
    near = scores[np.argsort(abs(scores))[: max(2, int(0.1 * scores.size))]]
    parts = np.linspace(0.0, 1.0, n_bins // 2 + 1)[1:-1]
    return np.r_[np.quantile(scores, parts), np.quantile(near, parts)]
