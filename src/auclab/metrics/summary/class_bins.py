"""The scores of a class in bins, with exact sums."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.accurate import MOST_TERMS, Limbs, bins_of, count_and_extremes, deposit, normalise
from auclab._core.base import Array, AuclabError
from auclab._core.validation import finite_vector
from auclab.metrics.summary.blocks import ScoredBlock

#: Value of limb 0 is 2^LOWEST; a limb has 32 bits.
LOWEST, BITS = -1074, 32
_BASE = 1 << BITS
_HALF = _BASE // 2
#: Limbs that are read: 160 bits from the first one that is not 0, of which a double-double keeps 106.
_READ = 5


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Sums of doubles in fixed point, as integers of 32 bits each.

    The representation is unique: no limb is 0 in all bins at the lower end, and none is superfluous at the upper.

    `first`: number of the first limb; limb L stands for ``2^(32 L − 1074)``. `limbs` (n_bins, n_limbs): in [0, 2³²),
    the last one in [−2³¹, 2³¹). `infinite` (n_bins,): where a term was ±∞, or beyond the largest double; it is left out
    of the sum.
    """

    first: int
    limbs: Limbs
    infinite: NDArray[np.bool_]

    @classmethod
    def zeros(cls, n_bins: int) -> ExactSums:
        """Sums without terms."""
        return cls(0, np.zeros((n_bins, 1), np.int64), np.zeros(n_bins, bool))

    @classmethod
    def of(cls, n_bins: int, bins: NDArray[np.int32], *terms: Array) -> ExactSums:
        """Sums of one or more lists of terms, each of shape (m,), in the bins of shape (m,)."""
        infinite = np.zeros(n_bins, bool)
        finite = []
        for values in terms:
            wrong = ~np.isfinite(values)
            if wrong.any():
                infinite[bins[wrong]] = True
                values = np.where(wrong, 0.0, values)
            finite.append(np.ascontiguousarray(values, dtype=np.float64))
        largest = max((float(np.max(np.abs(values), initial=0.0)) for values in finite), default=0.0)
        if largest == 0.0:
            return cls(0, np.zeros((n_bins, 1), np.int64), infinite)
        first = min(_lowest_limb(values) for values in finite)
        last = (_exponent(largest) - LOWEST) // BITS + 2
        limbs = np.zeros((n_bins, last - first + 2), np.int64)
        for values in finite:
            for start in range(0, values.size, MOST_TERMS):
                part = values[start : start + MOST_TERMS]
                deposit(part, part.view(np.int64), bins[start : start + MOST_TERMS], first, limbs)
                normalise(limbs)
        return _trimmed(first, limbs, infinite)

    def __add__(self, other: ExactSums) -> ExactSums:
        first = min(self.first, other.first)
        end = max(self.first + self.limbs.shape[1], other.first + other.limbs.shape[1])
        limbs = np.zeros((self.limbs.shape[0], end - first + 1), np.int64)
        for part in (self, other):
            start = part.first - first
            limbs[:, start : start + part.limbs.shape[1]] += part.limbs
        normalise(limbs)
        return _trimmed(first, limbs, self.infinite | other.infinite)

    def where(self, kept: NDArray[np.bool_]) -> ExactSums:
        """The sums of some bins."""
        return _trimmed(self.first, self.limbs[kept], self.infinite[kept])

    def integers(self) -> tuple[list[int], int]:
        """The sums as Python integers in units of 2 to an exponent, and the exponent."""
        totals = [0] * self.limbs.shape[0]
        for column in self.limbs.T[::-1]:
            totals = [(total << BITS) + int(limb) for total, limb in zip(totals, column.tolist(), strict=True)]
        return totals, BITS * self.first + LOWEST

    def parts(self) -> tuple[Array, Array, NDArray[np.int64]]:
        """The sums as ``(high + low) · 2^exponent`` with 106 bits, `high` below 2⁶⁴; each of shape (n_bins,)."""
        limbs = self.limbs.copy()
        negative = limbs[:, -1] < 0
        limbs[negative] *= -1
        normalise(limbs)
        n_bins, n_limbs = limbs.shape
        padded = np.concatenate((np.zeros((n_bins, _READ), np.int64), limbs), axis=1)
        top = n_limbs + _READ - 1 - np.argmax(padded[:, ::-1] != 0, axis=1)
        top[~limbs.any(axis=1)] = _READ
        high, low = np.zeros(n_bins), np.zeros(n_bins)
        for k in range(_READ):
            term = np.ldexp(padded[np.arange(n_bins), top - k].astype(np.float64), -BITS * k)
            total = high + term
            part = total - high
            low += (high - (total - part)) + (term - part)
            high = total
        total = high + low
        low = low - (total - high)
        sign = np.where(negative, -1.0, 1.0)
        exponent = BITS * (top - _READ + self.first) + LOWEST
        return sign * total, sign * low, exponent.astype(np.int64)

    def values(self) -> Array:
        """The sums rounded to doubles; ±∞ beyond the largest one."""
        high, low, exponent = self.parts()
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(high + low, np.clip(exponent, -10_000, 10_000).astype(np.int32)))

    def to_bytes(self) -> bytes:
        """The sums as bytes, little-endian; equal sums have equal bytes."""
        head = struct.pack("<qqq", self.first, *self.limbs.shape)
        return head + (self.limbs & 0xFFFFFFFF).astype("<u4").tobytes() + np.packbits(self.infinite).tobytes()

    @classmethod
    def from_bytes(cls, data: memoryview) -> tuple[ExactSums, memoryview]:
        """Sums from the start of `data`, and the rest of it."""
        first, n_bins, n_limbs = struct.unpack_from("<qqq", data)
        start, length = struct.calcsize("<qqq"), 4 * n_bins * n_limbs
        limbs = np.frombuffer(data[start : start + length], "<u4").astype(np.int64).reshape(n_bins, n_limbs)
        limbs[:, -1] -= _BASE * (limbs[:, -1] >= _HALF)
        end = start + length + (n_bins + 7) // 8
        bits = np.frombuffer(data[start + length : end], np.uint8)
        return cls(first, limbs, np.unpackbits(bits, count=n_bins).astype(bool)), data[end:]


