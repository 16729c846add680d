"""What a summary holds of one class: for every bin counts, extremes and exact sums of its scores."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.fixed_point import count_and_extremes
from auclab.metrics.summary.exact_sums import ExactSums
from auclab.types import Array

Counts = NDArray[np.int64]
#: Scores below 2 to this power are divided by a power of their own.
_SMALL = -500


@dataclass(frozen=True, eq=False)
class ClassBins:
    """Scores of one class by bins, each array of shape (n_bins,).

    `count`: number of scores with a weight above 0. `low`, `high`: least and largest score; ∞ and −∞ for a bin without
    scores. `total`: ``Σ w s``, exact for s and for products of s with w; a product that no double holds with its error
    counts as infinite. `squares`: ``Σ fl(w (s − r)²)``, r the edge of the bin that `references` gives: each term is
    rounded, their sum is not. `mass`, `mass_squares`: ``Σ w`` and ``Σ fl(w²)``; None for weights of 1.
    """

    count: Counts
    low: Array
    high: Array
    total: ExactSums
    squares: ExactSums
    mass: ExactSums | None = None
    mass_squares: ExactSums | None = None

    @classmethod
    def of(cls, scores: Array, weight: Array | None, bins: NDArray[np.int32], edges: Array) -> ClassBins:
        """Scores of shape (m,) with their weights > 0 in the bins of shape (m,)."""
        n_bins = edges.size + 1
        count = np.zeros(n_bins, np.int64)
        low, high = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
        count_and_extremes(scores, bins, count, low, high)
        low, high = low + 0.0, high + 0.0  # one zero: which of both came first must not show
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            squares = (scores - references(edges)[bins]) ** 2
            if weight is None:
                return cls(count, low, high, ExactSums.of(n_bins, bins, scores), ExactSums.of(n_bins, bins, squares))
            return cls(
                count,
                low,
                high,
                ExactSums.of(n_bins, bins, *_exact_product(weight, scores)),
                ExactSums.of(n_bins, bins, weight * squares),
                ExactSums.of(n_bins, bins, weight),
                ExactSums.of(n_bins, bins, weight**2),
            )

    def __add__(self, other: ClassBins) -> ClassBins:
        mass = mass_squares = None
        if self.mass is not None or other.mass is not None:
            (mass, mass_squares), (other_mass, other_squares) = self._masses(), other._masses()
            mass, mass_squares = mass + other_mass, mass_squares + other_squares
        return ClassBins(
            self.count + other.count,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.total + other.total,
            self.squares + other.squares,
            mass,
            mass_squares,
        )

    def _masses(self) -> tuple[ExactSums, ExactSums]:
        """Sums of the weights and of their squares, of ones where there are none."""
        if self.mass is not None and self.mass_squares is not None:
            return self.mass, self.mass_squares
        ones = ExactSums.of(self.count.size, np.arange(self.count.size, dtype=np.int32), self.count.astype(np.float64))
        return ones, ones

    @cached_property
    def scale(self) -> int:
        """Power of two that `weights` are divided by, so that the largest one is moderate; 0 without weights."""
        if self.mass is None:
            return 0
        high, _, exponent = self.mass.parts()
        return int(np.max(exponent, where=high > 0, initial=-10_000))

    @cached_property
    def weights(self) -> Array:
        """``Σ w`` of every bin over 2 to the `scale`."""
        if self.mass is None:
            return self.count.astype(np.float64)
        high, low, exponent = self.mass.parts()
        power = np.clip(exponent - self.scale, -2000, 0).astype(np.int32)
        return np.where(high > 0, np.ldexp(high + low, power), 0.0)

    def exact_weights(self) -> tuple[list[int], int]:
        """``Σ w`` of every bin as an integer in units of 2 to an exponent, and the exponent."""
        return self.mass.integers() if self.mass is not None else (self.count.tolist(), 0)

    @cached_property
    def unit(self) -> NDArray[np.int32]:
        """Power of two to divide the scores of every bin by: that of the largest where digits of means underflow."""
        largest = np.maximum(np.abs(self.low), np.abs(self.high), where=self.count > 0, out=np.ones(self.count.size))
        exponent = np.frexp(largest)[1]
        return np.where(exponent < _SMALL, exponent, 0).astype(np.int32)

    @cached_property
    def mean(self) -> tuple[Array, Array]:
        """Mean score of every bin as ``high + low · 2^unit``, 0 for one without scores; exact for equal scores."""
        numerator, rest, exponent = self.total.parts()
        if self.mass is None:
            divisor, divisor_rest = self.count.astype(np.float64), np.zeros(self.count.size)
            shift = np.zeros(self.count.size, np.int64)
        else:
            divisor, divisor_rest, shift = self.mass.parts()
        divisor = np.where(self.count > 0, divisor, 1.0)
        high = numerator / divisor
        # The remainder to 106 bits: the next digits of the quotient.
        product, error = _product(high, divisor)
        low = ((numerator - product) - error + rest - high * divisor_rest) / divisor
        high, low = high + low, low - ((high + low) - high)
        power = np.clip(exponent - shift, -2200, 2200).astype(np.int32)
        total = np.ldexp(high, power)
        # ldexp rounds what falls below the smallest normal double.
        low = np.ldexp((high - np.ldexp(total, -power)) + low, power - self.unit)
        same = (self.low == self.high) & np.isfinite(self.low)
        total = np.where(same, self.low, np.clip(total, np.minimum(self.low, total), np.maximum(self.high, total)))
        return np.where(self.count > 0, total, 0.0), np.where(same | (self.count == 0), 0.0, low)

    def to_bytes(self) -> bytes:
        """The bins as bytes, little-endian."""
        sums = [part for part in (self.total, self.squares, self.mass, self.mass_squares) if part is not None]
        arrays = self.count.astype("<i8"), self.low.astype("<f8"), self.high.astype("<f8")
        head = struct.pack("<qq", self.count.size, len(sums))
        return head + b"".join(array.tobytes() for array in arrays) + b"".join(part.to_bytes() for part in sums)

    @classmethod
    def from_bytes(cls, data: memoryview) -> tuple[ClassBins, memoryview]:
        """Bins from the start of `data`, and the rest of it."""
        n_bins, n_sums = struct.unpack_from("<qq", data)
        data = data[struct.calcsize("<qq") :]
        count, low, high = (
            np.frombuffer(data[8 * n_bins * k : 8 * n_bins * (k + 1)], kind).astype(kind[1:])
            for k, kind in enumerate(("<i8", "<f8", "<f8"))
        )
        data = data[24 * n_bins :]
        sums = []
        for _ in range(n_sums):
            part, data = ExactSums.from_bytes(data)
            sums.append(part)
        return cls(count, low, high, *sums), data


def references(edges: Array) -> Array:
    """Point of every bin that squares are taken about: its lower edge, and the upper one of the first bin."""
    return np.concatenate((edges[:1], edges)) if edges.size else np.zeros(1)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """``a · b`` as the rounded product and its error, exact unless a part leaves the range of doubles."""
    product, error, power = _mantissas(a, b)
    return np.ldexp(product, power), np.ldexp(error, power)


def _mantissas(a: Array, b: Array) -> tuple[Array, Array, NDArray[np.int32]]:
    """``a · b = (product + error) · 2^power`` (Dekker)."""
    (x, e), (y, f) = np.frexp(a), np.frexp(b)
    product = x * y
    x_high, y_high = _half(x), _half(y)
    x_low, y_low = x - x_high, y - y_high
    error = x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)
    return product, error, e + f


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """`_product`, infinite where the range of doubles does not hold it exactly."""
    product, error, power = _mantissas(a, b)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        held = np.ldexp(product, power), np.ldexp(error, power)
        exact = [np.ldexp(part, -power) == whole for part, whole in zip(held, (product, error), strict=True)]
    return np.where(exact[0] & exact[1], held[0], np.inf), np.where(exact[0] & exact[1], held[1], 0.0)


def _half(x: Array) -> Array:
    """The first 26 bits (Veltkamp)."""
    shifted = 134217729.0 * x
    return shifted - (shifted - x)
