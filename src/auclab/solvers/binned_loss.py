"""The smoothed loss over bins of scores: the grid, the sums, the Hessian.

Scores are moved so that a hinge has its kink where a positive and a negative agree (pairs, ``[t_j − t_i]₊``), or at 0
(points, ``[−t_i]₊`` and ``[t_j]₊``): see `moves_of`. Over pairs a bin weakens the bound by the third power of its width
times the densities of both classes, so widths are inversely proportional to the cube root of the product of the
densities; over points the bins are finest near the kink.

With moved scores t (`grid`) a pair whose members are in different bins has its hinge decided: ``t_j − t_i`` where the
negative's bin is the upper one, else 0. So the loss is known from ``Σ q`` and ``Σ q t`` except for pairs within a bin,
and for these it is bounded:

* from below by Jensen's inequality, ``u v [t̄⁻ − t̄⁺]₊`` for weights u, v and mean scores;
* from above with the scores moved to the ends of their bin and the means kept (Edmundson 1957, Madansky 1959).

Both differ by less than ``u v · width / 4``. The gradient is that of the decided pairs, and of the active share of the
others, as a sum of rows by bins: ``Σ_b A_b Σ_{i in b} q_i x_i − Σ_b B_b Σ_{j in b} q_j x_j``.

**The lower bound.** Replace the rows of every bin and class by their mean, with their weight. By Jensen's inequality
the objective of this small program is below that of the whole one at *every* w, so its minimum bounds the minimum. In
terms of the dual: multipliers that are functions of the bin, ``q_ij = q_i q_j ψ(bin i, bin j)``, are feasible for the
whole program if and only if they are for the small one, with the same value. At the optimum the two objectives differ
by what pairs within a bin do, of second order in the width of the bins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from auclab._core.accurate import bins_of, two_sums
from auclab._core.base import Array
from auclab._core.scores import add_rows, add_scores, moved_scores, parts_of_bins
from auclab.formulations.base import Program
from auclab.samples.blocks.labels import LabelledRows
from auclab.samples.features import exact_products
from auclab.samples.memory import RowRounding, Sample
from auclab.solvers.solution import BinMultipliers

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
    return BINS[program.comparisons.name].moves(float(theta[-2]), 1.0 - program.threshold * float(theta[-1]))


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
    else:
        edges = BINS[program.comparisons.name].edges(pos, neg, low, high, n_bins)
    edges = np.unique(np.r_[edges, BINS[program.comparisons.name].kinks])
    return Grid(edges if edges.size else np.zeros(1), low, high)


@dataclass(frozen=True)
class BinSums:
    """Sums over rows; in arrays of two classes the negatives come first.

    `mass`, `total` (2, n_bins · N_PARTS): weights, and weights times moved scores, by parts of bins. `ends` (2, 2): the
    least and the largest moved score of either class. `rows`, `rest` (n_columns, 2, n_bins): weights times rows, by
    bins, as ``rows + rest``. `weighted`: whether there are weights other than 1, with which products are rounded.
    `longest`: the most rows that were added to one bin one after the other: what rounding grows with.
    """

    mass: Array
    total: Array
    ends: Array
    rows: Array
    rest: Array
    weighted: bool
    longest: int

    def __add__(self, other: BinSums) -> BinSums:
        rows, lost = two_sums(self.rows, other.rows)
        return BinSums(
            self.mass + other.mass,
            self.total + other.total,
            np.c_[np.minimum(self.ends[:, 0], other.ends[:, 0]), np.maximum(self.ends[:, 1], other.ends[:, 1])],
            rows,
            (self.rest + other.rest) + lost,
            self.weighted or other.weighted,
            max(self.longest, other.longest),
        )

    @property
    def bin_mass(self) -> Array:
        """Weights by bins, shape (2, n_bins)."""
        return np.asarray(self.mass.reshape(2, -1, N_PARTS).sum(axis=2))


@dataclass(frozen=True)
class SumInBins:
    """The task of a pass; only w and the edges of the bins are sent.

    `moves`: what is added to the scores of negatives and of positives (`grid.moves_of`).
    """

    coef: Array
    moves: tuple[float, float]
    grid: Grid

    def __call__(self, blocks: Iterable[LabelledRows]) -> BinSums:
        """The sums over some blocks."""
        n, grid = self.coef.size, self.grid
        low, rate = grid.ends[:-1].copy(), grid.rate
        mass, total = np.zeros((2, grid.n_bins * N_PARTS)), np.zeros((2, grid.n_bins * N_PARTS))
        ends = np.array([[np.inf, -np.inf]] * 2)
        rows, rest = np.zeros((n, 2 * grid.n_bins)), np.zeros((n, 2 * grid.n_bins))
        count, weighted = np.zeros(2 * grid.n_bins, np.int64), False
        for block in blocks:
            columns = np.ascontiguousarray(np.asarray(block.rows).T, dtype=np.float64)
            positive = np.ascontiguousarray(block.positive)
            weight = np.empty(0) if block.weight is None else np.ascontiguousarray(block.weight, dtype=np.float64)
            scores = moved_scores(columns, self.coef, positive, self.moves)
            bins = bins_of(scores, grid.edges)
            parts = parts_of_bins(scores, bins, low, rate, N_PARTS)
            add_scores(scores, parts, positive, weight, mass, total, ends)
            add_rows(columns, bins, positive, weight, rows, rest, count)
            weighted = weighted or block.weight is not None
        shape = n, 2, grid.n_bins
        return BinSums(mass, total, ends, rows.reshape(shape), rest.reshape(shape), weighted, int(count.max()))


#: Additions of sums, and roundings of the terms, that a sum by bins has besides those of one group of blocks.
MORE_TERMS = 80


@dataclass(frozen=True)
class Limits:
    """Bounds on the objective at a point.

    `low`, `high`: from the parts of the bins. `coarse`: the objective of the program of bin means, a lower bound.
    """

    low: float
    high: float
    coarse: float


class BinnedLoss(ABC):
    """The loss at one point from the sums of a pass; `BINS` has the class of a program.

    `program`: over pairs or points, a mean of hinges. `priors`: weights of the negative and of the positive class in
    the whole. `theta` (n_features + 2,): ``(w, b, ‖w‖)``. `sums`: of the scores at `theta`, moved as `grid.moves_of`
    says.
    """

    of_priors: Callable[[Array], Array]

    def __init__(self, program: Program, priors: tuple[float, float], theta: Array, grid: Grid, sums: BinSums) -> None:
        self.program, self.theta, self.grid, self.sums = program, theta, grid, sums
        classes = sums.mass.sum(axis=1)
        #: The share of a unit of weight within each class, before the priors.
        self.unit = 1.0 / classes
        self.priors = priors
        #: What the weights within the negatives and within the positives are multiplied by.
        self.class_weights = self.of_priors(np.asarray(priors))
        self.shares = sums.mass * self.unit[:, None]

    def limits(self) -> Limits:
        """Limits of the objective; O(n_bins)."""
        rounding = 2.0**-52 * (self.sums.longest + 2 * MORE_TERMS)
        left, right = self.grid.part_ends(float(self.sums.ends[:, 0].min()), float(self.sums.ends[:, 1].max()))
        sums = self.sums.total * self.unit[:, None]
        low, high = self._limits(self.shares, sums, left, right)
        coarse, _ = self._limits(_by_bins(self.shares), _by_bins(sums), left[::N_PARTS], right[N_PARTS - 1 :: N_PARTS])
        penalty = self.program.regulariser.value(self.theta[:-2])
        return Limits(low * (1.0 - rounding) + penalty, high * (1.0 + rounding) + penalty, coarse + penalty)

    def _limits(self, shares: Array, sums: Array, left: Array, right: Array) -> tuple[float, float]:
        """Limits of the loss, with the scores of every cell known by weight, mean and range."""
        means = np.clip(np.divide(sums, shares, out=np.tile(left, (2, 1)), where=shares > 0), left, right)
        width = right - left
        # Relative position of the mean in the cell: the share of the weight that is moved to the upper end.
        up = np.divide(means - left, width, out=np.zeros_like(means), where=width > 0)
        return self._between(shares, means, up, left, right)

    @abstractmethod
    def _between(self, shares: Array, means: Array, up: Array, left: Array, right: Array) -> tuple[float, float]:
        """Limits of the loss, with the mean of every cell at the share `up` of its range."""

    @abstractmethod
    def slopes(self) -> tuple[Array, Array]:
        """The active weight of the other class (over points: 0 or 1) for negatives and positives of every bin."""

    def negative_gradient(self) -> Array:
        """``G = Σ q α D`` in ``(w, b, ‖w‖)``, shape (n_features + 2,): minus the derivative of the loss."""
        of_neg, of_pos = self.slopes()
        shares = _by_bins(self.shares) * self.class_weights[:, None]
        sum_neg, sum_pos = float(shares[0] @ of_neg), float(shares[1] @ of_pos)
        unit, margins = self.unit * self.class_weights, self.program.comparisons
        in_w = unit[1] * (self.sums.rows[:, 1] @ of_pos) - unit[0] * (self.sums.rows[:, 0] @ of_neg)
        in_size = self.program.threshold * margins.total(sum_pos, sum_neg)
        return np.r_[in_w, margins.of_intercept(sum_pos - sum_neg), in_size]

    def bin_means(self, spread: Array, peaks: Array) -> Sample:
        """The sample whose program bounds this one from below.

        `spread`, `peaks` (n_features,): of the rows: the scales of the features, and their largest moduli.
        """
        rows_pos, rest_pos, share_pos = self._means(1)
        rows_neg, rest_neg, share_neg = self._means(0)
        positive = np.repeat([True, False], [len(rows_pos), len(rows_neg)])
        terms = self.sums.longest + MORE_TERMS
        error = (2.0**-52 * terms if self.sums.weighted else 2.0 * (2.0**-53 * terms) ** 2 + 2.0**-100) * peaks
        sample = Sample(
            rows_pos,
            rows_neg,
            share_pos,
            share_neg,
            self.priors[1],
            positive,
            True,
            prior_neg=self.priors[0],
            rounding=RowRounding(rest_pos, rest_neg, error),
        )
        # The cached properties of `Sample`: lengths of w are measured as on the rows.
        sample.__dict__.update(spread=spread, peaks=peaks)
        return sample

    def multipliers_of_bins(
        self, means: Sample, multipliers: tuple[Array, Array] | None, offset: Array | None
    ) -> BinMultipliers:
        """Multipliers of bin means, positives first, as a function of class and bin.

        `means`: from `bin_means`. `multipliers` (n_pos,) and (n_neg,), or None: None for zeros. `offset` (n_features,),
        or None: what was subtracted from the rows.
        """
        values = np.zeros((2, self.grid.n_bins))
        if multipliers is not None:
            values[1, self.sums.bin_mass[1] > 0] = multipliers[0] / means.share_pos
            values[0, self.sums.bin_mass[0] > 0] = multipliers[1] / means.share_neg
        moves = np.array(moves_of(self.program, self.theta))
        return BinMultipliers(self.theta[:-2].copy(), moves, self.grid.edges, values, offset)

    def _means(self, side: int) -> tuple[Array, Array, Array]:
        """Mean rows of the bins of a class that have weight, their rounding errors, and their shares."""
        mass = self.sums.bin_mass[side]
        used = mass > 0
        mass, high, low = mass[used], self.sums.rows[:, side, used], self.sums.rest[:, side, used]
        means = (high + low) / mass
        product, error = exact_products(means, np.broadcast_to(mass, means.shape))
        rest = ((high - product) - error + low) / mass
        return np.ascontiguousarray(means.T), np.ascontiguousarray(rest.T), mass / mass.sum()


class PairBins(BinnedLoss):
    """Over pairs: of a bin it matters how its positives and negatives are mixed."""

    kinks = ()
    of_priors = staticmethod(np.ones_like)

    @staticmethod
    def moves(intercept: float, shift: float) -> tuple[float, float]:
        """A pair has its kink where the moved scores agree."""
        return shift, 0.0

    @staticmethod
    def edges(pos: Array, neg: Array, low: float, high: float, n_bins: int) -> Array:
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

    def _between(self, shares: Array, means: Array, up: Array, left: Array, right: Array) -> tuple[float, float]:
        (v, u), (n, p) = shares, means
        above = _after(v)
        decided = float(u @ (_after(v * n) - p * above))
        both = u * v
        low, high = both @ np.maximum(n - p, 0.0), both @ (up[0] * (1.0 - up[1]) * (right - left))
        return max(0.0, decided + float(low)), decided + float(high)

    def slopes(self) -> tuple[Array, Array]:
        """The active weight of the other class for negatives and positives of every bin."""
        v, u = _by_bins(self.shares)
        inner_v, inner_u = self.shares.reshape(2, -1, N_PARTS)
        active = (inner_u * _after(inner_v)).sum(axis=1) + 0.5 * (inner_u * inner_v).sum(axis=1)
        share = np.divide(active, u * v, out=np.full_like(u, 0.5), where=u * v > 0)
        return np.cumsum(u) - u + share * u, _after(v) + share * v


class PointBins(BinnedLoss):
    """Over points: the kink of all is the edge 0."""

    kinks = (0.0,)
    of_priors = staticmethod(np.asarray)

    @staticmethod
    def moves(intercept: float, shift: float) -> tuple[float, float]:
        """A point has its kink where its moved score is 0."""
        return intercept + shift, intercept - shift

    @staticmethod
    def edges(pos: Array, neg: Array, low: float, high: float, n_bins: int) -> Array:
        """Quantiles of all scores and, in equal number, of the scores nearest to 0."""
        scores = np.r_[pos, neg]
        # Over points: the share of the observations, nearest to the kink, that gets half of the bins.
        near = scores[np.argsort(abs(scores))[: max(2, int(0.1 * scores.size))]]
        parts = np.linspace(0.0, 1.0, n_bins // 2 + 1)[1:-1]
        return np.r_[np.quantile(scores, parts), np.quantile(near, parts)]

    def _between(self, shares: Array, means: Array, up: Array, left: Array, right: Array) -> tuple[float, float]:
        v, u = shares * self.class_weights[:, None]
        low = float(u @ np.maximum(-means[1], 0.0) + v @ np.maximum(means[0], 0.0))
        across = (left < 0) & (right > 0)
        high_pos = np.where(across, (1.0 - up[1]) * np.maximum(-left, 0.0), np.maximum(-means[1], 0.0))
        high_neg = np.where(across, up[0] * np.maximum(right, 0.0), np.maximum(means[0], 0.0))
        return low, float(u @ high_pos + v @ high_neg)

    def slopes(self) -> tuple[Array, Array]:
        """1 for negatives of bins above 0, and positives of bins below."""
        ends = self.grid.ends
        return (ends[:-1] >= 0.0).astype(float), (ends[:-1] < 0.0).astype(float)


#: The class of a program, by what its margins are of.
BINS: dict[str, type[PairBins] | type[PointBins]] = {"pairs": PairBins, "points": PointBins}


def _by_bins(parts: Array) -> Array:
    """Sums over the parts of every bin, shape (2, n_bins)."""
    return np.asarray(parts.reshape(2, -1, N_PARTS).sum(axis=2))


def _after(values: Array) -> Array:
    """For each entry the sum of the later ones, along the last axis, summed from the end.

    Examples
    --------
    >>> _after(np.array([1.0, 2.0, 4.0])).tolist()
    [6.0, 4.0, 0.0]
    """
    sums = np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(np.concatenate([sums[..., 1:], np.zeros_like(sums[..., :1])], axis=-1))
