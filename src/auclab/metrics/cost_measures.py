"""Integrals of the area of lesser classifiers over the cost share t, for each vertex of an ROC hull.

Vertex (h, k) with ``v = 1 − k`` costs ``c = t h + (1 − t) v`` and is best on an interval of t; the area is ``A_t = 1 −
c²/(2t(1 − t))`` there (Ratigan & Cowen, Lemma 22, Theorem 24).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betaln, xlogy

from auclab.metrics.weight_quadrature import MANY_NODES
from auclab.types import Array


@dataclass(frozen=True)
class VertexRanges:
    """Vertices and the cost shares ``[low, high]`` where each is best, within a range of t.

    `low_rest` and `high_rest` are ``1 − low`` and ``1 − high``, kept apart because t may be next to 1.
    """

    h: Array
    v: Array
    low: Array
    high: Array
    low_rest: Array
    high_rest: Array

    @classmethod
    def of(cls, fpr: Array, tpr: Array, low: float, high: float) -> VertexRanges:
        """Ranges of the vertices of a hull from (0, 0) to (1, 1), cut to ``[low, high]``; empty ones left out."""
        dx, dy = np.diff(fpr), np.diff(tpr)
        # two vertices cost the same at t = δy/(δx + δy), which falls along the hull
        share = np.minimum.accumulate(np.concatenate(([1.0], dy / (dx + dy), [0.0])))
        rest = np.maximum.accumulate(np.concatenate(([0.0], dx / (dx + dy), [1.0])))
        ends = np.clip(share, low, high), np.clip(rest, 1.0 - high, 1.0 - low)
        ranges = cls(fpr, 1.0 - tpr, ends[0][1:], ends[0][:-1], ends[1][1:], ends[1][:-1])
        return ranges.where(ranges.width > 0.0)

    @property
    def width(self) -> Array:
        """Lengths of the ranges, from whichever of t and 1 − t is small."""
        return np.where(self.low > 0.5, self.low_rest - self.high_rest, self.high - self.low)

    def where(self, mask: NDArray[np.bool_]) -> VertexRanges:
        """The ranges where a mask is true."""
        parts = self.h, self.v, self.low, self.high, self.low_rest, self.high_rest
        return VertexRanges(*(part[mask] for part in parts))

    def mirrored(self) -> VertexRanges:
        """The same with t and 1 − t exchanged, and so h and v."""
        return VertexRanges(self.v, self.h, self.high_rest, self.low_rest, self.high, self.low)


def uniform_volumes(ranges: VertexRanges) -> Array:
    """``∫ A_t dt`` over each range: ``w (1 + ½(v − h)²) − ½v² ln(b/a) + ½h² ln((1 − b)/(1 − a))``.

    Ratigan & Cowen, Lemma 23, with both logarithms at their places and the width at all of the bracket.
    """
    h, v, width = ranges.h, ranges.v, ranges.width
    # a vertex that is best down to t = 0 has v = 0, one that is best up to t = 1 has h = 0; h² < 10⁻³⁰⁰ is not a loss
    growth = np.log1p(np.divide(width, ranges.low, out=np.zeros_like(width), where=v > 1e-150))
    decay = np.log1p(np.divide(width, ranges.high_rest, out=np.zeros_like(width), where=h > 1e-150))
    return width * (1.0 + 0.5 * (v - h) ** 2) - 0.5 * (v**2 * growth + h**2 * decay)


def uniform_mean(ranges: VertexRanges) -> float:
    """Mean of A_t for t uniform on the ranges together."""
    return float(np.sum(uniform_volumes(ranges)) / np.sum(ranges.width))


def beta_mean(ranges: VertexRanges, alpha: float, beta: float) -> float:
    """Mean of A_t for t with a Beta(α, β) distribution cut to the ranges together.

    The closed form divides by α − 1 and β − 1 and by the mass of the ranges; where these are small, quadrature.
    """
    masses = _beta_masses(ranges, alpha, beta)
    if min(abs(alpha - 1.0), abs(beta - 1.0)) < 0.1 or masses.sum() < 0.1:
        return _beta_mean_by_quadrature(ranges, alpha, beta)
    return float(np.sum(_beta_volumes(ranges, masses, alpha, beta)) / masses.sum())


def _beta_masses(ranges: VertexRanges, alpha: float, beta: float) -> Array:
    """``μ[a, b]`` of each range, from whichever tail is small."""
    lower = betainc(alpha, beta, ranges.high) - betainc(alpha, beta, ranges.low)
    upper = betaincc(alpha, beta, ranges.low) - betaincc(alpha, beta, ranges.high)
    return np.asarray(np.where(ranges.low > alpha / (alpha + beta), upper, lower))


def _beta_volumes(ranges: VertexRanges, masses: Array, alpha: float, beta: float) -> Array:
    """``(1 − hv) μ − ½(h² M₁ + v² M₂)`` with ``M₁ = ∫ t/(1 − t) dμ``, and ``M₂`` its mirror image."""
    loss = _beta_loss(ranges, masses, alpha, beta) + _beta_loss(ranges.mirrored(), masses, beta, alpha)
    return (1.0 - ranges.h * ranges.v) * masses - loss


def _beta_loss(ranges: VertexRanges, masses: Array, alpha: float, beta: float) -> Array:
    """``½h² M₁`` by parts: ``M₁ = (α μ − [t^α (1 − t)^(β−1)/B]) / (β − 1)`` over each range; 0 where h is."""
    loss = np.zeros_like(masses)
    there = ranges.h > 1e-150
    of = ranges.where(there)
    log_scale = betaln(alpha, beta)
    top = np.exp(xlogy(alpha, of.high) + xlogy(beta - 1.0, of.high_rest) - log_scale)
    bottom = np.exp(xlogy(alpha, of.low) + xlogy(beta - 1.0, of.low_rest) - log_scale)
    loss[there] = 0.5 * of.h**2 * (alpha * masses[there] - (top - bottom)) / (beta - 1.0)
    return loss


def _beta_mean_by_quadrature(ranges: VertexRanges, alpha: float, beta: float) -> float:
    """Gauss–Legendre on pieces that are halved until the sums stay; the density needs no normalisation.

    Either side of ½ is taken in its own small variable. Pieces start at the mode and ten deviations from it, so
    that no peak is missed; what lies next to 0 is the integral of a power.
    """
    spread = np.sqrt(alpha * beta / (alpha + beta + 1.0)) / (alpha + beta)
    mode = (alpha - 1.0) / (alpha + beta - 2.0) if min(alpha, beta) > 1.0 else alpha / (alpha + beta)
    cuts = mode + spread * np.array([-10.0, 0.0, 10.0])
    left = _pieces(ranges, alpha, beta, cuts)
    right = _pieces(ranges.mirrored(), beta, alpha, 1.0 - cuts)
    pieces = np.concatenate((left, right))
    from_zero = pieces[:, 2] == 0.0
    high, power = pieces[from_zero, 3], pieces[from_zero, 4]
    pieces[from_zero, 2] = nearest = np.where(high > 1e-250, 1e-20 * high, high)
    reference = max(_log_density(pieces[:, 2], pieces).max(), _log_density(pieces[:, 3], pieces).max())
    sums = np.full(2, np.sum(np.exp(power * np.log(nearest) - reference) / power))  # A = 1 there
    pieces = pieces[pieces[:, 2] < pieces[:, 3]]
    values = _integrals(pieces, reference)
    while len(pieces):
        halves = _halved(pieces)
        finer = _integrals(halves, reference)
        change = np.abs(finer.reshape(-1, 2, 2).sum(axis=1) - values).max(axis=1)
        total = sums[1] + finer[:, 1].sum()
        settled = (change <= 1e-15 * total) & (total > 0.0)
        if len(halves) > 2**14:
            settled[:] = True  # what is left is the rounding of the density
        settled = np.repeat(settled, 2)
        sums += finer[settled].sum(axis=0)
        pieces, values = halves[~settled], finer[~settled]
    return float(sums[0] / sums[1])


def _pieces(ranges: VertexRanges, alpha: float, beta: float, cuts: Array) -> Array:
    """Rows h, v, low, high, α, β of the ranges below ½, cut at the given points."""
    high = np.minimum(ranges.high, 0.5)
    exponents = np.full(high.size, alpha), np.full(high.size, beta)
    pieces = np.stack((ranges.h, ranges.v, ranges.low, high, *exponents), axis=1)[ranges.low < high]
    for cut in cuts:
        below, above = pieces.copy(), pieces.copy()
        below[:, 3], above[:, 2] = np.minimum(pieces[:, 3], cut), np.maximum(pieces[:, 2], cut)
        pieces = np.concatenate((below, above))
        pieces = pieces[pieces[:, 2] < pieces[:, 3]]
    return np.asarray(pieces)


def _halved(pieces: Array) -> Array:
    """Two pieces for each, next to each other; a quarter is cut off where they come close to 0."""
    low, high = pieces[:, 2], pieces[:, 3]
    middle = np.where(high > 8.0 * low, 0.25 * high, 0.5 * (low + high))
    halves = np.repeat(pieces, 2, axis=0)
    halves[0::2, 3] = halves[1::2, 2] = middle
    return halves


def _integrals(pieces: Array, reference: float) -> Array:
    """``∫ A_t dμ`` and ``∫ dμ`` over each piece, up to the factor of the reference."""
    h, v, low, high = pieces[:, :4, None].transpose(1, 0, 2)
    t = low + (high - low) * (0.5 * (1.0 + MANY_NODES[0]))
    mass = np.exp(_log_density(t, pieces[:, :, None]) - reference) * (high - low) * (0.5 * MANY_NODES[1])
    cost = t * h + (1.0 - t) * v
    area = 1.0 - cost / t * (cost / (2.0 * (1.0 - t)))
    return np.stack((np.sum(mass * area, axis=1), np.sum(mass, axis=1)), axis=1)


def _log_density(t: Array, pieces: Array) -> Array:
    """``(α − 1) ln t + (β − 1) ln(1 − t)``."""
    return np.asarray((pieces[:, 4] - 1.0) * np.log(t) + (pieces[:, 5] - 1.0) * np.log1p(-t))