def _exponent(value: float) -> int:
    """The exponent e with ``2^(e−1) ≤ |value| < 2^e``."""
    return int(np.frexp(value)[1])


def _lowest_limb(values: Array) -> int:
    """Limb of the last bit that a value can have; zeros count nothing."""
    size = np.abs(values)
    least = float(np.min(size, where=size > 0.0, initial=np.inf))
    return 68 if least == np.inf else max(_exponent(least) - 53 - LOWEST, 0) // BITS


def _trimmed(first: int, limbs: Limbs, infinite: NDArray[np.bool_]) -> ExactSums:
    """The unique representation of normalised limbs."""
    used = limbs.any(axis=0)
    if not used.any():
        return ExactSums(0, np.zeros((limbs.shape[0], 1), np.int64), infinite)
    start = int(np.argmax(used))
    limbs = limbs[:, start:].copy()
    # The last limb must fit 32 bits with its sign.
    while ((limbs[:, -1] < -_HALF) | (limbs[:, -1] >= _HALF)).any():
        last = limbs[:, -1].copy()
        limbs[:, -1] = last & 0xFFFFFFFF
        limbs = np.concatenate((limbs, (last >> BITS)[:, None]), axis=1)
    while limbs.shape[1] > 1:
        joined = limbs[:, -1] * _BASE + limbs[:, -2]
        small = (limbs[:, -1] >= -1) & (limbs[:, -1] <= 0)
        if not (small & (joined >= -_HALF) & (joined < _HALF)).all():
            break
        limbs = np.concatenate((limbs[:, :-2], joined[:, None]), axis=1)
    return ExactSums(first + start, np.ascontiguousarray(limbs), infinite)


_MAGIC = b"auclab.ScoreSummary.1\n"


@dataclass(frozen=True, eq=False)
class BinnedScores:
    """Counts, extremes and exact sums of the scores of two classes in bins.

    `edges` (n_edges,): bin k holds ``edges[k − 1] ≤ s < edges[k]``, k = 0 … n_edges. `pos`, `neg`: what is known of
    either class.
    """

    edges: Array
    pos: ClassBins
    neg: ClassBins

    @classmethod
    def of_block(cls, edges: Array, block: ScoredBlock) -> Self:
        """What is known of a checked block."""
        pos, neg = (
            ClassBins.of(scores, weight, bins_of(scores, edges), edges)
            for scores, weight in ((block.pos, block.weight_pos), (block.neg, block.weight_neg))
        )
        return cls(edges, pos, neg)

    def __add__(self, other: Any) -> Self:
        if not isinstance(other, BinnedScores):  # as any sum in Python
            return NotImplemented
        if not np.array_equal(self.edges, other.edges):
            raise AuclabError(
                f"summaries with different edges cannot be added ({self.edges.size} and {other.edges.size} edges): "
                "choose edges once, from a sample, and send them to all workers"
            )
        return type(self)(self.edges, self.pos + other.pos, self.neg + other.neg)

    def __radd__(self, other: Any) -> Self:
        """For ``sum(summaries)``, which starts from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinnedScores) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @property
    def n_bins(self) -> int:
        """Number of bins, one more than edges."""
        return self.edges.size + 1

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return int(self.pos.count.sum())

    @property
    def n_neg(self) -> int:
        """Number of negatives."""
        return int(self.neg.count.sum())

    def to_bytes(self) -> bytes:
        """All of it as bytes, the same on every machine; equal summaries have equal bytes."""
        head = _MAGIC + struct.pack("<q", self.edges.size) + self.edges.astype("<f8").tobytes()
        return head + self.pos.to_bytes() + self.neg.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """A summary from `to_bytes`.

        Raises
        ------
        AuclabError
            Anything else.
        """
        if bytes(data[: len(_MAGIC)]) != _MAGIC:
            raise AuclabError("these bytes are not a ScoreSummary; they must come from to_bytes() of this version")
        try:
            view = memoryview(data)[len(_MAGIC) :]
            (n_edges,) = struct.unpack_from("<q", view)
            edges = np.frombuffer(view[8 : 8 + 8 * n_edges], "<f8").astype(np.float64)
            pos, view = ClassBins.from_bytes(view[8 + 8 * n_edges :])
            neg, view = ClassBins.from_bytes(view)
            if len(view) or not n_edges + 1 == pos.count.size == neg.count.size:
                raise ValueError("lengths do not match")
        except (ValueError, struct.error, IndexError, TypeError) as error:
            raise AuclabError(f"the bytes of a ScoreSummary are damaged or cut off: {error}") from error
        return cls(edges, pos, neg)


def checked_edges(edges: ArrayLike) -> Array:
    """Edges as an ascending array of finite numbers, which may be empty."""
    if np.size(np.asarray(edges)) == 0:
        return np.empty(0)
    vector = finite_vector("edges", edges)
    falls = vector[1:] <= vector[:-1]
    if falls.any():
        where = int(falls.argmax())
        raise AuclabError(
            f"edges must ascend, got {vector[where]} before {vector[where + 1]}; np.unique(edges) sorts them"
        )
    return vector + 0.0  # a copy without negative zeros


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
