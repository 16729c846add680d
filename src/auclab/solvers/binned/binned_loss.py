"""From sums by bins to the loss, its gradient, and a program whose optimum is a lower bound.

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

from dataclasses import dataclass

import numpy as np

from auclab.formulations.base import Program
from auclab.samples.memory import RowRounding, Sample, exact_products
from auclab.solvers.bin_multipliers import BinMultipliers
from auclab.solvers.binned.bin_sums import BinSums
from auclab.solvers.binned.grid import N_PARTS, Grid, moves_of
from auclab.types import Array

#: Additions of sums, and roundings of the terms, that a sum by bins has besides those of one group of blocks.
_MORE_TERMS = 80


@dataclass(frozen=True)
class Limits:
    """Bounds on the objective at a point.

    `low`, `high`: from the parts of the bins. `coarse`: the objective of the program of bin means, a lower bound.
    """

    low: float
    high: float
    coarse: float


class BinnedLoss:
    """The loss at one point from the sums of a pass.

    `program`: over pairs or points, a mean of hinges. `priors`: weights of the negative and of the positive class in
    the whole. `theta` (n_features + 2,): ``(w, b, ‖w‖)``. `sums`: of the scores at `theta`, moved as `grid.moves_of`
    says.
    """

    def __init__(self, program: Program, priors: tuple[float, float], theta: Array, grid: Grid, sums: BinSums) -> None:
        self.program, self.theta, self.grid, self.sums = program, theta, grid, sums
        self.over_pairs = program.comparisons.name == "pairs"
        classes = sums.mass.sum(axis=1)
        #: The share of a unit of weight within each class, before the priors.
        self.unit = 1.0 / classes
        self.priors = np.ones(2) if self.over_pairs else np.asarray(priors)
        self.given_priors = priors
        self.shares = sums.mass * self.unit[:, None]

    def limits(self) -> Limits:
        """Limits of the objective; O(n_bins)."""
        rounding = 2.0**-52 * (self.sums.longest + 2 * _MORE_TERMS)
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
        if self.over_pairs:
            (v, u), (n, p) = shares, means
            above = _after(v)
            decided = float(u @ (_after(v * n) - p * above))
            both = u * v
            low, high = both @ np.maximum(n - p, 0.0), both @ (up[0] * (1.0 - up[1]) * width)
            return max(0.0, decided + float(low)), decided + float(high)
        v, u = shares * self.priors[:, None]
        low = float(u @ np.maximum(-means[1], 0.0) + v @ np.maximum(means[0], 0.0))
        across = (left < 0) & (right > 0)
        high_pos = np.where(across, (1.0 - up[1]) * np.maximum(-left, 0.0), np.maximum(-means[1], 0.0))
        high_neg = np.where(across, up[0] * np.maximum(right, 0.0), np.maximum(means[0], 0.0))
        return low, float(u @ high_pos + v @ high_neg)

    def slopes(self) -> tuple[Array, Array]:
        """The active weight of the other class (over points: 0 or 1) for negatives and positives of every bin."""
        v, u = _by_bins(self.shares)
        if not self.over_pairs:
            ends = self.grid.ends
            return (ends[:-1] >= 0.0).astype(float), (ends[:-1] < 0.0).astype(float)
        inner_v, inner_u = self.shares.reshape(2, -1, N_PARTS)
        active = (inner_u * _after(inner_v)).sum(axis=1) + 0.5 * (inner_u * inner_v).sum(axis=1)
        share = np.divide(active, u * v, out=np.full_like(u, 0.5), where=u * v > 0)
        return np.cumsum(u) - u + share * u, _after(v) + share * v

    def negative_gradient(self) -> Array:
        """``G = Σ q α D`` in ``(w, b, ‖w‖)``, shape (n_features + 2,): minus the derivative of the loss."""
        of_neg, of_pos = self.slopes()
        shares = _by_bins(self.shares) * self.priors[:, None]
        sum_neg, sum_pos = float(shares[0] @ of_neg), float(shares[1] @ of_pos)
        unit = self.unit * self.priors
        in_w = unit[1] * (self.sums.rows[:, 1] @ of_pos) - unit[0] * (self.sums.rows[:, 0] @ of_neg)
        z = self.program.threshold
        if self.over_pairs:
            return np.r_[in_w, 0.0, z * sum_pos]
        return np.r_[in_w, sum_pos - sum_neg, z * (sum_pos + sum_neg)]

    def bin_means(self, spread: Array, peaks: Array) -> Sample:
        """The sample whose program bounds this one from below.

        `spread`, `peaks` (n_features,): of the rows: the scales of the features, and their largest moduli.
        """
        rows_pos, rest_pos, share_pos = self._means(1)
        rows_neg, rest_neg, share_neg = self._means(0)
        positive = np.repeat([True, False], [len(rows_pos), len(rows_neg)])
        terms = self.sums.longest + _MORE_TERMS
        error = (2.0**-52 * terms if self.sums.weighted else 2.0 * (2.0**-53 * terms) ** 2 + 2.0**-100) * peaks
        sample = Sample(
            rows_pos,
            rows_neg,
            share_pos,
            share_neg,
            self.given_priors[1],
            positive,
            True,
            prior_neg=self.given_priors[0],
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

    @property
    def weight_error(self) -> float:
        """Bound on the relative error of the weights of bins; 0 if all rows have the weight 1."""
        return 2.0**-51 * (self.sums.longest + _MORE_TERMS if self.sums.weighted else 4)


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
