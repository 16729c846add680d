"""One exact sum of doubles for every bin: equal terms give equal bits, in whatever order and tree they were added."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.fixed_point import MOST_TERMS, Limbs, deposit, normalise
from auclab.types import Array

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
